//! The device side for a target whose code is linked into the program: an object with functions for threads and blocks.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use inkwell::context::Context;
use inkwell::module::{Linkage, Module};
use mlir_bridge::llvm;
use mlir_bridge::timing::{STEPS, measure};
use regrain_frontend::private_names;
use regrain_targets::device_language::grid_barriers;
use regrain_targets::kernel_names;
use regrain_targets::target::{BlockOptions, Blocks, SplitForm};
use regrain_targets::toolkit::SmArch;

use crate::chips::Chips;
use crate::commands::Commands;
use crate::device_side::{Code, DeviceSide, say_lacking};
use crate::dump::Dump;
use crate::error::{self, Result};
use crate::kernels;
use crate::options::Side;
use crate::search::Searcher;
use crate::source::{Source, read_bitcode, write_module};
use crate::stages::Stages;
use crate::versions::Versions;

/// Makes the device side from clang's code in `bitcode`: all that the host must know of it, and what its object is made of.
pub(crate) fn device_side<'ctx>(
    context: &'ctx Context,
    stages: &Stages<'_>,
    searcher: &Searcher<'_>,
    target: &'static dyn Blocks,
    chip: SmArch,
    bitcode: &Path,
) -> Result<(DeviceSide, Unlowered<'ctx>)> {
    let source = stages.source;
    let device = read_bitcode(context, bitcode)?;
    llvm::contract_expressions(&device);
    llvm::widen_conversions(&device, false);
    llvm::wrap_shared_indices(&device);
    stages.dump.llvm("device", &device)?;
    let options = block_options(source, chip, bitcode)?;
    name_private(source, &device);
    stand_in(source, target, context, &device)?;
    // What is checked is each thread of what the program wrote.
    let splits = options.level > 0 && !source.options.round_trip && options.checks == 0;
    let registers = target.vector_registers(&options)?;
    let (split, mut versions) = if splits {
        let prepared = device.clone();
        // Before anything is made of inline PTX: cooperative groups are known by theirs.
        grid_barriers::leave_waits(&prepared);
        target.prepare(context, &prepared, &options)?;
        stages.split_form(context, &prepared, registers)
    } else {
        (None, Versions::default())
    };
    let external_variables = if options.relocatable { external_variables(&device) } else { Vec::new() };
    // What came back from the parallel form takes the place of clang's IR: so raising and outlining can be checked.
    let back = if source.options.round_trip { stages.round_trip(context, &device) } else { None };
    let device = match back {
        None => device,
        Some((module, made)) => {
            versions = made;
            module
        }
    };
    searcher.publish()?;
    versions.firsts = searcher.firsts();
    versions_are_internal(&device, &versions);
    let unlowered = Unlowered { context, device, split, target, options, path: source.scratch("device.o") };
    let (most_threads, record_name) = (HashMap::new(), searcher.target_name());
    Ok((DeviceSide { versions, most_threads, code: unlowered.code(), record_name, external_variables }, unlowered))
}

/// Makes the device side from what is shipped to the only one of `chips`: its kernels, as they are before instruction selection, run
/// as coroutines (`-fregrain-emulate=`).
pub(crate) fn emulated<'ctx>(
    context: &'ctx Context,
    stages: &Stages<'_>,
    searcher: &Searcher<'_>,
    chips: &Chips<'_>,
    target: &'static dyn Blocks,
) -> Result<(DeviceSide, Unlowered<'ctx>)> {
    let source = stages.source;
    let (device, versions) = kernels::optimised(stages, searcher, chips, context)?;
    let options = block_options(source, chips.chips[0], &chips.bitcode[0])?;
    versions_are_internal(&device, &versions);
    let unlowered = Unlowered { context, device, split: None, target, options, path: source.scratch("device.o") };
    let (code, most_threads, record_name) = (unlowered.code(), HashMap::new(), searcher.target_name());
    Ok((DeviceSide { versions, most_threads, code, record_name, external_variables: Vec::new() }, unlowered))
}

/// Device IR on its way to an object. The host must know no more than is known before, so clang compiles it meanwhile.
pub(crate) struct Unlowered<'ctx> {
    context: &'ctx Context,
    device: Module<'ctx>,
    split: Option<SplitForm<'ctx>>,
    target: &'static dyn Blocks,
    options: BlockOptions,
    /// Where the object goes.
    path: PathBuf,
}

impl Unlowered<'_> {
    fn code(&self) -> Code {
        let unit = self.options.unit.clone();
        Code::Object { table: self.target.image_symbol(&unit), unit, kernels: kernel_names(&self.device) }
    }

    /// Makes the objects.
    pub(crate) fn emit(self, dump: &Dump) -> Result<Vec<PathBuf>> {
        let Self { context, device, split, target, options, path } = self;
        let lowered = measure(STEPS, "lowering", || target.lower(context, device, split, &options))?;
        dump.llvm("lowered", &lowered)?;
        let objects = measure(STEPS, "code generation", || target.emit(&lowered, &options, &path))?;
        dump.llvm("finished", &lowered)?;
        Ok(objects)
    }
}

/// `--cuda-device-only`: a module that programs load (`cuModuleLoad`), or with `-S` IR as text. Gives the file that it
/// made. Code that is linked
/// with that of other units (`-fgpu-rdc`) is an object.
pub(crate) fn device_only(
    stages: &Stages<'_>,
    searcher: &Searcher<'_>,
    target: &'static dyn Blocks,
    chip: SmArch,
    bitcode: &Path,
) -> Result<PathBuf> {
    let source = stages.source;
    let context = Context::create();
    if !source.options.emit.text {
        let (_, unlowered) = device_side(&context, stages, searcher, target, chip, bitcode)?;
        let path = unlowered.path.clone();
        unlowered.emit(stages.dump)?;
        return loadable(source, path);
    }
    let device = read_bitcode(&context, bitcode)?;
    llvm::contract_expressions(&device);
    llvm::widen_conversions(&device, false);
    llvm::wrap_shared_indices(&device);
    let options = block_options(source, chip, bitcode)?;
    name_private(source, &device);
    stand_in(source, target, &context, &device)?;
    write_alone(source, target, &context, device, &options)
}

/// Lets what the target cannot do fail where a thread gets there, and says so; an error where warnings are to be.
fn stand_in<'ctx>(
    source: &Source<'_>,
    target: &'static dyn Blocks,
    context: &'ctx Context,
    device: &Module<'ctx>,
) -> Result<()> {
    let lacking = target.stand_in(context, device)?;
    say_lacking(source, lacking, "its launch fails with cudaErrorNotSupported where a thread gets there")
}

/// The same of what is shipped to the only one of `chips`.
pub(crate) fn emulated_only(
    stages: &Stages<'_>,
    searcher: &Searcher<'_>,
    chips: &Chips<'_>,
    target: &'static dyn Blocks,
) -> Result<PathBuf> {
    let context = Context::create();
    let (device, _) = kernels::optimised(stages, searcher, chips, &context)?;
    let options = block_options(stages.source, chips.chips[0], &chips.bitcode[0])?;
    write_alone(stages.source, target, &context, device, &options)
}

/// Gives what is private to the unit the names that the host registers, on all targets the same.
fn name_private(source: &Source<'_>, device: &Module<'_>) {
    if source.awaits_link() {
        private_names::keep_apart(device, &source.unit.id());
    } else if source.options.relocatable {
        private_names::restore(device, &source.unit.id());
    }
}

fn write_alone<'ctx>(
    source: &Source<'_>,
    target: &'static dyn Blocks,
    context: &'ctx Context,
    device: Module<'ctx>,
    options: &BlockOptions,
) -> Result<PathBuf> {
    let finished = source.scratch("device-only-blocks");
    let module = target.lower(context, device, None, options)?;
    if source.options.emit.text {
        write_module(&module, &finished, true)?;
    } else {
        target.emit(&module, options, &finished)?;
        return loadable(source, finished);
    }
    Ok(finished)
}

/// Links a device object to a library that programs load; with `-fgpu-rdc` it stays what it is.
fn loadable(source: &Source<'_>, object: PathBuf) -> Result<PathBuf> {
    if !is_loaded(source) {
        return Ok(object);
    }
    let finished = source.scratch("module.so");
    let mut command = Command::new(source.toolchain.clang.path());
    command
        .args(["-shared", "-nostartfiles"])
        .arg(format!("--ld-path={}", source.toolchain.clang.sibling("ld.lld").display()));
    command.arg(&object).args(["-lm", "-o"]).arg(&finished);
    // Not shown: CMake takes the first line with a linker for the program's link.
    Commands::default().run(&mut command)?;
    if source.options.emit.module_text {
        let bytes = std::fs::read(&finished).map_err(error::Error::io("read", &finished))?;
        std::fs::write(&finished, module_text(&bytes)).map_err(error::Error::io("write", &finished))?;
    }
    Ok(finished)
}

/// A module as text, which has no NUL in it: programs read PTX as C strings.
fn module_text(bytes: &[u8]) -> String {
    let mut text = "// Regrain: a module for the CPU\n".to_owned();
    for line in bytes.chunks(60) {
        text.extend(line.iter().map(|byte| format!("{byte:02x}")));
        text.push('\n');
    }
    text
}

/// Whether a source's device code is loaded by itself.
fn is_loaded(source: &Source<'_>) -> bool {
    let emit = source.options.emit;
    emit.side == Side::Device && !emit.text && !source.options.relocatable
}

fn block_options(source: &Source<'_>, chip: SmArch, bitcode: &Path) -> Result<BlockOptions> {
    Ok(BlockOptions {
        unit: unit_name(source, bitcode)?,
        relocatable: source.options.relocatable,
        cuda_arch: chip.number,
        level: source.options.device_level(),
        cpu: source.options.cpu.clone(),
        lines: source.options.lines,
        loaded: is_loaded(source),
        checks: source.options.checks,
        may_part: source.may_part(),
    })
}

/// Other units may have versions of the same names.
fn versions_are_internal(device: &Module<'_>, versions: &Versions) {
    for function in versions.kernels.iter().filter_map(|version| device.get_function(&version.name)) {
        function.set_linkage(Linkage::Internal);
    }
}

/// The variables that a device module defines for other units.
pub(crate) fn external_variables(device: &Module<'_>) -> Vec<String> {
    let shared = device.get_globals().filter(|g| !g.is_declaration() && g.get_linkage() == Linkage::External);
    shared.map(|g| g.get_name().to_string_lossy().into_owned()).collect()
}

/// A name that no other unit of the program has: the source's, and what it came to. Where the source lies, which only lines of
/// source and the module's own name tell, is no part of it.
pub(crate) fn unit_name(source: &Source<'_>, bitcode: &Path) -> Result<String> {
    let context = Context::create();
    let module = read_bitcode(&context, bitcode)?;
    module.strip_debug_info();
    module.set_source_file_name("");
    module.set_name("");
    let mut hasher = DefaultHasher::new();
    source.unit.id().hash(&mut hasher);
    module.write_bitcode_to_memory().as_slice().hash(&mut hasher);
    Ok(format!("{:016x}", hasher.finish()))
}
