//! Puts `nvcc.exe`, a link to `regrain-nvcc`, beside the drivers.
//!
//! CMake asks an nvcc where the toolkit is, whichever CUDA compiler it uses. It looks for `nvcc`, then for `nvcc.exe`, on PATH: by the
//! second name it finds ours where no other is, and nobody else takes it for nvcc.

use std::path::PathBuf;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // OUT_DIR is <profile folder>/build/<package>/out.
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let profile = out.ancestors().nth(3).expect("OUT_DIR lies in the profile's folder");
    let link = profile.join("nvcc.exe");
    println!("cargo:rerun-if-changed={}", link.display());
    if link.symlink_metadata().is_err() {
        std::os::unix::fs::symlink("regrain-nvcc", &link).expect("a link in the profile's folder");
    }
}
