# Builds the stand-in for AMD's HIP library: build.sh <CUDA's headers> <libregrain_rt.a> <folder for it>
set -e
here=$(dirname "$0")
mkdir -p "$3"
cc -Wall -Wextra -Werror -O1 -fPIC -c -I "$here/../standin" -o "$3/record.o" "$here/../standin/record.c"
c++ -std=c++17 -Wall -Wextra -Werror -Wno-deprecated-declarations -O1 -fPIC -shared -I "$1" -I "$here/../standin" \
  -Wl,-Bsymbolic -Wl,--version-script="$here/exports.map" -o "$3/libamdhip64.new" "$here"/*.cpp "$3/record.o" "$2" -lpthread -ldl -lm
# In one step, as programs may be using it.
mv "$3/libamdhip64.new" "$3/libamdhip64.so.7"
