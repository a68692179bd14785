# build.sh CMAKE GENERATOR FOLDER ARGUMENT...: configures the project beside this file in FOLDER, builds it, passes its tests,
# installs it, and runs what is installed. `sh -e` runs this.
cmake=$1 generator=$2 folder=$3
shift 3
here=$(dirname "$0")
"$cmake" -S "$here/project" -B "$folder" -G "$generator" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON "$@"
"$cmake" --build "$folder" -j2
"$(dirname "$(command -v "$cmake")")/ctest" --test-dir "$folder" --output-on-failure
"$cmake" --install "$folder" --prefix "$folder/installed"
rm "$folder/app" "$folder/libsum.so"
"$folder/installed/bin/app"
