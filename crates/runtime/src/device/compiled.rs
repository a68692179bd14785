//! What the program was compiled for, where no NVIDIA GPU says what it is.

unsafe extern "C" {
    fn __regrain_compiled_arch() -> u32;
}

/// The architecture that the source saw, in the units of `__CUDA_ARCH__`: 700 where the program does not say.
///
/// It is what devices other than NVIDIA's report as their compute capability: libraries such as CUB choose among the
/// versions of a kernel by it, and there is the one that the source was compiled for alone.
pub fn arch() -> u32 {
    // SAFETY: a C function without preconditions.
    match unsafe { __regrain_compiled_arch() } {
        0 => 700,
        arch => arch,
    }
}
