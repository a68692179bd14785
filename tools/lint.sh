#!/usr/bin/env bash
# tools/lint.sh: what the repository declares of its sources is true. All checks run, also after one has failed.
#
#   style         rustfmt.toml
#   clippy        no warning of rustc or clippy with the lint table of Cargo.toml (C++: build.rs compiles with -Werror)
#   rustdoc       no warning, as of links that lead nowhere
#   dependencies  none that is not used
#   licences      deny.toml: licences, sources and versions of what we build upon
#
# clippy and rustdoc run in the release profile: they share build scripts, our C++ above all, with the release build.
set -uo pipefail
cd "$(dirname "$0")/.."
export PATH="${REGRAIN_TOOLCHAIN:-$PWD/.toolchain}/bin:$PATH"
failed=()

check() {
  local name=$1 output
  shift
  if output=$("$@" 2>&1); then
    printf 'lint: %s ok\n' "$name"
  else
    printf '%s\nlint: error: %s: %s\n' "$output" "$name" "$*" >&2
    failed+=("$name")
  fi
}

# Every file by name: `cargo fmt` does not see modules that a macro declares (`passes!`, `targets!`).
check style bash -c "git ls-files -z '*.rs' | xargs -0 rustfmt --check --edition 2024"
check dependencies cargo-shear --locked
check licences cargo-deny --locked --log-level error check --hide-inclusion-graph bans licenses sources
check clippy cargo clippy --quiet --locked --release --workspace --all-targets -- -D warnings
# Joined to the flags of .cargo/config.toml, which RUSTDOCFLAGS would replace.
check rustdoc cargo doc --quiet --locked --release --workspace --no-deps --config 'build.rustdocflags=["-Dwarnings"]'

if [ ${#failed[@]} -gt 0 ]; then
  printf 'lint: %s failed\n' "${failed[*]}" >&2
  exit 1
fi
