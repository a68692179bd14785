# Makes a program for an AMD GPU, and what runs it without one:
#   regrain.sh <chip> <folder of the stand-in> <command that builds it> <regrain> <arguments for the CPU>...
# The output is a script that runs the program through the stand-in; beside it are the program and the CPU's form of its kernels.
set -e
chip=$1 folder=$2 build=$3 regrain=$4
shift 4
for argument; do
  case $previous in -o) out=$argument ;; esac
  previous=$argument
done
# Arguments of the compilation, without the output and the targets; an NVIDIA chip in the list is what the source is compiled for.
targets=cpu
set -- "$@" --end-of-arguments
while [ "$1" != --end-of-arguments ]; do
  case $1 in
  -o) shift ;;
  --offload-arch=*) targets=${1#*=} ;;
  *) set -- "$@" "$1" ;;
  esac
  shift
done
shift

mkdir -p "$folder"
(
  flock 9
  [ -e "$folder/libamdhip64.so.7" ] && [ "$folder/libamdhip64.so.7" -nt "${build##* }" ] || $build "$folder"
) 9> "$folder.lock"
"$regrain" --offload-arch="$chip${targets#cpu}" -fregrain-alternatives=none "$@" -o "$out.program"
# With the host's code, as versions of kernels are made for its launches. What was said of the source was said above.
rm -rf "$out.modules" && mkdir "$out.modules" && cd "$out.modules"
"$regrain" --offload-arch="$targets" -fregrain-emulate="$chip" -fregrain-alternatives=none -fPIC "$@" -c -o kernels.o 2> messages ||
  { cat messages >&2; exit 1; }
script=${build#sh } && clang -shared -fPIC kernels.o -x c "${script%/build.sh *}/module.c" -o kernels.so
cat > "$out" << END
#!/bin/sh
export GLIBC_TUNABLES=glibc.rtld.optional_static_tls=1000000 LD_LIBRARY_PATH=$folder
export STANDIN_HIP_MODULES=$out.modules LIBAMDHIP64_ARCH=$chip REGRAIN_DEVICE=hip
exec $out.program "\$@"
END
chmod +x "$out"
