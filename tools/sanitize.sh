#!/usr/bin/env bash
# tools/sanitize.sh thread|address [LIT ARGUMENTS]: the runtime built with a sanitizer, and test/integration with it.
#
# Rust's own library is built with the sanitizer too, or the thread sanitizer would not see what orders threads in it. That takes a nightly
# toolchain with its sources (`rustup toolchain install nightly --component rust-src`); no other step of the project does. Host code of the programs
# has the sanitizer, device code has not: what it does to memory is the program's, which races there as it does on a GPU.
#
#   tools/sanitize.sh thread --filter 'streams|events'
set -euo pipefail
cd "$(dirname "$0")/.."
kind=${1:-}
case $kind in
  thread | address) shift ;;
  *)
    echo "sanitize.sh: error: expected 'thread' or 'address', got '$kind'" >&2
    exit 2
    ;;
esac
export PATH="${REGRAIN_TOOLCHAIN:-$PWD/.toolchain}/bin:$PATH"
llvm=${LLVM_SYS_221_PREFIX:-/usr/lib/llvm-22}
target=$(rustc -vV | sed -n 's/^host: //p')
into=$PWD/target/$kind

env CC="$llvm/bin/clang" CFLAGS="-fsanitize=$kind" CARGO_PROFILE_RELEASE_DEBUG=line-tables-only RUSTFLAGS="-Zsanitizer=$kind" \
  cargo +nightly build --release -Zbuild-std --target "$target" --target-dir "$into" \
  -p regrain-runtime --lib --features "sanitize-$kind"

# A program's end is not to be the end of what the runtime keeps; threads have stacks of their own; faults are the runtime's, or end the program.
faults=handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0:detect_stack_use_after_return=0:$faults} TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1:$faults}
export REGRAIN_LIT_SANITIZER=$kind REGRAIN_LIB_DIR=$into/$target/release
exec "${LIT:-$llvm/bin/lit}" -v test/integration "$@"
