//! What the intrinsics of NVVM cost.

use super::library::Work;

/// What kind of work an intrinsic does, of floating-point numbers or not. Of those that exchange nothing and wait for nothing
/// only arithmetic remains in the parallel form.
pub fn work(name: &str, of_floats: bool) -> Work {
    let name = name.strip_prefix("llvm.nvvm.").unwrap_or(name);
    match name.split('.').next().unwrap_or_default() {
        "barrier" | "membar" | "fence" => Work::Other,
        "sqrt" | "rsqrt" | "rcp" | "div" => Work::Division,
        "ex2" | "lg2" | "sin" | "cos" | "tanh" => Work::Function,
        "fma" | "add" | "mul" | "fmin" | "fmax" | "fabs" if of_floats => Work::Arithmetic,
        _ if of_floats => Work::Conversion,
        _ => Work::Integer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_told_by_name() {
        assert_eq!(work("llvm.nvvm.sqrt.approx.f", true), Work::Division);
        assert_eq!(work("llvm.nvvm.fma.rn.f", true), Work::Arithmetic);
        assert_eq!(work("llvm.nvvm.add.rn.f", false), Work::Integer);
        assert_eq!(work("llvm.nvvm.membar.gl", false), Work::Other);
    }
}
