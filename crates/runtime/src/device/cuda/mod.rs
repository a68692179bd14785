//! NVIDIA GPUs, through the CUDA driver library.
//!
//! `libcuda.so.1` is loaded when the program runs ([`library`]). Each GPU is used through its *primary context*, the
//! one that NVIDIA's own runtime and libraries use, so all of them see the same memory, streams and events. Work is
//! asynchronous; streams and events are the driver's own handles. A translation unit's image is chosen and loaded on a
//! GPU when one of its kernels or variables is first used there ([`gpu::modules`](super::gpu::modules)).
//!
//! `__managed__` variables: the image is loaded when all of its translation unit is registered, on the GPU that is
//! current then, and the host's pointer is set to its managed storage. Such an image runs on that GPU alone; on another
//! its kernels are `cudaErrorNotSupported`.

mod arrays;
mod copies;
pub mod layout;
mod library;
pub mod machine;
mod pick;
mod state;
mod textures;
mod vendor;

pub use arrays::{array_descriptor, from_driver};
pub use library::driver_function;
