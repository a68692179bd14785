//! What code that we write ourselves includes in place of NVIDIA's headers, of which it takes little.

/// `cuda_runtime.h`.
pub const CUDA_RUNTIME: &str = include_str!("../generated/cuda_runtime.h");
