//! Tells the driver where it is built: a copy of it finds the libraries that programs are linked with there.

use std::path::PathBuf;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // OUT_DIR is <profile folder>/build/<package>/out.
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let profile = out.ancestors().nth(3).expect("OUT_DIR lies in the profile's folder");
    println!("cargo:rustc-env=REGRAIN_BUILD_DIR={}", profile.display());
}
