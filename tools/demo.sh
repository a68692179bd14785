#!/usr/bin/env bash
# The main job, seen once from end to end: a real CUDA program on the CPU, its kernel's parallel form, and what
# ptxas says of the same kernel for sm_80.
set -euo pipefail
cd "$(dirname "$0")/.."
out=target/demo
mkdir -p "$out"
run() { printf '\n$ %s\n' "$*"; "$@"; }

run target/release/regrain -O3 --offload-arch=cpu -fopenmp -fregrain-dump-ir="$out/ir" \
  rodinia/hotspot/hotspot.cu rodinia/hotspot/hotspot_omp.cpp -o "$out/hotspot"
run "$out/hotspot"

parallel=$(ls "$out"/ir/hotspot.*-parallel.mlir)
printf '\nThe kernel in its parallel form (%s):\n\n' "$parallel"
sed -n '/regrain.gpu_wrapper/,$p' "$parallel" | head -60
printf '    ...\n'

printf '\nThe same kernel for sm_80:\n'
run target/release/regrain -O3 --offload-arch=sm_80 -fregrain-resource-usage -c rodinia/hotspot/hotspot.cu -o "$out/hotspot.sm_80.o"
