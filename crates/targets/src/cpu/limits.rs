//! The machine that this runs on.

use std::sync::OnceLock;

use regrain_tuning::limits::CpuLimits;

/// The limits of the machine that this runs on, as far as it says.
pub fn limits() -> &'static CpuLimits {
    static NATIVE: OnceLock<CpuLimits> = OnceLock::new();
    NATIVE.get_or_init(native)
}

fn native() -> CpuLimits {
    let mut made = CpuLimits::default();
    made.cores = std::thread::available_parallelism().map_or(made.cores, |cores| cores.get() as u32);
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx512f") {
        (made.vector_bytes, made.vector_registers) = (64, 32);
    } else if !std::is_x86_feature_detected!("avx2") {
        made.vector_bytes = 16;
    }
    #[cfg(target_arch = "aarch64")]
    {
        (made.vector_bytes, made.vector_registers) = (16, 32);
    }
    made
}
