//! Safe view of `cpp/amdgpu_adapt.cpp` and `cpp/amdgpu_backend.cpp`: LLVM's AMDGPU back end driven as clang drives it.

use std::ffi::CString;

use inkwell::module::Module;

use crate::ffi;

/// What to generate code for, and how hard to try.
#[derive(Clone, Debug)]
pub struct Backend {
    cpu: CString,
    features: CString,
    shape: Shape,
}

/// The numbers that code depends on beside the chip's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// `-O` level, 0 to 3.
    pub opt_level: u32,
    /// 1 for `-Os`, 2 for `-Oz`, else 0.
    pub size_level: u32,
    /// Version of the code object: 4, 5 or 6.
    pub code_object: u32,
    /// Threads of a wave.
    pub wave: u32,
    /// SIMDs that the waves of one block are spread over.
    pub unit_simds: u32,
    /// Waves that a SIMD holds.
    pub simd_waves: u32,
}

fn text(text: &str) -> CString {
    CString::new(text.split('\0').next().unwrap_or_default()).unwrap_or_default()
}

impl Backend {
    /// A back end for `cpu` (as in `gfx90a`) with `features` (as in `+wavefrontsize64`).
    ///
    /// Interior NUL bytes end the strings.
    pub fn new(cpu: &str, features: &str, shape: Shape) -> Self {
        Self { cpu: text(cpu), features: text(features), shape }
    }

    /// Makes a module of clang's for NVPTX, in which no intrinsic of NVVM is left, one as clang gives it for AMDGPU: calling
    /// convention of kernels, address spaces, attributes, scopes of atomics.
    pub fn adapt(&self, module: &Module<'_>) -> Result<(), String> {
        // SAFETY: the module is alive for the call, and so are the strings of `self` that the options point to; the sink
        // gets its own.
        ffi::attempt(|sink, user| unsafe { ffi::regrainAmdgpuAdapt(module.as_mut_ptr(), &self.raw(), sink, user) })
            .map(drop)
    }

    /// Links what the module uses of `library` (bitcode), as internal functions, and gives the control constants that are asked
    /// for their values.
    pub fn link(&self, module: &Module<'_>, library: &[u8], constants: &[(&str, u64)]) -> Result<(), String> {
        let names: Vec<CString> = constants.iter().map(|(name, _)| text(name)).collect();
        let values = names.iter().zip(constants);
        let raw: Vec<_> = values
            .map(|(name, (_, value))| ffi::RegrainAmdgpuConstant { name: name.as_ptr(), value: *value })
            .collect();
        // SAFETY: as in `adapt`; `raw` and what it points to live to the end of this function.
        ffi::attempt(|sink, user| unsafe {
            let library = ffi::bytes(library);
            ffi::regrainAmdgpuLink(module.as_mut_ptr(), &self.raw(), library, raw.as_ptr(), raw.len(), sink, user)
        })
        .map(drop)
    }

    /// Runs LLVM's standard optimisation pipeline with the AMDGPU target machine.
    pub fn optimize(&self, module: &Module<'_>) -> Result<(), String> {
        // SAFETY: as in `adapt`.
        ffi::attempt(|sink, user| unsafe { ffi::regrainAmdgpuOptimize(module.as_mut_ptr(), &self.raw(), sink, user) })
            .map(drop)
    }

    /// Lowers the module to assembly. Code generation changes the module: it is of no use afterwards.
    pub fn emit(&self, module: &Module<'_>) -> Result<String, String> {
        // SAFETY: as in `adapt`.
        let text =
            ffi::attempt(|sink, user| unsafe { ffi::regrainAmdgpuEmit(module.as_mut_ptr(), &self.raw(), sink, user) })?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// An object file of assembly that [`emit`](Self::emit) made.
    pub fn assemble(&self, text: &str) -> Result<Vec<u8>, String> {
        // SAFETY: as in `adapt`; the text is lent for the call.
        ffi::attempt(|sink, user| unsafe { ffi::regrainAmdgpuAssemble(ffi::string(text), &self.raw(), sink, user) })
    }

    fn raw(&self) -> ffi::RegrainAmdgpuOptions {
        let Shape { opt_level, size_level, code_object, wave, unit_simds, simd_waves } = self.shape;
        let (cpu, features) = (self.cpu.as_ptr(), self.features.as_ptr());
        ffi::RegrainAmdgpuOptions { cpu, features, opt_level, size_level, code_object, wave, unit_simds, simd_waves }
    }
}
