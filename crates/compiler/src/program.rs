//! The device code of a program's units (`-fgpu-rdc`) to the images that they share.
//!
//! ```text
//! a.o: bitcode for gfx90a ─┐
//! b.o: bitcode for gfx90a ─┴─ one module (`targets::device_link`) ─ code object ─┐
//! a.o: bitcode for sm_80 ──┐                                                     ├─ an object for the host's linker
//! b.o: bitcode for sm_80 ──┴─ one module ─ cubin, PTX ───────────────────────────┘  (`targets::units`)
//! ```

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use inkwell::context::Context;
use regrain_targets::assembler::Assembler;
use regrain_targets::device_link::{self, Input, Symbols};
use regrain_targets::image::{Image, KernelOptions};
use regrain_targets::jobs::{self, Job};
use regrain_targets::target::{Code, Kernels};
use regrain_targets::units::{self, Unit};
use regrain_targets::{Cache, TARGETS, find, machines, offload};

use crate::dump::Dump;
use crate::error::{Error, Result};
use crate::kernels::{assembly_job, print_notes, print_reports};
use crate::options::Options;
use crate::relocatable::Recorded;
use crate::source::{Toolchain, write_bitcode};

/// A program, or shared library, that is linked.
pub struct Program<'p> {
    /// The tools.
    pub toolchain: &'p Toolchain,
    /// What the user wants of this step.
    pub options: &'p Options,
    /// A folder for temporary files.
    pub scratch: &'p Path,
}

impl Program<'_> {
    /// The object with the images of `units`, and of those `at_hand` that define what others want.
    ///
    /// # Errors
    /// Units that do not go together, symbols that none or two of them define, and what compiling refuses.
    pub fn object(&self, units: Vec<Unit>, at_hand: Vec<Unit>) -> Result<PathBuf> {
        let units = with_wanted(units, at_hand)?;
        let archs = architectures(&units)?;
        let dump = Dump::new(self.options.dump_ir.as_deref(), "program")?;
        let mut all = Vec::new();
        for arch in &archs {
            all.push(self.job(&units, arch, &dump)?);
        }
        let made = jobs::compile_all(&all, &Cache::open(), None).into_iter();
        let made =
            made.map(|one| one.ok_or_else(|| Error::internal("a program was not compiled"))?.map_err(Error::from));
        let images = made.map(|one| one.map(|compiled| compiled.image)).collect::<Result<Vec<Image>>>()?;
        if self.options.resource_usage {
            print_reports(&images);
        }
        print_notes(&images, self.options);
        let mut binaries: Vec<u8> = units.iter().flat_map(|unit| unit.listings.clone()).collect();
        for target in TARGETS {
            let Code::Kernels(kernels) = target.code() else { continue };
            let own: Vec<Image> = images.iter().filter(|image| target.arch(&image.arch).is_some()).cloned().collect();
            binaries.extend(offload::write(&kernels.offload_images(&own, self.options.pieces.as_deref())?));
        }
        self.host_object("images", &binaries)
    }

    /// An object in the place of that one, for a link that only shows which units a program takes from archives.
    ///
    /// # Errors
    /// clang fails.
    pub fn stand_in(&self) -> Result<PathBuf> {
        self.host_object("stand-in", &[])
    }

    fn host_object(&self, name: &str, binaries: &[u8]) -> Result<PathBuf> {
        let context = Context::create();
        let module = units::program_images(&context, binaries);
        let machine = machines::host()?;
        module.set_triple(&machine.get_triple());
        module.set_data_layout(&machine.get_target_data().get_data_layout());
        let (bitcode, made) = (self.scratch.join(format!("{name}.bc")), self.scratch.join(format!("{name}.o")));
        write_bitcode(&module, &bitcode)?;
        let mut command = Command::new(self.toolchain.clang.path());
        command.args(["-c", "-fPIC", "-x", "ir"]).arg(&bitcode).arg("-o").arg(&made);
        self.toolchain.commands.run_clang(&mut command)?;
        Ok(made)
    }

    /// The way from the units' code for `arch` to an image.
    fn job(&self, units: &[Unit], arch: &str, dump: &Dump) -> Result<Job<Assembler<'_>>> {
        let (target, options) = (kernels_of(arch)?, self.how(units, arch)?);
        let inputs: Vec<Input<'_>> = units.iter().filter_map(|unit| input(unit, arch)).collect();
        let context = Context::create();
        let module = device_link::link(&context, &inputs)?;
        dump.llvm(&format!("linked-{arch}"), &module)?;
        Ok(assembly_job(target, &self.toolchain.toolkit, &module, options))
    }

    /// How the code of all units for `arch` is compiled.
    fn how(&self, units: &[Unit], arch: &str) -> Result<KernelOptions> {
        let mut all: Vec<(&Unit, Recorded)> = Vec::new();
        for unit in units {
            for code in unit.codes.iter().filter(|code| code.arch == arch) {
                let read = serde_json::from_str(&code.options);
                let broken = |_| Error::User(format!("{}: device code of another version of this compiler", unit.file));
                all.push((unit, read.map_err(broken)?));
            }
        }
        let Some((first, _)) = all.first() else { return Err(Error::internal("no code to link")) };
        reject_differences(&all, arch)?;
        let mut options = all[0].1.options.clone();
        let asked = &self.options.settings;
        for (option, here, there) in [
            ("-mcode-object-version=", number(asked.code_object), number(options.settings.code_object)),
            ("-mwavefrontsize64", wave(asked.wave64), wave(options.settings.wave64)),
        ] {
            if !here.is_empty() && !there.is_empty() && here != there {
                let what = format!("'{option}' asks for {here}, but {} was compiled for {there}", first.file);
                return Err(Error::User(what));
            }
        }
        for (_, other) in &all {
            options.level = options.level.max(other.options.level);
            options.lines |= other.options.lines;
            options.debug |= other.options.debug;
            options.settings.keeps_apart |= other.options.settings.keeps_apart;
            options.settings.exact_root |= other.options.settings.exact_root;
            options.settings.near_quotient &= other.options.settings.near_quotient;
        }
        options.lld = self.toolchain.clang.sibling("ld.lld");
        if asked.rocm_path.is_some() || asked.device_lib_path.is_some() {
            options.settings.rocm_path.clone_from(&asked.rocm_path);
            options.settings.device_lib_path.clone_from(&asked.device_lib_path);
        }
        Ok(options)
    }
}

fn number(value: Option<u32>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

fn wave(wave64: Option<bool>) -> String {
    wave64.map_or(String::new(), |wide| format!("waves of {}", if wide { 64 } else { 32 }))
}

/// A property of a unit's code, as a message says it.
type Property = (&'static str, fn(&Recorded) -> String);

/// What must be the same in all units.
const ALIKE: [Property; 5] = [
    ("the version of code objects ('-mcode-object-version=')", |unit| number(unit.options.settings.code_object)),
    ("the size of a wave ('-mwavefrontsize64')", |unit| wave(unit.options.settings.wave64)),
    ("what '__CUDA_ARCH__' stands for", |unit| unit.chip.clone()),
    ("what denormals count as ('-fcuda-flush-denormals-to-zero')", |unit| {
        (if unit.flushes { "zero" } else { "themselves" }).into()
    }),
    ("what the assembler is told ('-Xcuda-ptxas')", |unit| format!("'{}'", unit.options.assembler.join(" "))),
];

fn reject_differences(all: &[(&Unit, Recorded)], arch: &str) -> Result<()> {
    let Some(((first, one), rest)) = all.split_first() else { return Ok(()) };
    for (what, of) in ALIKE {
        if let Some((second, other)) = rest.iter().find(|(_, other)| of(other) != of(one)) {
            return Err(Error::User(format!(
                "cannot link the device code of {} and {} for {arch}: {what} is {} in one and {} in the other",
                first.file,
                second.file,
                of(one),
                of(other)
            )));
        }
    }
    Ok(())
}

fn kernels_of(arch: &str) -> Result<&'static dyn Kernels> {
    match find(arch)?.target.code() {
        Code::Kernels(kernels) => Ok(kernels),
        Code::Blocks(_) => Err(Error::internal(format!("device code for {arch} waits to be linked"))),
    }
}

fn input<'u>(unit: &'u Unit, arch: &str) -> Option<Input<'u>> {
    let code = unit.codes.iter().find(|code| code.arch == arch)?;
    Some(Input { file: &unit.file, bitcode: &code.bitcode })
}

/// The architectures that all units have code for.
fn architectures(units: &[Unit]) -> Result<Vec<String>> {
    let of = |unit: &Unit| unit.codes.iter().map(|code| code.arch.clone()).collect::<Vec<_>>();
    let set = |unit: &Unit| of(unit).into_iter().collect::<BTreeSet<_>>();
    let Some((first, rest)) = units.split_first() else { return Ok(Vec::new()) };
    if let Some(other) = rest.iter().find(|other| set(other) != set(first)) {
        return Err(Error::User(format!(
            "cannot link the device code of {} (for {}) and {} (for {}): units of one program are compiled for the same \
             architectures",
            first.file,
            of(first).join(", "),
            other.file,
            of(other).join(", ")
        )));
    }
    Ok(of(first))
}

/// `units`, and those of `at_hand` that define what others want, as a linker takes members of archives.
fn with_wanted(mut units: Vec<Unit>, at_hand: Vec<Unit>) -> Result<Vec<Unit>> {
    if at_hand.is_empty() {
        return Ok(units);
    }
    let symbols = |unit: &Unit| -> Result<Symbols> {
        let code = unit.codes.first().map(|code| Input { file: &unit.file, bitcode: &code.bitcode });
        Ok(code.map(Symbols::of).transpose()?.unwrap_or_default())
    };
    let (mut defined, mut wanted) = (HashSet::new(), HashSet::new());
    for unit in &units {
        let own = symbols(unit)?;
        defined.extend(own.defined);
        wanted.extend(own.wanted);
    }
    let mut rest = Vec::new();
    for unit in at_hand {
        rest.push((symbols(&unit)?, unit));
    }
    while let Some(at) =
        rest.iter().position(|(own, _)| own.defined.iter().any(|s| wanted.contains(s) && !defined.contains(s)))
    {
        let (own, unit) = rest.remove(at);
        defined.extend(own.defined);
        wanted.extend(own.wanted);
        units.push(unit);
    }
    Ok(units)
}
