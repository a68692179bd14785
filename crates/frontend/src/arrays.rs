//! Arrays of a thread that become registers.
//!
//! ```c++
//! int items[4];
//! for (int i = 0; i < 4; ++i) items[i] = in[i * blockDim.x + threadIdx.x];
//! for (int i = 0; i < 4; ++i) sum += items[i];
//! ```
//! Before: `alloca [4 x i32]` and two loops. After: four values, no loop. What is known of a value is lost when it goes through memory: that
//! it is the same for all threads, that it counts up with them, that a pointer is one to shared memory (so that an atomic operation on
//! it is an ordinary one on the CPU, where one thread runs a block). A back end unrolls such loops too, but only at its end.
//!
//! Only loops that count up addresses in such arrays are unrolled, and only where nothing of the array stays in memory then
//! (`mlir-bridge/cpp/unroll_arrays.cpp`): all other loops keep the form in which threads go through them in rows. Code without such arrays
//! is left as it is.

use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use mlir_bridge::llvm;

use crate::clean::{CleanError, nvptx_machine};

/// Instructions that a loop may become: what LLVM's unrolling allows where it makes registers of private memory (AMDGPU's
/// `-amdgpu-unroll-threshold-private`).
const LIMIT: u64 = 2700;

/// Beginnings of the names of barriers of a block or a grid, and what inline assembly has for them.
const BARRIERS: &[&str] =
    &["llvm.nvvm.barrier", "__regrain_grid_barrier", "bar.sync", "bar.red", "bar.arrive", "barrier."];

/// What follows where a loop was unrolled. Addresses of arrays that were kept in others are only known when these are gone.
const PASSES: &str = "function(sroa,early-cse,simplifycfg,sroa,early-cse,simplifycfg,dse,loop-simplify,lcssa)";

/// Makes registers of arrays in a module that was cleaned. `cpu` is the architecture, such as `sm_70`.
pub fn to_registers(module: &Module<'_>, cpu: &str) -> Result<(), CleanError> {
    if !llvm::unroll_arrays(module, BARRIERS, LIMIT) {
        return Ok(());
    }
    let done = module.run_passes(PASSES, &nvptx_machine(module, cpu)?, PassBuilderOptions::create());
    done.map_err(|error| CleanError::Passes(error.to_string()))
}
