//! Compiles `src/native.c`, which stands in front of `cudaDeviceReset`, and `src/eager.c`, which runs before `main`.

fn main() {
    println!("cargo:rerun-if-changed=src/native.c");
    println!("cargo:rerun-if-changed=src/eager.c");
    cc::Build::new().files(["src/native.c", "src/eager.c"]).compile("regrain_profiler_native");
}
