//! Compiles `src/device/cpu/native.c`: the thread-local that generated code addresses directly, and weak references.
//!
//! And `tiles.c`: the model of waves of tiles, which is text of programs where they are written as CUDA.
//!
//! Stable Rust can neither define a thread-local with C linkage nor refer to a symbol weakly, hence C.

fn main() {
    println!("cargo:rerun-if-changed=src/device/cpu/native.c");
    println!("cargo:rerun-if-changed=src/device/cpu/exports.c");
    println!("cargo:rerun-if-changed=include/regrain_tls.h");
    cc::Build::new()
        .files(["src/device/cpu/native.c", "src/device/cpu/exports.c"])
        .include("include")
        .compile("regrain_native");
    // What generated code computes with, computes the same here.
    let model = "../compiler/src/parallelize";
    println!("cargo:rerun-if-changed=src/device/cpu/tiles.c");
    println!("cargo:rerun-if-changed={model}/tiles.h");
    println!("cargo:rerun-if-changed={model}/trials.h");
    cc::Build::new()
        .file("src/device/cpu/tiles.c")
        .include(model)
        .flag("-ffp-contract=off")
        .warnings(false)
        .compile("regrain_tiles");
}
