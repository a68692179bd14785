#!/usr/bin/env bash
# packaging/install.sh PREFIX: installs what is built into $DESTDIR$PREFIX, a tree that can be moved as it is.
#
#   bin                    regrain, regrain-nvcc, nvcc.exe (how CMake finds the toolkit), regrain-config and the other tools
#   lib                    the runtime, the profiler and the plugin for mlir-opt
#   lib/regrain/include    the headers of nvcc's dialect
#   lib/regrain/gdb        what gdb knows of kernels on the CPU
#   lib/cmake, pkgconfig   for find_package(Regrain) and pkg-config
#   share                  manual pages, completions of shells
#
# REGRAIN_BUILD names another folder than target/release.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
built=${REGRAIN_BUILD:-$root/target/release}
prefix=${1:?usage: packaging/install.sh PREFIX}
to=${DESTDIR:-}$prefix
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$root/Cargo.toml" | head -1)

filled() { sed "s/@VERSION@/$version/g" "$root/packaging/$1"; }

install -d "$to"/bin "$to"/lib/{regrain/include,regrain/gdb,cmake/Regrain,pkgconfig} "$to"/share/man/man1 \
  "$to"/share/bash-completion/completions "$to"/share/zsh/site-functions "$to"/share/fish/vendor_completions.d
for tool in regrain regrain-images regrain-opt regrain-tune; do
  install -m 755 -s "$built/$tool" "$to/bin/"
done
# Each driver has all of LLVM in itself: one file that goes by the name it is called by.
ln -sf regrain "$to/bin/regrain-nvcc"
ln -sf regrain-nvcc "$to/bin/nvcc.exe"
filled regrain-config.in > "$to/bin/regrain-config"
chmod 755 "$to/bin/regrain-config"
install -m 644 "$built"/libregrain_rt.a "$built"/libregrain_profiler.a "$to/lib/"
install -m 755 "$built/libregrain_plugin.so" "$to/lib/"
cp -r "$root/crates/frontend/include/." "$to/lib/regrain/include/"
install -m 644 "$root/crates/runtime/gdb/regrain.py" "$to/lib/regrain/gdb/"
install -m 644 "$root/packaging/RegrainConfig.cmake" "$to/lib/cmake/Regrain/"
filled RegrainConfigVersion.cmake.in > "$to/lib/cmake/Regrain/RegrainConfigVersion.cmake"
filled regrain.pc.in > "$to/lib/pkgconfig/regrain.pc"
for driver in regrain regrain-nvcc; do
  "$built/$driver" --man-page > "$to/share/man/man1/$driver.1"
  "$built/$driver" --completions=bash > "$to/share/bash-completion/completions/$driver"
  "$built/$driver" --completions=zsh > "$to/share/zsh/site-functions/_$driver"
  "$built/$driver" --completions=fish > "$to/share/fish/vendor_completions.d/$driver.fish"
done
