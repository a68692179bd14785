#!/usr/bin/env bash
# tools/bootstrap.sh [TARGET...]: installs what a bare Debian 12 machine lacks to build and test Regrain, then makes the targets.
# Idempotent; when everything is there it only looks and returns (well under a second).
#
#   apt     clang, LLVM and MLIR 22, lld, the C++ compiler
#   wheels  a CUDA toolkit (headers, ptxas, libdevice, cudart) in .toolchain/cuda, unless
#           CUDA_PATH or /usr/local/cuda already holds one
#   link    .toolchain/lib/libMLIR-C.so, a linker script over MLIR's static C API, so that our
#           binaries share the one libMLIR.so with the stock mlir-opt
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
llvm=/usr/lib/llvm-22
chain=$root/.toolchain

say() { printf 'bootstrap: %s\n' "$*" >&2; }
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

packages=(clang-22 llvm-22-dev llvm-22-tools libmlir-22-dev mlir-22-tools lld-22 libclang-22-dev
  libomp-22-dev libpolly-22-dev libzstd-dev libxml2-dev zlib1g-dev libz3-dev g++ make python3 python3-pip)
missing=()
have=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "${packages[@]}" 2>/dev/null || true)
for p in "${packages[@]}"; do
  grep -qx "$p installed" <<<"$have" || missing+=("$p")
done
if [ ${#missing[@]} -gt 0 ]; then
  say "installing ${missing[*]}"
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

if ! command -v cargo >/dev/null; then
  say "error: cargo is not on PATH; install a Rust toolchain (1.89 or later) with rustup, then run this again"
  exit 1
fi

mkdir -p "$chain/lib"
script=$chain/lib/libMLIR-C.so
if [ ! -s "$script" ]; then
  { printf 'INPUT('; printf '%s ' "$llvm"/lib/libMLIRCAPI*.a; printf ')\n'; } > "$script"
fi

# The toolkit: one directory that looks like an installed CUDA toolkit.
wheels="nvidia-cuda-nvcc-cu12==12.9.86 nvidia-cuda-runtime-cu12==12.9.79 nvidia-cuda-cccl-cu12==12.9.27 nvidia-curand-cu12==10.3.10.19"
has_toolkit() { [ -x "$1/bin/ptxas" ] && [ -e "$1/include/cuda_runtime.h" ] && [ -e "$1/nvvm/libdevice/libdevice.10.bc" ]; }
if ! has_toolkit "${CUDA_PATH:-/nonexistent}" && ! has_toolkit /usr/local/cuda && ! has_toolkit "$chain/cuda"; then
  say "fetching a CUDA toolkit into .toolchain/cuda"
  tmp=$(mktemp -d "$chain/wheels.XXXXXX")
  trap 'rm -rf "$tmp"' EXIT
  # shellcheck disable=SC2086
  python3 -m pip download -q --disable-pip-version-check --no-deps --only-binary=:all: -d "$tmp" $wheels
  for w in "$tmp"/*.whl; do python3 -m zipfile -e "$w" "$tmp/x"; done
  mkdir -p "$tmp/cuda"
  for part in "$tmp"/x/nvidia/*/; do
    case $part in *__pycache__*) continue ;; esac
    cp -r "$part." "$tmp/cuda/"
  done
  chmod +x "$tmp"/cuda/bin/* "$tmp"/cuda/nvvm/bin/* 2>/dev/null || true
  [ -e "$tmp/cuda/lib64" ] || ln -s lib "$tmp/cuda/lib64"
  [ -e "$tmp/cuda/lib/libcudart.so" ] || ln -s libcudart.so.12 "$tmp/cuda/lib/libcudart.so"
  [ -e "$tmp/cuda/lib/libcurand.so" ] || ln -s libcurand.so.10 "$tmp/cuda/lib/libcurand.so"
  printf '{ "cuda" : { "name" : "CUDA SDK", "version" : "12.9.0" } }\n' > "$tmp/cuda/version.json"
  rm -rf "$chain/cuda"
  mv "$tmp/cuda" "$chain/cuda"
fi

if [ $# -gt 0 ]; then
  exec make --no-print-directory -C "$root" "$@"
fi
