//! Device modules of several units as one: clang's IR, before any target has seen it.
//!
//! ```text
//! a: declare i32 @theirs(i32)                         b: define i32 @theirs(i32)
//!    define ptx_kernel void @k()                         define weak_odr ptx_kernel void @t() comdat
//! ```
//! become
//! ```text
//! define internal i32 @theirs(i32)
//! define ptx_kernel void @k()
//! define ptx_kernel void @t()
//! ```
//! What two units define, and what none does, is an error that names the place.

use std::collections::{HashMap, HashSet};

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::{Linkage, Module};
use inkwell::types::AnyTypeEnum;
use inkwell::values::{BasicValue as _, GlobalValue};
use inkwell::{AddressSpace, GlobalVisibility};
use mlir_bridge::llvm;

use crate::kernel_names::is_kernel;
use crate::nvvm::{SHARED, library};
use crate::{Error, machines};

/// The device module of one unit, and the file that it comes from.
#[derive(Clone, Copy, Debug)]
pub struct Input<'i> {
    /// The file.
    pub file: &'i str,
    /// The module.
    pub bitcode: &'i [u8],
}

/// Whether functions of libdevice take denormals for zero in a module of clang's: `-fcuda-flush-denormals-to-zero`.
pub fn flushes_denormals(module: &Module<'_>) -> bool {
    module.get_flag("nvvm-reflect-ftz").is_some_and(|flag| flag.to_string().trim_matches('"').ends_with("i32 1"))
}

/// What a module has for other units, and what it wants of them.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    /// What it defines.
    pub defined: HashSet<String>,
    /// What it uses and does not define.
    pub wanted: HashSet<String>,
}

impl Symbols {
    /// Those of a device module.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn of(input: Input<'_>) -> Result<Self, Error> {
        let context = Context::create();
        let module = read(&context, input)?;
        let mut symbols = Self::default();
        for global in globals(&module) {
            match global.is_declaration() {
                true if is_wanted(global) => symbols.wanted.insert(name(global)),
                false if is_seen(global) => symbols.defined.insert(name(global)),
                _ => false,
            };
        }
        Ok(symbols)
    }
}

/// Links the modules of all units; gives one as `context`'s, whose functions but for kernels are its own.
///
/// # Errors
/// Definitions of the same symbol, symbols that nobody defines, and modules that do not go together.
pub fn link<'ctx>(context: &'ctx Context, inputs: &[Input<'_>]) -> Result<Module<'ctx>, Error> {
    let mut origins = Origins::default();
    let linked = linked(inputs, &mut origins)?;
    let whole = Input { file: "the program", bitcode: &linked };
    let module = read(context, whole)?;
    align_shared(&module, &origins.shared);
    for global in globals(&module).into_iter().filter(|global| !global.is_declaration()) {
        settle(&module, global);
    }
    reject_undefined(&module, &origins)?;
    module.verify().map_err(|e| Error::internal("linking device code", e.to_string()))?;
    Ok(module)
}

/// What is known of symbols before they are linked.
#[derive(Default)]
struct Origins {
    /// The file of a definition that no other may stand beside.
    strong: HashMap<String, String>,
    /// The first file that wants a symbol.
    wanted: HashMap<String, String>,
    /// The memory in which a variable is said to be, first by which file.
    spaces: HashMap<String, (AddressSpace, String)>,
    /// The alignment of block-shared memory whose size the launch gives: the linker takes that of the first unit.
    shared: HashMap<String, u32>,
}

/// The bitcode of all modules as one. In a context of its own: the linker leaves it a handler of diagnostics.
fn linked(inputs: &[Input<'_>], origins: &mut Origins) -> Result<Vec<u8>, Error> {
    let context = Context::create();
    let whole = context.create_module("device");
    for (index, input) in inputs.iter().enumerate() {
        let module = read(&context, *input)?;
        origins.note(&module, input.file)?;
        if index == 0 {
            whole.set_triple(&module.get_triple());
            whole.set_data_layout(&module.get_data_layout());
        }
        whole.link_in_module(module).map_err(|error| {
            Error::User(format!("cannot link the device code of {}: {}", input.file, error.to_string().trim()))
        })?;
    }
    Ok(whole.write_bitcode_to_memory().as_slice().into())
}

impl Origins {
    fn note(&mut self, module: &Module<'_>, file: &str) -> Result<(), Error> {
        for global in globals(module) {
            let symbol = name(global);
            if is_dynamic_shared(global) {
                let alignment = self.shared.entry(symbol).or_default();
                *alignment = (*alignment).max(global.get_alignment());
                continue;
            }
            if is_seen(global) || global.is_declaration() {
                let space = global.as_pointer_value().get_type().get_address_space();
                let (first, other) = self.spaces.entry(symbol.clone()).or_insert_with(|| (space, file.to_owned()));
                if *first != space {
                    let what =
                        format!("device {} '{symbol}' lies in another memory in {file} than in {other}", kind(global));
                    return Err(Error::Located { place: source(module), what });
                }
            }
            if global.is_declaration() {
                self.wanted.entry(symbol).or_insert_with(|| file.to_owned());
            } else if global.get_linkage() == Linkage::External {
                if let Some(other) = self.strong.get(&symbol) {
                    return Err(second_definition(module, global, file, other));
                }
                self.strong.insert(symbol, file.to_owned());
            }
        }
        Ok(())
    }
}

fn second_definition(module: &Module<'_>, global: GlobalValue<'_>, file: &str, other: &str) -> Error {
    let symbol = name(global);
    let function = module.get_function(&symbol);
    let place = function.and_then(llvm::definition).map(|(source, line)| format!("{source}:{line}"));
    let what = format!("device {} '{symbol}' of {file} is defined in {other} too", kind(global));
    Error::Located { place: place.unwrap_or_else(|| source(module)), what }
}

fn source(module: &Module<'_>) -> String {
    module.get_source_file_name().to_string_lossy().into_owned()
}

/// Nobody else sees functions any more; kernels and variables are the host's to find.
fn settle(module: &Module<'_>, global: GlobalValue<'_>) {
    let linkage = global.get_linkage();
    if matches!(linkage, Linkage::Internal | Linkage::Private | Linkage::Appending) {
        return;
    }
    let stays = match module.get_function(&name(global)) {
        Some(function) => is_kernel(function),
        None => linkage == Linkage::External || global.is_externally_initialized(),
    };
    llvm::clear_comdat(global);
    global.set_visibility(GlobalVisibility::Default);
    global.set_linkage(if stays { Linkage::External } else { Linkage::Internal });
}

fn align_shared(module: &Module<'_>, alignments: &HashMap<String, u32>) {
    for (symbol, alignment) in alignments.iter().filter(|(_, alignment)| **alignment > 0) {
        if let Some(global) = module.get_global(symbol) {
            global.set_alignment(*alignment);
        }
    }
}

/// What only code names that never runs is no error.
const UNREACHABLE: &str = "function(sroa,early-cse,sccp,simplifycfg),globaldce";
/// Any chip will do for those.
const CHIP: u32 = 70;

fn reject_undefined(module: &Module<'_>, origins: &Origins) -> Result<(), Error> {
    let is_missing = |global: &GlobalValue<'_>| global.is_declaration() && is_wanted(*global);
    if !globals(module).iter().any(is_missing) {
        return Ok(());
    }
    let copy = module.clone();
    machines::run_passes(&copy, UNREACHABLE, &machines::nvptx(CHIP)?)?;
    let missing = globals(&copy).into_iter().find(is_missing);
    let Some((global, user)) = missing.and_then(|global| Some((global, llvm::users(global).into_iter().next()?)))
    else {
        return Ok(());
    };
    let symbol = name(global);
    let function = llvm::function_of(user);
    let of = function.map_or(String::new(), |f| format!(" in '{}'", f.get_name().to_string_lossy()));
    let file = origins.wanted.get(&symbol).map_or(String::new(), |file| format!(", which {file} wants"));
    let what = format!("undefined device {} '{symbol}'{of}{file}", kind(global));
    // The line of the function that the use was inlined into.
    let line = llvm::source_frames(user).pop().map(|(source, line)| format!("{source}:{line}"));
    let place = line.or_else(|| function.and_then(llvm::source_file)).or_else(|| origins.wanted.get(&symbol).cloned());
    Err(Error::Located { place: place.unwrap_or_else(|| "device code".into()), what })
}

fn read<'ctx>(context: &'ctx Context, input: Input<'_>) -> Result<Module<'ctx>, Error> {
    let buffer = MemoryBuffer::create_from_memory_range_copy(input.bitcode, "device");
    Module::parse_bitcode_from_buffer(&buffer, context)
        .map_err(|e| Error::User(format!("cannot read the device code of {}: {e}", input.file)))
}

fn globals<'ctx>(module: &Module<'ctx>) -> Vec<GlobalValue<'ctx>> {
    module.get_functions().map(|function| function.as_global_value()).chain(module.get_globals()).collect()
}

fn name(global: GlobalValue<'_>) -> String {
    global.get_name().to_string_lossy().into_owned()
}

fn kind(global: GlobalValue<'_>) -> &'static str {
    if matches!(global.get_value_type(), AnyTypeEnum::FunctionType(_)) { "function" } else { "variable" }
}

fn is_dynamic_shared(global: GlobalValue<'_>) -> bool {
    let space = global.as_pointer_value().get_type().get_address_space();
    global.is_declaration() && space == AddressSpace::from(SHARED)
}

/// Whether other units see what `global` defines.
fn is_seen(global: GlobalValue<'_>) -> bool {
    !matches!(global.get_linkage(), Linkage::Internal | Linkage::Private | Linkage::Appending)
}

/// Whether a declaration asks for another unit's definition. What device code may call without one, the target has; of CUDA's
/// runtime for device code it says itself what it lacks.
fn is_wanted(global: GlobalValue<'_>) -> bool {
    let name = name(global);
    let known = name.starts_with("cuda") || library::is_provided(&name);
    let used = global.as_pointer_value().get_first_use().is_some();
    used && !known && !is_dynamic_shared(global) && global.get_linkage() != Linkage::ExternalWeak
}

#[cfg(test)]
#[path = "device_link_tests.rs"]
mod tests;
