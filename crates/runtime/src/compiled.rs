//! What the program was compiled for: the architecture, where no NVIDIA GPU says what it is, and CUDA's version.

unsafe extern "C" {
    fn __regrain_compiled_arch() -> u32;
    fn __regrain_compiled_version() -> u32;
}

/// The architecture that the source saw, in the units of `__CUDA_ARCH__`. A program without CUDA code of its own
/// does not say: it loads modules, which see 800 unless they ask for something else.
///
/// It is what devices other than NVIDIA's report as their compute capability: libraries such as CUB choose among the
/// versions of a kernel by it, and there is the one that the source was compiled for alone.
pub fn arch() -> u32 {
    // SAFETY: a C function without preconditions.
    match unsafe { __regrain_compiled_arch() } {
        0 => 800,
        arch => arch,
    }
}

/// The version of the driver where there is none of NVIDIA's: the newest whose functions there are, whatever the
/// program was compiled with, as
/// drivers are newer than programs.
pub fn driver_version() -> i32 {
    13000.max(cuda_version())
}

/// The version of CUDA's runtime whose functions these are for this program, as in 12090. CUDA 13 gave some names of
/// CUDA 12 other parameters and another `cudaDeviceProp`.
pub fn cuda_version() -> i32 {
    // SAFETY: a C function without preconditions.
    match unsafe { __regrain_compiled_version() } {
        0 => 12090,
        version => version as i32,
    }
}

/// Whether the program calls the functions of CUDA 13.
pub fn is_cuda_13() -> bool {
    cuda_version() >= 13000
}
