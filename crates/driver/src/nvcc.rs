//! What nvcc's options set.

use anyhow::{Context, Result, bail};
use regrain_compiler::Side;

use crate::args::{Args, Cudart, Inform, Keep, Output};
use crate::parse::{commas, tool_words, words_of_file};

macro_rules! set {
    ($($name:ident($args:ident, $value:pat) $body:expr;)*) => {
        $(#[doc = concat!("Sets what nvcc's `", stringify!($name), "` says.")]
        pub fn $name($args: &mut Args, $value: &str) -> Result<()> {
            $body;
            Ok(())
        })*
    };
}

set! {
    arch(args, value) args.gpu.arch = Some(value.to_owned());
    code(args, value) args.gpu.codes.extend(commas(value));
    preprocess(args, _) args.clang_words(vec!["-E".into()])?;
    dependencies(args, _) args.clang_words(vec!["-M".into()])?;
    user_dependencies(args, _) args.clang_words(vec!["-MM".into()])?;
    library(args, _) stop_at(args, Output::Archive);
    device_link(args, _) stop_at(args, Output::DeviceLinked);
    whole_link(args, _) stop_at(args, Output::Linked);
    run(args, _) args.extra.run = true;
    run_args(args, value) args.extra.run_args.extend(tool_words(value));
    output_directory(args, value) args.extra.output_directory = Some(value.into());
    archiver(args, value) args.extra.archiver = Some(value.into());
    archive_options(args, value) args.extra.archive_options.extend(tool_words(value));
    host_options(args, value) args.host_words(&tool_words(value))?;
    ptxas_options(args, value) args.options.assembler.extend(tool_words(value));
    max_registers(args, value) args.options.assembler.push(format!("--maxrregcount={}", number(value)?));
    line_info(args, _) args.options.lines = true;
    nvlink_options(args, value) args.extra.linker_of_device.push(value.to_owned());
    device_opt(args, _) args.extra.optimise_debugged = true;
    fast_math(args, _) args.arithmetic.fast = true;
    flush(args, value) args.arithmetic.flush = Some(truth(value)?);
    precise_division(args, value) args.arithmetic.precise_division = Some(truth(value)?);
    precise_root(args, value) args.arithmetic.precise_root = Some(truth(value)?);
    fuse(args, value) args.arithmetic.fuse = Some(truth(value)?);
    relocatable(args, value) args.options.relocatable = truth(value)?;
    keep(args, _) args.keep = Some(args.keep.take().unwrap_or(Keep::Here));
    keep_dir(args, value) args.keep = Some(Keep::Folder(value.into()));
    clean(args, _) args.extra.clean = true;
    no_device_link(args, _) args.extra.no_device_link = true;
    forward_to_compiler(args, _) args.extra.forward_to_compiler = true;
    forward_to_linker(args, _) args.extra.forward_to_linker = true;
    forward_to_both(args, _) (args.extra.forward_to_compiler, args.extra.forward_to_linker) = (true, true);
    version(args, _) args.inform = Some(Inform::Version);
    list_codes(args, _) args.inform = Some(Inform::Chips { prefix: "sm_" });
    list_archs(args, _) args.inform = Some(Inform::Chips { prefix: "compute_" });
    threads(_args, value) number(value)?;
    debug(args, _) args.host_words(&["-g".into()])?;
    gprof(args, _) args.clang_words(vec!["-pg".into()])?;
    resource_usage(args, _) args.options.assembler.push("-v".into());
    options_file(args, value) for name in commas(value) { args.take(words_of_file(&name, "file of options")?)? };
    brief(args, value) if truth(value)? { args.clang_words(vec!["-fno-caret-diagnostics".into()])? };
}

/// `true` or `false`.
fn truth(value: &str) -> Result<bool> {
    value.parse().ok().with_context(|| format!("'{value}', expected true or false"))
}

fn number(value: &str) -> Result<u32> {
    value.parse().ok().with_context(|| format!("'{value}', expected a number"))
}

/// Where options name several phases nvcc stops at the earliest.
fn stop_at(args: &mut Args, kind: Output) {
    let phase = |kind| match kind {
        Output::ClangOnly => 0,
        Output::Assembly => 1,
        Output::Object => 2,
        Output::DeviceLinked => 3,
        Output::Archive => 4,
        Output::Linked => 5,
    };
    if phase(kind) < phase(args.kind) {
        args.kind = kind;
    }
}

fn device_file(args: &mut Args, kind: Output, extension: &'static str) -> Result<()> {
    args.kind = kind;
    args.options.emit.side = Side::Device;
    args.extra.extension = Some(extension);
    Ok(())
}

/// `-cubin`
pub fn cubin(args: &mut Args, _: &str) -> Result<()> {
    device_file(args, Output::Object, "cubin")
}

/// `-ptx`
pub fn ptx(args: &mut Args, _: &str) -> Result<()> {
    device_file(args, Output::Assembly, "ptx")
}

/// `-fatbin`
pub fn fatbin(args: &mut Args, _: &str) -> Result<()> {
    args.options.emit.fat_binary = true;
    device_file(args, Output::Object, "fatbin")
}

/// `-dc`
pub fn device_c(args: &mut Args, _: &str) -> Result<()> {
    args.options.relocatable = true;
    stop_at(args, Output::Object);
    Ok(())
}

/// `-dw`
pub fn device_w(args: &mut Args, _: &str) -> Result<()> {
    args.options.relocatable = false;
    stop_at(args, Output::Object);
    Ok(())
}

/// `-gencode arch=compute_80,code=[sm_80,compute_80]`
pub fn generate(args: &mut Args, specification: &str) -> Result<()> {
    let (mut arch, mut codes, mut is_code) = (None, Vec::new(), false);
    for part in specification.replace(['[', ']', '"', '\'', '\\'], "").split(',') {
        match (part.split_once('='), is_code) {
            (Some(("arch", name)), _) => (arch, is_code) = (Some(name.to_owned()), false),
            (Some(("code", name)), _) => {
                codes.push(name.to_owned());
                is_code = true;
            }
            // A list in brackets.
            (None, true) => codes.push(part.to_owned()),
            _ => bail!("'{part}', expected arch=compute_NN,code=sm_NN"),
        }
    }
    match arch {
        Some(arch) if !codes.is_empty() => args.gpu.generated.push((arch, codes)),
        Some(_) => bail!("code is missing, expected arch=compute_NN,code=sm_NN"),
        None => bail!("arch is missing, expected arch=compute_NN,code=sm_NN"),
    }
    Ok(())
}

/// `-G`
pub fn device_debug(args: &mut Args, _: &str) -> Result<()> {
    args.extra.device_debug = true;
    args.options.lines = true;
    args.clang_words(vec!["-D__CUDACC_DEBUG__".into()])
}

/// `-O`, which is about the host's code alone.
pub fn host_level(args: &mut Args, level: &str) -> Result<()> {
    let level = number(level)?.min(3);
    args.host_words(&[format!("-O{level}")])
}

/// `-Ofc`
pub fn fast_compile(args: &mut Args, level: &str) -> Result<()> {
    match level {
        "0" => {}
        "min" => args.options.level = Some(2),
        "mid" | "max" => args.options.level = Some(1),
        _ => bail!("'{level}', expected 0, min, mid or max"),
    }
    Ok(())
}

/// `-x`
pub fn language(args: &mut Args, language: &str) -> Result<()> {
    args.language = match language {
        "cu" => Some("cuda".into()),
        "c" | "c++" => Some(language.into()),
        // As clang and CMake have it.
        "cuda" | "none" => Some(language.into()).filter(|name| name != "none"),
        _ => bail!("'{language}', expected c, c++ or cu"),
    };
    if let Some(language) = &args.language {
        args.clang.extend(["-x".into(), language.into()]);
    }
    Ok(())
}

/// `-std`
pub fn standard(args: &mut Args, dialect: &str) -> Result<()> {
    match dialect {
        "c++03" | "c++11" | "c++14" | "c++17" | "c++20" | "c++23" => args.extra.standard = Some(dialect.into()),
        _ => bail!("'{dialect}', expected c++03, c++11, c++14, c++17, c++20 or c++23"),
    }
    Ok(())
}

/// `-m`
pub fn machine(_: &mut Args, bits: &str) -> Result<()> {
    if bits == "64" { Ok(()) } else { bail!("'{bits}', expected 64") }
}

/// `--cudart`
pub fn cudart(args: &mut Args, kind: &str) -> Result<()> {
    args.cudart = match kind {
        "static" => Cudart::Static,
        "shared" => Cudart::Shared,
        "none" => Cudart::None,
        _ => bail!("'{kind}', expected none, shared or static"),
    };
    Ok(())
}

/// `-default-stream`
pub fn default_stream(args: &mut Args, kind: &str) -> Result<()> {
    match kind {
        "legacy" | "null" => Ok(()),
        "per-thread" => args.clang_words(vec!["-fgpu-default-stream=per-thread".into()]),
        _ => bail!("'{kind}', expected legacy, null or per-thread"),
    }
}

/// `-device-stack-protector`
pub fn stack_protector(_: &mut Args, wanted: &str) -> Result<()> {
    if truth(wanted)? { bail!("device code has no canaries") } else { Ok(()) }
}

/// `-Werror`
pub fn warnings_as_errors(args: &mut Args, kinds: &str) -> Result<()> {
    for kind in commas(kinds) {
        let word = match kind.as_str() {
            "all-warnings" => "-Werror",
            "reorder" => "-Werror=reorder",
            "deprecated-declarations" => "-Werror=deprecated-declarations",
            // clang has none of these warnings; the first is an error there.
            "cross-execution-space-call"
            | "default-stream-launch"
            | "missing-launch-bounds"
            | "ext-lambda-captures-this" => continue,
            _ => bail!(
                "'{kind}', expected all-warnings, cross-execution-space-call, reorder, deprecated-declarations, \
                        default-stream-launch, missing-launch-bounds or ext-lambda-captures-this"
            ),
        };
        args.clang_words(vec![word.into()])?;
    }
    Ok(())
}
