//! Safe view of `cpp/nvptx_backend.cpp`: LLVM's NVPTX back end driven as clang drives it.

use std::ffi::{CStr, CString, c_char, c_uint};
use std::path::Path;

use inkwell::module::Module;
use llvm_sys::prelude::LLVMModuleRef;

#[repr(C)]
struct RawOptions {
    cpu: *const c_char,
    features: *const c_char,
    libdevice: *const c_char,
    opt_level: c_uint,
    size_level: c_uint,
}

unsafe extern "C" {
    fn regrainNvptxLinkLibdevice(module: LLVMModuleRef, options: *const RawOptions) -> *mut c_char;
    fn regrainNvptxOptimize(module: LLVMModuleRef, options: *const RawOptions) -> *mut c_char;
    fn regrainNvptxEmit(
        module: LLVMModuleRef,
        options: *const RawOptions,
        ptx: *mut *mut c_char,
        size: *mut usize,
    ) -> *mut c_char;
    fn free(pointer: *mut c_char);
}

/// What to generate code for, and how hard to try.
#[derive(Clone, Debug)]
pub struct Backend {
    cpu: CString,
    features: CString,
    libdevice: Option<CString>,
    opt_level: u32,
    size_level: u32,
}

impl Backend {
    /// A back end for `cpu` (as in `sm_80`) with `features` (as in `+ptx88`), at `-O<opt_level>`, and `-Os`, `-Oz`
    /// for a `size_level` of 1, 2. `libdevice` is the path of NVIDIA's device library, if it is to be linked.
    ///
    /// Interior NUL bytes end the strings.
    pub fn new(cpu: &str, features: &str, libdevice: Option<&Path>, opt_level: u32, size_level: u32) -> Self {
        let text = |s: &str| CString::new(s.split('\0').next().unwrap_or_default()).unwrap_or_default();
        Self {
            cpu: text(cpu),
            features: text(features),
            libdevice: libdevice.map(|path| text(&path.to_string_lossy())),
            opt_level,
            size_level,
        }
    }

    /// Links those functions of libdevice that the module calls, as internal functions.
    pub fn link_libdevice(&self, module: &Module<'_>) -> Result<(), String> {
        // SAFETY: the module is alive for the call and `raw` holds pointers to strings that `self` owns; a message
        // that comes back is malloc'ed text, which `check` takes over.
        unsafe { check(regrainNvptxLinkLibdevice(module.as_mut_ptr(), &self.raw())) }
    }

    /// Runs LLVM's standard optimisation pipeline with the NVPTX target machine.
    pub fn optimize(&self, module: &Module<'_>) -> Result<(), String> {
        // SAFETY: as in `link_libdevice`.
        unsafe { check(regrainNvptxOptimize(module.as_mut_ptr(), &self.raw())) }
    }

    /// Lowers the module to PTX text. Code generation changes the module: it is of no use afterwards.
    pub fn emit(&self, module: &Module<'_>) -> Result<String, String> {
        let mut ptx = std::ptr::null_mut();
        let mut size = 0;
        // SAFETY: as in `link_libdevice`; without a message `ptx` is malloc'ed text of `size` bytes, copied and freed
        // here once.
        unsafe {
            check(regrainNvptxEmit(module.as_mut_ptr(), &self.raw(), &mut ptx, &mut size))?;
            let bytes = std::slice::from_raw_parts(ptx.cast::<u8>(), size);
            let text = String::from_utf8_lossy(bytes).into_owned();
            free(ptx);
            Ok(text)
        }
    }

    fn raw(&self) -> RawOptions {
        RawOptions {
            cpu: self.cpu.as_ptr(),
            features: self.features.as_ptr(),
            libdevice: self.libdevice.as_ref().map_or(std::ptr::null(), |path| path.as_ptr()),
            opt_level: self.opt_level,
            size_level: self.size_level,
        }
    }
}

/// Turns a message of the C++ side (null: none) into a result.
///
/// # Safety
/// `message` is null or NUL-terminated malloc'ed text that nobody else frees.
unsafe fn check(message: *mut c_char) -> Result<(), String> {
    if message.is_null() {
        return Ok(());
    }
    // SAFETY: the caller's promise.
    unsafe {
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        free(message);
        Err(text)
    }
}
