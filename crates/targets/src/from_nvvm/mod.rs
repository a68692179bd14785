//! clang's device IR, which speaks of NVVM, for a target that is not NVPTX.
//!
//! ```text
//! inline PTX ─► IR ─┐
//! __nvvm_reflect ───┤
//! llvm.nvvm.* ──────┼─► IR of the destination over its device library ─► [`link_library`] ─► optimised ─► [`reject_missing`]
//! shared variables ─┘
//! ```
//!
//! What is the same for all such targets stands here; what differs is a [`Destination`].

pub mod device_runtime;
mod inline_ptx;
pub(crate) use inline_ptx::parse as ptx;
mod lacks;
pub mod library;
#[cfg(test)]
pub(crate) mod library_checks;
mod place;
pub(crate) mod retarget;
mod stand_ins;

use std::rc::Rc;

use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::targets::TargetMachine;
use inkwell::values::{FunctionValue, GlobalValue, InstructionOpcode, InstructionValue, PointerValue};
use mlir_bridge::llvm;

pub(crate) use inline_ptx::arithmetic::open as open_inline_ptx;
pub use library::DeviceLibrary;
pub use retarget::retarget;
pub(crate) use stand_ins::stand_in;

use crate::{Error, Unsupported};

/// What differs between the targets that NVVM device IR is brought to.
///
/// The numbers of the address spaces (1 global, 3 shared, 4 constant, 5 a thread's own) are those of NVVM and of LLVM's
/// AMDGPU, and one flat space on a CPU, so they stay as they are.
pub trait Destination {
    /// The target in messages, as in "the CPU target".
    fn name(&self) -> &str;

    /// What `__CUDA_ARCH__` was when the source was compiled, divided by 10.
    fn cuda_arch(&self) -> u32;

    /// Where the triple and the data layout come from.
    fn machine(&self) -> Result<Rc<TargetMachine>, Error>;

    /// What intrinsics, libdevice and inline PTX become calls of.
    fn library(&self) -> &DeviceLibrary;

    /// Whether other translation units may define what this one lacks (`-fgpu-rdc`).
    fn is_relocatable(&self) -> bool;

    /// LLVM's number of the calling convention of kernels.
    fn kernel_convention(&self) -> u32;

    /// Whether threads run in step, so that operations which they make together must stay under the control flow they are in.
    fn keeps_convergent(&self) -> bool;

    /// Whether no more products and sums become one fused operation than already have (`contract_expressions`).
    fn forbids_contraction(&self) -> bool;

    /// The flat address of what takes the place of a block-shared variable; `None` if the variable stays.
    fn place_shared<'ctx>(&self, module: &Module<'ctx>, variable: GlobalValue<'ctx>) -> Option<PointerValue<'ctx>>;

    /// The function that `llvm.trap` calls become calls of; `None` where the target's own trap is right.
    fn trap(&self) -> Option<&str>;

    /// The name that the program gave a function, from its symbol here; `None` for one that is not the program's.
    fn program_name<'n>(&self, symbol: &'n str) -> Option<&'n str>;
}

/// Links what `module` uses of the destination's library into it.
pub fn link_library<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    destination: &dyn Destination,
) -> Result<(), Error> {
    let mut libraries = destination.library().load_vectors(module, context)?;
    libraries.push(destination.library().load(context)?);
    llvm::forget_wide_characters(module);
    for library in libraries {
        library.set_triple(&module.get_triple());
        library.set_data_layout(&module.get_data_layout());
        // Its definitions are `linkonce_odr`: what is not used stays away.
        module.link_in_module(library).map_err(|e| Error::internal("linking the device library", e.to_string()))?;
    }
    Ok(())
}

/// Fails when code that is left after optimisation calls what nobody has: an intrinsic or libdevice function that the library
/// lacks, CUDA's runtime for device code, or, in a whole program, a device function without a body. The linker's words would name
/// neither the kernel nor the line.
pub fn reject_missing(module: &Module<'_>, destination: &dyn Destination) -> Result<(), Error> {
    let missing = |call: &InstructionValue<'_>| {
        let callee = llvm::callee(*call).filter(|f| f.get_first_basic_block().is_none())?;
        lack(&callee.get_name().to_string_lossy(), destination)
    };
    let blocks = module.get_functions().flat_map(FunctionValue::get_basic_block_iter);
    let mut instructions = blocks.flat_map(|block| block.get_instructions().collect::<Vec<_>>());
    let found = instructions.find_map(|call| match call.get_opcode() {
        InstructionOpcode::Call => missing(&call).map(|what| (call, what)),
        _ => None,
    });
    let Some((call, what)) = found else { return Ok(()) };
    let (location, function) = place::of_program(call);
    let function = destination.program_name(&function).unwrap_or(&function).to_owned();
    Err(Error::Unsupported(Unsupported { function, location, what }))
}

/// What it means that `callee`, which has no body, is called, if another translation unit cannot have it.
fn lack(callee: &str, destination: &dyn Destination) -> Option<String> {
    let target = destination.name();
    if destination.library().is_of_runtime(callee) {
        return None;
    }
    let wanted = library::wanted_name(callee);
    if let Some(what) = lacks::lack(callee) {
        return Some(format!("{target} has no {what} ('{}')", wanted.unwrap_or(callee)));
    }
    if let Some(name) = wanted {
        return Some(format!("{target} has no '{name}'"));
    }
    let name = destination.program_name(callee)?;
    if let Some(what) = device_runtime::lack(name, target) {
        return Some(what);
    }
    // ptxas would say so of whole programs; their device code is linked with nothing else.
    (!destination.is_relocatable())
        .then(|| format!("unresolved device function '{name}' (another file's? that needs -fgpu-rdc)"))
}

#[cfg(test)]
mod tests;
