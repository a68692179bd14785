#!/usr/bin/env bash
# What only a GPU can show: the programs under clang, nvcc, and Regrain at the original grain, at the grain that the model
# chooses and at the one that timing chooses. `build` and `build-timed` need no GPU. `profile` and `run`, on the machine with
# the GPU, need nothing but the files below build/device, python3 and a driver: the first measures the alternatives and
# writes build/device/tuning, the second runs all sides interleaved, compares their results bit by bit and writes
# results/device.md.
#
#   rodinia/on-device.sh build [sm_90]          then, on the device,   rodinia/on-device.sh profile [runs]
#   rodinia/on-device.sh build-timed [sm_90]    then, on the device,   rodinia/on-device.sh run [rounds]
set -euo pipefail
cd "$(dirname "$0")/.."
out=build/device
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
  compile profile "${regrain[@]}" -fregrain-alternatives=blocks=1,2,3,4,8:threads=1,2,4 -fregrain-profile-generate
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

profile() {
  local p round
  for p in $programs; do
    for round in $(seq "${1:-3}"); do
      REGRAIN_TUNING_DB=$out/tuning "$out/profile/$p" --no-check $(rodinia/bench.py sizes "$p")
    done
  done
}

build-timed() {
  compile timed target/release/regrain --offload-arch="${1:-sm_90}" -fopenmp -fregrain-profile-use="$out/tuning" \
    -fregrain-alternatives=blocks=1,2,3,4,8:threads=1,2,4
}

run() {
  local sides=() name
  for name in clang nvcc original round-trip model timed; do
    [ -d "$out/$name" ] && sides+=("$name=$out/$name")
  done
  rodinia/bench.py --rounds "${1:-11}" device "${sides[@]}"
}

case ${1:-} in
build | build-timed | profile | run) "$1" "${2:-}" ;;
*) sed -n '2,9p' "$0"; exit 2 ;;
esac
