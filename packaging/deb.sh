#!/usr/bin/env bash
# packaging/deb.sh [FOLDER]: makes regrain_VERSION_ARCH.deb of what is built, in FOLDER (default: target).
# It depends on the packages of the shared libraries that the tools have, on clang and on lld.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-$root/target}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$root/Cargo.toml" | head -1)
arch=$(dpkg --print-architecture)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
chmod 755 "$tree"
DESTDIR=$tree "$root/packaging/install.sh" /usr
gzip -9n "$tree"/usr/share/man/man1/*.1

# The packages that hold the shared libraries of the tools, at least as new as here in the version of their source.
libraries() {
  local library package
  for library in $(ldd "$tree"/usr/bin/regrain{,-opt,-tune,-images} "$tree/usr/lib/libregrain_plugin.so" |
    sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' | sort -u); do
    package=$(dpkg -S "$(readlink -f "$library")" 2>/dev/null || dpkg -S "$(readlink -f "$library" | sed 's,^/usr,,')") || continue
    package=${package%%:*}
    echo "$package (>= $(dpkg-query -W -f='${Version}' "$package" | head -1 | sed 's/-[^-]*$//'))"
  done | sort -u
}

depends=$(libraries | paste -sd, | sed 's/,/, /g')
mkdir "$tree/DEBIAN"
cat > "$tree/DEBIAN/control" <<END
Package: regrain
Version: $version
Architecture: $arch
Maintainer: Regrain maintainers <maintainers@regrain.invalid>
Installed-Size: $(du -sk "$tree/usr" | cut -f1)
Depends: clang-22, lld-22, llvm-22, libstdc++-12-dev, $depends
Recommends: rocm-device-libs
Suggests: nvidia-cuda-toolkit, mlir-22-tools, clangd-22
Section: devel
Priority: optional
Description: CUDA C++ for NVIDIA's and AMD's GPUs and for CPUs
 A drop-in for clang and for nvcc's command line that compiles CUDA C++ for
 NVIDIA GPUs, AMD GPUs and multicore CPUs, all in one executable if asked, and
 chooses how much work a thread and a block do. A CUDA toolkit's headers, ptxas
 and libdevice are needed: --cuda-path= or CUDA_PATH names them.
END
doc=$tree/usr/share/doc/regrain manual=tools/regrain/manual
install -d "$doc/$manual"
install -m 644 "$root/README.md" "$doc/"
install -m 644 "$root/$manual"/*.md "$doc/$manual/"
mkdir -p "$folder"
dpkg-deb --build --root-owner-group -Zzstd -z3 "$tree" "$folder/regrain_${version}_$arch.deb"
