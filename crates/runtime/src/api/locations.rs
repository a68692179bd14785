//! Advice and prefetching, and pools, by place.
//!
//! CUDA 13 gave the plain names of two functions the parameters that `_v2` had in CUDA 12, a `cudaMemLocation` for a device's number.
//! [`is_cuda_13`] says which of the two the program was compiled against.

use std::ffi::c_void;

use super::batches::Groups;
use crate::compiled::is_cuda_13;
use crate::device::choice::device;
use crate::error::{CudaError, Result, check};
use crate::macros::{cuda_api, put};
use crate::types::Location;

/// `cudaMemLocationTypeDevice`
const ON_DEVICE: u32 = 1;
/// `cudaMemLocationTypeHost`
const ON_HOST: u32 = 2;
/// `cudaMemAllocationTypePinned`
const PINNED: u32 = 1;

/// A register that holds a device's number, -1 for the host, or with CUDA 13 a `cudaMemLocation`.
fn location(register: u64) -> Location {
    let (low, high) = (register as u32, (register >> 32) as i32);
    match (is_cuda_13(), low as i32) {
        (true, _) => Location { kind: low, id: high },
        (false, -1) => Location { kind: ON_HOST, id: 0 },
        (false, id) => Location { kind: ON_DEVICE, id },
    }
}

/// The device whose pools are asked for by `place`; there are pools of a device's own memory alone.
unsafe fn device_of(place: *const Location, allocation: u32) -> Result<i32> {
    check(!place.is_null())?;
    // SAFETY: the caller's pointer, valid for a read if it is not null.
    let place = unsafe { *place };
    if place.kind == ON_DEVICE && allocation == PINNED { Ok(place.id) } else { Err(CudaError::NOT_SUPPORTED) }
}

/// Ranges of `cudaMem*BatchAsync`, and the place of each: that of the last index in `first_of` that is not behind it.
struct Batch {
    pointers: *const *const c_void,
    sizes: *const usize,
    count: usize,
    places: *const Location,
    first_of: *const usize,
    num_places: usize,
}

impl Batch {
    /// # Safety
    /// The pointers are null or valid for as many elements as the numbers say.
    unsafe fn prefetch(&self, stream: *mut c_void) -> Result {
        check(!self.pointers.is_null() && !self.sizes.is_null() && !self.places.is_null())?;
        // SAFETY: by contract.
        let groups = unsafe { Groups::new(self.first_of, self.num_places, self.count)? };
        for at in 0..self.count {
            let place = groups.of(at);
            // SAFETY: by contract.
            let (pointer, size, to) = unsafe { (*self.pointers.add(at), *self.sizes.add(at), *self.places.add(place)) };
            device()?.prefetch(pointer, size, to, stream)?;
        }
        Ok(())
    }
}

/// Writes the values of a `cudaMemRangeAttribute`, as many as `size` bytes hold.
///
/// # Safety
/// `data` is null or valid for so many bytes.
unsafe fn range_attribute(data: *mut c_void, size: usize, which: u32, pointer: *const c_void, count: usize) -> Result {
    check(!data.is_null() && size.is_multiple_of(size_of::<i32>()))?;
    let values = device()?.range_attribute(pointer, count, which, size / size_of::<i32>())?;
    for (at, value) in values.into_iter().enumerate() {
        // SAFETY: by contract: no more values than there is room for.
        unsafe { data.cast::<i32>().add(at).write_unaligned(value) };
    }
    Ok(())
}

cuda_api! {
    fn cudaMemRangeGetAttribute(data: *mut c_void, size: usize, which: u32, pointer: *const c_void, count: usize) {
        range_attribute(data, size, which, pointer, count)
    }

    fn cudaMemRangeGetAttributes(
        data: *mut *mut c_void, sizes: *mut usize, which: *mut u32, number: usize, pointer: *const c_void, count: usize
    ) {
        check(number != 0 && !data.is_null() && !sizes.is_null() && !which.is_null())?;
        for at in 0..number {
            range_attribute(*data.add(at), *sizes.add(at), *which.add(at), pointer, count)?;
        }
        Ok(())
    }

    fn cudaMemPrefetchAsync / cudaMemPrefetchAsync_ptsz [on] (
        pointer: *const c_void, count: usize, to: u64, stream_or_flags: *mut c_void, stream: *mut c_void
    ) {
        let stream = if is_cuda_13() { stream } else { stream_or_flags };
        device()?.prefetch(pointer, count, location(to), on.stream(stream))
    }

    fn cudaMemPrefetchAsync_v2 / cudaMemPrefetchAsync_v2_ptsz [on] (
        pointer: *const c_void, count: usize, to: Location, _flags: u32, stream: *mut c_void
    ) {
        device()?.prefetch(pointer, count, to, on.stream(stream))
    }

    fn cudaMemAdvise(pointer: *const c_void, count: usize, advice: u32, to: u64) {
        check((1..=6).contains(&advice))?;
        device()?.advise(pointer, count, advice, location(to))
    }

    fn cudaMemAdvise_v2(pointer: *const c_void, count: usize, advice: u32, to: Location) {
        check((1..=6).contains(&advice))?;
        device()?.advise(pointer, count, advice, to)
    }

    fn cudaMemPrefetchBatchAsync / cudaMemPrefetchBatchAsync_ptsz [on] (
        pointers: *const *const c_void, sizes: *const usize, count: usize, places: *const Location, first_of: *const usize,
        num_places: usize, _flags: u64, stream: *mut c_void
    ) {
        Batch { pointers, sizes, count, places, first_of, num_places }.prefetch(on.stream(stream))
    }

    /// What is discarded may as well stay: reading it before it is written gives any value.
    fn cudaMemDiscardAndPrefetchBatchAsync / cudaMemDiscardAndPrefetchBatchAsync_ptsz [on] (
        pointers: *const *const c_void, sizes: *const usize, count: usize, places: *const Location, first_of: *const usize,
        num_places: usize, _flags: u64, stream: *mut c_void
    ) {
        Batch { pointers, sizes, count, places, first_of, num_places }.prefetch(on.stream(stream))
    }

    /// See [`cudaMemDiscardAndPrefetchBatchAsync`].
    fn cudaMemDiscardBatchAsync / cudaMemDiscardBatchAsync_ptsz [_on] (
        pointers: *const *const c_void, sizes: *const usize, count: usize, _flags: u64, _stream: *mut c_void
    ) {
        check(!pointers.is_null() && !sizes.is_null() && count > 0)
    }

    fn cudaMemGetDefaultMemPool(pool: *mut *mut c_void, place: *const Location, allocation: u32) {
        put(pool, device()?.default_pool(device_of(place, allocation)?)?)
    }

    fn cudaMemGetMemPool(pool: *mut *mut c_void, place: *const Location, allocation: u32) {
        put(pool, device()?.pool(device_of(place, allocation)?)?)
    }

    fn cudaMemSetMemPool(place: *const Location, allocation: u32, pool: *mut c_void) {
        device()?.set_pool(device_of(place, allocation)?, pool)
    }
}
