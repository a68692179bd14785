//! Compiles `src/device/cpu/native.c`: the thread-local that generated code addresses directly, and weak references.
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
}
