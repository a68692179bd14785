//! CUDA's runtime for device code (`cuda_device_runtime_api.h`): launches, streams and events, memory, questions.
//!
//! The compiler sends calls here (`targets::from_nvvm::device_runtime`) and adds who calls: the number of the block in its grid and of the
//! thread in its block. What a stream is asked to do is kept until the grid has ended (`children`), so events are in order by themselves.
//! Memory is that of `malloc` in device code, as CUDA has it: the host can free or copy none of it.

use std::collections::HashSet;
use std::ffi::{c_char, c_void};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::children::{self, Caller, ChildGrid, Parameters, Task};
use super::fault::guard::guarded;
use super::graphs::conditional;
use super::kernel::{Kernel, kernel_at};
use super::machine::Cpu;
use super::state::current;
use super::{arrays, copies, kernels, launches};
use crate::abi::Dim3;
use crate::compiled;
use crate::device::seam::{Copy2d, Machine};
use crate::error::{CudaError, Result, c_string, check};
use crate::types::{Copy3d, DEFAULT, Extent, FuncAttributes, PitchedPtr};

type Stream = *mut c_void;

/// `cudaStreamTailLaunch` and `cudaStreamFireAndForget`.
const TAIL: usize = 3;
const FIRE_AND_FORGET: usize = 4;

/// In front of arguments: what is to be launched, where device code says it when it asks for the memory.
#[repr(C, align(64))]
struct Header {
    function: *const c_void,
    grid: Dim3,
    block: Dim3,
    shared: u32,
}

/// Frees what [`allocate_parameters`] gave.
///
/// # Safety
/// It did, once; null is fine.
unsafe fn release_parameters(parameters: *mut c_void) {
    if !parameters.is_null() {
        // SAFETY: by contract: the header lies in front.
        unsafe { libc::free(parameters.wrapping_byte_sub(size_of::<Header>())) };
    }
}

impl Drop for Parameters {
    fn drop(&mut self) {
        // SAFETY: it was allocated for this launch, which is over.
        unsafe { release_parameters(self.0) };
    }
}

fn allocate_parameters(size: usize, header: Header) -> *mut c_void {
    let bytes = (size_of::<Header>() + size).next_multiple_of(align_of::<Header>());
    // SAFETY: a size that is a multiple of the alignment; the header fits.
    unsafe {
        let start = libc::aligned_alloc(align_of::<Header>(), bytes);
        if start.is_null() {
            return start;
        }
        start.cast::<Header>().write(header);
        start.wrapping_byte_add(size_of::<Header>())
    }
}

/// Streams and events of device code that have not been destroyed. A handle is never used again.
fn handles() -> MutexGuard<'static, (HashSet<usize>, usize)> {
    static HANDLES: OnceLock<Mutex<(HashSet<usize>, usize)>> = OnceLock::new();
    HANDLES.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

const FIRST_HANDLE: usize = 0x4445_0010;

fn make_handle() -> usize {
    let mut handles = handles();
    let handle = FIRST_HANDLE + 16 * handles.1;
    handles.1 += 1;
    handles.0.insert(handle);
    handle
}

fn check_handle(handle: *mut c_void) -> Result {
    if handles().0.contains(&(handle as usize)) { Ok(()) } else { Err(CudaError::INVALID_RESOURCE_HANDLE) }
}

fn destroy_handle(handle: *mut c_void) -> Result {
    if handles().0.remove(&(handle as usize)) { Ok(()) } else { Err(CudaError::INVALID_RESOURCE_HANDLE) }
}

/// Whether a stream, which is there, is that for tail launches.
fn is_tail(stream: Stream) -> Result<bool> {
    match stream as usize {
        TAIL => Ok(true),
        0..TAIL | FIRE_AND_FORGET => Ok(false),
        _ => check_handle(stream).map(|()| false),
    }
}

/// The grid that the calling OS thread runs.
fn grid() -> Result<u32> {
    let worker = current();
    // SAFETY: a non-null worker belongs to this OS thread and runs a block.
    if worker.is_null() { Err(CudaError::INVALID_CONTEXT) } else { Ok(unsafe { (*worker).job().grid_id }) }
}

/// Does what a function is for; its error is the thread's last one.
fn call(caller: Caller, work: impl FnOnce(u32) -> Result) -> u32 {
    let Ok(grid) = grid() else { return CudaError::INVALID_CONTEXT.0 };
    guarded(|| {
        work(grid).map_or_else(
            |error| {
                children::set_error(grid, caller, error);
                error.0
            },
            |()| 0,
        )
    })
}

/// # Safety
/// `place` is null or valid for a write.
unsafe fn put<T>(place: *mut T, value: T) -> Result {
    check(!place.is_null())?;
    // SAFETY: by contract.
    unsafe { place.write(value) };
    Ok(())
}

fn bytes_of_parameters(kernel: &Kernel) -> usize {
    let end = |end: usize, (size, aligned): (&u32, &u32)| end.next_multiple_of(*aligned as usize) + *size as usize;
    kernel.param_sizes.iter().zip(&kernel.param_alignments).fold(0, end)
}

/// Keeps a launch for when the grid of the caller has ended.
///
/// # Safety
/// `parameters` is what device code got for the arguments, and wrote there.
unsafe fn launch(grid: u32, block: u64, header: &Header, parameters: Parameters, stream: Stream) -> Result {
    let kernel = kernel_at(header.function)?;
    launches::check_shape(kernel, header.grid, header.block, header.shared as usize)?;
    let tail = is_tail(stream)?;
    let Header { grid: of_blocks, block: of_threads, shared, .. } = *header;
    let child = ChildGrid { kernel, grid: of_blocks, block: of_threads, shared, parameters };
    children::add(grid, block, Task::Grid(child), tail)
}

/// Defines functions that the compiler names `__regrain_cuda_*`. The body gives a `Result`, whose error is the caller's last one; `grid`
/// and `caller` are who calls.
macro_rules! device_calls {
    ($(fn $name:ident [$grid:ident $caller:ident] ($($arg:ident : $ty:ty),* $(,)?) $body:block)*) => {$(
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, reason = "CUDA's names")]
        #[allow(clippy::too_many_arguments, reason = "CUDA's signatures")]
        #[allow(unused_unsafe, reason = "some bodies touch no pointer")]
        unsafe extern "C" fn $name($($arg: $ty,)* block: u64, thread: u32) -> u32 {
            let $caller: Caller = (block, thread);
            // SAFETY: device code keeps the contract of the CUDA function of this name.
            call($caller, |$grid| unsafe { $body })
        }
    )*};
}

/// Memory for the arguments of a launch.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "CUDA's names")]
extern "C" fn __regrain_cuda_GetParameterBuffer(
    _alignment: usize,
    size: usize,
    block: u64,
    thread: u32,
) -> *mut c_void {
    let nothing = Dim3 { x: 0, y: 0, z: 0 };
    let made =
        allocate_parameters(size, Header { function: std::ptr::null(), grid: nothing, block: nothing, shared: 0 });
    if made.is_null() {
        call((block, thread), |_| Err(CudaError::MEMORY_ALLOCATION));
    }
    made
}

/// The same of a launch of which all else is known; null where it cannot be.
///
/// # Safety
/// As CUDA's function of this name; shapes are passed by reference.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "CUDA's names")]
unsafe extern "C" fn __regrain_cuda_GetParameterBufferV2(
    function: *const c_void,
    grid: *const Dim3,
    threads: *const Dim3,
    shared: u32,
    block: u64,
    thread: u32,
) -> *mut c_void {
    let mut made = std::ptr::null_mut();
    call((block, thread), |_| {
        let kernel = kernel_at(function)?;
        // SAFETY: by contract.
        let header = unsafe { Header { function, grid: *grid, block: *threads, shared } };
        launches::check_shape(kernel, header.grid, header.block, shared as usize)?;
        made = allocate_parameters(bytes_of_parameters(kernel), header);
        if made.is_null() { Err(CudaError::MEMORY_ALLOCATION) } else { Ok(()) }
    });
    made
}

/// # Safety
/// None: an error's code goes in.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "CUDA's names")]
extern "C" fn __regrain_cuda_GetErrorString(code: u32, _block: u64, _thread: u32) -> *const c_char {
    c_string(code, |entry| &entry.1)
}

/// # Safety
/// None: an error's code goes in.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "CUDA's names")]
extern "C" fn __regrain_cuda_GetErrorName(code: u32, _block: u64, _thread: u32) -> *const c_char {
    c_string(code, |entry| &entry.0)
}

/// The last error of the calling thread, which is none then.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "CUDA's names")]
extern "C" fn __regrain_cuda_GetLastError(block: u64, thread: u32) -> u32 {
    grid().map_or(0, |grid| children::last_error(grid, (block, thread), true))
}

/// The last error of the calling thread.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "CUDA's names")]
extern "C" fn __regrain_cuda_PeekAtLastError(block: u64, thread: u32) -> u32 {
    grid().map_or(0, |grid| children::last_error(grid, (block, thread), false))
}

/// Sets a value that conditional nodes of graphs ask for.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "CUDA's names")]
extern "C" fn __regrain_cuda_GraphSetConditional(handle: u64, value: u32, block: u64, thread: u32) {
    call((block, thread), |_| conditional::set(handle, value));
}

/// Keeps a copy or fill for when the grid of the caller has ended.
fn later(grid: u32, block: u64, stream: Stream, work: impl FnOnce() -> Result + Send + 'static) -> Result {
    children::add(grid, block, Task::Other(Box::new(work)), is_tail(stream)?)
}

/// Pointers of the program that another OS thread uses.
struct Sent<T>(T);

// SAFETY: the program may use its memory from any thread.
unsafe impl<T> Send for Sent<T> {}

/// Fills rows.
///
/// # Safety
/// The rows are valid.
unsafe fn fill_rows(to: *mut c_void, pitch: usize, value: i32, width: usize, rows: usize) {
    for row in 0..rows {
        // SAFETY: by contract.
        unsafe { to.cast::<u8>().add(row * pitch).write_bytes(value as u8, width) };
    }
}

/// Keeps a copy of rows; device memory is all that device code copies.
fn copy_later(grid: u32, caller: Caller, copy: Copy2d, stream: Stream) -> Result {
    if copy.kind > DEFAULT {
        return Err(CudaError::INVALID_MEMCPY_DIRECTION);
    }
    let empty = copy.width == 0 || copy.height == 0;
    check(empty || !copy.to.is_null() && !copy.from.is_null())?;
    let copy = Sent(Copy2d { kind: DEFAULT, ..copy });
    later(grid, caller.0, stream, move || {
        let Sent(copy) = { copy };
        // SAFETY: memory that device code names is valid.
        unsafe { copies::copy_2d(&copy) }
    })
}

device_calls! {
    fn __regrain_cuda_LaunchDevice [grid caller] (
        function: *const c_void, parameters: *mut c_void, blocks: *const Dim3, threads: *const Dim3, shared: u32, stream: Stream,
    ) {
        let parameters = Parameters(parameters);
        launch(grid, caller.0, &Header { function, grid: *blocks, block: *threads, shared }, parameters, stream)
    }

    fn __regrain_cuda_LaunchDeviceV2 [grid caller] (parameters: *mut c_void, stream: Stream) {
        check(!parameters.is_null())?;
        let header = parameters.wrapping_byte_sub(size_of::<Header>()).cast::<Header>().read();
        launch(grid, caller.0, &header, Parameters(parameters), stream)
    }

    fn __regrain_cuda_DeviceSynchronize [grid caller] () { children::wait_for_block(grid, caller.0) }

    fn __regrain_cuda_StreamCreateWithFlags [_grid _caller] (stream: *mut usize, flags: u32) {
        // A stream of device code is not ordered with the default stream, and must say so.
        check(flags == 1)?;
        put(stream, make_handle())
    }

    fn __regrain_cuda_StreamDestroy [_grid _caller] (stream: Stream) { destroy_handle(stream) }

    fn __regrain_cuda_StreamWaitEvent [_grid _caller] (stream: Stream, event: *mut c_void, _flags: u32) {
        is_tail(stream)?;
        check_handle(event)
    }

    fn __regrain_cuda_EventCreateWithFlags [_grid _caller] (event: *mut usize, flags: u32) {
        // Device code takes no times.
        check(flags == 2)?;
        put(event, make_handle())
    }

    fn __regrain_cuda_EventDestroy [_grid _caller] (event: *mut c_void) { destroy_handle(event) }

    fn __regrain_cuda_EventRecord [_grid _caller] (event: *mut c_void, stream: Stream) {
        is_tail(stream)?;
        check_handle(event)
    }

    fn __regrain_cuda_EventRecordWithFlags [_grid _caller] (event: *mut c_void, stream: Stream, _flags: u32) {
        is_tail(stream)?;
        check_handle(event)
    }

    fn __regrain_cuda_Malloc [_grid _caller] (place: *mut *mut c_void, size: usize) {
        let made = libc::malloc(size);
        if size != 0 && made.is_null() {
            return Err(CudaError::MEMORY_ALLOCATION);
        }
        put(place, made)
    }

    fn __regrain_cuda_Free [_grid _caller] (pointer: *mut c_void) {
        libc::free(pointer);
        Ok(())
    }

    fn __regrain_cuda_MemcpyAsync [grid caller] (
        to: *mut c_void, from: *const c_void, count: usize, kind: u32, stream: Stream,
    ) {
        let copy = Copy2d { to, to_pitch: count, from, from_pitch: count, width: count, height: 1, kind };
        copy_later(grid, caller, copy, stream)
    }

    fn __regrain_cuda_Memcpy2DAsync [grid caller] (
        to: *mut c_void, to_pitch: usize, from: *const c_void, from_pitch: usize, width: usize, height: usize, kind: u32,
        stream: Stream,
    ) {
        if width > to_pitch || width > from_pitch {
            return Err(CudaError::INVALID_PITCH);
        }
        copy_later(grid, caller, Copy2d { to, to_pitch, from, from_pitch, width, height, kind }, stream)
    }

    fn __regrain_cuda_Memcpy3DAsync [grid caller] (copy: *const Copy3d, stream: Stream) {
        let copy = copy.as_ref().ok_or(CudaError::INVALID_VALUE)?;
        let copy = Sent(Copy3d { kind: DEFAULT.max(copy.kind), ..*copy });
        later(grid, caller.0, stream, move || {
            let Sent(copy) = { copy };
            // SAFETY: memory that device code names is valid.
            unsafe { arrays::copy_3d(&copy) }
        })
    }

    fn __regrain_cuda_MemsetAsync [grid caller] (to: *mut c_void, value: i32, count: usize, stream: Stream) {
        check(count == 0 || !to.is_null())?;
        let to = Sent(to);
        later(grid, caller.0, stream, move || {
            let Sent(to) = { to };
            // SAFETY: memory that device code names is valid.
            unsafe { fill_rows(to, 0, value, count, usize::from(count != 0)) };
            Ok(())
        })
    }

    fn __regrain_cuda_Memset2DAsync [grid caller] (
        to: *mut c_void, pitch: usize, value: i32, width: usize, height: usize, stream: Stream,
    ) {
        check(width == 0 || height == 0 || !to.is_null())?;
        let to = Sent(to);
        later(grid, caller.0, stream, move || {
            let Sent(to) = { to };
            // SAFETY: memory that device code names is valid.
            unsafe { fill_rows(to, pitch, value, width, if width == 0 { 0 } else { height }) };
            Ok(())
        })
    }

    fn __regrain_cuda_Memset3DAsync [grid caller] (
        to: *const PitchedPtr, value: i32, extent: *const Extent, stream: Stream,
    ) {
        let (to, extent) = (*to, *extent);
        check(extent.width == 0 || !to.ptr.is_null())?;
        let to = Sent(to);
        later(grid, caller.0, stream, move || {
            let Sent(to) = { to };
            for slice in 0..if extent.width == 0 { 0 } else { extent.depth } {
                let start = to.ptr.wrapping_byte_add(slice * to.pitch * to.ysize);
                // SAFETY: memory that device code names is valid.
                unsafe { fill_rows(start, to.pitch, value, extent.width, extent.height) };
            }
            Ok(())
        })
    }

    fn __regrain_cuda_GetDevice [_grid _caller] (device: *mut i32) { put(device, Cpu.current()?) }

    fn __regrain_cuda_GetDeviceCount [_grid _caller] (count: *mut i32) { put(count, Cpu.count()?) }

    fn __regrain_cuda_DeviceGetAttribute [_grid _caller] (value: *mut i32, which: u32, device: i32) {
        put(value, Cpu.attribute(which, device)?)
    }

    fn __regrain_cuda_DeviceGetLimit [_grid _caller] (value: *mut usize, which: u32) { put(value, Cpu.limit(which)?) }

    fn __regrain_cuda_DeviceGetCacheConfig [_grid _caller] (config: *mut u32) { put(config, Cpu.cache_config()?) }

    fn __regrain_cuda_DeviceGetSharedMemConfig [_grid _caller] (config: *mut u32) { put(config, Cpu.shared_config()?) }

    fn __regrain_cuda_RuntimeGetVersion [_grid _caller] (version: *mut i32) { put(version, compiled::cuda_version()) }

    fn __regrain_cuda_FuncGetAttributes [_grid _caller] (attributes: *mut FuncAttributes, function: *const c_void) {
        put(attributes, kernels::attributes(kernel_at(function)?))
    }

    fn __regrain_cuda_OccupancyMaxActiveBlocksPerMultiprocessor [_grid _caller] (
        count: *mut i32, function: *const c_void, threads: i32, shared: usize,
    ) {
        put(count, kernels::occupancy(kernel_at(function)?, threads, shared)?)
    }

    fn __regrain_cuda_OccupancyMaxActiveBlocksPerMultiprocessorWithFlags [_grid _caller] (
        count: *mut i32, function: *const c_void, threads: i32, shared: usize, flags: u32,
    ) {
        check(flags <= 1)?;
        put(count, kernels::occupancy(kernel_at(function)?, threads, shared)?)
    }
}
