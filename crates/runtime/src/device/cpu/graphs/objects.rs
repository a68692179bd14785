//! Objects of the program's that graphs keep: each is counted, and destroyed when nobody has it any more.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::graph::{Name, fresh};
use crate::device::seam::HostFunction;
use crate::error::{CudaError, Result, check};

struct Object {
    count: u64,
    destroy: HostFunction,
    data: *mut c_void,
}

// SAFETY: the program's pointer, which it lets any thread destroy.
unsafe impl Send for Object {}

fn objects() -> MutexGuard<'static, HashMap<Name, Object>> {
    static OBJECTS: OnceLock<Mutex<HashMap<Name, Object>>> = OnceLock::new();
    OBJECTS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

/// A new object that the program has `count` times.
pub fn create(data: *mut c_void, destroy: HostFunction, count: u32) -> Name {
    let name = fresh();
    objects().insert(name, Object { count: count.into(), destroy, data });
    name
}

pub fn retain(name: Name, count: u32) -> Result {
    objects().get_mut(&name).map(|object| object.count += u64::from(count)).ok_or(CudaError::INVALID_VALUE)
}

pub fn release(name: Name, count: u32) -> Result {
    let mut objects = objects();
    let object = objects.get_mut(&name).ok_or(CudaError::INVALID_VALUE)?;
    object.count = object.count.checked_sub(count.into()).ok_or(CudaError::INVALID_VALUE)?;
    if object.count != 0 {
        return Ok(());
    }
    let gone = objects.remove(&name);
    drop(objects);
    if let Some(object) = gone {
        // SAFETY: what the program promised when it made the object.
        unsafe { (object.destroy)(object.data) };
    }
    Ok(())
}

/// An object that a graph has.
pub struct Held {
    name: Name,
    count: u32,
}

impl Clone for Held {
    fn clone(&self) -> Self {
        // It is there, as this one has it.
        let _ = retain(self.name, self.count);
        Self { ..*self }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.count != 0 {
            let _ = release(self.name, self.count);
        }
    }
}

/// Adds an object to those of a graph, once more or taken over from the program.
pub fn hold(held: &mut Vec<Held>, name: Name, count: u32, moves: bool) -> Result {
    if moves {
        check(objects().get(&name).is_some_and(|object| object.count >= u64::from(count)))?;
    } else {
        retain(name, count)?;
    }
    held.push(Held { name, count });
    Ok(())
}

/// Takes an object from those of a graph; what is returned is to be dropped while nothing is locked.
pub fn let_go(held: &mut Vec<Held>, name: Name, count: u32) -> Result<Vec<Held>> {
    let all: u32 = held.iter().filter(|one| one.name == name).map(|one| one.count).sum();
    check(all >= count)?;
    let mut left = count;
    let mut gone = Vec::new();
    for one in held.iter_mut().filter(|one| one.name == name) {
        let part = left.min(one.count);
        one.count -= part;
        left -= part;
        gone.push(Held { name, count: part });
    }
    held.retain(|one| one.count != 0);
    Ok(gone)
}
