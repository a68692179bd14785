//! What sanitizers are told of coroutines, in a runtime that is built for one (`tools/sanitize.sh`); nothing else has the code.
//!
//! The thread sanitizer keeps the functions that a thread has entered and not left. A coroutine that has ended leaves some there, so that what runs in
//! coroutines counts as done on fibers: one for each depth of coroutines on an OS thread, made anew when nothing in them is left to go on. The
//! address sanitizer forgets what it knew of a stack that is given back.

#[cfg(feature = "sanitize-thread")]
mod fibers {
    use std::cell::{Cell, RefCell};
    use std::ffi::c_void;
    use std::mem::ManuallyDrop;

    unsafe extern "C" {
        fn __tsan_get_current_fiber() -> *mut c_void;
        fn __tsan_create_fiber(flags: u32) -> *mut c_void;
        fn __tsan_destroy_fiber(fiber: *mut c_void);
        fn __tsan_switch_to_fiber(fiber: *mut c_void, flags: u32);
    }

    thread_local! {
        /// Never dropped: what streams have left to do runs at the program's end, when what a thread drops is gone.
        static FIBERS: RefCell<ManuallyDrop<Vec<*mut c_void>>> = const { RefCell::new(ManuallyDrop::new(Vec::new())) };
        static DEPTH: Cell<usize> = const { Cell::new(0) };
    }

    /// Goes on in a coroutine.
    pub fn inside<T>(go_on: impl FnOnce() -> T) -> T {
        let depth = DEPTH.get();
        let fiber = FIBERS.with_borrow_mut(|fibers| {
            if fibers.len() == depth {
                // SAFETY: a function of the sanitizer's.
                fibers.push(unsafe { __tsan_create_fiber(0) });
            }
            fibers[depth]
        });
        // SAFETY: back to the fiber that this was before; both live.
        unsafe {
            let outer = __tsan_get_current_fiber();
            DEPTH.set(depth + 1);
            __tsan_switch_to_fiber(fiber, 0);
            let result = go_on();
            __tsan_switch_to_fiber(outer, 0);
            DEPTH.set(depth);
            result
        }
    }

    /// No coroutine of this depth is left to go on.
    pub fn anew() {
        FIBERS.with_borrow_mut(|fibers| {
            let left = DEPTH.get().min(fibers.len());
            for fiber in fibers.drain(left..) {
                // SAFETY: made above, and not the running one.
                unsafe { __tsan_destroy_fiber(fiber) };
            }
        });
    }
}

#[cfg(not(feature = "sanitize-thread"))]
mod fibers {
    /// Goes on in a coroutine.
    #[inline(always)]
    pub fn inside<T>(go_on: impl FnOnce() -> T) -> T {
        go_on()
    }

    /// No coroutine of this depth is left to go on.
    #[inline(always)]
    pub fn anew() {}
}

pub use fibers::{anew, inside};

/// Nobody uses the stack of so many bytes from an address on any more.
#[inline(always)]
#[cfg_attr(not(feature = "sanitize-address"), allow(unused_variables))]
pub fn forget(start: usize, bytes: usize) {
    #[cfg(feature = "sanitize-address")]
    {
        unsafe extern "C" {
            fn __asan_unpoison_memory_region(start: *const std::ffi::c_void, bytes: usize);
        }
        // SAFETY: a function of the sanitizer's.
        unsafe { __asan_unpoison_memory_region(start as *const std::ffi::c_void, bytes) };
    }
}
