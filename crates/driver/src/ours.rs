//! What the options of `regrain`, and those of clang's that the driver acts upon, set.

use anyhow::{Result, anyhow, bail};
use regrain_compiler::{Budget, Pattern, Side, Superposition};
use regrain_targets::target::CHECKS;

use crate::args::{Args, Inform, Keep, Output};

/// Options that set a field to their value, as a path or a text, in a line each.
macro_rules! set {
    ($($name:ident($args:ident, $value:pat) $body:expr;)*) => {
        $(#[doc = concat!("Sets what `", stringify!($name), "` says.")]
        pub fn $name($args: &mut Args, $value: &str) -> Result<()> {
            $body;
            Ok(())
        })*
    };
}

/// Reads `-fregrain-parallelize-from=`.
fn operations(value: &str) -> Result<u64> {
    value.parse().map_err(|_| {
        anyhow!("invalid value '{value}' in '-fregrain-parallelize-from={value}': expected a number of operations")
    })
}

/// Reads `-fregrain-parallelize-tiles=`.
fn tiles(value: &str) -> Result<Vec<i64>> {
    let size = |text: &str| text.parse().ok().filter(|size| (1..=1 << 20).contains(size));
    let sizes: Option<Vec<i64>> = value.split(',').map(size).collect();
    sizes.ok_or_else(|| {
        anyhow!("invalid value '{value}' in '-fregrain-parallelize-tiles={value}': expected sizes from 1 to 1048576")
    })
}

/// Reads `-fregrain-parallelize-schedule=`.
fn schedule(value: &str) -> Result<Superposition> {
    Ok(match value {
        "single" => Superposition::Single,
        "superposed" => Superposition::Superposed,
        "auto" => Superposition::Auto,
        _ => bail!(
            "invalid value '{value}' in '-fregrain-parallelize-schedule={value}': expected single, superposed or auto"
        ),
    })
}

/// Reads `-fregrain-check=`.
fn kinds(value: &str) -> Result<u32> {
    value.split(',').try_fold(0, |sum, name| match CHECKS.iter().find(|(known, _)| *known == name) {
        Some((_, number)) => Ok(sum | number),
        None if name == "all" => Ok(CHECKS.iter().map(|(_, number)| number).sum()),
        None => bail!(
            "invalid value '{name}' in '-fregrain-check={value}': expected all, or some of memory, race, init, sync and leak"
        ),
    })
}

set! {
    cuda_path(args, value) args.cuda_path = Some(value.into());
    rocm_path(args, value) args.options.settings.rocm_path = Some(value.into());
    device_lib_path(args, value) args.options.settings.device_lib_path = Some(value.into());
    dump_ir(args, value) args.options.dump_ir = Some(value.into());
    checks(args, value) args.options.checks = kinds(value)?;
    cpu(args, value) args.options.cpu = Some(value.to_owned()).filter(|name| name != "native");
    parallelize(args, _) args.options.parallelize = true;
    parallelize_from(args, value) args.options.parallelize_from = Some(operations(value)?);
    parallelize_tiles(args, value) args.options.parallelize_tiles = Some(tiles(value)?);
    parallelize_schedule(args, value) args.options.parallelize_schedule = schedule(value)?;
    emit_cuda(args, value) args.options.emit_cuda = Some(value.into());
    emulate(args, value) args.emulate = Some(value.to_owned());
    report(args, value) args.options.report = Some(value.into());
    profile_use(args, value) args.options.profile_use = Some(value.into());
    coarsen_blocks(args, value) args.options.coarsen_blocks = Some(coarsening(value)?);
    coarsen_threads(args, value) args.options.coarsen_threads = Some(coarsening(value)?);
    search_budget(args, value) args.options.budget = budget(value)?;
    wave64(args, _) args.options.settings.wave64 = Some(true);
    wave32(args, _) args.options.settings.wave64 = Some(false);
    profile_generate(args, _) args.options.profile_generate = true;
    adaptive(args, _) args.options.adaptive = true;
    no_adaptive(args, _) args.options.adaptive = false;
    specialize(args, _) args.options.specialize = true;
    resource_usage(args, _) args.options.resource_usage = true;
    round_trip(args, _) args.options.round_trip = true;
    object(args, _) args.kind = unless_clang_only(args, Output::Object);
    assembly(args, _) args.kind = unless_clang_only(args, Output::Assembly);
    dry_run(args, _) args.dry_run = true;
    verbose(args, _) args.verbose = true;
    emit_llvm(args, _) args.options.emit.llvm = true;
    relocatable(args, _) args.options.relocatable = true;
    whole(args, _) args.options.relocatable = false;
    device_only(args, _) args.options.emit.side = Side::Device;
    host_only(args, _) args.options.emit.side = Side::Host;
    both_sides(args, _) args.options.emit.side = Side::Both;
    include_ptx(args, value) args.gpu.ptx_options.push((true, value.to_owned()));
    exclude_ptx(args, value) args.gpu.ptx_options.push((false, value.to_owned()));
    output(args, value) args.output = Some(value.into());
    ptxas(args, value) args.options.assembler.push(value.to_owned());
    save_temps(args, _) args.keep = Some(Keep::Here);
    language(args, value) args.language = Some(value.to_owned()).filter(|name| name != "none");
    help(args, _) args.inform = Some(Inform::Help { all: false });
    help_all(args, _) args.inform = Some(Inform::Help { all: true });
    completions(args, value) args.inform = Some(Inform::Completions(value.to_owned()));
    inputs(args, _) args.inform = Some(Inform::Inputs);
    man_page(args, _) args.inform = Some(Inform::ManPage);
}

/// `-c` and `-S` say nothing more where clang is to preprocess alone.
fn unless_clang_only(args: &Args, kind: Output) -> Output {
    if args.kind == Output::ClangOnly { Output::ClangOnly } else { kind }
}

/// `--offload-arch=`
pub fn offload_arch(args: &mut Args, list: &str) -> Result<()> {
    args.gpu.named.extend(list.split(',').filter(|name| !name.is_empty()).map(str::to_owned));
    Ok(())
}

/// `--no-offload-arch=`
pub fn no_offload_arch(args: &mut Args, list: &str) -> Result<()> {
    let without: Vec<&str> = list.split(',').collect();
    args.gpu.named.retain(|name| !without.contains(&"all") && !without.contains(&name.as_str()));
    Ok(())
}

/// `-mcode-object-version=`
pub fn code_object(args: &mut Args, version: &str) -> Result<()> {
    args.options.settings.code_object = match version {
        "4" | "5" | "6" => version.parse().ok(),
        _ => bail!("invalid value '{version}' in '-mcode-object-version={version}': expected 4, 5 or 6"),
    };
    Ok(())
}

/// `-fregrain-alternatives=`
pub fn alternatives(args: &mut Args, space: &str) -> Result<()> {
    args.options.alternatives =
        if space == "default" { None } else { Some(space.parse().map_err(|reason: String| anyhow!(reason))?) };
    Ok(())
}

/// `-ftime-report`, of which clang is told too.
pub fn time_report(args: &mut Args, _: &str) -> Result<()> {
    args.time_report = true;
    args.compile.push("-ftime-report".into());
    args.clang.push("-ftime-report".into());
    Ok(())
}

/// `--cuda-noopt-device-debug`, of which clang is told too: it decides what it says of variables.
pub fn debug_device(args: &mut Args, _: &str) -> Result<()> {
    args.options.debug_device = true;
    args.compile.push("--cuda-noopt-device-debug".into());
    Ok(())
}

/// `-O`, of which clang is told too.
pub fn level(args: &mut Args, level: &str) -> Result<()> {
    args.options.level = Some(match level {
        "0" => 0,
        "g" | "1" => 1,
        "" | "2" | "s" | "z" => 2,
        _ => 3,
    });
    args.compile.push(format!("-O{level}").into());
    Ok(())
}

/// `-save-temps=`
pub fn save_temps_in(args: &mut Args, place: &str) -> Result<()> {
    args.keep = Some(match place {
        "cwd" => Keep::Here,
        "obj" => Keep::BesideOutput,
        _ => bail!("invalid value '{place}' in '-save-temps={place}': expected cwd or obj"),
    });
    Ok(())
}

/// `-fsave-optimization-record`
pub fn save_record(args: &mut Args, format: &str) -> Result<()> {
    args.records.optimisation = Some(match format {
        "" | "=yaml" => false,
        "=bitstream" => true,
        _ => bail!("unknown remark serializer format: '{}'", format.trim_start_matches('=')),
    });
    args.records.words.push(format!("-fsave-optimization-record{format}").into());
    Ok(())
}

/// `-fno-save-optimization-record`
pub fn no_record(args: &mut Args, _: &str) -> Result<()> {
    args.records.optimisation = None;
    args.records.words.push("-fno-save-optimization-record".into());
    Ok(())
}

/// `-foptimization-record-file=`, which asks for the record too.
pub fn record_file(args: &mut Args, path: &str) -> Result<()> {
    args.records.file = Some(path.into());
    args.records.optimisation.get_or_insert(false);
    args.records.words.push(format!("-foptimization-record-file={path}").into());
    Ok(())
}

/// `-ftime-trace`
pub fn time_trace(args: &mut Args, path: &str) -> Result<()> {
    args.records.trace = Some(path.strip_prefix('=').map(Into::into));
    args.records.words.push(format!("-ftime-trace{path}").into());
    Ok(())
}

/// A class of remarks, its pattern, and the options that ask for it.
macro_rules! remarks {
    ($($set:ident, $unset:ident, $field:ident, $name:literal;)*) => {
        $(#[doc = concat!("`", $name, "`, which clang is told too, for its own passes.")]
        pub fn $set(args: &mut Args, value: &str) -> Result<()> {
            let word = format!("{}{value}", $name);
            let expression = value.strip_prefix('=').unwrap_or(".*");
            args.options.remarks.$field = Pattern::parse(expression)
                .map_err(|reason| anyhow!("in '{word}': invalid regex: {reason}"))?;
            // What begins so can be no pass of clang's.
            if !expression.starts_with("regrain") {
                args.compile.push(word.as_str().into());
                args.clang.push(word.into());
            }
            Ok(())
        }

        #[doc = concat!("No ", $name, ".")]
        pub fn $unset(args: &mut Args, _: &str) -> Result<()> {
            args.options.remarks.$field = Pattern::default();
            args.compile.push($name.replacen("-R", "-Rno-", 1).into());
            Ok(())
        })*
    };
}

remarks! {
    remarks, no_remarks, passed, "-Rpass";
    remarks_missed, no_remarks_missed, missed, "-Rpass-missed";
    remarks_analysis, no_remarks_analysis, analysis, "-Rpass-analysis";
}

/// The value of `-fregrain-search-budget=`.
fn budget(text: &str) -> Result<Budget> {
    match text {
        "default" => Ok(Budget::AsClang),
        "none" => Ok(Budget::Unlimited),
        number => match number.parse::<f64>() {
            Ok(seconds) if (0.0..=1e6).contains(&seconds) => Ok(Budget::Seconds(seconds)),
            _ => bail!("search budget '{text}', expected seconds, 'none' or 'default'"),
        },
    }
}

/// Coarsening factors as a pass takes them.
fn coarsening(factors: &str) -> Result<String> {
    regrain_passes::coarsen::coarsening::Factors::parse(factors).map_err(|reason| anyhow!(reason))?;
    let option = if factors.contains(',') { "factors" } else { "factor" };
    Ok(format!("{option}={factors}"))
}
