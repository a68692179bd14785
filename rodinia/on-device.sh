#!/usr/bin/env bash
# What only a GPU can show. `build` needs none: it makes the programs with several compilers below build/device.
# `run`, on the machine with the GPU, needs nothing but those files, python3 and a driver: it runs them interleaved,
# compares their results bit by bit and writes results/device.md.
#
#   rodinia/on-device.sh build [sm_90]
#   rodinia/on-device.sh run [rounds]
set -euo pipefail
cd "$(dirname "$0")/.."
out=build/device
programs="hotspot lud pathfinder nw bfs backprop"

build() {
  local arch=${1:-sm_90} cuda
  for cuda in "${CUDA_PATH:-}" .toolchain/cuda /usr/local/cuda; do [ -n "$cuda" ] && [ -d "$cuda/include" ] && break; done
  compile() { # folder, compiler and its options
    local folder=$out/$1 p
    shift
    mkdir -p "$folder"
    for p in $programs; do "$@" -O3 "rodinia/$p/$p.cu" "rodinia/$p/${p}_omp.cpp" -o "$folder/$p"; done
  }
  compile regrain target/release/regrain --offload-arch="$arch" -fopenmp
  compile round-trip target/release/regrain --offload-arch="$arch" -fopenmp -fregrain-round-trip
  compile specialised target/release/regrain --offload-arch="$arch" -fopenmp -fregrain-specialize
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

run() {
  local sides=() name
  for name in clang nvcc regrain round-trip specialised; do
    [ -d "$out/$name" ] && sides+=("$name=$out/$name")
  done
  rodinia/bench.py --rounds "${1:-11}" device "${sides[@]}"
}

case ${1:-} in
build) build "${2:-}" ;;
run) run "${2:-}" ;;
*) sed -n '2,8p' "$0"; exit 2 ;;
esac
