#!/usr/bin/env bash
# The main job, seen once from end to end: a real CUDA program on the CPU, its kernel's parallel form, and the
# alternatives of the same kernel for sm_80 with what ptxas and the model say of them.
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
awk '/regrain.gpu_wrapper/ { on = 1 } on && lines++ < 60' "$parallel"
printf '    ...\n'

printf '\nThe alternatives of the kernel for sm_80, and what ptxas says of the chosen one and of the original:\n'
run target/release/regrain -O3 --offload-arch=sm_80 -fregrain-alternatives=blocks=1,2,4:threads=1,2 -Rpass=regrain \
  -Rpass-analysis=regrain -Rpass-missed=regrain -fregrain-resource-usage -c rodinia/hotspot/hotspot.cu -o "$out/hotspot.sm_80.o"
