//! What device code is made for: one list, whoever's options named it.
//!
//! `--offload-arch=` names processors. nvcc's `-arch`, `-code` and `-gencode` name pairs: the architecture that the source sees
//! (`compute_NN`), and what the program holds of it, machine code (`sm_NN`) or PTX (`compute_NN`). A variable of the environment
//! replaces all of it or adds to it, for builds whose options are not to be touched.

use anyhow::{Result, anyhow, bail};
use regrain_compiler::{Side, note};
use regrain_frontend::Clang;
use regrain_targets::image::Piece;
use regrain_targets::toolkit::{SmArch, Toolkit};
use regrain_targets::{Arch, TARGETS, find};

use crate::args::{Args, Driver, Gpu, Output};

/// What `regrain-nvcc` compiles for where nothing is said, as nvcc 13 does: PTX of this chip runs on all that NVIDIA's current
/// drivers and toolkits know.
const DEFAULT_OF_NVCC: &str = "sm_75";

/// The variable that replaces what a command line names by a list of architectures, or with `+` before it adds them.
pub const VARIABLE: &str = "REGRAIN_OFFLOAD_ARCH";

/// What device code is made for.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The architectures, each once.
    pub archs: Vec<Arch>,
    /// What a program holds of each, where that is not a matter of course.
    pub pieces: Option<Vec<Piece>>,
    /// The chips that the source sees another one for.
    pub seen: Vec<(String, SmArch)>,
}

impl Wanted {
    fn add(&mut self, arch: Arch) {
        if !self.archs.contains(&arch) {
            self.archs.push(arch);
        }
    }

    /// Takes note of a pair of nvcc's.
    fn add_pair(&mut self, virtual_arch: &str, code: &str) -> Result<()> {
        let Some(sees) = chip_of(virtual_arch, "compute_") else {
            bail!(
                "value of -arch ('{virtual_arch}') must be a virtual architecture, as in compute_80, where codes are named"
            );
        };
        let (name, is_code) = match (chip_of(code, "sm_").or_else(|| chip_of(code, "lto_")), chip_of(code, "compute_"))
        {
            (Some(name), _) => (name, true),
            (None, Some(name)) => (name, false),
            (None, None) => return Err(unknown(code)),
        };
        let (arch, sees) = (find(&name)?, SmArch::parse(&sees)?);
        let real = SmArch::parse(&arch.name)?;
        if real.number < sees.number || (!is_code && real != sees) {
            bail!(
                "incompatible values '{code}' and '{virtual_arch}': code is for the architecture that the source sees, or a later one"
            );
        }
        if real != sees {
            self.seen.retain(|(known, _)| *known != arch.name);
            self.seen.push((arch.name.clone(), sees));
        }
        let pieces = self.pieces.get_or_insert_default();
        match pieces.iter_mut().find(|piece| piece.arch == arch.name) {
            Some(piece) => {
                piece.code |= is_code;
                piece.text |= !is_code;
            }
            None => pieces.push(Piece { arch: arch.name.clone(), code: is_code, text: !is_code }),
        }
        self.add(arch);
        Ok(())
    }
}

/// The chip that a name of nvcc's is for: `sm_80` of `compute_80`.
fn chip_of(name: &str, prefix: &str) -> Option<String> {
    name.strip_prefix(prefix).map(|number| format!("sm_{number}"))
}

fn unknown(name: &str) -> anyhow::Error {
    // It names what is known.
    find(name).err().map_or_else(|| anyhow!("unsupported gpu architecture '{name}'"), anyhow::Error::from)
}

/// What `args` ask for. Where they ask for nothing it is what is in this machine, or nvcc's default; none unless it
/// `is_needed`.
///
/// # Errors
/// Architectures that nobody knows, and pairs that do not go together.
pub fn wanted(args: &Args, clang: &Clang, toolkit: Option<&Toolkit>, is_needed: bool) -> Result<Wanted> {
    let variable = std::env::var(VARIABLE).unwrap_or_default();
    let (replaced, added) = match variable.strip_prefix('+') {
        _ if !is_needed || is_text(args) => ("", ""),
        // One file of the device side can be for several targets where it is a fat binary.
        Some(_) if args.options.emit.side == Side::Device && !args.options.emit.fat_binary => ("", ""),
        Some(added) => ("", added),
        None => (variable.as_str(), ""),
    };
    let mut wanted = Wanted::default();
    if !replaced.is_empty() {
        add_variable(&mut wanted, clang, replaced)?;
        return Ok(wanted);
    }
    let gpu = &args.gpu;
    note_families(gpu);
    for name in &gpu.named {
        let found = if name == "native" { installed(clang) } else { Some(find(name)?) };
        found.into_iter().for_each(|arch| wanted.add(arch));
    }
    for (arch, codes) in &gpu.generated {
        codes.iter().try_for_each(|code| wanted.add_pair(arch, code))?;
    }
    add_nvccs(&mut wanted, args, clang, toolkit)?;
    if wanted.archs.is_empty() && is_needed {
        match args.driver {
            Driver::Nvcc => wanted.add(find(DEFAULT_OF_NVCC)?),
            Driver::Regrain => installed(clang).into_iter().for_each(|arch| wanted.add(arch)),
        }
    }
    add_variable(&mut wanted, clang, added)?;
    settle_pieces(&mut wanted, gpu);
    Ok(wanted)
}

/// Whether assembly of the device side is made, which is of the kind that the build asks for. nvcc's PTX is what
/// programs load.
fn is_text(args: &Args) -> bool {
    args.options.emit.side == Side::Device && args.kind == Output::Assembly && !is_ptx(args)
}

/// nvcc's `-ptx`.
pub fn is_ptx(args: &Args) -> bool {
    args.extra.extension == Some("ptx")
}

/// NVIDIA's chips that the command line alone asks for, whatever the environment makes of it.
pub fn asked_of_nvidia(args: &Args, toolkit: &Toolkit) -> Result<Vec<SmArch>> {
    let mut wanted = Wanted::default();
    let clang = Clang::find()?;
    for (arch, codes) in &args.gpu.generated {
        codes.iter().try_for_each(|code| wanted.add_pair(arch, code))?;
    }
    add_nvccs(&mut wanted, args, &clang, Some(toolkit))?;
    if wanted.archs.is_empty() {
        wanted.add(find(DEFAULT_OF_NVCC)?);
    }
    Ok(wanted.archs.iter().filter_map(|arch| SmArch::parse(&arch.name).ok()).collect())
}

/// Says which names of families are taken for that of a chip.
fn note_families(gpu: &Gpu) {
    let generated = gpu.generated.iter().map(|(arch, _)| arch);
    let mut families: Vec<&String> = gpu.named.iter().chain(&gpu.arch).chain(generated).collect();
    families.retain(|name| name.strip_suffix('f').is_some_and(|chip| chip.ends_with(|c: char| c.is_ascii_digit())));
    families.dedup();
    for family in families {
        let chip = family.trim_end_matches('f');
        note(&format!("'{family}' is {chip} here: the source sees no features of a family of chips"));
    }
}

/// Adds the architectures of a list in the variable.
fn add_variable(wanted: &mut Wanted, clang: &Clang, list: &str) -> Result<()> {
    for name in list.split([',', ';', ' ']).map(|name| name.trim_start_matches('+')).filter(|name| !name.is_empty()) {
        let found = if name == "native" { installed(clang) } else { Some(in_variable(name)?) };
        found.into_iter().for_each(|arch| wanted.add(arch));
    }
    Ok(())
}

fn in_variable(name: &str) -> Result<Arch> {
    find(name).map_err(|reason| anyhow!("in the variable {VARIABLE}: {reason}"))
}

/// nvcc's `-arch` and `-code`.
fn add_nvccs(wanted: &mut Wanted, args: &Args, clang: &Clang, toolkit: Option<&Toolkit>) -> Result<()> {
    let codes = &args.gpu.codes;
    let Some(arch) = args.gpu.arch.as_deref() else {
        return if codes.is_empty() { Ok(()) } else { Err(anyhow!("'-code={}' needs '-arch'", codes.join(","))) };
    };
    let several = matches!(arch, "native" | "all" | "all-major");
    if several && !codes.is_empty() {
        bail!("'-code' is not allowed with '-arch={arch}'");
    }
    match arch {
        "native" => add_native(wanted, args.driver, clang)?,
        "all" | "all-major" => {
            let chips = chips(toolkit, arch == "all-major");
            for chip in &chips {
                wanted.add_pair(&format!("compute_{chip}"), &format!("sm_{chip}"))?;
            }
            if let Some(newest) = chips.last() {
                wanted.add_pair(&format!("compute_{newest}"), &format!("compute_{newest}"))?;
            }
        }
        _ if !codes.is_empty() => codes.iter().try_for_each(|code| wanted.add_pair(arch, code))?,
        _ => match (arch.strip_prefix("sm_"), arch.strip_prefix("lto_"), arch.strip_prefix("compute_")) {
            (Some(number), ..) => {
                wanted.add_pair(&format!("compute_{number}"), arch)?;
                wanted.add_pair(&format!("compute_{number}"), &format!("compute_{number}"))?;
            }
            (_, Some(number), _) => wanted.add_pair(&format!("compute_{number}"), arch)?,
            (.., Some(_)) => wanted.add_pair(arch, arch)?,
            // Also what only we know.
            _ => wanted.add(find(arch)?),
        },
    }
    Ok(())
}

fn add_native(wanted: &mut Wanted, driver: Driver, clang: &Clang) -> Result<()> {
    let arch = match driver {
        Driver::Regrain => installed(clang),
        Driver::Nvcc => match find(DEFAULT_OF_NVCC)?.target.installed(clang.path()) {
            Some(name) => Some(find(&name)?),
            None => {
                note(&format!("no NVIDIA GPU for '-arch=native': compiling for {DEFAULT_OF_NVCC}"));
                Some(find(DEFAULT_OF_NVCC)?)
            }
        },
    };
    arch.into_iter().for_each(|arch| wanted.add(arch));
    Ok(())
}

/// The numbers of the chips that are known here and to the toolkit, the oldest first; only the first of each generation if wanted.
pub fn chips(toolkit: Option<&Toolkit>, only_major: bool) -> Vec<u32> {
    let known = toolkit.map(|toolkit| toolkit.archs()).unwrap_or_default();
    let is_known = |chip: &SmArch| known.is_empty() || known.contains(&chip.to_string());
    let all: Vec<u32> = SmArch::all().filter(is_known).map(|chip| chip.number).collect();
    let earliest = all.first().copied();
    all.into_iter().filter(|number| !only_major || number % 10 == 0 || Some(*number) == earliest).collect()
}

/// What `--cuda-include-ptx=` and its opposite say of the architectures that were named.
fn settle_pieces(wanted: &mut Wanted, gpu: &Gpu) {
    let named = wanted.archs.clone();
    if wanted.pieces.is_none() && gpu.ptx_options.is_empty() {
        return;
    }
    let pieces = wanted.pieces.get_or_insert_default();
    for arch in named {
        if !pieces.iter().any(|piece| piece.arch == arch.name) {
            pieces.push(Piece { arch: arch.name.clone(), code: true, text: true });
        }
    }
    for (wanted, name) in &gpu.ptx_options {
        for piece in pieces.iter_mut().filter(|piece| name == "all" || piece.arch == *name) {
            piece.text = *wanted;
        }
    }
}

/// What is in this machine, by the first target that has something there.
fn installed(clang: &Clang) -> Option<Arch> {
    TARGETS.iter().find_map(|target| Some(Arch { target: *target, name: target.installed(clang.path())? }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse;

    fn pieces(line: &str) -> String {
        let words = line.split_whitespace().map(std::ffi::OsString::from);
        let made = parse(Driver::Nvcc, words).and_then(|args| {
            let clang = Clang::find()?;
            wanted(&args, &clang, None, true)
        });
        let text = |piece: &Piece| {
            format!("{}{}{}", piece.arch, if piece.code { "+" } else { "" }, if piece.text { "p" } else { "" })
        };
        match made {
            Ok(wanted) => {
                let seen: Vec<String> = wanted.seen.iter().map(|(arch, sees)| format!("{arch} sees {sees}")).collect();
                let pieces: Vec<String> = wanted.pieces.unwrap_or_default().iter().map(text).collect();
                [pieces, seen].concat().join(" ")
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn pairs_of_nvcc() {
        assert_eq!(pieces("-arch=sm_80"), "sm_80+p");
        assert_eq!(pieces("-arch=compute_80"), "sm_80p");
        assert_eq!(pieces("-arch=compute_80 -code=sm_80,sm_86,compute_80"), "sm_80+p sm_86+ sm_86 sees sm_80");
        assert_eq!(
            pieces("-gencode arch=compute_80,code=sm_80 -gencode=arch=compute_90,code=[sm_90,compute_90]"),
            "sm_80+ sm_90+p"
        );
        assert!(pieces("-arch=sm_80 -code=sm_80").contains("must be a virtual architecture"));
        assert!(pieces("-gencode arch=compute_90,code=sm_80").starts_with("incompatible values"));
        assert!(pieces("-code=sm_80").contains("needs '-arch'"));
        assert_eq!(pieces("-arch=sm_100f"), "sm_100+p");
        assert_eq!(
            pieces("-gencode arch=compute_100f,code=[sm_103,compute_100f]"),
            "sm_103+ sm_100p sm_103 sees sm_100"
        );
        assert_eq!(pieces(""), "");
    }
}
