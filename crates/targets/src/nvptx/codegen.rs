//! Device LLVM module to PTX, as clang does it for CUDA: link what it calls of libdevice, optimise with the NVPTX
//! target machine (so that the target's own passes run), emit with contraction of floating-point operations allowed.

use inkwell::module::Module;
use mlir_bridge::nvptx_backend::Backend;

use super::managed;
use crate::Error;
use crate::toolkit::{SmArch, Toolkit};

/// How to generate code.
#[derive(Clone, Debug)]
pub struct CodegenOptions {
    /// The chip.
    pub arch: SmArch,
    /// `-O` level, 0 to 3.
    pub opt_level: u32,
    /// 1 for `-Os`, 2 for `-Oz`, else 0.
    pub size_level: u32,
    /// Whether products and sums become one operation wherever they meet.
    pub fuses: bool,
    /// Whether square roots of floats are rounded as IEEE has it.
    pub exact_root: bool,
    /// Whether quotients of floats may be two units in the last place off.
    pub near_quotient: bool,
    /// Whether to link libdevice (no with `-nocudalib`).
    pub libdevice: bool,
}

impl CodegenOptions {
    /// `-O3` for `arch`.
    pub fn new(arch: SmArch) -> Self {
        Self {
            arch,
            opt_level: 3,
            size_level: 0,
            fuses: true,
            exact_root: false,
            near_quotient: false,
            libdevice: true,
        }
    }
}

/// The LLVM target features to ask for with this toolkit, as in `+ptx88`.
pub fn target_features(toolkit: &Toolkit) -> String {
    format!("+ptx{}", toolkit.version.ptx())
}

/// Links libdevice and optimises, leaving a module for [`emit`].
pub fn optimize(module: &Module<'_>, toolkit: &Toolkit, options: &CodegenOptions) -> Result<(), Error> {
    let backend = backend(toolkit, options);
    backend.link_libdevice(module).map_err(|message| Error::internal("linking libdevice", message))?;
    backend.optimize(module).map_err(|message| Error::internal("optimising device code", message))
}

/// Lowers an optimised module to PTX. The module is of no use afterwards.
pub fn emit(module: &Module<'_>, toolkit: &Toolkit, options: &CodegenOptions) -> Result<String, Error> {
    managed::annotate(module);
    backend(toolkit, options).emit(module).map_err(|message| Error::Tool { tool: "the NVPTX back end".into(), message })
}

/// [`optimize`], then [`emit`].
pub fn compile_to_ptx(module: &Module<'_>, toolkit: &Toolkit, options: &CodegenOptions) -> Result<String, Error> {
    optimize(module, toolkit, options)?;
    emit(module, toolkit, options)
}

fn backend(toolkit: &Toolkit, options: &CodegenOptions) -> Backend {
    let libdevice = options.libdevice.then_some(toolkit.libdevice.as_path());
    let features = target_features(toolkit);
    Backend::new(&options.arch.to_string(), &features, libdevice, options.opt_level, options.size_level)
        .with_arithmetic(options.fuses, options.exact_root)
        .with_near_quotients(options.near_quotient)
}
