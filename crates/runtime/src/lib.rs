//! The CPU runtime: the `cuda*` functions that a compiled CUDA program calls, carried out on the CPU.
//!
//! A program links `libregrain_rt.a` instead of NVIDIA's cudart. The compiler's image table (`abi.rs`) is registered by clang's own
//! host code (`registration.rs`); launches (`launch.rs`) go block by block over a thread pool (`pool.rs`, `worker.rs`), each block
//! in split form or as coroutines (`scheduler.rs`, `barrier.rs`, `warp.rs`).
//!
//! Work is done synchronously: every call returns when its work is finished, which satisfies the order of every stream. What is
//! not here is a link error or `cudaErrorNotSupported`, never a pretended success.
//!
//! | variable | meaning |
//! |---|---|
//! | `REGRAIN_CPU_THREADS` | OS threads that run blocks (default: all processors) |
//! | `REGRAIN_CPU_MODE` | `coroutine`: always one coroutine per CUDA thread; `split` (default): the split form where there is one |
//! | `REGRAIN_CPU_CHECK` | `1`: a barrier that not all threads reach at one place is an error |
//! | `REGRAIN_CPU_ARCH` | the compute capability to report (`sm_80`), default what the program was compiled for |

// `unsafe` is confined to the C ABI; each block says why it holds.
#![allow(clippy::missing_safety_doc)]

pub mod abi;
mod array;
mod barrier;
mod copy;
mod device;
mod device_calls;
mod error;
mod error_table;
mod event;
mod exit;
mod fault;
mod func;
mod grid;
mod job;
mod launch;
mod macros;
mod memory;
mod mempool;
mod pool;
mod printf;
mod props;
mod registration;
mod report;
mod scheduler;
mod stack;
mod stream;
mod unsupported;
mod warp;
mod worker;

/// Programs that are built for profiling link it with the runtime, as one library; others take nothing of it.
pub use regrain_profiler;
