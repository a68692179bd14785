//! Batches of copies, and how the entries of a batch share what is said of several.
//!
//! CUDA 13 took out the place for the index of what failed, which stood before the stream.

use std::ffi::c_void;

use crate::compiled::is_cuda_13;
use crate::device::choice::device;
use crate::device::seam::Order;
use crate::error::{CudaError, Result, check};
use crate::macros::cuda_api;
use crate::types::{Copy3d, DEFAULT, Extent, Location, PitchedPtr, Pos};

/// `cudaMemcpySrcAccessOrderStream`, `...DuringApiCall`, `...Any`.
const ORDERS: std::ops::RangeInclusive<u32> = 1..=3;
const DURING_CALL: u32 = 2;
/// `cudaMemcpyFlagPreferOverlapWithCompute`, a hint.
const KNOWN_FLAGS: u32 = 1;
/// `cudaMemcpyOperandTypePointer`, `cudaMemcpyOperandTypeArray`.
const POINTER: u32 = 1;
const ARRAY: u32 = 2;

/// Where in a batch each of the things begins that its entries share.
pub struct Groups<'a> {
    first_of: &'a [usize],
}

impl Groups<'_> {
    /// Of `count` entries.
    ///
    /// # Errors
    /// `cudaErrorInvalidValue` where there are none, not all entries are in one, or one has none.
    ///
    /// # Safety
    /// `first_of` is null or valid for `groups` elements.
    pub unsafe fn new(first_of: *const usize, groups: usize, count: usize) -> Result<Self> {
        check(!first_of.is_null() && (1..=count).contains(&groups))?;
        // SAFETY: by contract.
        let first_of = unsafe { std::slice::from_raw_parts(first_of, groups) };
        check(first_of[0] == 0 && first_of.is_sorted() && first_of[groups - 1] < count)?;
        Ok(Self { first_of })
    }

    /// The number of an entry's group.
    pub fn of(&self, entry: usize) -> usize {
        self.first_of.partition_point(|first| *first <= entry) - 1
    }
}

/// `cudaMemcpyAttributes`.
#[repr(C)]
pub struct Attributes {
    order: u32,
    hints: [Location; 2],
    flags: u32,
}

/// `cudaMemcpy3DOperand`: an address, the elements of a row and the rows of a layer; or an array and a place in it.
#[repr(C)]
pub struct Operand {
    kind: u32,
    pointer: *mut c_void,
    sizes: [usize; 3],
}

/// `cudaMemcpy3DBatchOp`.
#[repr(C)]
pub struct BatchCopy {
    from: Operand,
    to: Operand,
    extent: Extent,
    order: u32,
    flags: u32,
}

const _: () = assert!(size_of::<Attributes>() == 24 && size_of::<Operand>() == 40 && size_of::<BatchCopy>() == 112);

/// The stream of a call that has a place for the index of what fails in CUDA 12, and that place.
fn parted(fails: *mut c_void, stream: *mut c_void) -> (*mut usize, *mut c_void) {
    if is_cuda_13() { (std::ptr::null_mut(), fails) } else { (fails.cast(), stream) }
}

/// How copies of a batch go; none may be in the legacy default stream.
fn order_of(order: u32, flags: u32, stream: *mut c_void) -> Result<Order> {
    check(ORDERS.contains(&order) && flags & !KNOWN_FLAGS == 0)?;
    Ok(Order { stream, waits: order == DURING_CALL })
}

/// Does `copy` for each entry, and says at which one it fails.
///
/// # Safety
/// `fails` is null or valid for a write.
unsafe fn each(count: usize, fails: *mut usize, mut copy: impl FnMut(usize) -> Result) -> Result {
    let done = (0..count).try_for_each(|entry| copy(entry).map_err(|error| (entry, error)));
    done.map_err(|(entry, error)| {
        if !fails.is_null() {
            // SAFETY: by contract.
            unsafe { fails.write(entry) };
        }
        error
    })
}

/// Bytes of an element: an array's, else 1.
fn element(operand: &Operand) -> Result<usize> {
    match operand.kind {
        POINTER => Ok(1),
        ARRAY => Ok(device()?.array_info(operand.pointer)?.0.bits.iter().sum::<i32>() as usize / 8),
        _ => Err(CudaError::INVALID_VALUE),
    }
}

/// One side of a copy of elements of so many bytes.
fn side(operand: &Operand, element: usize, extent: Extent) -> Result<(*mut c_void, Pos, PitchedPtr)> {
    let [first, second, third] = operand.sizes;
    if operand.kind == ARRAY {
        let nowhere = PitchedPtr { ptr: std::ptr::null_mut(), pitch: 0, xsize: 0, ysize: 0 };
        return Ok((operand.pointer, Pos { x: first, y: second, z: third }, nowhere));
    }
    let or = |given: usize, least: usize| if given == 0 { least } else { given };
    let (row, rows) = (or(first, extent.width), or(second, extent.height));
    check(row >= extent.width && rows >= extent.height)?;
    let pitch = row.checked_mul(element).ok_or(CudaError::INVALID_VALUE)?;
    let memory = PitchedPtr { ptr: operand.pointer, pitch, xsize: pitch, ysize: rows };
    Ok((std::ptr::null_mut(), Pos { x: 0, y: 0, z: 0 }, memory))
}

impl BatchCopy {
    /// The copy in the terms of `cudaMemcpy3D`.
    fn plain(&self) -> Result<Copy3d> {
        let Extent { width, height, depth } = self.extent;
        check(width > 0 && height > 0 && depth > 0)?;
        let sizes = [element(&self.from)?, element(&self.to)?];
        check(self.from.kind != ARRAY || self.to.kind != ARRAY || sizes[0] == sizes[1])?;
        let size = sizes[0].max(sizes[1]);
        let (src_array, src_pos, src_ptr) = side(&self.from, size, self.extent)?;
        let (dst_array, dst_pos, dst_ptr) = side(&self.to, size, self.extent)?;
        Ok(Copy3d { src_array, src_pos, src_ptr, dst_array, dst_pos, dst_ptr, extent: self.extent, kind: DEFAULT })
    }
}

cuda_api! {
    fn cudaMemcpyBatchAsync / cudaMemcpyBatchAsync_ptsz [on] (
        to: *const *mut c_void, from: *const *const c_void, sizes: *const usize, count: usize,
        attributes: *const Attributes, first_of: *const usize, groups: usize, fails: *mut c_void, stream: *mut c_void
    ) {
        let (fails, stream) = parted(fails, stream);
        if !fails.is_null() {
            fails.write(usize::MAX);
        }
        let stream = on.stream(stream);
        check(stream as usize > 1 && !to.is_null() && !from.is_null() && !sizes.is_null() && !attributes.is_null())?;
        let groups = Groups::new(first_of, groups, count)?;
        each(count, fails, |entry| {
            let Attributes { order, flags, .. } = &*attributes.add(groups.of(entry));
            let order = order_of(*order, *flags, stream)?;
            let (to, from, size) = (*to.add(entry), *from.add(entry), *sizes.add(entry));
            check(size > 0)?;
            device()?.copy(to, from, size, DEFAULT, order)
        })
    }

    fn cudaMemcpy3DBatchAsync / cudaMemcpy3DBatchAsync_ptsz [on] (
        count: usize, copies: *const BatchCopy, fails_or_flags: *mut c_void, flags_or_stream: *mut c_void,
        stream: *mut c_void
    ) {
        let (fails, flags, stream) = match is_cuda_13() {
            true => (std::ptr::null_mut(), fails_or_flags, flags_or_stream),
            false => (fails_or_flags.cast::<usize>(), flags_or_stream, stream),
        };
        if !fails.is_null() {
            fails.write(usize::MAX);
        }
        let stream = on.stream(stream);
        check(stream as usize > 1 && count > 0 && !copies.is_null() && flags.is_null())?;
        each(count, fails, |entry| {
            let copy = &*copies.add(entry);
            let order = order_of(copy.order, copy.flags, stream)?;
            device()?.copy_3d(&copy.plain()?, order)
        })
    }
}
