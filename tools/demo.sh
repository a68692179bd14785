#!/usr/bin/env bash
# The main job, seen once from end to end on one screen: a real CUDA program on the CPU, its kernel's parallel form in short,
# and the alternatives of the same kernel for sm_80 with what ptxas and the model say of them.
set -euo pipefail
cd "$(dirname "$0")/.."
out=target/demo
rm -rf "$out" && mkdir -p "$out"
run() { printf '\n$ %s\n' "$*"; "$@"; }

run target/release/regrain -O3 --offload-arch=cpu -fopenmp -fregrain-dump-ir="$out/ir" \
  rodinia/hotspot/hotspot.cu rodinia/hotspot/hotspot_omp.cpp -o "$out/hotspot"
run "$out/hotspot"

parallel=$(ls "$out"/ir/hotspot.*-parallel.mlir)
printf '\nThe launch and its kernel as parallel loops (loops, shared memory and barriers of %s):\n\n' "$parallel"
# The form for any block shape; a line for each operation that stands for many is left out.
awk '/regrain.gpu_wrapper/ && !on { on = 1 }
     on && /regrain\.|scf\.|^ *}/ { sub(/ loc\(.*/, ""); print substr($0, 1, 118); if (++lines == 14) { print "    ..."; exit } }' "$parallel"

printf '\nThe alternatives of the kernel for sm_80, by ptxas and by the model:\n'
run target/release/regrain -O3 --offload-arch=sm_80 -fregrain-alternatives=blocks=1,2,4:threads=1,2 \
  -fregrain-report="$out/report.jsonl" -c rodinia/hotspot/hotspot.cu -o "$out/hotspot.sm_80.o"
run target/release/regrain-tune report "$out/report.jsonl"
