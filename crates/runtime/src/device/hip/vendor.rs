//! What HIP does in its own way.

use std::ffi::c_void;
use std::sync::atomic::Ordering;
use std::sync::{OnceLock, PoisonError};

use super::arch::candidates;
use super::figures::{Source, source};
use super::state::{Amd, translate};
use crate::compiled;
use crate::device::gpu::kernels::{MAX_DYNAMIC_SHARED, here};
use crate::device::gpu::layout::{Code, Handle};
use crate::device::gpu::library::Functions;
use crate::device::gpu::memory::{CPU, MEMORY_DEVICE, MEMORY_MANAGED, ON_DEVICE, ON_HOST};
use crate::device::gpu::modules;
use crate::device::gpu::shape::Shape;
use crate::device::gpu::vendor::{Vendor, describe, newer};
use crate::device::seam::{Launch, Stream};
use crate::error::{CudaError, Result};
use crate::images::image::Images;
use crate::images::registry::Function;
use crate::types::{Location, PointerAttributes};

/// `hipErrorInvalidValue`.
const INVALID_VALUE: Code = 1;
/// What HIP says of a code object that is not for the GPU: `hipErrorInvalidImage`, `hipErrorNoBinaryForGpu`,
/// `hipErrorInvalidKernelFile`, `hipErrorSharedObjectInitFailed`; which one depends on the version
/// (hipamd/src/hip_fatbin.cpp of github.com/ROCm/clr, rocm-5.7.1 and 6.2.2).
const REFUSED: [Code; 4] = [200, 209, 218, 303];
/// `HIP_POINTER_ATTRIBUTE_*`: memory type, device pointer, host pointer, whether it is managed, index of the GPU. The
/// numbers are the same in ROCm 5, 6 and 7.
const MEMORY_TYPE: u32 = 2;
const DEVICE_POINTER: u32 = 3;
const HOST_POINTER: u32 = 4;
const IS_MANAGED: u32 = 8;
const ORDINAL: u32 = 9;
/// `hipMemoryTypeHost`: ROCm 6 gave `hipMemoryType` CUDA's numbers.
const HOST_BEFORE_6: u32 = 0;
const HOST_SINCE_6: u32 = 1;
/// `cudaLimitPrintfFifoSize`.
const PRINTF_BUFFER: u32 = 1;
/// `cudaFuncAttribute`: static shared memory of a block, versions of PTX and of the binary, by whose numbers programs
/// tell what the code was made for, and the preferred share of shared memory.
const SHARED: u32 = 1;
const PTX_VERSION: u32 = 5;
const BINARY_VERSION: u32 = 6;
const CARVEOUT: u32 = 9;
/// `cudaDeviceAttr`: shared memory of a block, without opting in and with it.
const SHARED_OF_BLOCK: u32 = 8;
const SHARED_BY_OPTING_IN: u32 = 97;

impl Amd {
    /// The GPU of a place of memory, or the host.
    fn place(&self, location: Location) -> Result<i32> {
        match location.kind {
            ON_DEVICE => self.number(location.id),
            ON_HOST => Ok(CPU),
            _ => Err(CudaError::NOT_SUPPORTED),
        }
    }

    /// A number or address that HIP knows of a pointer; nothing where HIP does not know the pointer.
    fn pointer_attribute<N: Default>(&self, which: u32, pointer: *const c_void) -> Result<Option<N>> {
        // Room for the widest attribute, whatever HIP writes.
        let mut value = [N::default(), N::default(), N::default(), N::default()];
        // SAFETY: valid for a write of at least eight bytes.
        match unsafe { (self.hip.pointer_attribute)(value.as_mut_ptr().cast(), which, pointer as u64) } {
            INVALID_VALUE => Ok(None),
            code => self.done(code).map(|()| value.into_iter().next()),
        }
    }

    /// Dynamic shared memory that the program set for a kernel.
    fn dynamic_shared_of(&self, function: &'static Function) -> Option<i32> {
        let set = self.dynamic_shared.lock().unwrap_or_else(PoisonError::into_inner);
        set.get(&(std::ptr::from_ref(function) as usize)).copied()
    }

    /// What a kernel may have as dynamic shared memory beside what it uses itself, of a limit by CUDA's number.
    fn dynamic_within(&self, handle: Handle, limit: u32) -> Result<i32> {
        let mut own = 0;
        // SAFETY: a kernel of HIP's; valid for a write.
        self.done(unsafe { (self.functions.function_attribute)(&raw mut own, SHARED, handle) })?;
        Ok((self.figure(self.here()? as i32, limit)? - own).max(0))
    }

    /// What a launch of a kernel may ask for: what the program set, or what CUDA gives without that.
    fn dynamic_limit(&self, function: &'static Function, handle: Handle) -> Result<i32> {
        match self.dynamic_shared_of(function) {
            Some(set) => Ok(set),
            None => self.dynamic_within(handle, SHARED_OF_BLOCK),
        }
    }
}

impl Vendor for Amd {
    fn functions(&self) -> &Functions {
        &self.functions
    }

    fn gpu_count(&self) -> usize {
        self.gpus.len()
    }

    fn number(&self, gpu: i32) -> Result<i32> {
        let known = usize::try_from(gpu).is_ok_and(|at| at < self.gpus.len());
        if known { Ok(gpu) } else { Err(CudaError::INVALID_DEVICE) }
    }

    fn enter(&self) -> Result<usize> {
        let gpu = self.here()?;
        self.gpus[gpu].failure().map_or(Ok(gpu), Err)
    }

    fn current_gpu(&self) -> Result<usize> {
        self.here()
    }

    fn select(&self, gpu: usize) -> Result {
        // SAFETY: plain values.
        self.done(unsafe { (self.hip.set_current)(gpu as i32) })
    }

    fn done(&self, code: Code) -> Result {
        self.result(code)
    }

    fn translate(&self) -> fn(Code) -> CudaError {
        translate
    }

    /// HIP counts versions of its own; programs compare this one with CUDA's runtime.
    fn driver_version(&self) -> Result<i32> {
        Ok(compiled::driver_version())
    }

    fn failure(&self) -> Option<CudaError> {
        self.gpus[self.here().ok()?].failure()
    }

    fn figure(&self, gpu: i32, which: u32) -> Result<i32> {
        let ask = |number| {
            let mut value = 0;
            // SAFETY: valid for a write; none of the attributes of the table is wider.
            let code = unsafe { (self.functions.device_attribute)(&raw mut value, number, gpu) };
            if code == 0 { Ok(value) } else { Err(code) }
        };
        match source(which).ok_or(CudaError::INVALID_VALUE)? {
            Source::Fixed(value) => Ok(value),
            Source::Major => Ok(compiled::arch() as i32 / 100),
            Source::Minor => Ok(compiled::arch() as i32 / 10 % 10),
            Source::Asked(number) => ask(number).map_err(translate),
            // A limit may be one of 32 bits without a sign.
            Source::AtMost(number, most) => {
                ask(number).map_err(translate).map(|value| value.cast_unsigned().min(most).cast_signed())
            }
            Source::Known(number, otherwise) => Ok(ask(number).unwrap_or(otherwise)),
        }
    }

    fn kept_shape(&self, gpu: usize) -> &OnceLock<Shape> {
        &self.gpus[gpu].shape
    }

    fn flags(&self) -> Result<u32> {
        let mut flags = 0;
        // SAFETY: valid for a write.
        self.done(unsafe { (self.hip.flags)(&raw mut flags) })?;
        Ok(flags)
    }

    fn set_flags(&self, flags: u32) -> Result {
        // SAFETY: plain values.
        self.done(unsafe { (self.hip.set_flags)(flags) })
    }

    fn limit(&self, which: u32) -> Result<usize> {
        if which == PRINTF_BUFFER {
            return Ok(self.printf_buffer.load(Ordering::Relaxed));
        }
        let mut value = 0;
        // SAFETY: valid for a write.
        match unsafe { (self.functions.limit)(&raw mut value, which) } {
            INVALID_VALUE => Err(CudaError::UNSUPPORTED_LIMIT),
            code => self.done(code).map(|()| value),
        }
    }

    /// As in CUDA, the buffer of `printf` has its size once a kernel that prints was loaded.
    fn set_limit(&self, which: u32, value: usize) -> Result {
        if which == PRINTF_BUFFER {
            let kept = |gpu: &super::state::Gpu| gpu.output.lock().unwrap_or_else(PoisonError::into_inner).is_some();
            if self.gpus.iter().any(kept) {
                return Err(CudaError::INVALID_VALUE);
            }
            self.printf_buffer.store(value, Ordering::Relaxed);
            return Ok(());
        }
        let Some(set) = self.functions.set_limit else { return Err(CudaError::UNSUPPORTED_LIMIT) };
        // SAFETY: plain values.
        match unsafe { set(which, value) } {
            INVALID_VALUE => Err(CudaError::UNSUPPORTED_LIMIT),
            code => self.done(code),
        }
    }

    /// `hipDeviceP2PAttr` counts from 0, CUDA's from 1.
    fn peer_attribute_number(&self, which: u32) -> Result<u32> {
        if (1..=4).contains(&which) { Ok(which - 1) } else { Err(CudaError::INVALID_VALUE) }
    }

    fn enable_peer(&self, peer: i32, flags: u32) -> Result {
        self.enter()?;
        // SAFETY: plain values.
        self.done(unsafe { (self.hip.enable_peer)(peer, flags) })
    }

    fn disable_peer(&self, peer: i32) -> Result {
        self.enter()?;
        // SAFETY: plain values.
        self.done(unsafe { (self.hip.disable_peer)(peer) })
    }

    /// Modules go before the reset, which takes their memory away but not their handles.
    fn reset_current(&self) -> Result<usize> {
        let index = self.here()?;
        // What was printed before is shown; a failure is forgotten with all else.
        // SAFETY: no arguments.
        let _ = unsafe { (self.functions.synchronize)() };
        let _ = self.drain_output(index, true);
        for module in modules::loaded(index) {
            // SAFETY: a module of HIP's that is forgotten right after this.
            let _ = unsafe { (self.hip.module_unload)(module) };
        }
        self.drop_output(index);
        // SAFETY: nothing of this library uses the GPU while it is reset.
        let code = unsafe { (self.hip.reset)() };
        self.gpus[index].failed.store(0, Ordering::SeqCst);
        self.done(code)?;
        Ok(index)
    }

    fn allocate_pitched(&self, width: usize, height: usize) -> Result<(*mut c_void, usize)> {
        let (mut pointer, mut pitch) = (std::ptr::null_mut(), 0);
        // SAFETY: valid for writes.
        self.done(unsafe { (self.hip.allocate_pitched)(&raw mut pointer, &raw mut pitch, width, height) })?;
        Ok((pointer, pitch))
    }

    fn pointer(&self, pointer: *const c_void) -> Result<PointerAttributes> {
        let null = std::ptr::null_mut();
        let Some(kind) = self.pointer_attribute::<u32>(MEMORY_TYPE, pointer)? else {
            return Ok(PointerAttributes { kind: 0, ordinal: -2, device: null, host: pointer.cast_mut() });
        };
        let address = |which| Ok(self.pointer_attribute::<usize>(which, pointer)?.unwrap_or(0) as *mut c_void);
        let ordinal = self.pointer_attribute::<i32>(ORDINAL, pointer)?.unwrap_or(0);
        let managed = self.pointer_attribute::<u32>(IS_MANAGED, pointer)?.is_some_and(|value| value & 0xff != 0);
        let host_type = if self.major < 6 { HOST_BEFORE_6 } else { HOST_SINCE_6 };
        Ok(match (managed, kind == host_type) {
            (true, _) => {
                let same = pointer.cast_mut();
                PointerAttributes { kind: MEMORY_MANAGED, ordinal, device: same, host: same }
            }
            (_, true) => {
                let (device, host) = (address(DEVICE_POINTER)?, address(HOST_POINTER)?);
                PointerAttributes { kind: 1, ordinal, device, host }
            }
            _ => PointerAttributes { kind: MEMORY_DEVICE, ordinal, device: pointer.cast_mut(), host: null },
        })
    }

    fn prefetch(&self, pointer: *const c_void, count: usize, to: Location, stream: Stream) -> Result {
        let (to, stream) = (self.place(to)?, self.stream(stream));
        // SAFETY: HIP checks the range.
        self.done(unsafe { (self.functions.prefetch)(pointer as u64, count, to, stream) })
    }

    /// `hipMemoryAdvise` has CUDA's numbers; those beyond are HIP's own.
    fn advise(&self, pointer: *const c_void, count: usize, advice: u32, location: Location) -> Result {
        if !(1..=6).contains(&advice) {
            return Err(CudaError::INVALID_VALUE);
        }
        // SAFETY: HIP checks the range.
        self.done(unsafe { (self.functions.advise)(pointer as u64, count, advice, self.place(location)?) })
    }

    /// The legacy default stream has a handle of its own from ROCm 6.2 on alone; null stands for it in all versions. A
    /// thread's own default stream is 2, as in CUDA.
    fn stream(&self, stream: Stream) -> Handle {
        if stream as usize == 1 { std::ptr::null_mut() } else { stream }
    }

    fn stream_device(&self, stream: Stream, current: usize) -> Result<i32> {
        let Some(ask) = self.hip.stream_device else {
            // Streams of HIP before 5.6 do not tell; with one GPU there is no doubt.
            return if self.gpus.len() == 1 { Ok(current as i32) } else { Err(CudaError::NEWER_DRIVER) };
        };
        let mut gpu = 0;
        // SAFETY: a stream of the program's; valid for a write.
        self.done(unsafe { ask(stream, &raw mut gpu) })?;
        Ok(gpu)
    }

    fn waited(&self, whole: bool) -> Result {
        self.drain_output(self.here()?, whole)
    }

    fn flush(&self) {
        self.drain_all();
    }

    fn load(&self, images: &Images, gpu: usize) -> Result<Handle> {
        if images.offload.is_empty() {
            return Err(CudaError::INVALID_KERNEL_IMAGE);
        }
        let name = self.gpus[gpu].name.as_deref();
        let mut refused = String::new();
        for image in candidates(&images.offload, name) {
            let mut handle = std::ptr::null_mut();
            // SAFETY: a whole code object, alive as long as the program.
            match unsafe { (self.functions.module_load)(&raw mut handle, image.bytes.as_ptr().cast()) } {
                0 => return self.connect_output(handle, gpu).map(|()| handle),
                code if REFUSED.contains(&code) => refused = format!("; HIP refuses the {image} with error {code}"),
                code => {
                    let error = translate(code);
                    eprintln!("regrain runtime: error: HIP does not load the {image}: {}", describe(error));
                    return Err(error);
                }
            }
        }
        let name = name.unwrap_or("unknown name");
        eprintln!("regrain runtime: error: no image for an AMD GPU of {name}; there is: {images}{refused}");
        Err(CudaError::NO_KERNEL_IMAGE)
    }

    /// `hipFuncSetAttribute` takes functions that the host registered alone, and AMD GPUs need not be asked for more
    /// shared memory and have no share of a cache to set: what is asked for is checked and kept, as CUDA's launches go
    /// by it.
    fn set_attribute(&self, function: &'static Function, which: u32, value: i32) -> Result {
        let handle = here(self, function)?;
        match which {
            MAX_DYNAMIC_SHARED if value < 0 || value > self.dynamic_within(handle, SHARED_BY_OPTING_IN)? => {
                Err(CudaError::INVALID_VALUE)
            }
            MAX_DYNAMIC_SHARED => {
                let mut set = self.dynamic_shared.lock().unwrap_or_else(PoisonError::into_inner);
                set.insert(std::ptr::from_ref(function) as usize, value);
                Ok(())
            }
            CARVEOUT if (-1..=100).contains(&value) => Ok(()),
            CARVEOUT => Err(CudaError::INVALID_VALUE),
            _ => Err(CudaError::NOT_SUPPORTED),
        }
    }

    /// `hipFunction_attribute` has the numbers of `cudaFuncAttribute`; those of clusters are not there.
    fn function_figure(&self, function: &'static Function, handle: Handle, which: u32) -> Result<i32> {
        match which {
            PTX_VERSION | BINARY_VERSION => Ok(compiled::arch() as i32 / 10),
            MAX_DYNAMIC_SHARED => self.dynamic_limit(function, handle),
            CARVEOUT => Ok(-1),
            _ if which > CARVEOUT => Ok(0),
            _ => {
                let mut value = 0;
                // SAFETY: a kernel of HIP's; valid for a write.
                self.done(unsafe { (self.functions.function_attribute)(&raw mut value, which, handle) })?;
                Ok(value)
            }
        }
    }

    /// HIP has no launch with attributes that all versions have. Hints are left out; a cluster of one block is none.
    unsafe fn launch_with(&self, function: Handle, launch: &Launch, shared: u32) -> Result {
        let cooperative = launch.is_cooperative()?;
        let ([x, y, z], [bx, by, bz]) = (launch.grid.array(), launch.block.array());
        let (stream, args) = (self.stream(launch.stream), launch.args);
        // SAFETY: by contract.
        self.done(unsafe {
            if cooperative {
                newer(self.functions.launch_cooperative)?(function, x, y, z, bx, by, bz, shared, stream, args)
            } else {
                let extra = std::ptr::null_mut();
                (self.functions.launch)(function, x, y, z, bx, by, bz, shared, stream, args, extra)
            }
        })
    }

    fn check_shared(&self, function: &'static Function, handle: Handle, shared: usize) -> Result {
        if shared != 0 && shared > usize::try_from(self.dynamic_limit(function, handle)?).unwrap_or(0) {
            return Err(CudaError::INVALID_VALUE);
        }
        Ok(())
    }
}
