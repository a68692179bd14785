//! The runtime: the `cuda*` functions that a compiled CUDA program calls, carried out by a device that is chosen when
//! the program runs.
//!
//! A program links `libregrain_rt.a` instead of NVIDIA's cudart. clang's own host code registers the compiler's images
//! (`images/`); the functions of `api/` check arguments and call the device behind the seam (`device/seam.rs`):
//!
//! - `device/cpu`: kernels run block by block over a pool of OS threads. Work of the default streams is done when the call returns, unless it may
//!   wait for the program; that of streams which the program makes is done in their order, beside one another;
//! - `device/cuda`: NVIDIA's driver library, loaded at run time;
//! - `device/hip`: AMD's HIP, loaded at run time.
//!
//! The functions of CUDA's driver (`driver/`) are the same in its numbers and structures.
//!
//! A further device is one folder and one row of the table in `device/choice.rs`. What is not here is a link error or
//! `cudaErrorNotSupported`, never a pretended success.
//!
//! | variable | meaning |
//! |---|---|
//! | `REGRAIN_DEVICE` | `cpu`, `cuda` or `hip` (default: the first that the program has an image for and the machine has) |
//! | `REGRAIN_CPU_THREADS` | OS threads that run blocks (default: all processors) |
//! | `REGRAIN_CPU_MODE` | `coroutine`: always one coroutine per CUDA thread; `split` (default): the split form where there is one |
//! | `REGRAIN_CPU_SEED` | blocks and threads in an order of chance, the same one for the same number: one OS thread, coroutines |
//! | `REGRAIN_CPU_STREAMS` | `synchronous`: work of all streams is done when the call returns; `asynchronous` (default): see `device/cpu/later.rs` |
//! | `REGRAIN_CPU_STREAM_BYTES` | from how many bytes on what a launch stores goes past the caches (default: three quarters of the last cache) |
//! | `REGRAIN_CPU_CHECK` | `1`: a barrier that not all threads reach at one place is an error; kernels run as coroutines |
//! | `REGRAIN_CPU_FAULTS` | `off`: signals are left alone, and a fault in a kernel ends the process; `on` (default): it fails the kernel |
//! | `REGRAIN_LAUNCH_TRACE` | a file for a trace of launches, copies and fills on the CPU, as Perfetto and Chrome show it |
//! | `CUDA_LOG_FILE` | `stdout`, `stderr` or a file: why a module was not loaded on the CPU |
//! | `REGRAIN_CPU_ARCH` | the compute capability that the CPU reports (`sm_80`), default what the program was compiled for |

#![allow(clippy::missing_safety_doc, reason = "the contracts of the exported C functions are CUDA's own")]

pub mod abi;
mod api;
mod compiled;
mod device;
mod driver;
mod error;
mod error_table;
mod images;
mod macros;
mod properties;
mod types;

/// Programs that are built for profiling link it with the runtime, as one library; others take nothing of it.
pub use regrain_profiler;
