//! One CUDA source to one output, for all its targets.
//!
//! ```text
//! a.cu ─ clang ─┬─ host IR ───────────────────────────────────────────── launches, images put in place ─► host.o ─┐
//!               └─ device IR, for each chip ─┬─ kernels (`kernels.rs`): images ──────────┘                        ├─► a.o
//!                                            └─ blocks (`blocks.rs`): an object ──────────────────────────────────┘
//! ```

use std::path::PathBuf;
use std::time::{Duration, Instant};

use inkwell::context::Context;
use inkwell::module::Module;
use mlir_bridge::timing::{STEPS, measure};
use regrain_frontend::dispatch::{self, Dispatcher};
use regrain_frontend::launches::{self, Survey};
use regrain_frontend::{host, linked_registration, managed, specialise};
use regrain_targets::toolkit::SmArch;
use regrain_targets::{Arch, machines, target};

use crate::blocks::{self, Unlowered};
use crate::chips::{Chips, Group};
use crate::device_side::{Code, DeviceSide};
use crate::diagnostics::RemarkLog;
use crate::dump::Dump;
use crate::error::{Error, Result};
use crate::grains::Coarsening;
use crate::images;
use crate::kernels;
use crate::options::{Budget, Options, Side};
use crate::relocatable;
use crate::search::Searcher;
use crate::source::{HostObject, Sides, Source, place, read_bitcode};
use crate::stages::Stages;
use crate::versions::Choosing;
use crate::words::Words;

/// What `__CUDA_ARCH__` stands for where no target says so, and the compute capability that the CPU reports.
///
/// Sources of today leave `sm_70` behind: they waive themselves, or have no other way than asynchronous copies, reductions of a warp in one
/// instruction, arithmetic in bfloat16 and barriers in shared memory, all of which `sm_80` has and every target here runs. Not `sm_90`: to
/// it sources give clusters, bulk copies and matrix instructions of four warps, which no target but NVIDIA's own has.
const DEFAULT_CHIP: SmArch = SmArch { number: 80, specific: false };

/// The part of clang's time for the device side that a search may take, and the least that it may take in any case, where kernels are
/// assembled to choose, and where choosing is all that it is for.
const PART_OF_CLANG: u32 = 4;
const LEAST_BUDGET: Duration = Duration::from_millis(300);
const LEAST_BUDGET_OF_BLOCKS: Duration = Duration::from_millis(200);

/// Compiles a CUDA source to its output.
pub(crate) fn compile(source: &Source<'_>) -> Result<()> {
    if source.options.emit.side == Side::Host {
        return source.host_only();
    }
    compile_sides(source, &Context::create(), |chips| source.sides(chips, || ()), Ok, || Ok(None))
}

/// The same with both sides' IR of `sides`, which is told the chips. The host side becomes what `whole` makes of it before clang
/// gets it, and is joined with what `before` has begun, once both sides are there.
pub(crate) fn compile_sides<'ctx>(
    source: &Source<'_>,
    context: &'ctx Context,
    sides: impl FnOnce(&[SmArch]) -> Result<Option<Sides>>,
    whole: impl FnOnce(Module<'ctx>) -> Result<Module<'ctx>>,
    before: impl FnOnce() -> Result<Option<HostObject>>,
) -> Result<()> {
    let groups = groups(source.archs, source.options);
    check(source, &groups)?;
    let chips = all_chips(&groups);
    source.open_side_files();
    let Some(sides) = sides(&chips)? else { return Ok(()) };
    source.keep_sides(&chips, &sides)?;
    let before = before()?;
    Compilation::new(source, &groups, &chips, sides)?.run(context, whole, before)?;
    source.close_side_files()
}

/// The chip whose `__CUDA_ARCH__` the source sees on targets that leave the choice to others: the lowest asked for.
pub fn lowest_chip(archs: &[Arch]) -> SmArch {
    archs.iter().filter_map(|arch| arch.target.cuda_arch(&arch.name)).min().unwrap_or(DEFAULT_CHIP)
}

fn groups<'s>(archs: &'s [Arch], options: &Options) -> Vec<Group<'s>> {
    // What code that is linked into the program stands for, if it is not for the CPU's own sake.
    let emulated = options.emulate.as_ref();
    let lowest = lowest_chip(archs);
    let mut groups: Vec<Group<'s>> = Vec::new();
    for arch in archs {
        let real = emulated.filter(|_| matches!(arch.target.code(), target::Code::Blocks(_))).unwrap_or(arch);
        let seen = options.seen.iter().find(|(name, _)| *name == real.name).map(|(_, seen)| *seen);
        let chip = seen.or_else(|| real.target.cuda_arch(&real.name)).unwrap_or(lowest);
        match groups.iter_mut().find(|group| group.target.name() == arch.target.name()) {
            Some(group) => {
                group.archs.push(arch);
                group.chips.push(chip);
            }
            None => groups.push(Group { target: arch.target, archs: vec![arch], chips: vec![chip] }),
        }
    }
    groups
}

fn all_chips(groups: &[Group<'_>]) -> Vec<SmArch> {
    let mut chips: Vec<SmArch> = Vec::new();
    for chip in groups.iter().flat_map(|group| &group.chips) {
        if !chips.contains(chip) {
            chips.push(*chip);
        }
    }
    chips
}

fn check(source: &Source<'_>, groups: &[Group<'_>]) -> Result<()> {
    let emit = source.options.emit;
    let kernels = groups.iter().find(|group| matches!(group.target.code(), target::Code::Kernels(_)));
    // NVIDIA's text and code name what other units have, and its linker takes them; AMD's do not.
    let is_for_others =
        |group: &&Group<'_>| group.archs.iter().all(|arch| group.target.cuda_arch(&arch.name).is_some());
    let refused = source.options.relocatable && emit.side == Side::Device && !emit.llvm;
    match kernels.filter(|group| refused && !is_for_others(group)) {
        None => Ok(()),
        Some(group) => Err(Error::User(format!(
            "invalid argument '--cuda-device-only' not allowed with '-fgpu-rdc' for --offload-arch={}: its code is made when the \
             program is linked; '-emit-llvm' gives what is linked",
            group.archs[0]
        ))),
    }
}

/// The error that the address of a managed variable, declared at `place`, stands in a constant.
fn in_a_constant(place: String) -> Error {
    let what =
        "the address of this managed variable is known when the program runs: it cannot stand in a constant".into();
    regrain_targets::Error::Located { place, what }.into()
}

/// A source whose sides clang has compiled.
struct Compilation<'s> {
    source: &'s Source<'s>,
    groups: &'s [Group<'s>],
    chips: &'s [SmArch],
    sides: Sides,
    dump: Dump,
    coarsening: Coarsening,
}

impl<'s> Compilation<'s> {
    fn new(source: &'s Source<'s>, groups: &'s [Group<'s>], chips: &'s [SmArch], sides: Sides) -> Result<Self> {
        let dump = Dump::new(source.options.dump_ir.as_deref(), &source.stem())?;
        let coarsening = sides.host.as_ref().map_or(Coarsening::Off, |_| Coarsening::of(source.options));
        Ok(Self { source, groups, chips, sides, dump, coarsening })
    }

    fn run<'ctx>(
        &self,
        context: &'ctx Context,
        whole: impl FnOnce(Module<'ctx>) -> Result<Module<'ctx>>,
        before: Option<HostObject>,
    ) -> Result<()> {
        let host = self.sides.host.as_deref().map(|path| read_bitcode(context, path)).transpose()?;
        let mut launched_by_device = false;
        if let Some(host) = &host {
            launched_by_device = linked_registration::by_itself(host, &self.source.unit.id());
            managed::reach(host).map_err(in_a_constant)?;
        }
        if let Some(host) = host.as_ref().filter(|_| self.source.awaits_link()) {
            relocatable::register_private(self.source, host, &self.sides)?;
        }
        let specialised = host.as_ref().is_some_and(|host| self.specialises(host));
        let mut survey = match &host {
            Some(host) if self.needs_survey(specialised) => measure(STEPS, "survey of the host", || {
                launches::survey(host, &machines::host()?, before.is_some()).map_err(Error::from)
            })?,
            _ => Survey::default(),
        };
        if launched_by_device {
            // The host is not all that launches.
            survey.only.clear();
        }
        let Some(host) = host else { return self.device_only(&survey) };
        let contexts: Vec<Context> = self.groups.iter().map(|_| Context::create()).collect();
        let (mut sides, mut unlowered) = (Vec::new(), Vec::new());
        for (group, context) in self.groups.iter().zip(&contexts) {
            let (side, rest) = self.device_side(context, group, &survey, specialised)?;
            sides.push(side);
            unlowered.extend(rest);
        }
        if specialised && let Some(Code::Images { static_shared, .. }) = sides.first().map(|side| &side.code) {
            specialise::host(&host, &survey.shapes, *static_shared)?;
        }
        measure(STEPS, "launches", || self.redirect(context, &host, &sides))?;
        images::put(&host, self.groups, &sides, self.source.options.pieces.as_deref())?;
        let host = whole(host)?;
        self.dump.llvm("host", &host)?;
        let name = if before.is_some() { "launches" } else { "host" };
        let host = self.source.start_host_object(&host, name)?;
        let objects = unlowered.into_iter().map(|device| device.emit(&self.dump)).collect::<Result<Vec<_>>>()?;
        self.finish(before.into_iter().chain([host]), objects.concat(), &sides)
    }

    /// Whether kernels get versions for the constant shapes that `host` launches them with. On request only: such a version
    /// unrolls more and takes more registers, and whether that pays is not known without running it. Handles of such versions
    /// stand in the host code for one target's runtime.
    fn specialises(&self, host: &Module<'_>) -> bool {
        let options = self.source.options;
        let asked = options.device_level() > 0 && options.specialize && !self.source.awaits_link();
        let alone = self.groups.len() == 1 && matches!(self.groups[0].target.code(), target::Code::Kernels(_));
        asked && alone && specialise::is_allowed(host)
    }

    fn needs_survey(&self, specialised: bool) -> bool {
        let blocks = |group: &Group<'_>| matches!(group.target.code(), target::Code::Blocks(_));
        let wanted = specialised || self.coarsening != Coarsening::Off || self.dump.is_on();
        wanted || self.groups.iter().any(blocks)
    }

    /// Clang's device code for each of a group's architectures.
    fn bitcode(&self, group: &Group<'_>) -> Vec<PathBuf> {
        let of =
            |chip: &SmArch| self.chips.iter().position(|other| other == chip).map(|at| self.sides.device[at].clone());
        group.chips.iter().filter_map(of).collect()
    }

    fn deadline(&self, group: &Group<'_>) -> Option<Instant> {
        // Who says what to try, or is to measure it, wants all of it.
        let options = self.source.options;
        let stated = options.alternatives.is_some() || options.profile_generate || options.profile_use.is_some();
        let time = match options.budget {
            Budget::AsClang if stated => return None,
            Budget::AsClang => (self.sides.device_time / PART_OF_CLANG).max(match group.target.code() {
                target::Code::Kernels(_) => LEAST_BUDGET,
                target::Code::Blocks(_) => LEAST_BUDGET_OF_BLOCKS,
            }),
            Budget::Seconds(seconds) => Duration::from_secs_f64(seconds),
            Budget::Unlimited => return None,
        };
        Some(Instant::now() + time)
    }

    /// Calls `work` with what making a group's code takes.
    fn with_stages<T>(
        &self,
        group: &Group<'_>,
        survey: &Survey,
        work: impl FnOnce(&Stages<'_>, &Searcher<'_>) -> Result<T>,
    ) -> Result<T> {
        let (options, input) = (self.source.options, &self.source.unit.input);
        let archs = &group.archs;
        // Each group's own: what a search led to is remembered with all that was said on the way.
        let words = self.bitcode(group).first().map_or_else(Words::default, |path| Words::of_unit(path));
        let remarks = &RemarkLog::new(&options.remarks, words);
        let searcher = Searcher::new(options, input, remarks, group.target, archs, self.deadline(group))?;
        let names: Vec<&str> = archs.iter().map(|arch| arch.name.as_str()).collect();
        let limits = group.target.launch_limits(&names, group.chips[0])?;
        let grains = self.coarsening.grains(&searcher);
        let (dump, chip) = (&self.dump, group.chips[0].to_string());
        work(&Stages { source: self.source, dump, remarks, chip, limits, survey, grains }, &searcher)
    }

    /// The device side, and what becomes an object while clang compiles the host.
    fn device_side<'ctx>(
        &self,
        context: &'ctx Context,
        group: &Group<'_>,
        survey: &Survey,
        specialised: bool,
    ) -> Result<(DeviceSide, Option<Unlowered<'ctx>>)> {
        match group.target.code() {
            target::Code::Blocks(blocks) => {
                if let Some((emulated, kernels)) = self.emulated(group) {
                    let survey = self.survey_of_kernels(survey, false);
                    let chips = self.chips_of(&emulated, kernels, false);
                    let (side, rest) = self.with_stages(&emulated, &survey, |stages, searcher| {
                        blocks::emulated(context, stages, searcher, &chips, blocks)
                    })?;
                    return Ok((side, Some(rest)));
                }
                let bitcode = &self.bitcode(group)[0];
                let (side, rest) = self.with_stages(group, survey, |stages, searcher| {
                    blocks::device_side(context, stages, searcher, blocks, group.chips[0], bitcode)
                })?;
                Ok((side, Some(rest)))
            }
            target::Code::Kernels(kernels) if self.source.awaits_link() => {
                let coarser = self.coarsening != Coarsening::Off || self.source.options.specialize;
                let chips = self.chips_of(group, kernels, false);
                Ok((relocatable::device_side(self.source, &self.dump, &chips, coarser)?, None))
            }
            target::Code::Kernels(kernels) => {
                let survey = self.survey_of_kernels(survey, specialised);
                let chips = self.chips_of(group, kernels, specialised);
                let made =
                    self.with_stages(group, &survey, |stages, searcher| kernels::device_side(stages, searcher, &chips));
                Ok((made?, None))
            }
        }
    }

    /// What the host does with kernels that are loaded when the program runs.
    fn survey_of_kernels(&self, survey: &Survey, specialised: bool) -> Survey {
        let mut survey = survey.clone();
        if self.coarsening == Coarsening::Forced && !specialised {
            // One version of each kernel, as it was asked for.
            survey.shapes.clear();
        }
        survey
    }

    /// What a group whose code is linked into the program stands for, where that is a chip (`-fregrain-emulate=`).
    fn emulated(&self, group: &Group<'_>) -> Option<(Group<'s>, &'static dyn target::Kernels)> {
        let arch = self.source.options.emulate.as_ref()?;
        let target::Code::Kernels(kernels) = arch.target.code() else { return None };
        Some((Group { target: arch.target, archs: vec![arch], chips: group.chips.clone() }, kernels))
    }

    fn chips_of<'g>(
        &self,
        group: &'g Group<'_>,
        kernels: &'static dyn target::Kernels,
        specialised: bool,
    ) -> Chips<'g> {
        let (archs, chips) = (group.archs.clone(), group.chips.clone());
        Chips { target: kernels, archs, chips, bitcode: self.bitcode(group), specialised }
    }

    /// Lets launches choose among versions of kernels.
    fn redirect<'ctx>(&self, context: &'ctx Context, host: &Module<'ctx>, sides: &[DeviceSide]) -> Result<()> {
        let several = self.groups.len() > 1;
        let (mut modules, mut dispatchers, mut asks) = (Vec::new(), Vec::<Dispatcher>::new(), false);
        for (group, side) in self.groups.iter().zip(sides) {
            if !side.external_variables.is_empty() {
                host::export_shadows(host, &side.external_variables);
            }
            if side.versions.is_empty() {
                continue;
            }
            let options = self.source.options;
            let is_adaptive = options.adaptive && !options.profile_generate;
            let choosing = Choosing { target: side.record_name.as_str(), is_adaptive };
            let choosing = Some(choosing).filter(|_| options.profile_generate || is_adaptive);
            let names: Vec<&str> = group.archs.iter().map(|arch| arch.name.as_str()).collect();
            let threads = group.target.launch_limits(&names, group.chips[0])?.threads;
            let show = |module: &melior::ir::Module<'_>| crate::stages::show(&self.dump, "dispatch", module);
            let (module, mut found) =
                side.versions.host_functions(context, threads, &side.most_threads, choosing, show)?;
            if several {
                dispatch::for_device(&module, &mut found, group.target.device());
            }
            modules.push(module);
            dispatchers.extend(found);
            // Versions have no coroutine form but in a round trip and where a chip is emulated: whoever asks for that form gets
            // the kernel that the program wrote.
            asks |= matches!(side.code, Code::Object { .. }) && !options.round_trip && options.emulate.is_none();
        }
        if !modules.is_empty() {
            dispatch::redirect(host, modules, &dispatchers, asks)?;
        }
        Ok(())
    }

    fn finish(&self, host: impl Iterator<Item = HostObject>, device: Vec<PathBuf>, sides: &[DeviceSide]) -> Result<()> {
        let mut objects = host.map(|object| object.finish(self.source)).collect::<Result<Vec<_>>>()?;
        for side in sides {
            if let Code::Images { images, .. } = &side.code {
                self.source.keep_images(images)?;
            }
        }
        for path in device {
            self.source.keep(&path, "-cuda-cpu.o")?;
            objects.push(path);
        }
        // LLVM's IR is the host's alone: there is none of the CPU's device code any more.
        if self.source.options.emit.text || self.source.options.emit.llvm || objects.len() == 1 {
            return self.source.deliver(&objects[0]);
        }
        self.source.deliver(&self.source.merge(&objects)?)
    }

    /// `--cuda-device-only`: one file for each architecture.
    fn device_only(&self, survey: &Survey) -> Result<()> {
        let text = self.source.options.emit.text;
        let mut made: Vec<(String, PathBuf, &str)> = Vec::new();
        for group in self.groups {
            match group.target.code() {
                target::Code::Blocks(blocks) => {
                    if let Some((emulated, kernels)) = self.emulated(group) {
                        let chips = self.chips_of(&emulated, kernels, false);
                        let path = self.with_stages(&emulated, survey, |stages, searcher| {
                            blocks::emulated_only(stages, searcher, &chips, blocks)
                        })?;
                        made.push((group.archs[0].name.clone(), path, if text { "ll" } else { "o" }));
                        continue;
                    }
                    let bitcode = &self.bitcode(group)[0];
                    let path = self.with_stages(group, survey, |stages, searcher| {
                        blocks::device_only(stages, searcher, blocks, group.chips[0], bitcode)
                    })?;
                    made.push((group.archs[0].name.clone(), path, if text { "ll" } else { "o" }));
                }
                target::Code::Kernels(kernels) => {
                    let chips = self.chips_of(group, kernels, false);
                    let files =
                        |stages: &Stages<'_>, searcher: &Searcher<'_>| kernels::device_only(stages, searcher, &chips);
                    made.extend(self.with_stages(group, survey, files)?);
                }
            }
        }
        if self.source.options.emit.fat_binary && made.len() > 1 {
            return self.source.deliver(&self.fat_binary(&made)?);
        }
        if let [(_, path, _)] = &made[..] {
            return self.source.deliver(path);
        }
        for (arch, path, extension) in &made {
            let output = PathBuf::from(format!("{}-{arch}.{extension}", self.source.stem()));
            place(path, &output).map_err(Error::io("write", &output))?;
        }
        Ok(())
    }

    /// One file of the parts of a fat binary: what is not NVIDIA's stands behind what is, where NVIDIA's driver sees
    /// no more.
    fn fat_binary(&self, parts: &[(String, PathBuf, &str)]) -> Result<PathBuf> {
        let mut bytes = Vec::new();
        let (theirs, ours): (Vec<_>, Vec<_>) = parts.iter().partition(|(.., extension)| *extension == "fatbin");
        for (_, path, _) in theirs.into_iter().chain(ours) {
            bytes.extend(std::fs::read(path).map_err(Error::io("read", path))?);
        }
        let whole = self.source.scratch("whole.fatbin");
        std::fs::write(&whole, bytes).map_err(Error::io("write", &whole))?;
        Ok(whole)
    }
}

/// Whether `--cuda-device-only` makes several files, for which no one name can stand.
pub fn makes_several_files(options: &Options, archs: &[Arch]) -> bool {
    options.emit.side == Side::Device && archs.len() > 1 && !options.emit.fat_binary
}

/// Whether the machine-independent name of an output is that of assembly for a GPU, for the name of a file without `-o`.
pub fn text_extension(options: &Options, archs: &[Arch]) -> &'static str {
    let first = archs.first().map(|arch| arch.target.code());
    match (options.emit.llvm, options.emit.side, first) {
        (true, ..) => "ll",
        (false, Side::Device, Some(target::Code::Kernels(kernels))) => kernels.text_extension(),
        _ => "s",
    }
}
