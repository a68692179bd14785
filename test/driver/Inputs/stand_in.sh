# Builds the stand-in for NVIDIA's driver library: stand_in.sh <its sources> <the toolkit's headers> <folder for it>
set -e
mkdir -p "$3"
cc -O1 -shared -fPIC -fvisibility=hidden -I "$2" -I "$1/../standin" -o "$3/libcuda.so.1" "$1"/*.c "$1"/../standin/*.c -lpthread
