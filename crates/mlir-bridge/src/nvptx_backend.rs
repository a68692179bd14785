//! Safe view of `cpp/nvptx_backend.cpp`: LLVM's NVPTX back end driven as clang drives it.

use std::ffi::CString;
use std::path::Path;

use inkwell::module::Module;

use crate::ffi;

/// What to generate code for, and how hard to try.
#[derive(Clone, Debug)]
pub struct Backend {
    cpu: CString,
    features: CString,
    libdevice: Option<CString>,
    opt_level: u32,
    size_level: u32,
    fuses: bool,
    exact_root: bool,
    near_quotient: bool,
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
            fuses: true,
            exact_root: false,
            near_quotient: false,
        }
    }

    /// Whether products and sums become one operation wherever they meet (they do unless this says no), and whether square roots of
    /// libdevice are rounded as IEEE has it (not unless this says so: that is clang's way).
    pub fn with_arithmetic(self, fuses: bool, exact_root: bool) -> Self {
        Self { fuses, exact_root, ..self }
    }

    /// Whether quotients of floats may be two units in the last place off.
    pub fn with_near_quotients(self, near_quotient: bool) -> Self {
        Self { near_quotient, ..self }
    }

    /// Links those functions of libdevice that the module calls, as internal functions.
    pub fn link_libdevice(&self, module: &Module<'_>) -> Result<(), String> {
        // SAFETY: the module is alive for the call, and so are the strings of `self` that the options point to; the
        // sink gets its own.
        ffi::attempt(|sink, user| unsafe {
            ffi::regrainNvptxLinkLibdevice(module.as_mut_ptr(), &self.raw(), sink, user)
        })
        .map(drop)
    }

    /// Runs LLVM's standard optimisation pipeline with the NVPTX target machine.
    pub fn optimize(&self, module: &Module<'_>) -> Result<(), String> {
        // SAFETY: as in `link_libdevice`.
        ffi::attempt(|sink, user| unsafe { ffi::regrainNvptxOptimize(module.as_mut_ptr(), &self.raw(), sink, user) })
            .map(drop)
    }

    /// Lowers the module to PTX text. Code generation changes the module: it is of no use afterwards.
    pub fn emit(&self, module: &Module<'_>) -> Result<String, String> {
        // SAFETY: as in `link_libdevice`.
        let ptx =
            ffi::attempt(|sink, user| unsafe { ffi::regrainNvptxEmit(module.as_mut_ptr(), &self.raw(), sink, user) })?;
        Ok(String::from_utf8_lossy(&ptx).into_owned())
    }

    fn raw(&self) -> ffi::RegrainNvptxOptions {
        ffi::RegrainNvptxOptions {
            cpu: self.cpu.as_ptr(),
            features: self.features.as_ptr(),
            libdevice: self.libdevice.as_ref().map_or(std::ptr::null(), |path| path.as_ptr()),
            opt_level: self.opt_level,
            size_level: self.size_level,
            fuses: self.fuses.into(),
            exact_root: self.exact_root.into(),
            near_quotient: self.near_quotient.into(),
        }
    }
}
