//! NVVM: the language of device code as clang gives it for CUDA, whichever target it is for.
//!
//! Passes know its names from here alone: what its operations, registers and inline assembly mean ([`thread_ops`],
//! [`warp_ops`]), what its libraries do ([`library`], [`intrinsics`]), what a
//! kernel's source says of its launches ([`bounds`]), and how the parallel form is said in it ([`Operations`]).

pub mod async_copies;
pub mod atomics;
pub mod bounds;
pub mod grid_barriers;
pub mod intrinsics;
pub mod library;
pub mod matrices;
mod operations;
pub mod thread_ops;
pub mod warp_ops;

use mlir_bridge::ir::{Attr, Op};

pub use operations::{NoCounterpart, Operations};

/// The dialect of its operations.
pub const DIALECT: &str = "nvvm";

/// LLVM's number of the calling convention of kernels.
pub const KERNEL_CONVENTION: u32 = 71;

/// The address space of block-shared memory.
pub const SHARED: u16 = 3;

/// Bytes of static shared memory that every chip lets a block have.
pub const STATIC_SHARED: u64 = 48 << 10;

/// [`STATIC_SHARED`] as the default of an option.
pub const STATIC_SHARED_TEXT: &str = "49152";

const REGISTER: &str = "nvvm.read.ptx.sreg.";

/// Whether the function is a kernel.
pub fn is_kernel(func: Op<'_>) -> bool {
    func.is("llvm.func")
        && (func.has_attr("nvvm.kernel")
            || func.attr("CConv").and_then(Attr::as_calling_convention) == Some(KERNEL_CONVENTION))
}

/// The name of the special register that an operation reads, as in `tid.x`.
pub fn special_register<'c>(op: Op<'c>) -> Option<&'c str> {
    op.name().strip_prefix(REGISTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_and_text_of_a_limit_agree() {
        assert_eq!(STATIC_SHARED_TEXT.parse(), Ok(STATIC_SHARED));
    }
}
