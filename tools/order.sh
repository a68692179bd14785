#!/usr/bin/env bash
# tools/order.sh [ARGUMENT...]: has lld place the functions that compilations call beside one another in the drivers (tools/order), once for each version of LLVM.
# What they are is in .toolchain/lib/functions.txt, which tools/regrain/build.rs hands to lld: without it the drivers are the same, and start more slowly.
set -euo pipefail
cd "$(dirname "$0")/.."
functions=.toolchain/lib/functions.txt
if [ -s "$functions" ] && [ "$functions" -nt /usr/lib/llvm-22/lib/libLLVMCore.a ] || [ "$(uname -m)" != x86_64 ]; then
  exit
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# What is to be fast: loops of C for the processor, CUDA for each target.
cat > "$scratch/compile.sh" <<'END'
set -e
export REGRAIN_CACHE=off
regrain=target/release/regrain
for source in mm2 sor2d; do
  $regrain -fregrain-parallelize --offload-arch=cpu -O3 -c rodinia/affine/$source.c -o "$1/a.o"
done
$regrain --offload-arch=cpu,sm_80,gfx90a -O3 -c rodinia/hotspot/hotspot.cu -o "$1/a.o"
END
if ! target/release/regrain-order target/release/regrain "$scratch/functions.txt" -- sh "$scratch/compile.sh" "$scratch"; then
  echo "order: the drivers start more slowly than they could" >&2
  exit
fi
mv "$scratch/functions.txt" "$functions"
# As all was built, or what others depend on is built once more.
cargo build --release --quiet --workspace "$@"
