# Makes a program for an AMD GPU, and what runs it without one:
#   program.sh <chip> <folder of the stand-in> <command that builds it> <regrain> <arguments for the CPU>...
# The output is a script that runs the program through the stand-in; beside it are the program and the CPU's form of its kernels. It
# serves as the compiler of rodinia/Makefile too: make -C rodinia check CC="bash .../program.sh <chip> ...".
set -e
chip=$1 folder=$2 build=$3 regrain=$4
shift 4
case " $* " in *" --offload-arch=cpu"*) ;; *) exec "$regrain" "$@" ;; esac # a command about another target
# Arguments of the compilation without the output and the targets, of which an NVIDIA chip is what the source is compiled for.
targets=cpu common=() units=() others=()
while [ $# -gt 0 ]; do
  case $1 in
  -o) out=$(realpath -m "$2") && shift ;;
  --offload-arch=*) targets=${1#*=} ;;
  *.cu) units+=("$(realpath "$1")") ;;
  *.cpp) others+=("$1") ;;
  *) common+=("$1") ;;
  esac
  shift
done
common+=(-fregrain-alternatives=none)

mkdir -p "$folder"
(
  flock 9
  [ -e "$folder/libamdhip64.so.7" ] && [ "$folder/libamdhip64.so.7" -nt "${build##* }" ] || $build "$folder"
) 9> "$folder.lock"
"$regrain" --offload-arch="$chip${targets#cpu}" "${common[@]}" "${units[@]}" "${others[@]}" -o "$out.program"
# With the host's code, as versions of kernels are made for its launches. What is said of the source was said above.
rm -rf "$out.modules" && mkdir "$out.modules" && cd "$out.modules"
"$regrain" --offload-arch="$targets" -fregrain-emulate="$chip" -fPIC "${common[@]}" -c "${units[@]}" 2> messages ||
  { cat messages >&2; exit 1; }
script=${build#sh }
clang -shared -fPIC ./*.o -x c "${script%/build.sh *}/module.c" -o kernels.so
cat > "$out" << END
#!/bin/sh
export GLIBC_TUNABLES=glibc.rtld.optional_static_tls=1000000 LD_LIBRARY_PATH=$folder
export STANDIN_HIP_MODULES=$out.modules LIBAMDHIP64_ARCH=$chip REGRAIN_DEVICE=hip
exec $out.program "\$@"
END
chmod +x "$out"
