//! What a program registers before `main`: modules (the images of one translation unit), kernels and variables.
//!
//! Registration knows no device, since none is chosen yet. Each entry has a [`Slot`] in which the chosen device keeps
//! what it made of it. Entries are never freed: a program has a bounded number of them, and a launch needs no more than
//! one look into a table.

use std::any::Any;
use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_void};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::image::Images;
use crate::error::{CudaError, Result};

/// What the device of the process keeps with an entry.
#[derive(Default)]
pub struct Slot(OnceLock<Box<dyn Any + Send + Sync>>);

impl Slot {
    /// What is kept, made at the first call.
    pub fn get_or_make<T: Send + Sync + 'static>(&self, make: impl FnOnce() -> T) -> Result<&T> {
        let kept = self.0.get_or_init(|| Box::new(make()));
        // A process has one device, so the type is always the same.
        kept.downcast_ref().ok_or(CudaError::UNKNOWN)
    }

    /// What is kept, if there is something.
    pub fn get<T: 'static>(&self) -> Option<&T> {
        self.0.get()?.downcast_ref()
    }
}

/// The images of one translation unit.
pub struct Module {
    pub images: Images,
    /// One for all units that share their images: what is loaded of them is loaded once.
    pub slot: &'static Slot,
}

/// A kernel.
pub struct Function {
    pub module: &'static Module,
    pub name: &'static CStr,
    pub slot: Slot,
}

/// A device variable.
pub struct Variable {
    pub module: &'static Module,
    pub name: &'static CStr,
    /// The address of the host's variable: of a pointer to the storage, if it is managed.
    pub shadow: usize,
    /// 0 where the program does not say.
    pub size: usize,
    pub managed: bool,
    pub slot: Slot,
}

impl Variable {
    /// Where the program finds a managed variable; 0 before that is known.
    fn storage(&self) -> usize {
        // SAFETY: the shadow of a managed variable is the program's pointer to the storage.
        unsafe { (self.shadow as *const usize).read() }
    }
}

/// Hashes addresses: each launch looks one up.
#[derive(Default)]
struct Address(u64);

impl Hasher for Address {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_usize(usize::from(*byte)));
    }

    fn write_usize(&mut self, value: usize) {
        // The table takes its place from the low bits and tells entries apart by the high ones.
        let product = (self.0 ^ value as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = product ^ product >> 32;
    }
}

type ByAddress<T> = HashMap<usize, T, BuildHasherDefault<Address>>;

#[derive(Default)]
struct Registry {
    modules: Vec<&'static Module>,
    /// By the address of the host's stub.
    functions: ByAddress<&'static Function>,
    /// The kernels that the program has handles of: their own addresses.
    handles: ByAddress<&'static Function>,
    /// By the address of the host's variable.
    variables: ByAddress<&'static Variable>,
}

fn registry() -> &'static RwLock<Registry> {
    static REGISTRY: OnceLock<RwLock<Registry>> = OnceLock::new();
    REGISTRY.get_or_init(RwLock::default)
}

fn read() -> RwLockReadGuard<'static, Registry> {
    registry().read().unwrap_or_else(PoisonError::into_inner)
}

fn write() -> RwLockWriteGuard<'static, Registry> {
    registry().write().unwrap_or_else(PoisonError::into_inner)
}

/// Adds a module.
pub fn add_module(images: Images) -> &'static Module {
    let mut registry = write();
    let shares = |other: &&&Module| images.program != 0 && other.images.program == images.program;
    let shared = registry.modules.iter().find(shares).map(|other| other.slot);
    let slot = shared.unwrap_or_else(|| Box::leak(Box::default()));
    let module: &'static Module = Box::leak(Box::new(Module { images, slot }));
    registry.modules.push(module);
    module
}

/// A C string of the program.
///
/// # Safety
/// `text` is null or a C string that lives as long as the program.
unsafe fn name(text: *const c_char) -> &'static CStr {
    // SAFETY: by contract.
    if text.is_null() { c"" } else { unsafe { CStr::from_ptr(text) } }
}

/// Adds a kernel.
///
/// # Safety
/// `device_name` is null or a C string that lives as long as the program.
pub unsafe fn add_function(module: &'static Module, stub: *const c_void, device_name: *const c_char) {
    // SAFETY: by contract.
    let name = unsafe { name(device_name) };
    let function = Function { module, name, slot: Slot::default() };
    write().functions.insert(stub as usize, Box::leak(Box::new(function)));
    CHANGES.fetch_add(1, Ordering::Release);
}

/// Adds a variable.
///
/// # Safety
/// As [`add_function`].
pub unsafe fn add_variable(
    module: &'static Module,
    shadow: *const c_void,
    device_name: *const c_char,
    size: usize,
    managed: bool,
) {
    let shadow = shadow as usize;
    // SAFETY: by contract.
    let name = unsafe { name(device_name) };
    let variable = Variable { module, name, shadow, size, managed, slot: Slot::default() };
    write().variables.insert(shadow, Box::leak(Box::new(variable)));
}

/// Counts the kernels that were added, and the handles that went: another kernel may take a stub's address.
static CHANGES: AtomicU64 = AtomicU64::new(0);

/// A kernel that was looked for.
#[derive(Clone, Copy)]
struct Found {
    stub: usize,
    changes: u64,
    function: &'static Function,
}

thread_local! {
    /// What this OS thread has found, by a few bits of the stub's address: a launch looks without a lock.
    static FOUND: [Cell<Option<Found>>; 8] = const { [const { Cell::new(None) }; 8] };
}

/// The handle of a kernel, which the program has from now on.
pub fn handle_of(function: &'static Function) -> *const c_void {
    let handle = std::ptr::from_ref(function);
    write().handles.insert(handle as usize, function);
    handle.cast()
}

/// The kernel behind a handle.
pub fn of_handle(handle: *const c_void) -> Result<&'static Function> {
    read().handles.get(&(handle as usize)).copied().ok_or(CudaError::INVALID_RESOURCE_HANDLE)
}

/// Forgets the handle of a kernel that goes.
pub fn forget_handle(function: &'static Function) {
    write().handles.remove(&(std::ptr::from_ref(function) as usize));
    CHANGES.fetch_add(1, Ordering::Release);
}

/// The kernel behind a host stub, or behind a handle in its place.
pub fn function(stub: *const c_void) -> Result<&'static Function> {
    let (stub, changes) = (stub as usize, CHANGES.load(Ordering::Acquire));
    // Stubs lie at multiples of 16.
    let place = stub / 16 % 8;
    let found = FOUND.try_with(|found| found[place].get()).ok().flatten();
    if let Some(found) = found.filter(|found| found.stub == stub && found.changes == changes) {
        return Ok(found.function);
    }
    let registered = read();
    let function = registered.functions.get(&stub).or_else(|| registered.handles.get(&stub)).copied();
    let function = function.ok_or(CudaError::INVALID_DEVICE_FUNCTION)?;
    let _ = FOUND.try_with(|found| found[place].set(Some(Found { stub, changes, function })));
    Ok(function)
}

/// The host stub of a kernel.
pub fn stub_of(function: &'static Function) -> Option<*const c_void> {
    let registered = read();
    let mut known = registered.functions.iter();
    known.find(|(_, other)| std::ptr::eq(**other, function)).map(|(stub, _)| *stub as *const c_void)
}

/// The variable behind a host variable; of a managed one the program has the storage.
pub fn variable(shadow: *const c_void) -> Result<&'static Variable> {
    let registered = read();
    let known = registered.variables.get(&(shadow as usize)).copied();
    let is_stored = |variable: &&'static Variable| variable.managed && variable.storage() == shadow as usize;
    let stored = || registered.variables.values().copied().find(is_stored).filter(|_| !shadow.is_null());
    known.or_else(stored).ok_or(CudaError::INVALID_SYMBOL)
}

/// Forgets the variables of a module that goes.
pub fn forget_variables(of: &'static Module) {
    write().variables.retain(|_, variable| !std::ptr::eq(variable.module, of));
}

/// Forgets that a module is there: its images may go.
pub fn forget_module(gone: &'static Module) {
    write().modules.retain(|module| !std::ptr::eq(*module, gone));
}

/// Whether a module is there.
pub fn has_module(module: &'static Module) -> bool {
    read().modules.iter().any(|known| std::ptr::eq(*known, module))
}

/// All modules.
pub fn modules() -> Vec<&'static Module> {
    read().modules.clone()
}

/// All kernels.
pub fn functions() -> Vec<&'static Function> {
    read().functions.values().copied().collect()
}

/// Whether a test holds for some variable.
pub fn any_variable(mut test: impl FnMut(&'static Variable) -> bool) -> bool {
    read().variables.values().any(|variable| test(variable))
}

/// The managed variables of a module, and of those that share its images.
pub fn managed_variables(of: &'static Module) -> Vec<&'static Variable> {
    let here = |variable: &&'static Variable| variable.managed && std::ptr::eq(variable.module.slot, of.slot);
    read().variables.values().copied().filter(here).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_one_program_share_what_is_loaded() {
        let [one, other, elsewhere, alone, again] =
            [8, 8, 16, 0, 0].map(|program| add_module(Images { program, ..Images::default() }));
        assert!(std::ptr::eq(one.slot, other.slot) && !std::ptr::eq(one, other));
        assert!(!std::ptr::eq(one.slot, elsewhere.slot) && !std::ptr::eq(alone.slot, again.slot));
    }
}
