//! The seam between the `cuda*` functions and what carries them out: one trait per subject, [`Device`] for all of them.
//!
//! The functions of `api/` check plain arguments (null pointers, known flags), keep the last error and call the device.
//! Everything else is the device's. What a device does not carry out is [`CudaError::NOT_SUPPORTED`]; the methods with
//! a body here are the ones that a device may leave at that.

use std::ffi::c_void;

pub use super::seam_graphs::{Capture, Graphs, Handle, NodeParams, NodeWork, Update};
use crate::abi::Dim3;
use crate::error::{CudaError, Result};
use crate::images::registry::{Function, Variable};
use crate::properties::DeviceProp;
use crate::types::{
    Access, ChannelFormat, Copy3d, Copy3dPeer, Extent, FuncAttributes, LaunchAttribute, Location, MemoryProperties,
    MemsetNode, PitchedPtr, PointerAttributes, PoolProps, Resource, ResourceView, TextureSettings,
};

/// A stream: null or 1 for the legacy default stream, 2 for the calling thread's own default stream, else a handle of
/// the device.
pub type Stream = *mut c_void;
/// The calling thread's own default stream.
pub const PER_THREAD: Stream = 2 as Stream;

/// On which stream a copy runs, and whether the call waits for it.
#[derive(Clone, Copy)]
pub struct Order {
    pub stream: Stream,
    pub waits: bool,
}

/// A copy of rows.
#[derive(Clone, Copy)]
pub struct Copy2d {
    pub to: *mut c_void,
    pub to_pitch: usize,
    pub from: *const c_void,
    pub from_pitch: usize,
    pub width: usize,
    pub height: usize,
    pub kind: u32,
}

/// A fill of rows; of one row for linear memory.
#[derive(Clone, Copy)]
pub struct Fill {
    pub to: *mut c_void,
    pub pitch: usize,
    pub value: u8,
    pub width: usize,
    pub height: usize,
}

/// A rectangle of an array beside pitched memory: start in bytes and rows, width in bytes.
#[derive(Clone, Copy)]
pub struct Window {
    pub array: *const c_void,
    pub x: usize,
    pub y: usize,
    pub memory: *mut c_void,
    pub pitch: usize,
    pub width: usize,
    pub height: usize,
    pub kind: u32,
    /// Whether the copy goes into the array.
    pub into_array: bool,
}

/// What a process gives another one for memory or an event.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Foreign {
    pub bytes: [u8; 64],
}

/// Where an allocation lies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Space {
    Device,
    Managed,
    Host,
}

/// A launch as the program asked for it.
#[derive(Clone, Copy)]
pub struct Launch<'a> {
    pub grid: Dim3,
    pub block: Dim3,
    /// One pointer per parameter.
    pub args: *mut *mut c_void,
    pub shared: usize,
    pub stream: Stream,
    pub cooperative: bool,
    pub attributes: &'a [LaunchAttribute],
}

/// `cudaLaunchAttributeCooperative`.
pub const ATTRIBUTE_COOPERATIVE: u32 = 2;
const ATTRIBUTE_CLUSTER: u32 = 4;
/// `cudaLaunchAttributeProgrammaticEvent` and `cudaLaunchAttributeLaunchCompletionEvent`: an event, and flags of its
/// record.
const ATTRIBUTE_EVENTS: [u32; 2] = [7, 12];

impl Launch<'_> {
    /// Whether the launch is cooperative, for a device without launches that take attributes. Those that it cannot
    /// honour are an error.
    pub fn is_cooperative(&self) -> Result<bool> {
        let mut cooperative = self.cooperative;
        for attribute in self.attributes {
            match attribute.id {
                ATTRIBUTE_COOPERATIVE => cooperative = attribute.value[0] as u32 != 0,
                ATTRIBUTE_CLUSTER => {
                    // Three dimensions of 32 bits: a cluster of one block is no cluster.
                    let [first, second] = [attribute.value[0], attribute.value[1]];
                    if [first as u32, (first >> 32) as u32, second as u32].iter().any(|size| *size > 1) {
                        return no();
                    }
                }
                // Hints about caches, priority and overlap: results are the same without them.
                0 | 1 | 3 | 5 | 6 | 8 | 9 | 10 | 14 => {}
                _ => return no(),
            }
        }
        Ok(cooperative)
    }
}

impl LaunchAttribute {
    /// The event that is recorded when blocks of the launch get so far, and how.
    pub fn event(&self) -> Option<(*mut c_void, u32)> {
        ATTRIBUTE_EVENTS.contains(&self.id).then(|| (self.value[0] as *mut c_void, self.value[1] as u32))
    }
}

pub type HostFunction = unsafe extern "C" fn(*mut c_void);
pub type StreamCallback = unsafe extern "C" fn(Stream, u32, *mut c_void);

pub(super) fn no<T>() -> Result<T> {
    Err(CudaError::NOT_SUPPORTED)
}

/// The GPUs (or what stands for them), their figures and settings.
pub trait Machine {
    fn count(&self) -> Result<i32>;
    fn current(&self) -> Result<i32>;
    fn set_current(&self, device: i32) -> Result;
    fn properties(&self, device: i32) -> Result<DeviceProp>;
    fn attribute(&self, which: u32, device: i32) -> Result<i32>;
    fn bus_id(&self, device: i32) -> Result<String>;
    fn driver_version(&self) -> Result<i32>;
    fn limit(&self, which: u32) -> Result<usize>;
    fn set_limit(&self, which: u32, value: usize) -> Result;
    fn flags(&self) -> Result<u32>;
    fn set_flags(&self, flags: u32) -> Result;
    fn cache_config(&self) -> Result<u32>;
    fn set_cache_config(&self, config: u32) -> Result;
    fn shared_config(&self) -> Result<u32>;
    fn set_shared_config(&self, config: u32) -> Result;
    fn can_access_peer(&self, device: i32, peer: i32) -> Result<bool>;
    fn peer_attribute(&self, which: u32, from: i32, to: i32) -> Result<i32>;
    fn enable_peer(&self, peer: i32, flags: u32) -> Result;
    fn disable_peer(&self, peer: i32) -> Result;
    /// Waits for all work of the current device.
    fn synchronize(&self) -> Result;
    /// Destroys all state of the current device.
    fn reset(&self) -> Result;
    /// A failure of the current device that stays.
    fn sticky(&self) -> Option<CudaError>;
    /// Writes out what kernels printed and the device holds back.
    fn flush(&self) {}

    fn check(&self, device: i32) -> Result {
        if (0..self.count()?).contains(&device) { Ok(()) } else { Err(CudaError::INVALID_DEVICE) }
    }
}

/// Allocation, and what is known of pointers.
pub trait Memory {
    fn allocate(&self, size: usize, space: Space, flags: u32) -> Result<*mut c_void>;
    /// Frees device or managed memory.
    fn free(&self, pointer: *mut c_void) -> Result;
    fn free_host(&self, pointer: *mut c_void) -> Result;
    fn allocate_async(&self, size: usize, stream: Stream) -> Result<*mut c_void>;
    fn free_async(&self, pointer: *mut c_void, stream: Stream) -> Result;
    /// Memory for `height` rows of `width` bytes, and the distance of rows.
    fn allocate_pitched(&self, width: usize, height: usize) -> Result<(*mut c_void, usize)>;
    fn register(&self, pointer: *mut c_void, size: usize, flags: u32) -> Result;
    fn unregister(&self, pointer: *mut c_void) -> Result;
    fn device_pointer(&self, host: *mut c_void) -> Result<*mut c_void>;
    fn host_flags(&self, host: *mut c_void) -> Result<u32>;
    /// Free and total bytes.
    fn memory_info(&self) -> Result<(usize, usize)>;
    fn pointer_attributes(&self, pointer: *const c_void) -> Result<PointerAttributes>;
    /// The start of the allocation that holds an address, and its bytes.
    fn allocation(&self, _pointer: *const c_void) -> Result<(usize, usize)> {
        no()
    }
    fn prefetch(&self, pointer: *const c_void, count: usize, to: Location, stream: Stream) -> Result;
    fn advise(&self, pointer: *const c_void, count: usize, advice: u32, location: Location) -> Result;
    /// What was advised for a range, or where it was prefetched to last: the values of a `cudaMemRangeAttribute`, of which there is room for so many.
    fn range_attribute(&self, _pointer: *const c_void, _count: usize, _which: u32, _room: usize) -> Result<Vec<i32>> {
        no()
    }
    /// A handle of device memory for other processes.
    fn memory_handle(&self, _pointer: *mut c_void) -> Result<Foreign> {
        no()
    }
    fn open_memory(&self, _handle: &Foreign) -> Result<*mut c_void> {
        no()
    }
    fn close_memory(&self, _pointer: *mut c_void) -> Result {
        no()
    }
}

/// Pools of memory for allocation in stream order.
pub trait Pools {
    fn default_pool(&self, _device: i32) -> Result<*mut c_void> {
        no()
    }
    fn pool(&self, _device: i32) -> Result<*mut c_void> {
        no()
    }
    fn set_pool(&self, _device: i32, _pool: *mut c_void) -> Result {
        no()
    }
    fn create_pool(&self, _props: &PoolProps) -> Result<*mut c_void> {
        no()
    }
    fn destroy_pool(&self, _pool: *mut c_void) -> Result {
        no()
    }
    fn trim_pool(&self, _pool: *mut c_void, _keep: usize) -> Result {
        no()
    }
    /// # Safety
    /// `value` is valid for what the attribute is.
    unsafe fn pool_attribute(&self, _pool: *mut c_void, _which: u32, _value: *mut c_void) -> Result {
        no()
    }
    /// # Safety
    /// `value` is valid for what the attribute is.
    unsafe fn set_pool_attribute(&self, _pool: *mut c_void, _which: u32, _value: *const c_void) -> Result {
        no()
    }
    /// What a place may do with memory of a pool: `cudaMemAccessFlags`.
    fn pool_access(&self, _pool: *mut c_void, _location: Location) -> Result<u32> {
        no()
    }
    fn set_pool_access(&self, _pool: *mut c_void, _asked: Access) -> Result {
        no()
    }
    fn allocate_from(&self, _size: usize, _pool: *mut c_void, _stream: Stream) -> Result<*mut c_void> {
        no()
    }
}

/// Virtual memory: addresses that are reserved, and memory that is mapped there.
pub trait VirtualMemory {
    /// What sizes and addresses are multiples of.
    fn granularity(&self, _asked: &MemoryProperties) -> Result<usize> {
        no()
    }
    fn create_memory(&self, _size: usize, _asked: &MemoryProperties) -> Result<u64> {
        no()
    }
    fn release_memory(&self, _handle: u64) -> Result {
        no()
    }
    fn memory_properties(&self, _handle: u64) -> Result<MemoryProperties> {
        no()
    }
    /// The handle of what is mapped at an address, which the program has once more then.
    fn retain_memory(&self, _address: usize) -> Result<u64> {
        no()
    }
    fn reserve(&self, _size: usize, _alignment: usize, _wanted: usize) -> Result<usize> {
        no()
    }
    fn unreserve(&self, _start: usize, _size: usize) -> Result {
        no()
    }
    fn map_memory(&self, _start: usize, _size: usize, _offset: usize, _handle: u64) -> Result {
        no()
    }
    fn unmap_memory(&self, _start: usize, _size: usize) -> Result {
        no()
    }
    fn set_access(&self, _start: usize, _size: usize, _location: Location, _access: u32) -> Result {
        no()
    }
    fn access(&self, _location: Location, _address: usize) -> Result<u32> {
        no()
    }
    /// A file descriptor, which is the program's then.
    fn export_memory(&self, _handle: u64, _kind: u32) -> Result<i32> {
        no()
    }
    fn import_memory(&self, _descriptor: i32, _kind: u32) -> Result<u64> {
        no()
    }
}

/// Copies and fills. The memory that a caller names is valid, as the CUDA function of that name asks.
pub trait Copies {
    /// # Safety
    /// Both ranges are valid for `count` bytes.
    unsafe fn copy(&self, to: *mut c_void, from: *const c_void, count: usize, kind: u32, order: Order) -> Result;
    /// # Safety
    /// Both regions are valid.
    unsafe fn copy_2d(&self, copy: &Copy2d, order: Order) -> Result;
    /// # Safety
    /// Both regions are valid.
    unsafe fn copy_3d(&self, copy: &Copy3d, order: Order) -> Result;
    /// # Safety
    /// Both ranges are valid for `count` bytes; `to` and `from` are a pointer and its device.
    unsafe fn copy_peer(
        &self,
        to: (*mut c_void, i32),
        from: (*const c_void, i32),
        count: usize,
        order: Order,
    ) -> Result;
    /// # Safety
    /// Both regions are valid.
    unsafe fn copy_3d_peer(&self, copy: &Copy3dPeer, order: Order) -> Result;
    /// # Safety
    /// The region is valid.
    unsafe fn fill(&self, fill: &Fill, order: Order) -> Result;
    /// # Safety
    /// The region is valid.
    unsafe fn fill_3d(&self, to: PitchedPtr, value: u8, extent: Extent, order: Order) -> Result;
    /// Fills with elements of more than a byte.
    ///
    /// # Safety
    /// The region is valid.
    unsafe fn fill_elements(&self, _fill: &MemsetNode, _order: Order) -> Result {
        no()
    }
}

/// CUDA arrays.
pub trait Arrays {
    fn create_array(&self, _format: ChannelFormat, _extent: Extent, _flags: u32) -> Result<*mut c_void> {
        no()
    }
    fn free_array(&self, _array: *mut c_void) -> Result {
        no()
    }
    fn array_info(&self, _array: *const c_void) -> Result<(ChannelFormat, Extent, u32)> {
        no()
    }
    /// # Safety
    /// The memory side is valid.
    unsafe fn copy_window(&self, _window: &Window, _order: Order) -> Result {
        no()
    }
    /// Copies a run of `window.width` bytes that goes on in the next row.
    ///
    /// # Safety
    /// The memory side is valid.
    unsafe fn copy_run(&self, _window: &Window, _order: Order) -> Result {
        no()
    }
}

/// What a texture or surface object was made of; a surface has a resource alone.
#[derive(Clone, Copy)]
pub struct ObjectParts {
    pub resource: Resource,
    pub settings: Option<TextureSettings>,
    pub view: Option<ResourceView>,
}

// SAFETY: addresses in it are the program's, and are never followed by who keeps it.
unsafe impl Send for ObjectParts {}

/// Texture and surface objects, and mipmapped arrays.
pub trait Textures {
    fn create_texture(&self, _parts: &ObjectParts) -> Result<u64> {
        no()
    }
    fn destroy_texture(&self, _texture: u64) -> Result {
        no()
    }
    fn texture_parts(&self, _texture: u64) -> Result<ObjectParts> {
        no()
    }
    fn create_surface(&self, _resource: &Resource) -> Result<u64> {
        no()
    }
    fn destroy_surface(&self, _surface: u64) -> Result {
        no()
    }
    fn surface_resource(&self, _surface: u64) -> Result<Resource> {
        no()
    }
    fn create_mipmap(&self, _format: ChannelFormat, _extent: Extent, _levels: u32, _flags: u32) -> Result<*mut c_void> {
        no()
    }
    /// One level as an array, which goes with the whole.
    fn mipmap_level(&self, _mipmap: *const c_void, _level: u32) -> Result<*mut c_void> {
        no()
    }
    fn free_mipmap(&self, _mipmap: *mut c_void) -> Result {
        no()
    }
}

/// Streams and what is put into them besides copies and launches.
pub trait Streams {
    fn create_stream(&self, flags: u32, priority: i32) -> Result<Stream>;
    fn destroy_stream(&self, stream: Stream) -> Result;
    fn synchronize_stream(&self, stream: Stream) -> Result;
    fn query_stream(&self, stream: Stream) -> Result;
    fn stream_flags(&self, stream: Stream) -> Result<u32>;
    fn stream_priority(&self, stream: Stream) -> Result<i32>;
    fn stream_id(&self, stream: Stream) -> Result<u64>;
    fn stream_device(&self, stream: Stream) -> Result<i32>;
    fn wait_event(&self, stream: Stream, event: *mut c_void, flags: u32) -> Result;
    fn attach(&self, stream: Stream, pointer: *mut c_void, length: usize, flags: u32) -> Result;
    /// The value of `cudaStreamCaptureStatus`.
    fn capture_status(&self, stream: Stream) -> Result<u32>;
    fn exchange_capture_mode(&self, _mode: u32) -> Result<u32> {
        no()
    }
    /// # Safety
    /// `function` may be called with `data` from any thread.
    unsafe fn host_function(&self, stream: Stream, function: HostFunction, data: *mut c_void) -> Result;
    /// # Safety
    /// `callback` may be called with `data` from any thread.
    unsafe fn callback(&self, stream: Stream, callback: StreamCallback, data: *mut c_void) -> Result;
    /// Waits for values in memory, or writes some, one after the other.
    ///
    /// # Safety
    /// The memory is there until that is done.
    unsafe fn values(&self, _stream: Stream, _operations: &[ValueOperation]) -> Result {
        no()
    }
    /// The value of a `cudaLaunchAttribute` of a stream.
    fn stream_attribute(&self, _stream: Stream, _which: u32) -> Result<[u64; 8]> {
        no()
    }
    fn set_stream_attribute(&self, _stream: Stream, _which: u32, _value: [u64; 8]) -> Result {
        no()
    }
    /// The lowest and the highest priority.
    fn priorities(&self) -> Result<(i32, i32)>;
}

/// How a value in memory is compared with the one that is waited for, as `CUstreamWaitValue_flags` has it.
#[derive(Clone, Copy)]
pub enum Comparison {
    AtLeast,
    Equal,
    And,
    Nor,
}

#[derive(Clone, Copy)]
pub enum ValueTask {
    Wait(Comparison),
    Write,
}

/// What a stream does with a value in memory.
#[derive(Clone, Copy)]
pub struct ValueOperation {
    pub address: usize,
    pub value: u64,
    /// Of 64 bits, not of 32.
    pub is_wide: bool,
    pub task: ValueTask,
}

/// Events.
pub trait Events {
    fn create_event(&self, flags: u32) -> Result<*mut c_void>;
    fn record_event(&self, event: *mut c_void, stream: Stream, flags: u32) -> Result;
    fn query_event(&self, event: *mut c_void) -> Result;
    fn synchronize_event(&self, event: *mut c_void) -> Result;
    fn destroy_event(&self, event: *mut c_void) -> Result;
    /// Milliseconds from one event to the other.
    fn elapsed(&self, start: *mut c_void, end: *mut c_void) -> Result<f32>;
    /// A handle of an event for other processes.
    fn event_handle(&self, _event: *mut c_void) -> Result<Foreign> {
        no()
    }
    fn open_event(&self, _handle: &Foreign) -> Result<*mut c_void> {
        no()
    }
}

/// What a program's images hold: kernels and variables.
pub trait Kernels {
    /// The storage of a device variable on the current device, and its size.
    fn symbol(&self, variable: &'static Variable) -> Result<(*mut c_void, usize)>;
    /// Sets the host's pointer to a managed variable, once all of its image is registered.
    fn bind_managed(&self, variable: &'static Variable) -> Result;
    fn attributes(&self, function: &'static Function) -> Result<FuncAttributes>;
    fn set_attribute(&self, function: &'static Function, which: u32, value: i32) -> Result;
    fn set_function_cache(&self, function: &'static Function, config: u32) -> Result;
    fn set_function_banks(&self, function: &'static Function, config: u32) -> Result;
    /// Offset and size of a parameter.
    fn parameter(&self, function: &'static Function, index: usize) -> Result<(usize, usize)>;
    /// Blocks that one multiprocessor holds at once.
    fn occupancy(&self, function: &'static Function, threads: i32, shared: usize, flags: u32) -> Result<i32>;
    /// Dynamic shared memory that each of `blocks` blocks of a multiprocessor may have.
    fn available_shared(&self, function: &'static Function, blocks: i32, threads: i32) -> Result<usize>;
    /// # Safety
    /// The arguments are what the kernel expects.
    unsafe fn launch(&self, function: &'static Function, launch: &Launch) -> Result;
    /// Whether the program is to run the kernels that it wrote, not versions of them.
    fn keeps_grain(&self) -> bool {
        false
    }
    /// How many blocks an OS thread is to take at once in the calling thread's next launch.
    fn blocks_per_task(&self, _blocks: u32) {}
}

/// What carries out a program's CUDA calls.
pub trait Device:
    Machine + Memory + VirtualMemory + Pools + Copies + Arrays + Textures + Streams + Events + Kernels + Graphs + Sync
{
}
