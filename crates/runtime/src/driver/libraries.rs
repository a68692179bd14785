//! Libraries that a program loads by functions of the runtime: the driver's, by other names. Their kernels stand where those of the program do.

use std::ffi::{c_char, c_void};

use super::jit::Options;
use super::modules;
use crate::device::choice::device;
use crate::error::check;
use crate::images::registry::of_handle;
use crate::macros::{cuda_api, put};

type Handle = *mut c_void;

cuda_api! {
    fn cudaLibraryLoadData(
        library: *mut Handle, code: *const c_void, options: *const u32, values: *const *mut c_void, count: u32,
        _library_options: *const u32, _library_values: *const *mut c_void, _library_count: u32
    ) {
        modules::load(library, code, &Options::new(count, options, values)?)
    }

    fn cudaLibraryLoadFromFile(
        library: *mut Handle, path: *const c_char, options: *const u32, values: *const *mut c_void, count: u32,
        _library_options: *const u32, _library_values: *const *mut c_void, _library_count: u32
    ) {
        modules::load_file(library, path, &Options::new(count, options, values)?)
    }

    fn cudaLibraryUnload(library: Handle) { modules::unload(library) }

    fn cudaLibraryGetKernel(kernel: *mut Handle, library: Handle, name: *const c_char) {
        check(!kernel.is_null())?;
        put(kernel, modules::kernel(library, name)?)
    }

    fn cudaLibraryGetKernelCount(count: *mut u32, library: Handle) { put(count, modules::number_of_kernels(library)?) }

    fn cudaLibraryEnumerateKernels(kernels: *mut Handle, room: u32, library: Handle) {
        modules::list(kernels, room, library)
    }

    fn cudaLibraryGetGlobal(pointer: *mut usize, size: *mut usize, library: Handle, name: *const c_char) {
        modules::variable(pointer, size, library, name)
    }

    fn cudaKernelSetAttributeForDevice(kernel: Handle, which: u32, value: i32, index: i32) {
        device()?.check(index)?;
        device()?.set_attribute(of_handle(kernel)?, which, value)
    }
}
