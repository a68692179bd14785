//! MLIR's type identifiers are addresses of variables in inline functions. A plugin's copies must be visible, so that
//! the loader makes them one with those of the `mlir-opt` that loads it; rustc hides whatever Rust does not export.

fn main() {
    let dir = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    println!("cargo:rerun-if-changed=type-ids.map");
    println!("cargo:rustc-cdylib-link-arg=-Wl,--version-script={dir}/type-ids.map");
}
