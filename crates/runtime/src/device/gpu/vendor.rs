//! What a vendor's device is to the shared part of the seam: its functions, its GPUs, and what it does in its own way.

use std::ffi::{CStr, c_void};
use std::sync::OnceLock;

use super::layout::{Code, Handle};
use super::library::Functions;
use super::shape::Shape;
use crate::device::seam::{Launch, Stream};
use crate::error::{self, CudaError, Result};
use crate::images::image::Images;
use crate::images::registry::Function;
use crate::types::{Location, PointerAttributes};

/// `CUDA_ERROR_NOT_FOUND`, `hipErrorNotFound`.
pub const NOT_FOUND: Code = 500;
/// Errors after which a context is of no use: the memory of the GPU may be wrong.
pub const STICKY: [u32; 11] = [214, 220, 700, 702, 710, 714, 715, 716, 717, 718, 719];

/// A device behind a vendor's library. [`Machine`](crate::device::seam::Machine) and the other traits of the seam are
/// made of it where all vendors do the same.
pub trait Vendor: Sync {
    fn functions(&self) -> &Functions;
    fn gpu_count(&self) -> usize;
    /// The library's number of a GPU of the program's.
    fn number(&self, gpu: i32) -> Result<i32>;
    /// The index of the calling thread's GPU, which is ready for use then.
    fn enter(&self) -> Result<usize>;
    /// The index of the calling thread's GPU, which nothing is done to.
    fn current_gpu(&self) -> Result<usize>;
    /// Makes a GPU the calling thread's.
    fn select(&self, gpu: usize) -> Result;
    /// The result of a function of the library. An error that stays is kept with the calling thread's GPU.
    fn done(&self, code: Code) -> Result;
    /// The runtime's error for one of the library's, which is not 0.
    fn translate(&self) -> fn(Code) -> CudaError;
    /// As CUDA counts versions.
    fn driver_version(&self) -> Result<i32>;
    /// The error that stays, of the calling thread's GPU.
    fn failure(&self) -> Option<CudaError>;
    /// An attribute of a GPU by CUDA's number.
    fn figure(&self, gpu: i32, which: u32) -> Result<i32>;
    /// Where the largest launch of a GPU is kept.
    fn kept_shape(&self, gpu: usize) -> &OnceLock<Shape>;
    /// The largest launch of a GPU, asked for once.
    fn shape(&self, gpu: usize) -> Result<Shape> {
        let kept = self.kept_shape(gpu);
        if let Some(shape) = kept.get() {
            return Ok(*shape);
        }
        let shape = Shape::of(|which| self.figure(gpu as i32, which))?;
        Ok(*kept.get_or_init(|| shape))
    }
    fn flags(&self) -> Result<u32>;
    fn set_flags(&self, flags: u32) -> Result;
    fn limit(&self, which: u32) -> Result<usize>;
    fn set_limit(&self, which: u32, value: usize) -> Result;
    /// `cudaDeviceP2PAttr` in the library's numbers.
    fn peer_attribute_number(&self, which: u32) -> Result<u32>;
    fn enable_peer(&self, peer: i32, flags: u32) -> Result;
    fn disable_peer(&self, peer: i32) -> Result;
    /// Destroys all state of the calling thread's GPU; its index.
    fn reset_current(&self) -> Result<usize>;

    fn allocate_pitched(&self, width: usize, height: usize) -> Result<(*mut c_void, usize)>;
    /// What a pointer leads to, on a GPU that is ready for use.
    fn pointer(&self, pointer: *const c_void) -> Result<PointerAttributes>;
    fn prefetch(&self, pointer: *const c_void, count: usize, to: Location, stream: Stream) -> Result;
    fn advise(&self, pointer: *const c_void, count: usize, advice: u32, location: Location) -> Result;

    /// The library's handle of a stream of the program's.
    fn stream(&self, stream: Stream) -> Handle {
        stream
    }
    fn stream_device(&self, stream: Stream, current: usize) -> Result<i32>;
    /// Work of the calling thread's GPU was waited for: of all of it (`whole`), or of a part.
    fn waited(&self, _whole: bool) -> Result {
        Ok(())
    }
    /// Writes out what kernels printed and the device holds back.
    fn flush(&self) {}

    /// Loads the image of a translation unit that fits a GPU, the calling thread's.
    fn load(&self, images: &Images, gpu: usize) -> Result<Handle>;
    fn set_attribute(&self, function: &'static Function, which: u32, value: i32) -> Result;
    /// The runtime's value of a function's attribute: what the library says, or what was set.
    fn function_figure(&self, function: &'static Function, handle: Handle, which: u32) -> Result<i32>;
    /// A launch with attributes.
    ///
    /// # Safety
    /// The arguments are what the kernel expects.
    unsafe fn launch_with(&self, function: Handle, launch: &Launch, shared: u32) -> Result;
    /// What dynamic shared memory a launch may ask for, beyond the library's own check.
    fn check_shared(&self, _function: &'static Function, _handle: Handle, _shared: usize) -> Result {
        Ok(())
    }
}

/// A function that came with later versions of a library.
pub fn newer<T: Copy>(function: Option<T>) -> Result<T> {
    function.ok_or(CudaError::NEWER_DRIVER)
}

/// An error's number and name, for messages.
pub fn describe(error: CudaError) -> String {
    // SAFETY: a C string that lives as long as the program.
    let name = unsafe { CStr::from_ptr(error::c_string(error.0, |entry| &entry.0)) };
    format!("error {} ({})", error.0, name.to_string_lossy())
}
