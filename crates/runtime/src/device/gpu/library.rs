//! A vendor's library: how it is loaded, and the functions that the libraries of all vendors have with one signature.

use std::ffi::{CStr, c_char, c_void};

use super::layout::{Callback, Code, Handle, Pointer};
use crate::types::PoolProps;

/// Declares a table of functions that a library must have (`needs`), and of such that came with later versions
/// (`may_have`), which are `None` where they are missing. Each is `name = "symbol" (types of the parameters)`.
macro_rules! library {
    ($(#[$meta:meta])* $table:ident
     needs { $($name:ident = $symbol:literal ($($ty:ty),*);)* }
     may_have { $($more:ident = $label:literal ($($arg:ty),*);)* }) => {
        $(#[$meta])*
        pub struct $table {
            $(pub $name: unsafe extern "C" fn($($ty),*) -> $crate::device::gpu::layout::Code,)*
            $(pub $more: Option<unsafe extern "C" fn($($arg),*) -> $crate::device::gpu::layout::Code>,)*
        }

        impl $table {
            /// Looks the functions up; the error is the name of one that is missing.
            ///
            /// # Safety
            /// `library` is a handle of `dlopen` of that library.
            pub unsafe fn find(library: *mut c_void) -> std::result::Result<Self, &'static CStr> {
                // SAFETY: by contract; the signatures are those of the library's header.
                unsafe {
                    Ok(Self {
                        $($name: $crate::device::gpu::library::symbol(library, $symbol).ok_or($symbol)?,)*
                        $($more: $crate::device::gpu::library::symbol(library, $label),)*
                    })
                }
            }
        }
    };
}
pub(crate) use library;

/// Declares the table of functions with one signature in all libraries, and the table of what each library calls them.
macro_rules! functions {
    (needs { $($name:ident ($($ty:ty),*);)* } may_have { $($more:ident ($($arg:ty),*);)* }) => {
        /// The functions with one signature in all libraries.
        pub struct Functions {
            $(pub $name: unsafe extern "C" fn($($ty),*) -> Code,)*
            $(pub $more: Option<unsafe extern "C" fn($($arg),*) -> Code>,)*
        }

        /// What a library calls them; what it does not have at all is the empty string.
        pub struct Names {
            $(pub $name: &'static CStr,)*
            $(pub $more: &'static CStr,)*
        }

        impl Functions {
            /// Looks the functions up; the error is the name of one that is missing.
            ///
            /// # Safety
            /// `library` is a handle of `dlopen` of the library whose names these are.
            pub unsafe fn find(library: *mut c_void, names: &Names) -> Result<Self, &'static CStr> {
                // SAFETY: by contract; the signatures are those of the libraries' headers.
                unsafe {
                    Ok(Self {
                        $($name: symbol(library, names.$name).ok_or(names.$name)?,)*
                        $($more: symbol(library, names.$more),)*
                    })
                }
            }
        }
    };
}

functions! {
    needs {
        init (u32);
        device_count (*mut i32);
        device_name (*mut c_char, i32, i32);
        device_memory (*mut usize, i32);
        device_attribute (*mut i32, u32, i32);
        device_bus_id (*mut c_char, i32, i32);
        synchronize ();
        limit (*mut usize, u32);
        cache (*mut u32);
        set_cache (u32);
        stream_priorities (*mut i32, *mut i32);
        can_access_peer (*mut i32, i32, i32);
        peer_attribute (*mut i32, u32, i32, i32);
        allocate (*mut Pointer, usize);
        free (Pointer);
        allocate_managed (*mut Pointer, usize, u32);
        allocate_host (*mut *mut c_void, usize, u32);
        free_host (*mut c_void);
        register (*mut c_void, usize, u32);
        unregister (*mut c_void);
        host_pointer (*mut Pointer, *mut c_void, u32);
        host_flags (*mut u32, *mut c_void);
        memory_info (*mut usize, *mut usize);
        prefetch (Pointer, usize, i32, Handle);
        advise (Pointer, usize, u32, i32);
        fill (Pointer, u8, usize);
        fill_async (Pointer, u8, usize, Handle);
        stream_create (*mut Handle, u32, i32);
        stream_destroy (Handle);
        stream_synchronize (Handle);
        stream_query (Handle);
        stream_flags (Handle, *mut u32);
        stream_priority (Handle, *mut i32);
        stream_wait (Handle, Handle, u32);
        stream_attach (Handle, Pointer, usize, u32);
        stream_capturing (Handle, *mut u32);
        stream_callback (Handle, Callback, *mut c_void, u32);
        event_create (*mut Handle, u32);
        event_record (Handle, Handle);
        event_query (Handle);
        event_synchronize (Handle);
        event_destroy (Handle);
        event_elapsed (*mut f32, Handle, Handle);
        module_load (*mut Handle, *const c_void);
        module_function (*mut Handle, Handle, *const c_char);
        module_variable (*mut Pointer, *mut usize, Handle, *const c_char);
        function_attribute (*mut i32, u32, Handle);
        occupancy (*mut i32, Handle, i32, usize, u32);
        launch (Handle, u32, u32, u32, u32, u32, u32, u32, Handle, *mut *mut c_void, *mut *mut c_void);
    }
    may_have {
        device_uuid (*mut [u8; 16], i32);
        set_limit (u32, usize);
        shared (*mut u32);
        set_shared (u32);
        host_function (Handle, unsafe extern "C" fn(*mut c_void), *mut c_void);
        exchange_capture_mode (*mut u32);
        event_record_flags (Handle, Handle, u32);
        stream_id (Handle, *mut u64);
        launch_cooperative (Handle, u32, u32, u32, u32, u32, u32, u32, Handle, *mut *mut c_void);
        function_set_cache (Handle, u32);
        function_set_shared (Handle, u32);
        function_parameter (Handle, usize, *mut usize, *mut usize);
        available_shared (*mut usize, Handle, i32, i32);
        allocate_async (*mut Pointer, usize, Handle);
        free_async (Pointer, Handle);
        allocate_from_pool (*mut Pointer, usize, Handle, Handle);
        default_pool (*mut Handle, i32);
        pool (*mut Handle, i32);
        set_pool (i32, Handle);
        pool_create (*mut Handle, *const PoolProps);
        pool_destroy (Handle);
        pool_trim (Handle, usize);
        pool_attribute (Handle, u32, *mut c_void);
        pool_set_attribute (Handle, u32, *const c_void);
    }
}

/// A function of a library, as a function pointer of type `T`.
///
/// # Safety
/// `library` is a handle of `dlopen`, and `T` is the function pointer type of that symbol.
pub unsafe fn symbol<T: Copy>(library: *mut c_void, name: &CStr) -> Option<T> {
    const { assert!(size_of::<T>() == size_of::<*mut c_void>()) };
    if name.is_empty() {
        return None;
    }
    // SAFETY: by contract; a function pointer has the size and representation of an address.
    unsafe {
        let found = libc::dlsym(library, name.as_ptr());
        (!found.is_null()).then(|| std::mem::transmute_copy(&found))
    }
}

/// Loads the first of some libraries that the loader takes, for good; the handle, and which one it was. The error is
/// what the loader answered for each.
pub fn load(paths: &[&'static CStr]) -> Result<(*mut c_void, &'static CStr), String> {
    let mut answers = Vec::new();
    for path in paths {
        // SAFETY: a C string; the library's constructors are the library's own.
        let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) };
        if !library.is_null() {
            return Ok((library, path));
        }
        // SAFETY: null, or a C string that is valid until the next call of the loader.
        let answer = unsafe { libc::dlerror().cast_const().as_ref().map(|text| CStr::from_ptr(text)) };
        let answer = answer.map_or_else(|| "no reason given".into(), |text| text.to_string_lossy().into_owned());
        let path = path.to_string_lossy();
        answers.push(if answer.starts_with(&*path) { answer } else { format!("{path}: {answer}") });
    }
    Err(format!("tried {}", answers.join("; ")))
}

/// What is said of a library that lacks a function.
pub fn too_old(path: &CStr, name: &CStr) -> String {
    format!("{} has no function {}: the driver is too old", path.to_string_lossy(), name.to_string_lossy())
}
