//! A CUDA source for NVIDIA GPUs: PTX and cubins into a fat binary, that into the host object.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use anyhow::{Context as _, Result, anyhow, bail};
use inkwell::context::Context;
use inkwell::module::{Linkage, Module};
use regrain_frontend::launches::{self, Survey};
use regrain_frontend::{clean, specialise};
use regrain_passes::launch::isolate_launches::Version;
use regrain_targets::cpu;
use regrain_targets::jobs::compile_all;
use regrain_targets::nvptx::{self, AssembleOptions, ChipCompiler, CodegenOptions, Compiled, DeviceImage, Report};
use regrain_targets::toolkit::SmArch;
use regrain_targets::{Cache, Key};
use regrain_tuning::occupancy::occupancy;

use crate::args::Output;
use crate::compile::{Compilation, read_bitcode, write_bitcode};
use crate::decisions::publish;
use crate::diagnostics::Missed;
use crate::dispatch::{self, Coarsening};
use crate::dump::Dump;
use crate::jobs::Session;
use crate::memory::{Found, Memory};
use crate::parallel::{Grains, Stages, Versions};
use crate::search::{self, Searcher};

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
    let coarsening = host.as_ref().map_or(Coarsening::Off, |_| Coarsening::of(&session.args));
    let specialised = host.as_ref().is_some_and(|host| specialises(session, host));
    let mut survey = match &host {
        Some(host) if specialised || coarsening != Coarsening::Off || dump.is_on() => {
            launches::survey(host, &cpu::host_machine()?)?
        }
        _ => Survey::default(),
    };
    if coarsening == Coarsening::Forced && !specialised {
        // One version of each kernel, as it was asked for.
        survey.shapes.clear();
    }
    let missed = Missed::new(session.args.remarks.missed);
    let searcher = Searcher::for_gpus(&session.args, &compilation.unit.input, &missed, archs)?;
    let profiled = session.args.profile_generate.then(|| searcher.target_name());
    let grains = coarsening.grains(&searcher);
    let stages =
        Stages { compilation, dump: &dump, missed: &missed, arch: String::new(), survey: &survey, grains, profiled };
    if session.args.device_only && session.args.emit_llvm {
        let module = read_bitcode(&context, &sides.device[0])?;
        dump.llvm(&format!("device-{}", archs[0]), &module)?;
        return write_module(compilation, &module, text);
    }
    let may_recall = coarsening == Coarsening::Searched && !specialised && !dump.is_on();
    let memory = if may_recall { Memory::of(&stages, &searcher, &sides.device, archs)? } else { None };
    let made = match memory.as_ref().and_then(|memory| memory.recall(archs)) {
        Some((found, images)) => say_again(&stages, found, images)?,
        None => device_side(&stages, &searcher, &sides.device, specialised, memory.as_ref())?,
    };
    let Made { images, versions, static_shared } = made;
    if session.args.resource_usage {
        print_reports(&images);
    }
    let Some(host) = host else { return device_only(compilation, &images, text) };
    if specialised {
        specialise::host(&host, &survey.shapes, static_shared)?;
    }
    if !versions.is_empty() {
        let most_threads = |version: &Version| most_threads(&images, version);
        dispatch::redirect(&context, &stages, &host, &versions, most_threads, false)?;
    }
    nvptx::embed(&host, &nvptx::fat_binary_of(&images)?)?;
    dump.llvm("host", &host)?;
    compilation.deliver(&compilation.host_object(&host)?)
}

/// What the device side comes to.
struct Made {
    images: Vec<DeviceImage>,
    versions: Versions,
    static_shared: u64,
}

/// What was found before, in the same words.
fn say_again(stages: &Stages<'_>, found: Found, images: Vec<DeviceImage>) -> Result<Made> {
    for text in &found.missed {
        stages.missed.say(text);
    }
    let args = &stages.compilation.session.args;
    publish(&found.statements, args.remarks, args.report.as_deref())?;
    let versions = Versions { kernels: found.kernels, host: found.host, launches: Vec::new() };
    Ok(Made { images, versions, static_shared: 0 })
}

/// Makes the device side from clang's code for each chip, and lets `memory` keep what a search found.
fn device_side(
    stages: &Stages<'_>,
    searcher: &Searcher<'_>,
    files: &[PathBuf],
    specialised: bool,
    memory: Option<&Memory>,
) -> Result<Made> {
    let Stages { compilation, dump, .. } = *stages;
    let session = compilation.session;
    let archs = &session.targets.sm;
    let contexts: Vec<Context> = archs.iter().map(|_| Context::create()).collect();
    let mut units = Vec::new();
    for ((arch, path), context) in archs.iter().zip(files).zip(&contexts) {
        let module = read_bitcode(context, path)?;
        dump.llvm(&format!("device-{arch}"), &module)?;
        units.push(Unit::new(&stages.for_chip(*arch), context, module, *arch));
    }
    let mut versions = versions_for_all(stages, &units);
    let (mut wholes, mut statements) = (None, Vec::new());
    if matches!(stages.grains, Grains::Search(_)) {
        wholes = choose(stages, searcher, &units, &mut versions)?;
        statements = searcher.publish()?;
    }
    // A version that could not be assembled once may be another time.
    let memory = memory.filter(|_| wholes.as_ref().is_none_or(|wholes| wholes.all_assembled));
    let mut wholes = wholes.map_or(Vec::new(), |wholes| wholes.compiled).into_iter();
    let (mut images, mut keys, mut static_shared) = (Vec::new(), Vec::new(), 0);
    for unit in units {
        let arch = unit.arch;
        // Where nothing was chosen, clang's module has been compiled to be compared with.
        let whole = wholes.next().filter(|_| versions.is_empty() && !specialised && unit.coarse.is_some());
        let image = match whole {
            Some(Compiled { key, image }) => {
                keys.push(key.text());
                image
            }
            None => {
                let module = unit.with_versions(&versions)?;
                if specialised {
                    let machine = clean::nvptx_machine(&module, &arch.to_string())?;
                    static_shared = static_shared.max(specialise::static_shared(&module, &machine));
                    specialise::device(&module, &stages.survey.shapes, &machine)?;
                }
                let (image, key) = device_image(compilation, &module, arch)?;
                keys.extend(key.map(|key| key.text()));
                image
            }
        };
        dump.text(&format!("{arch}"), "ptx", &image.ptx)?;
        images.push(image);
    }
    if let Some(memory) = memory {
        let Versions { kernels, host, .. } = versions.clone();
        memory.keep(&Found { missed: stages.missed.said(), statements, kernels, host, images: keys });
    }
    Ok(Made { images, versions, static_shared })
}

/// The device side for one chip.
struct Unit<'ctx> {
    arch: SmArch,
    /// clang's module, or in a round trip what came back.
    module: Module<'ctx>,
    /// Versions of kernels at other grains, if they are not in `module` already.
    coarse: Option<Module<'ctx>>,
    versions: Versions,
}

impl<'ctx> Unit<'ctx> {
    /// Without a transformation a kernel is emitted as it was before it was lifted: nothing can get lost.
    fn new(stages: &Stages<'_>, context: &'ctx Context, module: Module<'ctx>, arch: SmArch) -> Self {
        let coarser = stages.grains.are_coarser();
        let round_trip = stages.compilation.session.args.round_trip;
        if round_trip || (stages.dump.is_on() && !coarser) {
            let back = stages.round_trip(context, &module).filter(|_| round_trip);
            if let Some((module, versions)) = back {
                return Self { arch, module, coarse: None, versions };
            }
        }
        match coarser.then(|| stages.coarse(context, &module)).flatten() {
            Some((coarse, versions)) => Self { arch, module, coarse: Some(coarse), versions },
            None => Self { arch, module, coarse: None, versions: Versions::default() },
        }
    }

    /// clang's module with the kernels of `versions`; others go.
    fn with_versions(self, versions: &Versions) -> Result<Module<'ctx>> {
        let kernels: HashSet<String> = versions.kernels.iter().map(|version| version.name.clone()).collect();
        let made = self.versions.kernels.iter().filter(|version| !kernels.contains(&version.name));
        for unwanted in made {
            let holder = self.coarse.as_ref().unwrap_or(&self.module);
            if let Some(function) = holder.get_function(&unwanted.name) {
                function.set_linkage(Linkage::Internal);
            }
        }
        if let Some(coarse) = self.coarse.filter(|_| !kernels.is_empty()) {
            nvptx::merge(&self.module, coarse, &kernels)?;
        }
        Ok(self.module)
    }
}

/// clang's modules as they are compiled to be compared with.
struct Wholes {
    /// One for each chip.
    compiled: Vec<Compiled>,
    /// Whether no version failed.
    all_assembled: bool,
}

/// Lets the assembler speak and drops what is not chosen. With nothing to choose from nothing is assembled.
fn choose(
    stages: &Stages<'_>,
    searcher: &Searcher<'_>,
    units: &[Unit<'_>],
    versions: &mut Versions,
) -> Result<Option<Wholes>> {
    if versions.launches.is_empty() {
        return Ok(None);
    }
    let failed = |message: String| anyhow!("internal error: alternatives cannot be chosen from: {message}");
    let mains = stages.main_kernels(versions).map_err(failed)?;
    let mut jobs = Vec::new();
    for unit in units {
        jobs.push(job(stages.compilation, &unit.module, unit.arch)?);
        let all = job(stages.compilation, unit.coarse.as_ref().unwrap_or(&unit.module), unit.arch)?;
        jobs.extend(mains.iter().map(|(_, _, name)| nvptx::Job { kernel: Some(name.clone()), ..all.clone() }));
    }
    let mut results = compile_all(&jobs, &Cache::open()).into_iter();
    let mut wholes = Wholes { compiled: Vec::new(), all_assembled: true };
    let mut resources = BTreeMap::new();
    for unit in units {
        let whole = results.next().context("internal error: a module was not compiled")??;
        // A version that the assembler refuses is pruned, no error.
        let own: Vec<_> = results.by_ref().take(mains.len()).map(|made| made.ok().map(|made| made.image)).collect();
        wholes.all_assembled &= own.iter().all(Option::is_some);
        resources.insert(unit.arch.to_string(), search::resources(&versions.launches, &mains, &own, &whole.image));
        wholes.compiled.push(whole);
    }
    let mut kept = searcher.decide(&versions.launches, resources);
    // Launches without alternatives have one that was taken before.
    kept.retain(|_, grains| !grains.is_empty());
    stages.choose(versions, &kept).map_err(failed)?;
    Ok(Some(wholes))
}

/// One host code launches for all chips: there are versions if they came out alike for each.
fn versions_for_all(stages: &Stages<'_>, units: &[Unit<'_>]) -> Versions {
    let Some(first) = units.first().map(|unit| &unit.versions).filter(|first| !first.is_empty()) else {
        return Versions::default();
    };
    if units.iter().any(|unit| !unit.versions.are_those_of(first)) {
        stages.remark("launches keep their grain: the chips do not have the same versions of kernels");
        return Versions::default();
    }
    first.clone()
}

/// The most threads of a block for which every chip has the registers.
fn most_threads(images: &[DeviceImage], version: &Version) -> u32 {
    let of = |image: &DeviceImage| {
        let report = image.reports.iter().find(|report| report.name == version.name)?;
        let limits = nvptx::limits::limits(image.arch).ok()?;
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

/// The image of a module, and its key in the cache; where only PTX is asked for, only that.
fn device_image(
    compilation: &Compilation<'_>,
    module: &Module<'_>,
    arch: SmArch,
) -> Result<(DeviceImage, Option<Key>)> {
    let session = compilation.session;
    let toolkit = session.toolkit()?;
    let job = job(compilation, module, arch)?;
    if session.args.device_only && session.args.kind == Output::Assembly {
        let ptx = nvptx::compile_to_ptx(module, toolkit, &job.compiler.codegen)?;
        return Ok((DeviceImage { arch, ptx, cubin: Vec::new(), reports: Vec::new(), warnings: Vec::new() }, None));
    }
    let mut results = compile_all(&[job], &Cache::open());
    let Compiled { key, image } = results.pop().context("internal error: a module was not compiled")??;
    Ok((image, Some(key)))
}

/// What compiling a device module takes.
fn job<'c>(compilation: &Compilation<'c>, module: &Module<'_>, arch: SmArch) -> Result<nvptx::Job<'c>> {
    let options = &compilation.unit.options;
    let (lines, debug) = (compilation.session.args.keeps_lines(), compilation.session.args.debugs_device());
    if !lines && !debug {
        module.strip_debug_info();
    }
    // Where the source lies makes no difference to what becomes of it.
    module.set_source_file_name("device");
    module.set_name("device");
    let level = compilation.session.args.level.map_or(3, u32::from);
    let codegen = CodegenOptions { opt_level: level, ..CodegenOptions::new(arch) };
    let mut assembling = AssembleOptions { opt_level: level, line_info: lines, debug, ..AssembleOptions::new(arch) };
    let mut words = options.iter();
    while let Some(word) = words.next() {
        if word == "-Xcuda-ptxas"
            && let Some(value) = words.next()
        {
            assembling.extra.push(value.to_string_lossy().into_owned());
        }
    }
    let compiler = ChipCompiler { toolkit: compilation.session.toolkit()?, codegen, assembling };
    Ok(nvptx::Job { bitcode: module.write_bitcode_to_memory().as_slice().into(), kernel: None, compiler })
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
