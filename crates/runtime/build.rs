//! Compiles `src/tls.c`, the one thread-local that generated code addresses directly.
//!
//! Rust has no stable way to define a thread-local with C linkage and a chosen TLS model, hence C.

fn main() {
    println!("cargo:rerun-if-changed=src/tls.c");
    cc::Build::new()
        .file("src/tls.c")
        .flag_if_supported("-ftls-model=initial-exec")
        .compile("regrain_tls");
}
