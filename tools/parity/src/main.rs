//! `regrain-parity`: what the way through MLIR costs. Compiles CUDA sources with clang alone and by way of the parallel
//! form, without any transformation, and compares what ptxas says of each kernel. Writes a table in Markdown.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use clap::Parser;
use inkwell::context::Context;
use inkwell::module::Module;
use regrain_frontend::TranslationUnit;
use regrain_frontend::clang::{self, Clang, Side};
use regrain_targets::image::KernelOptions;
use regrain_targets::nvptx::{self, AssembleOptions, Nvptx, Report};
use regrain_targets::target::Kernels as _;
use regrain_targets::toolkit::{SmArch, Toolkit};

/// Compares kernels that went through the parallel form with clang's.
#[derive(Parser)]
struct Arguments {
    /// CUDA sources
    #[arg(required = true)]
    sources: Vec<PathBuf>,
    /// The chip
    #[arg(long, default_value = "sm_80")]
    arch: String,
    /// Root of the CUDA toolkit
    #[arg(long)]
    cuda_path: Option<PathBuf>,
    /// Passes between import and export
    #[arg(long, default_value = regrain_passes::pipelines::GPU_ROUND_TRIP)]
    pipeline: String,
    /// Where to write the table (standard output if absent)
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Keep PTX and IR of both ways in this folder
    #[arg(long)]
    keep: Option<PathBuf>,
    /// An option for clang, as in `-Xclang-option=-DN=4`
    #[arg(long = "clang-option", allow_hyphen_values = true)]
    clang_options: Vec<String>,
    /// Fail if the registers' geometric mean exceeds clang's by more than this many percent, or a kernel spills anew
    #[arg(long)]
    limit: Option<f64>,
}

/// One kernel, both ways.
struct Row {
    source: String,
    clang: Report,
    ours: Option<Report>,
    /// Why the kernel was not lifted.
    remark: String,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let toolkit = Toolkit::find(arguments.cuda_path.as_deref())?;
    let arch = SmArch::parse(&arguments.arch)?;
    toolkit.require(arch)?;
    regrain_dialects::register();
    mlir_bridge::register_upstream_passes();
    regrain_passes::registry::register();
    let mut rows = Vec::new();
    for source in &arguments.sources {
        let found = compare(source, &arguments, &toolkit, arch).with_context(|| source.display().to_string());
        match found {
            Ok(found) => rows.extend(found),
            Err(error) => eprintln!("error: {error:#}"),
        }
    }
    let table = table(&rows, arch);
    match &arguments.output {
        Some(path) => std::fs::write(path, &table).with_context(|| path.display().to_string())?,
        None => print_out(&table),
    }
    if let Some(limit) = arguments.limit {
        check(&rows, limit)?;
    }
    Ok(())
}

fn print_out(text: &str) {
    use std::io::Write;
    // A reader that went away is no error of ours.
    let _ = std::io::stdout().write_all(text.as_bytes());
}

fn compare(source: &Path, arguments: &Arguments, toolkit: &Toolkit, arch: SmArch) -> Result<Vec<Row>> {
    let clang = Clang::find()?;
    let mut options: Vec<_> = arguments.clang_options.iter().map(Into::into).collect();
    options.push("-O3".into());
    let unit = TranslationUnit {
        input: source.to_path_buf(),
        stdin: None,
        options,
        host_options: Vec::new(),
        device_options: Vec::new(),
        cuda_path: toolkit.root.clone(),
        cuda_version: toolkit.compiler_version(),
        relocatable: false,
    };
    let dir = tempfile::tempdir()?;
    let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let place = |suffix: &str| dir.path().join(format!("{name}{suffix}"));

    let mut by_clang: Command = clang.cuda_command(&unit)?;
    by_clang.args(["--cuda-device-only", "-S", "-o"]).arg(place(".clang.ptx"));
    by_clang.arg(format!("--cuda-gpu-arch={arch}")).arg(source);
    run_clang(&mut by_clang)?;
    let assembling = AssembleOptions::new(arch);
    let clang_ptx = std::fs::read_to_string(place(".clang.ptx"))?;
    let clang_reports = nvptx::assemble(toolkit, &clang_ptx, &assembling)?.reports;

    let bitcode = place(".bc");
    run_clang(&mut clang.bitcode_command(&unit, Side::Device { arch: &arch.to_string() }, &bitcode)?)?;
    let context = Context::create();
    let module = Module::parse_bitcode_from_path(&bitcode, &context).map_err(|e| anyhow::anyhow!("{e}"))?;
    module.strip_debug_info();
    let (module, remarks) = round_trip(&context, &module, arch, &arguments.pipeline)?;
    let before = module.print_to_string().to_string();
    let options = KernelOptions { arch: arch.to_string(), level: 3, ..KernelOptions::default() };
    let image = Nvptx.compile(&module, toolkit, &options, false)?;
    if let Some(keep) = &arguments.keep {
        std::fs::create_dir_all(keep)?;
        std::fs::write(keep.join(format!("{name}.clang.ptx")), &clang_ptx)?;
        std::fs::write(keep.join(format!("{name}.ll")), &before)?;
        std::fs::write(keep.join(format!("{name}.ptx")), &image.text)?;
    }
    let kernels = clang_reports.into_iter().filter(|report| report.is_kernel);
    Ok(kernels
        .map(|clang| {
            let ours = image.reports.iter().find(|report| report.name == clang.name).cloned();
            let remark = remarks.lines().find(|line| line.contains(&clang.name)).unwrap_or_default();
            Row { source: name.clone(), clang, ours, remark: remark.to_string() }
        })
        .collect())
}

fn run_clang(command: &mut Command) -> Result<()> {
    match clang::run(command) {
        Ok(_) => Ok(()),
        Err(regrain_frontend::Error::Rejected { stderr }) => bail!("clang failed\n{stderr}"),
        Err(error) => Err(error.into()),
    }
}

/// Clean, import, raise, outline, export; with the remarks of the passes.
fn round_trip<'c>(
    context: &'c Context,
    module: &Module<'_>,
    arch: SmArch,
    pipeline: &str,
) -> Result<(Module<'c>, String)> {
    regrain_frontend::clean::clean_device_module(module, &arch.to_string())?;
    let mlir_context = mlir_bridge::new_context();
    let imported = mlir_bridge::import_inkwell(&mlir_context, module)?;
    let remarks = mlir_bridge::run_on_module(&imported, pipeline)?;
    let exported = mlir_bridge::export_inkwell(&imported, "round trip", context)?;
    Ok((exported, remarks))
}

fn table(rows: &[Row], arch: SmArch) -> String {
    let mut out = format!("# Round trip through the parallel form, {arch}\n\n");
    out.push_str(
        "Each kernel compiled by `clang++ -O3` and by way of the parallel form without any transformation, both\n",
    );
    out.push_str("assembled by the same ptxas. Written by `regrain-parity`.\n\n");
    out.push_str(
        "| source | kernel | registers, clang | ours | ratio | spills, clang | ours | shared, clang | ours | note |\n",
    );
    out.push_str("|---|---|--:|--:|--:|--:|--:|--:|--:|---|\n");
    rows.iter().for_each(|row| out.push_str(&line(row)));
    let _ = writeln!(
        out,
        "\n{} kernels; registers, ours against clang's: geometric mean {:.4}; kernels that spill anew: {}",
        rows.len(),
        geometric_mean(rows),
        new_spills(rows).len()
    );
    out
}

fn line(row: &Row) -> String {
    let Row { source, clang, ours, remark } = row;
    let spills = |report: &Report| report.spill_stores + report.spill_loads;
    let of_ours = |what: &dyn Fn(&Report) -> String| ours.as_ref().map_or("missing".into(), what);
    let note = remark.split_once("remark: ").map_or(remark.as_str(), |(_, note)| note);
    format!(
        "| {source} | `{}` | {} | {} | {} | {} | {} | {} | {} | {note} |\n",
        clang.name,
        clang.registers,
        of_ours(&|ours| ours.registers.to_string()),
        of_ours(&|ours| format!("{:.3}", ratio(clang, ours))),
        spills(clang),
        of_ours(&|ours| spills(ours).to_string()),
        clang.shared,
        of_ours(&|ours| ours.shared.to_string()),
    )
}

fn ratio(clang: &Report, ours: &Report) -> f64 {
    f64::from(ours.registers) / f64::from(clang.registers.max(1))
}

fn geometric_mean(rows: &[Row]) -> f64 {
    let logs: Vec<f64> = rows.iter().filter_map(|row| Some(ratio(&row.clang, row.ours.as_ref()?).ln())).collect();
    (logs.iter().sum::<f64>() / logs.len().max(1) as f64).exp()
}

fn new_spills(rows: &[Row]) -> Vec<&str> {
    let worse = |row: &&Row| row.ours.as_ref().is_some_and(|ours| ours.spills() && !row.clang.spills());
    rows.iter().filter(worse).map(|row| row.clang.name.as_str()).collect()
}

fn check(rows: &[Row], limit: f64) -> Result<()> {
    let missing: Vec<_> = rows.iter().filter(|row| row.ours.is_none()).map(|row| row.clang.name.as_str()).collect();
    if rows.is_empty() || !missing.is_empty() {
        bail!("kernels that did not come back: {}", missing.join(", "));
    }
    let mean = geometric_mean(rows);
    if mean > 1.0 + limit / 100.0 {
        bail!("registers: geometric mean {mean:.4} of clang's, expected at most {:.4}", 1.0 + limit / 100.0);
    }
    let spills = new_spills(rows);
    if !spills.is_empty() {
        bail!("kernels that spill anew: {}", spills.join(", "));
    }
    Ok(())
}
