//! The CPU as a device: memory is the host's, work is done when the call that asks for it returns, and kernels run
//! block by block over a pool of OS threads.
//!
//! From the bottom: the table of kernels (`kernel`), a launch (`job`), the state of an OS thread that runs blocks
//! (`state`), switches between CUDA threads (`switch`), what they wait at (`barrier`, `warp`), the order in which they
//! run (`scheduler`), threads and blocks that wait in the split form (`fibers`, `relief`), blocks (`run`), grids (`pool`), and the seam (`machine`, `memory`, `transfers`, `stream_calls`,
//! `events`, `kernels`, `launches`).

mod arrays;
mod barrier;
mod calls;
mod copies;
mod events;
mod exit;
mod failure;
mod fault;
mod fibers;
mod grid_barrier;
mod heap;
mod hints;
mod job;
mod kernel;
mod kernels;
mod launches;
mod limits;
pub mod machine;
mod memory;
mod output;
mod pool;
mod pools;
mod properties;
mod relief;
mod report;
mod run;
mod scheduler;
mod stack;
mod state;
mod stream_calls;
mod streams;
mod switch;
mod transfers;
mod turns;
mod warp;
mod wave;
