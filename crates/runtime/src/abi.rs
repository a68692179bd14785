//! The binary interface between generated code and this runtime.
//!
//! A translation unit hands over its images (through clang's own fat-binary registration): a [`CpuImage`], NVIDIA's fat
//! binary, an [`ImageSet`] with images for several devices, or a [`Unit`] that shares a set with others. A [`CpuImage`] lists kernels and device variables. A
//! kernel has up to two forms: `thread_entry` runs one CUDA thread and reads its coordinates from [`Tls`];
//! `block_entry` runs a whole block. Everything here is `repr(C)` and mirrored in `native.c` and in the code generator.
//!
//! # The CPU's images
//!
//! `targets::cpu::image` of the compiler writes it. In short:
//!
//! - The thread state `__regrain_tls` is thread-local: indices, shape, block shared memory, the site of the last
//!   synchronising call. Coroutines of one block never leave their OS thread.
//! - `__shared__` variables are thread-local variables of the program: an OS thread runs one block at a time. Their linkage
//!   is external so that no optimisation takes one for a single thread's own. Dynamic shared memory is the runtime's
//!   thread-local `__regrain_dynamic_shared`. 32-bit shared addresses round-trip: what is neither is not asked for, and a
//!   program's or library's static ones lie together.
//! - A block form that reaches the grid-wide barrier finds its dynamic shared memory through `dynamic_shared` of the thread state:
//!   blocks take turns on an OS thread there.
//! - A block form may run several blocks that follow one another along x in one call: it finds in `available` how many there are, and
//!   writes to `taken` how many it ran, which is 1 before the call. One that runs so many together or one alone writes to
//!   `available` how many that are.
//! - Device symbols carry the prefix `__regrain_dev_`; they are internal, or with `-fgpu-rdc` visible, which makes the host's
//!   linker the device linker.
//! - LLVM's address spaces stay in the IR; on x86-64 and AArch64 all of them are one flat space.
//! - `__regrain_blocks_per_task(n)` says how many blocks a worker takes at once in the calling thread's next launch: 0 is the usual number
//!   (`tuning::tasks`), more than there are is all of them. Cooperative launches do not ask.
//! - Floating-point contraction is switched off for the CPU, so that every form of a kernel gives the same bits.

use std::ffi::{c_char, c_void};

/// Magic of the wrapper that clang passes to `__cudaRegisterFatBinary`.
pub const FATBIN_WRAPPER_MAGIC: u32 = 0x4662_43b1;
/// `RRGCPU01`, little endian.
pub const IMAGE_MAGIC: u64 = 0x3130_5550_4347_5252;

/// The kernel may reach a barrier or a warp operation. For tools: the thread form always runs in coroutines, which cost
/// a thread that does not wait next to nothing, and so is right for threads that wait for one another through memory
/// too.
pub const FLAG_SYNCHRONISES: u32 = 1;
/// The block forms of the kernel reach the grid-wide barrier: they wait for other blocks there and nowhere else.
pub const FLAG_GRID_SYNC: u32 = 2;
/// The kernel's code tells a checker what it does (`-fregrain-check=`).
pub const FLAG_CHECKED: u32 = 4;
/// The block forms of the kernel have loops in which a thread may wait, if only for the host.
pub const FLAG_BLOCKS_WAIT: u32 = 8;
/// The coroutine form of the kernel has operations that threads can wait with for one another, or for the host.
pub const FLAG_THREADS_WAIT: u32 = 16;

/// From which bit on the row of a parameter says how it is aligned among the others, as a logarithm and one more.
pub const PARAMETER_ALIGNED_AT: u32 = 24;

/// A kernel entry; the argument is what `cudaLaunchKernel` got: one pointer per kernel parameter.
pub type Entry = unsafe extern "C" fn(*mut *mut c_void);

/// Where in the source a synchronising call stands.
#[repr(C)]
pub struct Site {
    pub file: *const c_char,
    pub line: u32,
    pub function: *const c_char,
}

/// Thread-local state shared with generated code, `__regrain_tls`.
#[repr(C)]
pub struct Tls {
    pub tid: [u32; 3],
    pub ntid: [u32; 3],
    pub ctaid: [u32; 3],
    pub nctaid: [u32; 3],
    pub laneid: u32,
    pub warpid: u32,
    pub dynamic_shared_size: u32,
    pub grid_id: u32,
    pub dynamic_shared: *mut c_void,
    pub site: *const Site,
    pub runtime: *mut c_void,
    /// How many blocks from this one on, along x, one call of a block form may run, and how many it ran.
    pub available: u32,
    pub taken: u32,
    /// How many more hints of code that waits change nothing.
    pub hints: u32,
    /// From how many bytes of each thread on, stored and not read, a launch's are more than the caches hold.
    pub streams: u32,
}

const _: () = assert!(size_of::<Tls>() == 104);
const _: () = assert!(std::mem::offset_of!(Tls, hints) == 96);
const _: () = assert!(std::mem::offset_of!(Tls, streams) == 100);
const _: () = assert!(std::mem::offset_of!(Tls, available) == 88);
const _: () = assert!(std::mem::offset_of!(Tls, laneid) == 48);
const _: () = assert!(std::mem::offset_of!(Tls, dynamic_shared) == 64);
const _: () = assert!(std::mem::offset_of!(Tls, site) == 72);

/// A block form specialised for one constant block shape.
#[repr(C)]
pub struct CpuVariant {
    pub block: [u32; 3],
    pub block_entry: Option<Entry>,
}

#[repr(C)]
pub struct CpuKernel {
    pub name: *const c_char,
    pub thread_entry: Option<Entry>,
    pub block_entry: Option<Entry>,
    /// The bytes of each, and from [`PARAMETER_ALIGNED_AT`] on how it is aligned: 0 where that is not said.
    pub param_sizes: *const u32,
    pub num_params: u32,
    pub flags: u32,
    pub max_threads: u32,
    pub static_shared: u32,
    pub local_bytes: u32,
    pub variants: *const CpuVariant,
    pub num_variants: u32,
    /// What device code knows it by; null where that takes no address of it.
    pub address: *const c_void,
}

#[repr(C)]
pub struct CpuVar {
    pub name: *const c_char,
    pub address: *mut c_void,
    pub size: u64,
}

#[repr(C)]
pub struct CpuImage {
    pub magic: u64,
    pub kernels: *const CpuKernel,
    pub num_kernels: u32,
    pub num_vars: u32,
    pub vars: *const CpuVar,
}

/// `RRGSET01`, little endian.
pub const IMAGE_SET_MAGIC: u64 = 0x3130_5445_5347_5252;
/// First word of NVIDIA's fat binary.
pub const NVIDIA_FATBIN_MAGIC: u32 = 0xba55_ed50;

/// One program's images for several devices.
#[repr(C)]
pub struct ImageSet {
    pub magic: u64,
    /// The CPU's image, or null.
    pub cpu: *const CpuImage,
    /// LLVM's offload binaries one after the other, each aligned to eight bytes, or null.
    pub offload: *const u8,
    pub offload_size: u64,
}

const _: () = assert!(size_of::<ImageSet>() == 32);
const _: () = assert!(std::mem::offset_of!(ImageSet, cpu) == 8);
const _: () = assert!(std::mem::offset_of!(ImageSet, offload) == 16);
const _: () = assert!(std::mem::offset_of!(ImageSet, offload_size) == 24);

/// `RRGUNI01`, little endian.
pub const UNIT_MAGIC: u64 = 0x3130_494e_5547_5252;

/// One translation unit of a program whose device code was linked (`-fgpu-rdc`).
#[repr(C)]
pub struct Unit {
    pub magic: u64,
    /// The CPU's image of this unit, or null.
    pub cpu: *const CpuImage,
    /// What all units of the program, or of the shared library, have in common: variables in it are the same for each.
    pub program: *const ImageSet,
    /// A number that no other unit of the program has, for tools.
    pub number: u64,
}

const _: () = assert!(size_of::<Unit>() == 32);
const _: () = assert!(std::mem::offset_of!(Unit, program) == 16);

/// What clang emits for `__cudaRegisterFatBinary`. `data` leads to a [`CpuImage`], an [`ImageSet`], a [`Unit`] or NVIDIA's
/// fat binary, which their first words tell apart.
#[repr(C)]
pub struct FatbinWrapper {
    pub magic: u32,
    pub version: u32,
    pub data: *const c_void,
    pub unused: *const c_void,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim3 {
    pub x: u32,
    pub y: u32,
    pub z: u32,
}

impl Dim3 {
    pub fn array(self) -> [u32; 3] {
        [self.x, self.y, self.z]
    }
}

unsafe extern "C" {
    fn __regrain_tls_address() -> *mut Tls;
    fn __regrain_dynamic_shared_address() -> *mut c_void;
}

/// This OS thread's `__regrain_tls`.
pub fn tls() -> *mut Tls {
    // SAFETY: a C function without preconditions that returns the address of a thread-local.
    unsafe { __regrain_tls_address() }
}

/// Largest dynamic shared memory of a block, bytes.
pub const MAX_DYNAMIC_SHARED: usize = 232_448;

/// This OS thread's array of [`MAX_DYNAMIC_SHARED`] bytes for dynamic shared memory.
pub fn dynamic_shared() -> *mut c_void {
    // SAFETY: gives the address of this OS thread's own storage.
    unsafe { __regrain_dynamic_shared_address() }
}
