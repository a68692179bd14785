#!/usr/bin/env bash
# What only a GPU can show: the programs under clang, nvcc, and Regrain at the original grain, at the grain that the model
# chooses and at the one that timing chooses. `build` and `build-timed` need no GPU. `profile` and `run`, on the machine with
# the GPU, need nothing but the files below build/device, python3 and a driver: the first measures the alternatives and
# writes build/device/tuning, the second runs all sides interleaved, compares their results bit by bit and writes
# results/device.md.
#
#   rodinia/on-device.sh build [sm_90]          then, on the device,   rodinia/on-device.sh profile [runs]
#   rodinia/on-device.sh build-idioms [sm_90]   then, on the device,   rodinia/on-device.sh run-idioms [rounds]
#   rodinia/on-device.sh build-timed [sm_90]    then, on the device,   rodinia/on-device.sh run [rounds]
set -euo pipefail
cd "$(dirname "$0")/.."
out=build/device
# clang's OpenMP, which the device's machine may lack, travels along.
export LD_LIBRARY_PATH=$PWD/$out/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
programs="hotspot lud pathfinder nw bfs backprop srad"

compile() { # folder, compiler and its options
  local folder=$out/$1 p
  shift
  mkdir -p "$folder"
  for p in $programs; do "$@" -O3 "rodinia/$p/$p.cu" "rodinia/$p/${p}_omp.cpp" -o "$folder/$p"; done
}

build() {
  local arch=${1:-sm_90} cuda regrain
  for cuda in "${CUDA_PATH:-}" .toolchain/cuda /usr/local/cuda; do [ -n "$cuda" ] && [ -d "$cuda/include" ] && break; done
  regrain=(target/release/regrain "--offload-arch=$arch" -fopenmp)
  compile original "${regrain[@]}" -fregrain-alternatives=none
  compile round-trip "${regrain[@]}" -fregrain-round-trip
  compile model "${regrain[@]}"
  compile adaptive "${regrain[@]}" -fregrain-adaptive
  compile profile "${regrain[@]}" -fregrain-alternatives=blocks=1,2,3,4,8:threads=1,2,4 -fregrain-profile-generate
  mkdir -p "$out/lib"
  cp -L "$(/usr/lib/llvm-22/bin/clang++ -print-file-name=libomp.so.5)" "$out/lib/"
  # clang's own way needs NVIDIA's fatbinary, which some toolkits lack.
  if command -v fatbinary >/dev/null || [ -x "$cuda/bin/fatbinary" ]; then
    mkdir -p "$out/clang"
    local clang=/usr/lib/llvm-22/bin/clang++ p
    for p in $programs; do
      # In one step clang would take --offload-arch with -fopenmp for OpenMP's own offloading.
      "$clang" --cuda-path="$cuda" -Wno-unknown-cuda-version --offload-arch="$arch" -O3 -c "rodinia/$p/$p.cu" -o "$out/clang/$p.o"
      "$clang" -O3 -fopenmp "$out/clang/$p.o" "rodinia/$p/${p}_omp.cpp" -o "$out/clang/$p" \
        -L"$cuda/lib64" -lcudart_static -ldl -lrt -lpthread
      rm "$out/clang/$p.o"
    done
  fi
  if command -v nvcc >/dev/null; then
    compile nvcc nvcc -arch="$arch" -Xcompiler -fopenmp
  fi
}

build-idioms() {
  local arch=${1:-sm_90} side p options cuda
  local nvcc=$PWD/.toolchain/nvcc13/bin
  cuda=$PWD/.toolchain/cuda
  declare -A compilers=(
    [nvcc]="$nvcc/nvcc -arch=$arch -O3 -std=c++17"
    [clang]="/usr/lib/llvm-22/bin/clang++ --cuda-path=$cuda -Wno-unknown-cuda-version --offload-arch=$arch -O3"
    [original]="target/release/regrain --offload-arch=$arch -O3 -fregrain-alternatives=none"
    [usual]="target/release/regrain --offload-arch=$arch -O3"
    [coarse]="target/release/regrain --offload-arch=$arch -O3 -fregrain-coarsen-blocks=3 -fregrain-coarsen-threads=2"
  )
  mkdir -p "$out/idioms"
  while read -r p options; do
    mkdir -p "$out/idioms/bin/$p"
    /usr/lib/llvm-22/bin/clang++ -O3 -fopenmp -c "rodinia/idioms/${p}_omp.cpp" -o "$out/idioms/twin.o"
    for side in "${!compilers[@]}"; do
      PATH=$nvcc:$PATH ${compilers[$side]} -c "rodinia/idioms/$p.cu" -o "$out/idioms/$side.o"
      target/release/regrain -fopenmp --offload-arch="$arch" "$out/idioms/$side.o" "$out/idioms/twin.o" -o "$out/idioms/bin/$p/$side"
      strip -s "$out/idioms/bin/$p/$side"
    done
    printf '%s\t%s --time --digest\n' "$p" "$options"
  done <rodinia/idioms/bench-sizes.txt >"$out/idioms/args.txt"
  rm -f "$out"/idioms/*.o
}

profile() {
  local p round
  for p in $programs; do
    for round in $(seq "${1:-3}"); do
      REGRAIN_TUNING_DB=$out/tuning "$out/profile/$p" --no-check $(rodinia/bench.py sizes --device "$p")
    done
  done
}

build-timed() {
  compile timed target/release/regrain --offload-arch="${1:-sm_90}" -fopenmp -fregrain-profile-use="$out/tuning" \
    -fregrain-alternatives=blocks=1,2,3,4,8:threads=1,2,4
}

run-idioms() {
  rodinia/bench.py --rounds "${1:-2}" programs "$out/idioms" --limit 20 --out "$out/idioms.json" --name idioms-device
}

run() {
  local sides=() name
  for name in clang nvcc original round-trip model adaptive timed; do
    [ -d "$out/$name" ] && sides+=("$name=$out/$name")
  done
  rodinia/bench.py --rounds "${1:-11}" device "${sides[@]}"
}

case ${1:-} in
build | build-idioms | build-timed | profile | run | run-idioms) "$1" "${2:-}" ;;
*) sed -n '2,10p' "$0"; exit 2 ;;
esac
