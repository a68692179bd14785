//! A CUDA source for the CPU target: host object and device object, merged into one.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, anyhow};
use inkwell::context::Context;
use inkwell::module::{Linkage, Module};
use regrain_frontend::{host, launches, private_names};
use regrain_targets::cpu::{self, CpuOptions};

use crate::args::Output;
use crate::compile::{Compilation, read_bitcode};
use crate::diagnostics::Missed;
use crate::dispatch::{self, Coarsening};
use crate::dump::Dump;
use crate::parallel::{Stages, Versions};
use crate::search::Searcher;

/// Compiles one source to the compilation's output.
pub fn compile(compilation: &Compilation<'_>) -> Result<()> {
    let session = compilation.session;
    let cuda_arch = session.targets.lowest_cuda_arch();
    let Some(sides) = compilation.sides(&[cuda_arch])? else { return Ok(()) };
    let context = Context::create();
    let device = read_bitcode(&context, &sides.device[0])?;
    if session.args.relocatable {
        private_names::restore(&device);
    }
    let dump = Dump::new(session.args.dump_ir.as_deref(), &compilation.stem())?;
    dump.llvm("device", &device)?;
    let options = CpuOptions {
        unit: unit_name(compilation, &sides.device[0])?,
        relocatable: session.args.relocatable,
        cuda_arch: cuda_arch.number,
        level: session.args.level.unwrap_or(3),
        cpu: session.args.cpu.clone(),
        lines: session.args.keeps_lines(),
    };
    let text = session.args.kind == Output::Assembly;
    if session.args.device_only {
        return device_only(compilation, &context, device, &options, text);
    }
    let host_path = sides.host.context("internal error: no host side")?;
    let host_module = read_bitcode(&context, &host_path)?;
    let survey = launches::survey(&host_module, &cpu::host_machine()?)?;
    let coarsening = Coarsening::of(&session.args);
    let missed = Missed::new(session.args.remarks.missed);
    let searcher = Searcher::for_cpu(&session.args, &compilation.unit.input, &missed)?;
    let profiled = session.args.profile_generate.then(|| searcher.target_name());
    let grains = coarsening.grains(&searcher);
    let stages = Stages {
        compilation,
        dump: &dump,
        missed: &missed,
        arch: cuda_arch.to_string(),
        survey: &survey,
        grains,
        profiled,
    };
    let splits = options.level > 0 && !session.args.round_trip;
    let (split, mut versions) = if splits { stages.split_form(&context, &device) } else { (None, Versions::default()) };
    if options.relocatable {
        host::export_shadows(&host_module, &external_variables(&device));
    }
    // What came back from the parallel form takes the place of clang's IR: so raising and outlining can be checked.
    let back = if session.args.round_trip { stages.round_trip(&context, &device) } else { None };
    let device = match back {
        None => device,
        Some((module, made)) => {
            versions = made;
            module
        }
    };
    if !versions.is_empty() {
        // Versions have no coroutine form but in a round trip: whoever asks for that form gets the kernel that the program wrote.
        dispatch::redirect(&context, &stages, &host_module, &versions, |_| u32::MAX, !session.args.round_trip)?;
        device_versions_are_internal(&device, &versions);
    }
    searcher.publish()?;
    let image = cpu::image_symbol(&options.unit);
    let device_object = compilation.scratch("device.o");
    cpu::compile(&context, device, split, &options, &device_object)?;
    host::refer_to_image(&host_module, &image);
    dump.llvm("host", &host_module)?;
    let host_object = compilation.host_object(&host_module)?;
    if text {
        return compilation.deliver(&host_object);
    }
    let merged = compilation.scratch("merged.o");
    merge(compilation, &[&host_object, &device_object], &merged)?;
    compilation.deliver(&merged)
}

/// `--cuda-device-only`: the device object, or its IR as text.
fn device_only<'ctx>(
    compilation: &Compilation<'_>,
    context: &'ctx Context,
    device: Module<'ctx>,
    options: &CpuOptions,
    text: bool,
) -> Result<()> {
    let finished = compilation.scratch("device-only");
    if text {
        let (module, _) = cpu::lower(context, device, None, options)?;
        module.print_to_file(&finished).map_err(|e| anyhow!("cannot write IR: {e}"))?;
    } else {
        cpu::compile(context, device, None, options, &finished)?;
    }
    compilation.deliver(&finished)
}

/// Other units may have versions of the same names.
fn device_versions_are_internal(device: &Module<'_>, versions: &Versions) {
    for function in versions.kernels.iter().filter_map(|version| device.get_function(&version.name)) {
        function.set_linkage(Linkage::Internal);
    }
}

/// The variables that a device module defines for other units.
fn external_variables(device: &Module<'_>) -> Vec<String> {
    let shared = device.get_globals().filter(|g| !g.is_declaration() && g.get_linkage() == Linkage::External);
    shared.map(|g| g.get_name().to_string_lossy().into_owned()).collect()
}

/// A name that no other unit of the program has: a hash of where the source is and of what it came to.
fn unit_name(compilation: &Compilation<'_>, bitcode: &Path) -> Result<String> {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    compilation.unit.input.canonicalize().ok().hash(&mut hasher);
    compilation.unit.options.hash(&mut hasher);
    std::fs::read(bitcode).with_context(|| format!("cannot read '{}'", bitcode.display()))?.hash(&mut hasher);
    Ok(format!("{:016x}", hasher.finish()))
}

fn merge(compilation: &Compilation<'_>, objects: &[&Path], output: &Path) -> Result<()> {
    let mut command = Command::new(compilation.session.clang.sibling("ld.lld"));
    command.arg("-r").args(objects).arg("-o").arg(output);
    compilation.session.run(&mut command)
}
