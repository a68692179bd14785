//! The CPU as a device: memory is the host's, and kernels run block by block over a pool of OS threads, those of streams that a program makes
//! beside one another.
//!
//! From the bottom: the table of kernels (`kernel`), what their launches showed (`pace`), a launch (`job`), the state of an OS thread that
//! runs blocks (`state`, `waiting`), a block (`block`), switches (`switch`), faults (`fault`), what threads wait at (`barrier`, `warp`, `wave`), blocks that
//! wait (`relief`), the order in which threads run (`scheduler`), threads that wait in the split form (`fibers`), blocks of a grid that take
//! turns (`turns`), the blocks of one OS thread (`run`), where OS threads come to a grid (`gate`), when they are called (`calling`, `lead`),
//! grids (`pool`), grids that kernels launch (`children`, `device_calls`), memory (`slabs`, `heap`), streams (`streams`), what they have to do (`kept`,
//! `queue`), who does it (`runners`) and whether it is done at once (`later`), and the seam (`machine`, `memory`, `transfers`, `stream_calls`, `events`,
//! `kernels`, `launches`).

mod advice;
mod arrays;
mod barrier;
mod block;
mod caches;
mod calling;
mod calls;
mod check;
mod checks;
mod children;
mod copies;
mod debugger;
mod device_calls;
mod events;
mod exit;
mod failure;
mod fault;
mod fibers;
mod files;
mod frames;
mod gate;
mod graphs;
mod grid_barrier;
mod heap;
mod hints;
mod interprocess;
mod job;

mod kept;
mod kernel;
mod kernels;
mod later;
mod launches;
mod lead;
mod limits;
pub mod machine;
mod memory;
mod mipmaps;
mod output;
mod pace;
mod pages;
mod parts;
mod pool;
mod pools;
mod processors;
mod properties;
mod queue;
mod relief;
mod report;
mod run;
mod runners;
mod sanitizer;
mod scheduler;
mod shuffle;
mod slabs;
mod stack;
mod state;
mod stream_calls;
mod streams;
mod switch;
mod textures;
mod trace;
mod transfers;
mod turns;
mod values;
mod virtual_memory;
mod waiting;
mod warp;
mod wave;
