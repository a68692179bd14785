//! Compiles `src/native.c`, which stands in front of `cudaDeviceReset`.

fn main() {
    println!("cargo:rerun-if-changed=src/native.c");
    cc::Build::new().file("src/native.c").compile("regrain_profiler_native");
}
