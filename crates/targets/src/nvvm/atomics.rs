//! CUDA's atomic functions told apart from atomic operations of the source.
//!
//! `atomicAdd` is relaxed and of device scope, `__atomic_fetch_add(p, 1, __ATOMIC_SEQ_CST)` is neither, but clang gives both the
//! strongest order of the system, since LLVM's NVPTX drops it:
//!
//! ```text
//! define internal i32 @_ZL12__iAtomicAddPii(ptr %0, i32 %1) { ... atomicrmw add ptr %5, i32 %6 seq_cst ... }   ; of clang's headers
//! ```
//! becomes
//! ```text
//!                                                           ... atomicrmw add ptr %5, i32 %6 syncscope("device") seq_cst ...
//! ```
//! clang itself gives NVPTX no atomic operation of that scope, so that it stands for CUDA's functions.

use inkwell::module::{Linkage, Module};
use inkwell::values::InstructionOpcode;
use mlir_bridge::llvm;

/// The scope that CUDA's atomic functions get, without a suffix of their own.
const DEVICE: &str = "device";

/// Gives the atomic operations in clang's definitions of CUDA's atomic functions the scope of the device. To be called before
/// anything is inlined.
pub fn scope(module: &Module<'_>) {
    let ours = module.get_functions().filter(|f| f.get_linkage() == Linkage::Internal);
    for function in ours.filter(|f| is_cuda_atomic(&f.get_name().to_string_lossy())) {
        for instruction in function.get_basic_block_iter().flat_map(|block| block.get_instructions()) {
            if matches!(instruction.get_opcode(), InstructionOpcode::AtomicRMW | InstructionOpcode::AtomicCmpXchg) {
                llvm::set_sync_scope(instruction, DEVICE);
            }
        }
    }
}

/// Whether `symbol` is one of the functions that CUDA's atomic functions call (`__iAtomicAdd`): `_ZL12__iAtomicAddPii`.
fn is_cuda_atomic(symbol: &str) -> bool {
    let name = symbol.strip_prefix("_ZL").unwrap_or_default().trim_start_matches(|c: char| c.is_ascii_digit());
    name.strip_prefix("__")
        .map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_lowercase()))
        .is_some_and(|rest| rest.starts_with("Atomic"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_told_by_name() {
        for known in ["_ZL12__iAtomicAddPii", "_ZL14__ullAtomicMaxPyy", "_ZL12__dAtomicAddPdd", "_ZL12__uAtomicIncPjj"]
        {
            assert!(is_cuda_atomic(known), "{known}");
        }
        for other in ["_ZL9atomicAddPii", "_Z12__iAtomicAddPii", "_ZL8myAtomicPi", "__iAtomicAdd"] {
            assert!(!is_cuda_atomic(other), "{other}");
        }
    }
}
