//! AMD GPUs, through HIP.
//!
//! `libamdhip64.so` of ROCm 5, 6 or 7 is loaded when the program runs ([`library`]). What differs between these is not
//! relied on: no structure of HIP's is read that has changed (its properties, its pointer attributes, its driver's
//! copies), attributes are asked for one by one, and numbers that changed are told by HIP's version. What was looked up
//! in HIP's headers was compared over the tags rocm-5.0.2, 5.2.3, 5.7.1, 6.0.2, 6.2.2 and the branch amd-staging of
//! github.com/ROCm/HIP; of 7 only its errors and parts of public bindings (attributes, peers) were seen.
//!
//! Memory, streams and events are HIP's own. A translation unit's code object is chosen by the GPU's name ([`arch`])
//! and loaded when one of its kernels or variables is first used on it. What kernels print comes through a buffer of
//! our own ([`output`]).
//!
//! The program's view stays CUDA's: error codes and their names, numbers of attributes, limits, the compute capability,
//! which is what the source was compiled for, and `warpSize`, which is 32 also where the hardware's waves have 64
//! lanes, since compiled code keeps CUDA's warps of 32 threads.

mod arch;
mod arrays;
mod copies;
mod figures;
mod library;
pub mod machine;
mod output;
mod state;
mod vendor;
