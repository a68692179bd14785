//! A CUDA source for NVIDIA GPUs: PTX and cubins into a fat binary, that into the host object.

use anyhow::{Context as _, Result, anyhow, bail};
use inkwell::context::Context;
use inkwell::module::Module;
use regrain_frontend::{clean, launches, specialise};
use regrain_targets::cpu;
use regrain_targets::nvptx::{self, AssembleOptions, CodegenOptions, DeviceImage, Report};
use regrain_targets::toolkit::SmArch;
use regrain_passes::isolate_launches::Version;
use regrain_tuning::occupancy::occupancy;

use crate::args::Output;
use crate::compile::{Compilation, read_bitcode, write_bitcode};
use crate::dispatch;
use crate::dump::Dump;
use crate::jobs::Session;
use crate::parallel::{LaunchShapes, Stages, Versions};

/// Compiles one source to the compilation's output.
pub fn compile(compilation: &Compilation<'_>) -> Result<()> {
    let session = compilation.session;
    if session.args.relocatable {
        bail!("relocatable device code ('-fgpu-rdc') is only supported for --offload-arch=cpu");
    }
    let archs = &session.targets.sm;
    let Some(sides) = compilation.sides(archs)? else { return Ok(()) };
    let dump = Dump::new(session.args.dump_ir.as_deref(), &compilation.stem())?;
    let text = session.args.kind == Output::Assembly;
    if session.args.device_only && archs.len() > 1 && session.args.output.is_some() {
        bail!("cannot specify -o when generating multiple output files");
    }
    let context = Context::create();
    let host = sides.host.as_deref().map(|path| read_bitcode(&context, path)).transpose()?;
    let coarsens = session.args.level.unwrap_or(3) > 0 && host.as_ref().is_some_and(|host| dispatch::coarsens(compilation, host));
    let shapes = match &host {
        Some(host) if (dump.is_on() && !coarsens) || specialises(session, host) => {
            launches::constant_block_shapes(host, &cpu::host_machine()?)?
        }
        _ => LaunchShapes::new(),
    };
    let specialised = host.as_ref().is_some_and(|host| specialises(session, host));
    let mut images = Vec::new();
    let mut versions = Vec::new();
    let mut static_shared = 0;
    for (arch, path) in archs.iter().zip(&sides.device) {
        let context = Context::create();
        let module = read_bitcode(&context, path)?;
        dump.llvm(&format!("device-{arch}"), &module)?;
        if session.args.device_only && session.args.emit_llvm {
            return write_module(compilation, &module, text);
        }
        let stages = Stages { compilation, dump: &dump, arch: arch.to_string(), shapes: &shapes, coarsens };
        // Without a transformation a kernel is emitted as it was before it was lifted: nothing can get lost.
        let back = if session.args.round_trip || (dump.is_on() && !coarsens) { stages.round_trip(&context, &module) } else { None };
        let module = match back.filter(|_| session.args.round_trip) {
            None => {
                if coarsens {
                    versions.push(add_versions(&stages, &context, &module)?);
                }
                module
            }
            Some((module, made)) => {
                versions.push(made);
                module
            }
        };
        if specialised {
            let machine = clean::nvptx_machine(&module, &arch.to_string())?;
            static_shared = static_shared.max(specialise::static_shared(&module, &machine));
            specialise::device(&module, &shapes, &machine)?;
        }
        let image = device_image(compilation, &module, *arch, text && session.args.device_only)?;
        dump.text(&format!("{arch}"), "ptx", &image.ptx)?;
        images.push(image);
    }
    if session.args.resource_usage {
        print_reports(&images);
    }
    let Some(host) = host else { return device_only(compilation, &images, text) };
    if specialised {
        specialise::host(&host, &shapes, static_shared)?;
    }
    let stages = Stages { compilation, dump: &dump, arch: String::new(), shapes: &shapes, coarsens };
    if let Some(versions) = versions_for_all(&stages, versions) {
        dispatch::redirect(&context, &stages, &host, &versions, |version| most_threads(&images, version), false)?;
    }
    nvptx::embed(&host, &nvptx::fat_binary_of(&images)?)?;
    dump.llvm("host", &host)?;
    compilation.deliver(&compilation.host_object(&host)?)
}

/// Adds versions of kernels at other grains to clang's module.
fn add_versions<'ctx>(stages: &Stages<'_>, context: &'ctx Context, module: &Module<'ctx>) -> Result<Versions> {
    let Some((coarse, versions)) = stages.coarse(context, module) else { return Ok(Versions::default()) };
    let kernels = versions.kernels.iter().map(|version| version.name.clone()).collect();
    nvptx::merge(module, coarse, &kernels)?;
    Ok(versions)
}

/// One host code launches for all chips: there are versions if they came out alike for each.
fn versions_for_all(stages: &Stages<'_>, all: Vec<Versions>) -> Option<Versions> {
    let mut all = all.into_iter();
    let first = all.next().filter(|first| !first.is_empty())?;
    if all.any(|other| other != first) {
        stages.remark("launches keep their grain: the chips do not have the same versions of kernels");
        return None;
    }
    Some(first)
}

/// The most threads of a block for which every chip has the registers.
fn most_threads(images: &[DeviceImage], version: &Version) -> u32 {
    let of = |image: &DeviceImage| {
        let report = image.reports.iter().find(|report| report.name == version.name)?;
        let limits = regrain_tuning::limits::limits(&image.arch.to_string());
        let fits = |threads: &u32| occupancy(limits, *threads, report.registers, 0).blocks > 0;
        Some((1..=limits.threads_per_block).rev().find(fits).unwrap_or(0))
    };
    images.iter().map(|image| of(image).unwrap_or(0)).min().unwrap_or(0)
}

/// Whether kernels get versions for the constant shapes that `host` launches them with. On request only: such a version
/// unrolls more and takes more registers, and whether that pays is not known without running it.
fn specialises(session: &Session, host: &Module<'_>) -> bool {
    session.args.level.unwrap_or(3) > 0 && session.args.specialize && specialise::is_allowed(host)
}

fn device_image(compilation: &Compilation<'_>, module: &Module<'_>, arch: SmArch, ptx_only: bool) -> Result<DeviceImage> {
    let session = compilation.session;
    let toolkit = session.toolkit()?;
    let options = &compilation.unit.options;
    let debug = options.iter().any(|o| o == "-G" || o == "--cuda-noopt-device-debug");
    let lines = options.iter().any(|o| o == "-g" || o == "-gline-tables-only" || o == "-lineinfo");
    if !lines && !debug {
        module.strip_debug_info();
    }
    let level = session.args.level.map_or(3, u32::from);
    let codegen = CodegenOptions { opt_level: level, ..CodegenOptions::new(arch) };
    if ptx_only {
        let ptx = nvptx::compile_to_ptx(module, toolkit, &codegen)?;
        return Ok(DeviceImage { arch, ptx, cubin: Vec::new(), reports: Vec::new(), warnings: Vec::new() });
    }
    let mut assembling = AssembleOptions { opt_level: level, line_info: lines, debug, ..AssembleOptions::new(arch) };
    let mut words = options.iter();
    while let Some(word) = words.next() {
        if word == "-Xcuda-ptxas"
            && let Some(value) = words.next()
        {
            assembling.extra.push(value.to_string_lossy().into_owned());
        }
    }
    Ok(nvptx::compile_device(module, toolkit, &codegen, &assembling)?)
}

/// The table that `-fregrain-resource-usage` asks for, on standard error beside clang's diagnostics.
fn print_reports(images: &[DeviceImage]) {
    eprintln!("{}", Report::heading());
    for report in images.iter().flat_map(|image| &image.reports) {
        eprintln!("{report}");
    }
}

/// `--cuda-device-only`: PTX as text (`-S`), else cubins.
fn device_only(compilation: &Compilation<'_>, images: &[DeviceImage], text: bool) -> Result<()> {
    for image in images {
        let bytes = if text { image.ptx.as_bytes() } else { &image.cubin };
        if images.len() == 1 {
            let finished = compilation.scratch("device-only");
            std::fs::write(&finished, bytes).context("cannot write a temporary file")?;
            return compilation.deliver(&finished);
        }
        let extension = if text { "ptx" } else { "cubin" };
        let path = format!("{}-{}.{extension}", compilation.stem(), image.arch);
        std::fs::write(&path, bytes).with_context(|| format!("cannot write '{path}'"))?;
    }
    Ok(())
}

fn write_module(compilation: &Compilation<'_>, module: &Module<'_>, text: bool) -> Result<()> {
    let finished = compilation.scratch("device-only");
    if text {
        module.print_to_file(&finished).map_err(|e| anyhow!("cannot write IR: {e}"))?;
    } else {
        write_bitcode(module, &finished)?;
    }
    compilation.deliver(&finished)
}
