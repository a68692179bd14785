# compile.sh FOLDER: compiles the twins for two chips and prints the metadata of their code objects.
set -eu
here=$(dirname "$0")/..
mkdir -p "$1"
for chip in gfx90a gfx1030; do
  for source in "$here"/*.hip; do
    made=$1/$(basename "$source").$chip
    clang++ -x hip --offload-arch=$chip -nogpuinc -nogpulib -O3 -Wall -Werror --cuda-device-only --no-gpu-bundle-output \
      "$source" -o "$made"
    llvm-readelf --notes "$made"
  done
done
