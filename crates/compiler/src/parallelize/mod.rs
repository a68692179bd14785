//! Sequential C and C++ in, launches out: the second front end.
//!
//! ```text
//!            clang               regions              describe, plan            cuda
//!   a.c ───────────► host IR ─────────────► a.region0 ─────────────► schedule ────────► kernels, host function ─┐
//!                                  │                                                                            │ clang, as CUDA
//!                                  └─ the host, with a.region0 asking the host function first ◄── host IR ──────┴─► device IR
//! ```
//!
//! The nest itself stays as a function of its own: what it does where the launches may not or need not stand for it.

mod block_tiles;
mod body;
mod chip;
mod combine;
mod constant;
mod cuda;
mod guard;
mod kernels;
mod nest;
mod parts;
mod places;
mod points;
mod resident;
mod scops;
mod sums;
mod teams;
mod terms;
mod types;
mod waves;

use std::cell::Cell;
use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::{Linkage, Module};
use mlir_bridge::ir::Op;
use mlir_bridge::regions::{Kept, Place, Region, inline_members, outline, strip_debug_info};
use mlir_bridge::timing::{SCHEDULES, STEPS, measure};
use mlir_bridge::{isl, module_op};
use regrain_frontend::TranslationUnit;
use regrain_frontend::generated::CUDA_RUNTIME;
use regrain_passes::affine::accesses::Base;
use regrain_passes::affine::patience::Patience;
use regrain_passes::affine::plan::{Wishes, plan};
use regrain_passes::affine::teams::Superposition;
use regrain_passes::affine::waves::Tiling;
use regrain_passes::affine::{BUDGET, Description, Reason, describe};
use regrain_passes::pipelines;
use regrain_targets::target::Code;
use regrain_tuning::Space;
use regrain_tuning::calibration::{Calibration, VARIABLE};

use crate::commands::Running;
use crate::compile::compile_sides;
use crate::context::{mlir_context, run};
use crate::diagnostics::RemarkLog;
use crate::dump::Dump;
use crate::error::{Error, Result};
use crate::source::{Source, read_bitcode};
use crate::words::Words;
use constant::Constants;
use resident::Bounds;

/// Compiles a sequential source, with launches in place of what may run in parallel.
///
/// # Errors
/// As [`crate::compile()`]; that nothing may run in parallel is none.
pub fn compile(source: &Source<'_>, language: &str) -> Result<()> {
    // What clang left apart stays apart on the device.
    let mut options = source.options.clone();
    options.settings.keeps_apart = true;
    options.calibration = calibration(source)?;
    let is_measured = options.profile_generate || options.profile_use.is_some() || options.adaptive;
    if is_processor(source) && !is_measured {
        // A schedule for processors has made what a thread and a block do of how much there is to do.
        options.alternatives.get_or_insert(Space::none());
    }
    let source = &Source { options: &options, ..source.clone() };
    let running = host_bitcode(source, language)?;
    // Meanwhile, as all of them take some milliseconds.
    let mlir = mlir_context();
    source.expect();
    running.finish()?;
    if source.toolchain.commands.dry_run {
        return Ok(());
    }
    let path = source.scratch(SEQUENTIAL);
    let context = Context::create();
    let host = read_bitcode(&context, &path)?;
    let (regions, kept) = outlined(source, &host);
    if !options.lines {
        strip_debug_info(&host);
    }
    let remarks = RemarkLog::new(&options.remarks, Words::default());
    let made = Made::of(source, &mlir, &host, &regions, &kept, &remarks)?;
    inline_others(&host, &regions, &made);
    if let Some(file) = &options.emit_cuda {
        std::fs::write(file, made.text()).map_err(Error::io("write", file))?;
    }
    if made.functions.is_empty() {
        let object = source.host_object(&host)?;
        return source.deliver(&object);
    }
    // The runtime is there where code for the processor is.
    let text = if is_processor(source) { waves::LINKED } else { "" }.to_owned() + &made.placed(&source.unit.input);
    let generated = generated(source, &text)?;
    let unit = Source { unit: generated, dependencies: Vec::new(), ..source.clone() };
    if let Some(bounds) = &made.bounds {
        bounds.mark(&host, &made.functions);
    }
    guard::join(&host, &made.functions)?;
    // Clang begins with the user's code as soon as it is through with what launches: before, it would keep that from coming.
    let is_apart = source.may_part();
    let own = Cell::new(None);
    let prepare = || own.set(is_apart.then(|| source.prepare_host_object(&host, "host")));
    // What is looked at on the host's side is what launches.
    compile_sides(
        source,
        &context,
        |chips| unit.sides(chips, prepare),
        |launches| {
            guard::compile_cheaply(&launches);
            guard::whole((!is_apart).then(|| host.clone()), launches, made.asked())
        },
        || own.take().transpose()?.map(|own| own.start(source)).transpose(),
    )
}

/// What things take on the machine, as measured on one of the architectures that are compiled for, or as usual.
fn calibration(source: &Source<'_>) -> Result<Calibration> {
    let Some(file) = std::env::var_os(VARIABLE).filter(|file| !file.is_empty()) else {
        return Ok(Calibration::default());
    };
    let measured = Calibration::open(Path::new(&file))?;
    let is_ours = source.archs.iter().any(|arch| arch.name == measured.target);
    Ok(if is_ours { measured } else { Calibration::default() })
}

/// The file of the host's IR.
const SEQUENTIAL: &str = "sequential.bc";

/// Starts clang, which generates the host's IR.
fn host_bitcode(source: &Source<'_>, language: &str) -> Result<Running> {
    let path = source.scratch(SEQUENTIAL);
    let commands = &source.toolchain.commands;
    let mut command = source.toolchain.clang.compiler();
    if let Some(file) = source.unit.stdin.as_ref().and_then(|path| std::fs::File::open(path).ok()) {
        command.stdin(file);
    }
    command.args(["-x", language, "-gline-tables-only"]);
    if source.options.level.is_none() {
        command.arg("-O2");
    }
    command.args(&source.unit.options).args(&source.unit.host_options).args(&source.dependencies);
    command.args(["-c", "-emit-llvm", "-Xclang", "-disable-llvm-passes", "-o"]).arg(&path).arg(&source.unit.input);
    commands.start_clang(&mut command)
}

/// The nests of a source as functions, and what stays as it is.
fn outlined(source: &Source<'_>, host: &Module<'_>) -> (Vec<Region>, Vec<Kept>) {
    let input = &source.unit.input;
    let text = std::fs::read(input).unwrap_or_default();
    let scops = scops::scops(&String::from_utf8_lossy(&text));
    let path = std::path::absolute(input).unwrap_or_else(|_| input.clone());
    let (regions, mut kept) = outline(host, &path.to_string_lossy(), &scops.pairs);
    kept.extend(scops.alone.into_iter().map(|line| Kept {
        place: Place { file: String::new(), line: line.try_into().unwrap_or(0) },
        is_scop: true,
        reason: "the other pragma of its pair is missing".into(),
    }));
    (regions, kept)
}

/// Has the functions of nests that nothing stands for put back where they came from.
fn inline_others(host: &Module<'_>, regions: &[Region], made: &Made) {
    let kind = Attribute::get_named_enum_kind_id;
    let always = host.get_context().create_enum_attribute(kind("alwaysinline"), 0);
    let is_other = |region: &&Region| !made.functions.iter().any(|function| function.name == region.function);
    for function in regions.iter().filter(is_other).filter_map(|region| host.get_function(&region.function)) {
        function.remove_enum_attribute(AttributeLoc::Function, kind("noinline"));
        function.add_attribute(AttributeLoc::Function, always);
    }
}

/// What was made of a source's nests.
struct Made {
    /// All of it as CUDA C++: nests with their places, and what they use.
    parts: Vec<(Option<Place>, String)>,
    /// The functions of nests, with the variables that what stands for them is given beside their own arguments.
    functions: Vec<guard::Function>,
    /// What stands around loops in which arrays stay on the device.
    bounds: Option<Bounds>,
}

impl Made {
    fn of(
        source: &Source<'_>,
        mlir: &melior::Context,
        host: &Module<'_>,
        regions: &[Region],
        kept: &[Kept],
        remarks: &RemarkLog,
    ) -> Result<Self> {
        let name = source.unit.input.display();
        let say = |place: &Place, what: String, option: &str| {
            let (file, line) = match place.file.as_str() {
                "" => (name.to_string(), place.line),
                file => (file.to_owned(), place.line),
            };
            remarks.say(&format!("{file}:{line}:1: remark: {what} [-Rpass{option}=regrain-parallelize]"));
        };
        for Kept { place, is_scop, reason } in kept {
            let what = if *is_scop { "scop is no one region" } else { "loop stays sequential" };
            say(place, format!("{what}: {reason}"), "-missed");
        }
        let of_region = |region: &Region| host.get_function(&region.function);
        // Nobody outside calls them, but what is private and not called is not read.
        regions.iter().filter_map(of_region).for_each(|function| function.set_linkage(Linkage::External));
        let bitcode = host.write_bitcode_to_memory();
        regions.iter().filter_map(of_region).for_each(|function| function.set_linkage(Linkage::Internal));
        let dump = Dump::new(source.options.dump_ir.as_deref(), &source.stem())?;
        let writer = Writer { source, mlir, bitcode: bitcode.as_slice(), dump, patience: Patience::default() };
        let text = format!(
            "// Made by regrain of '{name}'.\n#include <cuda_runtime.h>\n#include <math.h>\n#include <stdlib.h>\n\n{}\n",
            terms::HELPERS
        );
        let mut made = Self { parts: vec![(None, text)], functions: Vec::new(), bounds: None };
        let mut taken: Vec<&String> = Vec::new();
        // Rows first: what is part of one that runs in parallel is nothing of its own.
        let (rows, nests): (Vec<&Region>, Vec<&Region>) = regions.iter().partition(|region| !region.members.is_empty());
        for region in rows.into_iter().chain(nests) {
            if taken.contains(&&region.function) {
                continue;
            }
            let others = region.members.len().saturating_sub(1);
            let unique = unique(source, region);
            match writer.nest(region, &unique) {
                Ok(Ok(nest)) => {
                    let it = if others == 0 { "it".into() } else { format!("it and {others} behind it") };
                    let kernels = nest.kernels;
                    let noun = if kernels == 1 { "kernel" } else { "kernels" };
                    let what = format!("loop runs in parallel: launches of {kernels} {noun} stand for {it}");
                    say(&region.place, what, "");
                    nest.notes.iter().for_each(|note| say(&region.place, note.clone(), ""));
                    taken.extend(&region.members);
                    made.add(source, region, unique, nest);
                }
                Ok(Err(reason)) if others > 0 => {
                    say(&region.place, format!("loop is apart from {others} behind it: {reason}"), "-missed");
                }
                Ok(Err(reason)) => say(&region.place, format!("loop stays sequential: {reason}"), "-missed"),
                Err(words) => return Err(Error::internal(words)),
            }
        }
        Ok(made)
    }

    fn add(&mut self, source: &Source<'_>, region: &Region, unique: String, nest: Written) {
        if nest.text.contains(resident::NAME) {
            let bounds = Bounds::of(&format!("{:08x}", unit_hash(source)));
            self.add_once(&bounds.text());
            self.bounds = Some(bounds);
        }
        if nest.text.contains(waves::SEARCH) {
            self.add_once(waves::MODEL);
        }
        if nest.text.contains(waves::CLOCK) {
            self.add_once(waves::TRIALS);
        }
        if nest.text.contains(cuda::IS_LONG) {
            self.add_once(cuda::DECLARED);
        }
        if nest.text.contains(constant::NAME) {
            self.add_once(&constant::memory());
        }
        self.parts.push((Some(region.place.clone()), nest.text));
        self.functions.push(guard::Function {
            name: region.function.clone(),
            launches: format!("regrain_{unique}"),
            arguments: nest.arguments,
        });
    }

    /// Adds what nests use, where it is not there.
    fn add_once(&mut self, text: &str) {
        let text = format!("{text}\n");
        if !self.parts.iter().any(|(_, other)| *other == text) {
            self.parts.push((None, text));
        }
    }

    /// The functions that launch and that the host's code calls.
    fn asked(&self) -> impl Iterator<Item = &str> {
        let bounds = self.bounds.iter().flat_map(Bounds::names);
        self.functions.iter().map(|function| function.launches.as_str()).chain(bounds)
    }

    /// The text, to be read.
    fn text(&self) -> String {
        let of = |(place, text): &(Option<Place>, String)| match place {
            Some(place) => format!("// Line {}.\n{text}", place.line),
            None => text.clone(),
        };
        self.parts.iter().map(of).collect()
    }

    /// The text, to be compiled: each line of a nest is where its loop is, in `input` where that says no other file.
    fn placed(&self, input: &Path) -> String {
        let of = |(place, text): &(Option<Place>, String)| match place {
            Some(place) => {
                let file = if place.file.is_empty() { input.to_string_lossy() } else { place.file.as_str().into() };
                // Debug form is that of C's strings, for what names of files have.
                text.lines().map(|line| format!("#line {} {file:?}\n{line}\n", place.line)).collect()
            }
            None => text.clone(),
        };
        self.parts.iter().map(of).collect()
    }
}

/// A name for what stands for a region, another one in each source.
fn unique(source: &Source<'_>, region: &Region) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
    format!("{}_{:08x}", region.function.chars().map(plain).collect::<String>(), unit_hash(source))
}

/// A number that no other source has.
fn unit_hash(source: &Source<'_>) -> u32 {
    let mut hasher = DefaultHasher::new();
    source.unit.id().hash(&mut hasher);
    std::path::absolute(&source.unit.input).ok().hash(&mut hasher);
    hasher.finish() as u32
}

/// A nest as CUDA C++.
struct Written {
    text: String,
    kernels: usize,
    /// What is to be said of launches.
    notes: Vec<String>,
    arguments: Vec<guard::Argument>,
}

/// Writes the regions of a source.
struct Writer<'s> {
    source: &'s Source<'s>,
    mlir: &'s melior::Context,
    /// All of them.
    bitcode: &'s [u8],
    dump: Dump,
    patience: Patience,
}

impl Writer<'_> {
    /// Writes a region; the reason if it stays sequential.
    fn nest(&self, region: &Region, unique: &str) -> std::result::Result<std::result::Result<Written, Reason>, String> {
        let mut alone = mlir_bridge::llvm::extract_kernel(self.bitcode, &region.function)?;
        if !region.members.is_empty() || self.source.options.lines {
            alone = prepared(&alone, region)?;
        }
        let module =
            mlir_bridge::import_llvm(self.mlir, &alone, &region.function).map_err(|error| error.to_string())?;
        let op = module_op(&module);
        let (raised, _) = mlir_bridge::diagnostics::with_diagnostics(self.mlir, || run(op, pipelines::RAISE_LOOPS));
        raised?;
        crate::stages::show(&self.dump, "raised", &module);
        let Some(function) = op.lookup_symbol(&region.function) else {
            return Err(format!("no function '{}'", region.function));
        };
        Ok(self.write(region, unique, function))
    }

    fn write(&self, region: &Region, unique: &str, function: Op<'_>) -> std::result::Result<Written, Reason> {
        let Self { source, dump, .. } = self;
        let description = describe(function)?;
        show(dump, "description", &description.lines().join("\n"));
        let context = isl::Context::new(BUDGET);
        let limits = self.patience.limits();
        let for_processors = is_processor(source);
        let wishes = Wishes { for_processors, tiling: &tiling(source), superposition: superposition(source) };
        let planned = || plan(&context, &description, wishes, &limits);
        let plan = measure(STEPS, SCHEDULES, planned)?;
        show(dump, "schedule", &plan.tree);
        if !region.members.is_empty() && plan.host.has_long_thread(&description) {
            return Err(Reason::Sequential);
        }
        let fuses = function.attr("target_features").is_some_and(|features| features.to_string().contains("\"+fma\""))
            || cfg!(target_arch = "aarch64");
        // Processors have no such memory.
        let constants = if is_processor(source) { Constants::default() } else { Constants::of(&description, &plan) };
        let nest = nest::Nest {
            name: unique.to_owned(),
            description: &description,
            plan: &plan,
            apart: apart(region, &description),
            fuses,
            least_work: source.options.parallelize_from,
            calibration: source.options.calibration.clone(),
            tiles: stated_tiles(source),
            constants,
            part_threads: if for_processors { combine::LANES } else { combine::THREADS },
            may_stay: region.is_repeated && !is_processor(source),
        };
        let text = cuda::write(&nest)?;
        let kernels = text.matches("__global__").count();
        let notes = [teams::notes(&plan.host), nest.constants.notes()].concat();
        Ok(Written { text, kernels, notes, arguments: arguments(function, &description) })
    }
}

/// A nest without what debuggers want to know, a row of nests with the bodies of its members in it.
fn prepared(bitcode: &[u8], region: &Region) -> std::result::Result<Vec<u8>, String> {
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(bitcode, &region.function);
    let module = Module::parse_bitcode_from_buffer(&buffer, &context).map_err(|error| error.to_string())?;
    if let Some(function) = module.get_function(&region.function) {
        inline_members(function);
    }
    strip_debug_info(&module);
    Ok(module.write_bitcode_to_memory().as_slice().to_vec())
}

/// Whether all that a program is for are processors, for their own sake.
fn is_processor(source: &Source<'_>) -> bool {
    source.options.emulate.is_none() && source.archs.iter().all(|arch| matches!(arch.target.code(), Code::Blocks(_)))
}

/// The tiles of waves: a processor's thread goes through one alone.
fn tiling(source: &Source<'_>) -> Tiling {
    if is_processor(source) { Tiling::Usual } else { Tiling::Together }
}

/// The sizes that are stated, the last for both dimensions, and that of pieces if it is.
fn stated_tiles(source: &Source<'_>) -> Option<([i64; 2], Option<i64>)> {
    let sizes = source.options.parallelize_tiles.as_ref()?;
    let at = |at: usize| sizes.get(at).or(sizes.last()).copied();
    Some(([at(0)?, at(1)?], sizes.get(2).copied()))
}

/// Whether threads of a row may share a point: rows of a processor's lanes are of points.
fn superposition(source: &Source<'_>) -> Superposition {
    match source.options.parallelize_schedule {
        Superposition::Auto if is_processor(source) => Superposition::Single,
        wanted => wanted,
    }
}

fn show(dump: &Dump, stage: &str, text: &str) {
    if let Err(error) = dump.text(stage, "txt", text) {
        crate::diagnostics::note(&error.to_string());
    }
}

/// The arguments of what stands for a nest: those that are no pointers, and where arrays are.
fn arguments(function: Op<'_>, description: &Description<'_>) -> Vec<guard::Argument> {
    let own = function.region(0).entry().args().into_iter().enumerate();
    let plain = own.filter(|(_, value)| value.ty().ptr_space().is_none());
    let plain = plain.map(|(number, _)| guard::Argument::Parameter(number));
    let arrays = description.arrays.iter().map(|array| match array.base {
        Base::Parameter(number) => guard::Argument::Parameter(number),
        Base::Variable(name) => guard::Argument::Variable(name.to_owned()),
    });
    plain.chain(arrays).collect()
}

/// The pairs of arrays that are different objects.
fn apart(region: &Region, description: &Description<'_>) -> Vec<(usize, usize)> {
    let object = |base: &Base<'_>| match base {
        Base::Parameter(number) => region.objects.get(*number).copied().flatten(),
        Base::Variable(name) => region.globals.iter().find(|(other, _)| other == name).map(|(_, number)| *number),
    };
    let objects: Vec<_> = description.arrays.iter().map(|array| object(&array.base)).collect();
    let mut pairs = Vec::new();
    for (left, one) in objects.iter().enumerate() {
        for (right, other) in objects.iter().enumerate().skip(left + 1) {
            if one.is_some() && other.is_some() && one != other {
                pairs.push((left, right));
            }
        }
    }
    pairs
}

/// The unit of generated code: compiled with what the user says of code, not with what is said of sources.
fn generated(source: &Source<'_>, text: &str) -> Result<TranslationUnit> {
    let path = source.scratch("launches.cu");
    let folder = source.scratch("generated");
    std::fs::create_dir_all(&folder).map_err(Error::io("make", &folder))?;
    let header = folder.join("cuda_runtime.h");
    for (file, text) in
        [(&header, CUDA_RUNTIME), (&folder.join("math.h"), ""), (&folder.join("stdlib.h"), ""), (&path, text)]
    {
        std::fs::write(file, text).map_err(Error::io("write", file))?;
    }
    let mut options: Vec<OsString> = vec!["-nocudainc".into(), "-isystem".into(), folder.into_os_string()];
    // Debuggers are not told of a file that is gone.
    let mut same = OsString::from("-fdebug-prefix-map=");
    same.push(&path);
    same.push("=");
    same.push(std::path::absolute(&source.unit.input).unwrap_or_else(|_| source.unit.input.clone()));
    options.push(same);
    options.extend(
        ["-std=c++17", "-ffp-contract=off", "-fno-strict-aliasing", "-w", "-gno-column-info"].map(OsString::from),
    );
    let is_about_code = |option: &&OsString| {
        let text = option.to_string_lossy();
        ["-O", "-m", "--target=", "-fPIC", "-fpic", "-fPIE", "-fpie", "-fno-pic", "-fno-pie"]
            .iter()
            .any(|head| text.starts_with(head))
            && !["-mllvm", "-mmlir"].contains(&&*text)
    };
    options.extend(source.unit.options.iter().filter(is_about_code).cloned());
    let unit = TranslationUnit {
        input: path,
        stdin: None,
        options,
        host_options: Vec::new(),
        device_options: Vec::new(),
        relocatable: false,
        ..source.unit.clone()
    };
    Ok(unit)
}
