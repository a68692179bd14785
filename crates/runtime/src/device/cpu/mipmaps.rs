//! Mipmapped arrays: an array for each level, each half as wide, high and deep as the one before.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::arrays;
use crate::error::{CudaError, Result};
use crate::types::{ARRAY_CUBE, ARRAY_LAYERED, ChannelFormat, Extent};

/// The levels of each mipmapped array, the largest first. Its handle is the address of that list.
type Mipmaps = HashMap<usize, Vec<usize>>;

fn mipmaps() -> MutexGuard<'static, Mipmaps> {
    static MIPMAPS: OnceLock<Mutex<Mipmaps>> = OnceLock::new();
    MIPMAPS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

/// One dimension of a level; 0 means that there is none.
fn halved(size: usize, level: u32) -> usize {
    if size == 0 { 0 } else { (size >> level).max(1) }
}

/// Makes the levels; more than there can be are not made.
pub fn create(format: ChannelFormat, extent: Extent, levels: u32, flags: u32) -> Result<*mut c_void> {
    // Layers and faces are no depth.
    let sliced = flags & (ARRAY_LAYERED | ARRAY_CUBE) != 0;
    let depth = |level| if sliced { extent.depth } else { halved(extent.depth, level) };
    let longest = extent.width.max(extent.height).max(if sliced { 1 } else { extent.depth });
    let possible = longest.checked_ilog2().ok_or(CudaError::INVALID_VALUE)? + 1;
    let mut made = Vec::new();
    for level in 0..levels.clamp(1, possible) {
        let (width, height) = (halved(extent.width, level), halved(extent.height, level));
        match arrays::create(format, Extent { width, height, depth: depth(level) }, flags) {
            Ok(array) => made.push(array as usize),
            Err(error) => {
                made.into_iter().try_for_each(|array| arrays::free(array as *mut c_void))?;
                return Err(error);
            }
        }
    }
    let handle = made.as_ptr() as usize;
    mipmaps().insert(handle, made);
    Ok(handle as *mut c_void)
}

/// The arrays of all levels.
pub fn levels(mipmap: *const c_void) -> Result<Vec<*mut c_void>> {
    let mipmaps = mipmaps();
    let levels = mipmaps.get(&(mipmap as usize)).ok_or(CudaError::INVALID_RESOURCE_HANDLE)?;
    Ok(levels.iter().map(|level| *level as *mut c_void).collect())
}

/// Frees all levels.
pub fn free(mipmap: *mut c_void) -> Result {
    if mipmap.is_null() {
        return Ok(());
    }
    let removed = mipmaps().remove(&(mipmap as usize)).ok_or(CudaError::INVALID_RESOURCE_HANDLE)?;
    removed.into_iter().try_for_each(|level| arrays::free(level as *mut c_void))
}

/// Forgets all; their arrays are forgotten too (`cudaDeviceReset`).
pub fn forget_all() {
    mipmaps().clear();
}
