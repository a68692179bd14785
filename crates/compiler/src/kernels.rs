//! The device side for a target whose kernels are assembled one by one and loaded when the program runs.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use inkwell::context::Context;
use inkwell::module::{Linkage, Module};
use mlir_bridge::llvm;
use regrain_frontend::{managed, specialise};
use regrain_passes::launch::isolate_launches::Version;
use regrain_targets::assembler::Assembler;
use regrain_targets::image::{Image, KernelOptions};
use regrain_targets::jobs::{self, Compiled, Job};
use regrain_targets::merge;
use regrain_targets::target::Kernels;
use regrain_targets::toolkit::Toolkit;
use regrain_targets::{Arch, Cache, Key, Report, device_runtime};
use regrain_tuning::Grain;
use regrain_tuning::model::Processor;
use regrain_tuning::occupancy::{Resources, occupancy};

use crate::chips::Chips;
use crate::decisions::publish;
use crate::device_side::{Code, DeviceSide, say_lacking};
use crate::dump::Dump;
use crate::error::{Error, Result};
use crate::grains::{Grains, Search as _};
use crate::options::Options;
use crate::search::{self, Searcher};
use crate::search_cache::{Found, SearchCache};
use crate::source::{Source, read_bitcode, write_module};
use crate::stages::Stages;
use crate::versions::Versions;

/// Makes the device side, or finds it where the cache has what a search of the same code led to.
pub(crate) fn device_side(stages: &Stages<'_>, searcher: &Searcher<'_>, chips: &Chips<'_>) -> Result<DeviceSide> {
    let may_recall = matches!(stages.grains, Grains::Search(_)) && !chips.specialised && !stages.dump.is_on();
    let known = if may_recall { SearchCache::of(stages, searcher, chips)? } else { None };
    let made = match known.as_ref().and_then(|known| known.recall(chips.archs.len())) {
        Some((found, images)) => say_again(stages, found, images)?,
        None => make(stages, searcher, chips, known.as_ref())?,
    };
    if stages.source.options.resource_usage {
        print_reports(&made.images);
    }
    print_notes(&made.images, stages.source.options);
    let most = |version: &Version| Ok((version.name.clone(), most_threads(chips, &made.images, version)?));
    let most_threads = made.versions.kernels.iter().map(most).collect::<Result<HashMap<_, _>>>()?;
    let code = Code::Images { images: made.images, static_shared: made.static_shared };
    let (versions, record_name) = (made.versions, searcher.target_name());
    Ok(DeviceSide { versions, most_threads, code, record_name, external_variables: Vec::new() })
}

/// clang's code for `arch`.
pub(crate) fn read_unit<'ctx>(
    source: &Source<'_>,
    dump: &Dump,
    chips: &Chips<'_>,
    context: &'ctx Context,
    arch: &str,
    path: &Path,
    runs_on_chip: bool,
) -> Result<Module<'ctx>> {
    let module = read_bitcode(context, path)?;
    dump.llvm(&format!("device-{arch}"), &module)?;
    if let Some(section) = chips.target.managed_section() {
        managed::place(&module, section);
    } else if let Some(place) = managed::places(&module).into_iter().next() {
        let what = format!("managed variables are there for the CPU and NVIDIA's chips, not for {arch}");
        return Err(regrain_targets::Error::Located { place, what }.into());
    }
    llvm::widen_conversions(&module, runs_on_chip);
    chips.target.receive(&module);
    say_lacking(source, device_runtime::trap(&module, arch)?, "it traps where a thread gets there")?;
    Ok(module)
}

/// What the device side comes to.
struct Made {
    images: Vec<Image>,
    versions: Versions,
    static_shared: u64,
}

/// What was found before, in the same words.
fn say_again(stages: &Stages<'_>, found: Found, images: Vec<Image>) -> Result<Made> {
    for text in &found.remarks {
        stages.remarks.say(text);
    }
    let options = stages.source.options;
    publish(&found.statements, stages.remarks, options.report.as_deref())?;
    let versions = Versions { kernels: found.kernels, host: found.host, launches: Vec::new(), firsts: found.firsts };
    Ok(Made { images, versions, static_shared: 0 })
}

/// Makes the device side from clang's code for each chip, and lets `known` keep what a search found.
fn make(stages: &Stages<'_>, searcher: &Searcher<'_>, chips: &Chips<'_>, known: Option<&SearchCache>) -> Result<Made> {
    let contexts: Vec<Context> = chips.archs.iter().map(|_| Context::create()).collect();
    let mut units = Vec::new();
    for (((arch, chip), path), context) in chips.archs.iter().zip(&chips.chips).zip(&chips.bitcode).zip(&contexts) {
        let module = read_unit(stages.source, stages.dump, chips, context, &arch.name, path, true)?;
        units.push(ChipModule::new(&stages.for_chip(&chip.to_string()), context, module, &arch.name));
    }
    let mut versions = versions_for_all(stages, &units);
    let (mut wholes, mut statements) = (None, Vec::new());
    if matches!(stages.grains, Grains::Search(_)) {
        wholes = choose(stages, searcher, chips, &units, &mut versions)?;
        statements = searcher.publish()?;
        versions.firsts = searcher.firsts();
    }
    // A version that could not be assembled once may be another time.
    let known = known.filter(|_| wholes.as_ref().is_none_or(|wholes| wholes.all_assembled));
    let mut wholes = wholes.map_or(Vec::new(), |wholes| wholes.compiled).into_iter();
    let (mut images, mut keys, mut static_shared) = (Vec::new(), Vec::new(), 0);
    for unit in units {
        let arch = unit.arch.clone();
        // Where nothing was chosen, clang's module has been compiled to be compared with.
        let whole = wholes.next().filter(|_| versions.is_empty() && !chips.specialised && unit.coarse.is_some());
        let image = match whole {
            Some(Compiled { key, image }) => {
                keys.push(key.text());
                image
            }
            None => {
                let module = unit.with_versions(&versions)?;
                if chips.specialised {
                    let machine = chips.target.machine(&arch)?;
                    static_shared = static_shared.max(specialise::static_shared(&module, &machine));
                    specialise::device(&module, &stages.survey.shapes, &machine)?;
                }
                let (image, key) = device_image(stages.source, chips.target, &module, &arch)?;
                keys.extend(key.map(|key| key.text()));
                image
            }
        };
        stages.dump.text(&arch, chips.target.text_extension(), &image.text)?;
        images.push(image);
    }
    if let Some(known) = known {
        let Versions { kernels, host, firsts, .. } = versions.clone();
        known.keep(&Found { remarks: stages.remarks.said(), statements, kernels, host, firsts, images: keys });
    }
    Ok(Made { images, versions, static_shared })
}

/// The device side of the only one of `chips` as its back end's instruction selection would get it, with the versions of kernels
/// that would be shipped.
pub(crate) fn optimised<'ctx>(
    stages: &Stages<'_>,
    searcher: &Searcher<'_>,
    chips: &Chips<'_>,
    context: &'ctx Context,
) -> Result<(Module<'ctx>, Versions)> {
    let (arch, path) = (&chips.archs[0].name, &chips.bitcode[0]);
    let module = read_unit(stages.source, stages.dump, chips, context, arch, path, false)?;
    // As the CPU target does: what is optimised here runs there.
    llvm::contract_expressions(&module);
    llvm::wrap_shared_indices(&module);
    let unit = ChipModule::new(stages, context, module, arch);
    let mut versions = unit.versions.clone();
    if matches!(stages.grains, Grains::Search(_)) {
        choose(stages, searcher, chips, std::slice::from_ref(&unit), &mut versions)?;
        searcher.publish()?;
    }
    let module = unit.with_versions(&versions)?;
    chips.target.optimized(&module, &stages.source.toolchain.toolkit, &stages.source.kernel_options(arch))?;
    stages.dump.llvm(&format!("optimised-{arch}"), &module)?;
    Ok((module, versions))
}

/// The device side for one chip.
struct ChipModule<'ctx> {
    arch: String,
    /// clang's module, or in a round trip what came back.
    module: Module<'ctx>,
    /// Versions of kernels at other grains, if they are not in `module` already.
    coarse: Option<Module<'ctx>>,
    versions: Versions,
}

impl<'ctx> ChipModule<'ctx> {
    /// Without a transformation a kernel is emitted as it was before it was lifted: nothing can get lost.
    fn new(stages: &Stages<'_>, context: &'ctx Context, module: Module<'ctx>, arch: &str) -> Self {
        let arch = arch.to_owned();
        let coarser = stages.grains.are_coarser();
        let round_trip = stages.source.options.round_trip;
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
            merge(&self.module, coarse, &kernels)?;
        }
        Ok(self.module)
    }
}

/// clang's modules as they are compiled to be compared with.
struct Wholes {
    /// One for each chip.
    compiled: Vec<Compiled<Image>>,
    /// Whether no version failed.
    all_assembled: bool,
}

/// Lets the assembler speak and drops what is not chosen. With nothing to choose from nothing is assembled.
fn choose(
    stages: &Stages<'_>,
    searcher: &Searcher<'_>,
    chips: &Chips<'_>,
    units: &[ChipModule<'_>],
    versions: &mut Versions,
) -> Result<Option<Wholes>> {
    if versions.launches.is_empty() {
        return Ok(None);
    }
    let source = stages.source;
    // Those of the first launches first: there may be no time for all.
    let order: HashMap<&str, usize> = versions.launches.iter().map(|launch| launch.symbol.as_str()).zip(0..).collect();
    let mut mains = versions.main_kernels()?;
    mains.sort_by_key(|(symbol, ..)| order.get(symbol.as_str()).copied());
    let mut all = Vec::new();
    for unit in units {
        all.push(job(source, chips.target, &unit.module, &unit.arch));
        let of_versions = job(source, chips.target, unit.coarse.as_ref().unwrap_or(&unit.module), &unit.arch);
        let alone = |name: &String| Job { kernel: Some(name.clone()), is_optional: true, ..of_versions.clone() };
        all.extend(mains.iter().map(|(_, _, name)| alone(name)));
    }
    let mut results = jobs::compile_all(&all, &Cache::open(), searcher.deadline()).into_iter();
    let mut wholes = Wholes { compiled: Vec::new(), all_assembled: true };
    let (mut resources, mut out_of_time) = (BTreeMap::new(), BTreeSet::new());
    for unit in units {
        let whole = results.next().flatten().ok_or_else(|| Error::internal("a module was not compiled"))??;
        let own: Vec<_> = results.by_ref().take(mains.len()).collect();
        let late = mains.iter().zip(&own).filter(|(_, made)| made.is_none());
        out_of_time.extend(late.map(|((symbol, _, _), _)| symbol.clone()));
        wholes.all_assembled &= own.iter().flatten().all(Result::is_ok);
        // A version that the assembler refuses is pruned, no error.
        let own: Vec<_> = own.into_iter().map(|made| Some(made?.ok()?.image)).collect();
        resources.insert(unit.arch.clone(), search::resources(&versions.launches, &mains, &own, &whole.image));
        wholes.compiled.push(whole);
    }
    // A launch of which not all versions are known keeps its grain.
    searcher.out_of_time(out_of_time.len());
    versions.launches.retain(|launch| !out_of_time.contains(&launch.symbol));
    let mut kept = searcher.decide(&versions.launches, resources);
    kept.extend(out_of_time.into_iter().map(|symbol| (symbol, vec![Grain::ORIGINAL])));
    // Launches without alternatives have one that was taken before.
    kept.retain(|_, grains| !grains.is_empty());
    versions.choose(&kept, &searcher.least_blocks())?;
    Ok(Some(wholes))
}

/// One host code launches for all chips: there are versions if they came out alike for each.
fn versions_for_all(stages: &Stages<'_>, units: &[ChipModule<'_>]) -> Versions {
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
fn most_threads(chips: &Chips<'_>, images: &[Image], version: &Version) -> Result<u32> {
    let of = |(arch, image): (&&Arch, &Image)| {
        let Processor::Gpu(limits) = arch.target.processor(&arch.name)? else { return Ok(u32::MAX) };
        let Some(report) = image.reports.iter().find(|report| report.name == version.name) else { return Ok(0) };
        let registers = Resources { static_shared: 0, ..search::as_resources(report) };
        let fits = |threads: &u32| occupancy(limits, *threads, &registers).blocks > 0;
        Ok((1..=limits.threads_per_block).rev().find(fits).unwrap_or(0))
    };
    let all = chips.archs.iter().zip(images).map(of).collect::<Result<Vec<u32>>>()?;
    Ok(all.into_iter().min().unwrap_or(0))
}

/// The image of a module, and its key in the cache; where only assembly is asked for, only that.
fn device_image(
    source: &Source<'_>,
    target: &'static dyn Kernels,
    module: &Module<'_>,
    arch: &str,
) -> Result<(Image, Option<Key>)> {
    let toolkit = &source.toolchain.toolkit;
    let job = job(source, target, module, arch);
    let emit = source.options.emit;
    if emit.side == crate::options::Side::Device && emit.text {
        return Ok((target.compile(module, toolkit, &job.compiler.options, true)?, None));
    }
    let Compiled { key, image } = job.compile(&Cache::open())?;
    Ok((image, Some(key)))
}

/// What compiling a device module takes.
fn job<'s>(source: &Source<'s>, target: &'static dyn Kernels, module: &Module<'_>, arch: &str) -> Job<Assembler<'s>> {
    assembly_job(target, &source.toolchain.toolkit, module, source.kernel_options(arch))
}

/// The same with all that was said of it.
pub(crate) fn assembly_job<'t>(
    kernels: &'static dyn Kernels,
    toolkit: &'t Toolkit,
    module: &Module<'_>,
    options: KernelOptions,
) -> Job<Assembler<'t>> {
    if !options.lines && !options.debug && !kernels.wants_lines() {
        module.strip_debug_info();
    }
    // Where the source lies makes no difference to what becomes of it.
    module.set_source_file_name("device");
    module.set_name("device");
    let compiler = Assembler { kernels, toolkit, options };
    let bitcode = module.write_bitcode_to_memory().as_slice().into();
    Job { bitcode, kernel: None, compiler, is_optional: false }
}

/// The table that `-fregrain-resource-usage` asks for, on standard error beside clang's diagnostics.
pub(crate) fn print_reports(images: &[Image]) {
    eprintln!("{}", Report::heading());
    for report in images.iter().flat_map(|image| &image.reports) {
        eprintln!("{report}");
    }
}

/// What `-Xcuda-ptxas -v` asks for, in the assembler's own words.
pub(crate) fn print_notes(images: &[Image], options: &Options) {
    if options.assembler.iter().any(|option| matches!(option.as_str(), "-v" | "--verbose")) {
        images.iter().for_each(|image| eprint!("{}", image.notes));
    }
}

/// `--cuda-device-only`: assembly as text (`-S`), else machine code; with `-emit-llvm` clang's IR of the first. Gives for each
/// architecture the file that was made and what it should end in.
pub(crate) fn device_only(
    stages: &Stages<'_>,
    searcher: &Searcher<'_>,
    chips: &Chips<'_>,
) -> Result<Vec<(String, PathBuf, &'static str)>> {
    let source = stages.source;
    let text = source.options.emit.text;
    let file = |arch: &str| source.scratch(&format!("device-only-{arch}"));
    if source.options.emit.llvm {
        let mut made = Vec::new();
        for (arch, path) in chips.archs.iter().zip(&chips.bitcode).take(1) {
            let context = Context::create();
            let module = read_bitcode(&context, path)?;
            stages.dump.llvm(&format!("device-{arch}"), &module)?;
            write_module(&module, &file(&arch.name), text)?;
            made.push((arch.name.clone(), file(&arch.name), if text { "ll" } else { "bc" }));
        }
        return Ok(made);
    }
    let Code::Images { images, .. } = device_side(stages, searcher, chips)?.code else { return Ok(Vec::new()) };
    if source.options.emit.fat_binary {
        let packed = chips.target.pack(&images, source.options.pieces.as_deref());
        let no_form = || Error::User(format!("there are no fat binaries for {}", chips.archs[0]));
        let path = file("fat");
        std::fs::write(&path, packed.ok_or_else(no_form)??).map_err(Error::io("write", &path))?;
        return Ok(vec![("fat".into(), path, "fatbin")]);
    }
    let extension = if text { chips.target.text_extension() } else { chips.target.code_extension() };
    let mut made = Vec::new();
    for image in &images {
        let path = file(&image.arch);
        let bytes = if text { image.text.as_bytes() } else { &image.code };
        std::fs::write(&path, bytes).map_err(Error::io("write", &path))?;
        made.push((image.arch.clone(), path, extension));
    }
    Ok(made)
}
