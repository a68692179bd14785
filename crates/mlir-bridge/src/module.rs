//! Contexts, parsing, and LLVM IR in and out.

use crate::{
    diagnostics::with_diagnostics,
    ffi,
    ir::{Ctx, Op},
};
use melior::{
    Context,
    dialect::DialectRegistry,
    ir::{Module, operation::OperationLike},
};

/// What went wrong, as located text (`file:line:column: error: ...`), possibly several lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostics(pub String);

impl std::fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.trim_end())
    }
}

impl std::error::Error for Diagnostics {}

/// Makes a dialect known to all contexts made later, to `regrain-opt` and to passes' dependent
/// dialects.
pub fn add_dialect(handle: melior::dialect::DialectHandle) {
    // SAFETY: a handle is static data of its dialect.
    unsafe { ffi::regrainAddDialect(handle.to_raw()) }
}

/// Defines a function that makes a dialect of ours known, given the function of C that hands out
/// its handle (`MLIR_DEFINE_CAPI_DIALECT_REGISTRATION` in the dialect's C++).
#[macro_export]
macro_rules! mlir_dialect {
    ($(#[$meta:meta])* $register:ident, $handle:ident) => {
        $(#[$meta])*
        pub fn $register() {
            unsafe extern "C" {
                fn $handle() -> $crate::mlir_sys::MlirDialectHandle;
            }
            // SAFETY: the dialect's C++ defines the function; it gives a pointer to static data.
            $crate::add_dialect(unsafe {
                $crate::melior::dialect::DialectHandle::from_raw($handle())
            });
        }
    };
}

/// A context that knows all upstream dialects, those of `add_dialect`, and the translations from
/// and to LLVM IR. Dialects are loaded when needed.
pub fn new_context() -> Context {
    let registry = DialectRegistry::new();
    // SAFETY: the registry is ours.
    unsafe { ffi::regrainFillRegistry(registry.to_raw()) }
    Context::new_with_registry(&registry, false)
}

/// Registers all upstream passes by name, so that pipelines may use them.
pub fn register_upstream_passes() {
    // SAFETY: no arguments; runs once.
    unsafe { ffi::regrainRegisterUpstreamPasses() }
}

/// The module's operation.
pub fn module_op<'c>(module: &Module<'c>) -> Op<'c> {
    module.into()
}

fn own_module<'c>(raw: mlir_sys::MlirOperation) -> Option<Module<'c>> {
    if raw.ptr.is_null() {
        return None;
    }
    // SAFETY: C++ released a ModuleOp to us.
    unsafe { Module::from_option_raw(mlir_sys::mlirModuleFromOperation(raw)) }
}

/// Parses MLIR text. Errors show the source line; warnings of a good parse are dropped.
pub fn parse_module<'c>(context: &'c Context, source: &str, name: &str) -> Result<Module<'c>, Diagnostics> {
    let (raw, text) = ffi::gather(|sink, user| {
        // SAFETY: all are live; source and name are copied.
        unsafe { ffi::regrainParseModule(context.to_raw(), ffi::string(source), ffi::string(name), sink, user) }
    });
    own_module(raw).ok_or_else(|| Diagnostics(String::from_utf8_lossy(&text).into_owned()))
}

/// Imports LLVM IR, textual or bitcode. The module keeps data layout and triple as
/// `llvm.data_layout` and `llvm.target_triple`.
pub fn import_llvm<'c>(context: &'c Context, bytes: &[u8], name: &str) -> Result<Module<'c>, Diagnostics> {
    for dialect in ["llvm", "dlti", "nvvm"] {
        Ctx::from(context).load_dialect(dialect);
    }
    let ((raw, parse), text) = with_diagnostics(context, || {
        ffi::gather(|sink, user| {
            // SAFETY: all are live; the bytes are copied.
            unsafe { ffi::regrainImportLLVM(context.to_raw(), ffi::bytes(bytes), ffi::string(name), sink, user) }
        })
    });
    own_module(raw).ok_or_else(|| Diagnostics(String::from_utf8_lossy(&parse).into_owned() + &text))
}

/// Imports a module of LLVM's C API, which stays as it is.
pub fn import_inkwell<'c>(
    context: &'c Context,
    module: &inkwell::module::Module<'_>,
) -> Result<Module<'c>, Diagnostics> {
    let bitcode = module.write_bitcode_to_memory();
    import_llvm(context, bitcode.as_slice(), &module.get_name().to_string_lossy())
}

/// Exports a module that holds only the llvm dialect (and nvvm, and others with a translation) as
/// bitcode. Data layout and triple are those of the module's attributes.
pub fn export_llvm(module: &Module<'_>, name: &str) -> Result<Vec<u8>, Diagnostics> {
    let op = module_op(module);
    let ((done, bitcode), text) = with_diagnostics(op.ctx(), || {
        ffi::gather(|sink, user| {
            // SAFETY: the module is live, the sink gets its own.
            unsafe { ffi::regrainExportLLVM(op.raw(), ffi::string(name), sink, user) }
        })
    });
    if done { Ok(bitcode) } else { Err(Diagnostics(text)) }
}

/// Exports into a context of inkwell.
pub fn export_inkwell<'l>(
    module: &Module<'_>,
    name: &str,
    context: &'l inkwell::context::Context,
) -> Result<inkwell::module::Module<'l>, Diagnostics> {
    let bitcode = export_llvm(module, name)?;
    let buffer = inkwell::memory_buffer::MemoryBuffer::create_from_memory_range_copy(&bitcode, name);
    inkwell::module::Module::parse_bitcode_from_buffer(&buffer, context).map_err(|error| Diagnostics(error.to_string()))
}

/// Verifies a module; the error holds the located diagnostics.
pub fn verify(module: &Module<'_>) -> Result<(), Diagnostics> {
    let op = module_op(module);
    let (good, text) = with_diagnostics(op.ctx(), || module.as_operation().verify());
    if good { Ok(()) } else { Err(Diagnostics(text)) }
}

/// Runs a pipeline on a module; the error holds the located diagnostics. Remarks and warnings of
/// a run that succeeded come back as text.
pub fn run_on_module(module: &Module<'_>, passes: &str) -> Result<String, Diagnostics> {
    let op = module_op(module);
    let (result, text) = with_diagnostics(op.ctx(), || crate::pass::run_pipeline(op, passes));
    match result {
        Ok(()) => Ok(text),
        Err(crate::pass::PassError::Message(message)) => Err(Diagnostics(format!("{text}error: {message}"))),
        Err(crate::pass::PassError::Reported) => Err(Diagnostics(text)),
    }
}
