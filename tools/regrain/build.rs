//! Links LLVM, MLIR, clang and lld into the drivers, and puts `nvcc.exe`, a link to `regrain-nvcc`, beside them.
//!
//! Shared libraries take a driver a twentieth of a second to load and relocate, and as long again for each clang that it starts: with them in itself it
//! starts in a fifth of that, and is clang itself (`regrain_frontend::own_tools`). All others share the one libMLIR.so with the stock mlir-opt. Linker
//! scripts stand for the shared libraries here; without addresses to relocate there is nothing to do before main.
//!
//! CMake asks an nvcc where the toolkit is, whichever CUDA compiler it uses. It looks for `nvcc`, then for `nvcc.exe`, on PATH: by the
//! second name it finds ours where no other is, and nobody else takes it for nvcc.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=MLIR_SYS_220_PREFIX");
    // OUT_DIR is <profile folder>/build/<package>/out.
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let prefix = PathBuf::from(std::env::var_os("MLIR_SYS_220_PREFIX").unwrap_or_else(|| "/usr/lib/llvm-22".into()));
    let archives = archives(&prefix.join("lib"));
    let of = |heads: &[&str]| {
        let is_wanted =
            |name: &&String| heads.iter().any(|head| name.starts_with(head)) && !name.starts_with("libMLIRCAPI");
        let paths = archives.iter().filter(is_wanted).map(|name| prefix.join("lib").join(name).display().to_string());
        paths.collect::<Vec<_>>().join(" ")
    };
    let scripts = [
        // Its addresses are in all tables of types and functions.
        ("libstdc++.so", format!("INPUT({})\n", standard_library())),
        ("libMLIR.so", format!("INPUT({})\n", of(&["libMLIR"]))),
        ("libLLVM-22.so", format!("INPUT({} -lz -lzstd)\n", of(&["libclang", "liblldELF", "liblldCommon", "libLLVM"]))),
    ];
    for (name, script) in scripts {
        std::fs::write(out.join(name), script).expect("a linker script in OUT_DIR");
    }
    println!("cargo:rustc-link-search=native={}", out.display());
    println!("cargo:rustc-link-arg-bins=-no-pie");
    order(&prefix);
    let profile = out.ancestors().nth(3).expect("OUT_DIR lies in the profile's folder");
    let link = profile.join("nvcc.exe");
    if link.symlink_metadata().is_err() {
        std::os::unix::fs::symlink("regrain-nvcc", &link).expect("a link in the profile's folder");
    }
}

/// Has lld place what compilations call side by side, if that is known (`tools/order.sh`).
fn order(prefix: &Path) {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let functions = root.join("../../.toolchain/lib/functions.txt");
    let Ok(about) = functions.metadata() else { return };
    println!("cargo:rerun-if-changed={}", functions.display());
    if about.len() > 0 {
        println!("cargo:rustc-link-arg-bins=-fuse-ld=lld");
        println!("cargo:rustc-link-arg-bins=-B{}", prefix.join("bin").display());
        println!("cargo:rustc-link-arg-bins=-Wl,--symbol-ordering-file={}", functions.display());
        println!("cargo:rustc-link-arg-bins=-Wl,--no-warn-symbol-ordering");
        // Linux maps more pages at once of a file that was written as a whole.
        println!("cargo:rustc-link-arg-bins=-Wl,--no-mmap-output-file");
    }
}

/// C++'s standard library, as the compiler that links has it.
fn standard_library() -> String {
    let said = Command::new("cc").arg("-print-file-name=libstdc++.a").output().expect("cc runs");
    String::from_utf8_lossy(&said.stdout).trim().to_owned()
}

/// The names of the static libraries in a folder.
fn archives(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("LLVM's folder of libraries");
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".a")).collect();
    names.sort();
    names
}
