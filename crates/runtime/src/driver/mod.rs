//! CUDA's driver API: the `cu*` functions, for programs that would be linked with `libcuda`.
//!
//! Where the device of the process is NVIDIA's, each is the function of that name in NVIDIA's library (`frame`).
//! Elsewhere contexts
//! are handles (`known`, `contexts`), modules are libraries that the compiler makes for the CPU (`modules`), and all else is
//! the runtime's
//! (`same`) or goes over the same seam. What is absent is `CUDA_ERROR_NOT_SUPPORTED` (`unsupported`).

mod contexts;
mod copies;
mod devices;
mod entry;
mod errors;
mod frame;
mod functions;
mod graphs;
mod jit;
mod known;
mod libraries;
mod lookups;
mod memory;
mod modules;
mod same;
mod same_graphs;
mod textures;
mod unsupported;
mod values;
mod virtual_memory;
