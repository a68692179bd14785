//! `-E` of a CUDA source: clang's output for the host side, and at its end what compiler caches need to know of the rest.
//!
//! clang 22 preprocesses the host side alone, so a cache that hashes its output takes no notice of what stands behind
//! `#ifdef __CUDA_ARCH__`. Line markers at the end name the files that the device side alone includes, a tuning database, and a hash of the
//! device side's text with all else that code depends on ([`crate::inputs`]):
//!
//! ```text
//! # 1 "device_only.cuh"
//! # 1 "app.regrain-tuning"
//! # 1 "<regrain inputs 0123456789abcdef>"
//! ```

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result};
use regrain_compiler::Side;

use crate::args::Args;
use crate::inputs;

/// ccache's setting that has it ask us for what code depends on; then it may look at files alone.
const ASKS: &str = "CCACHE_COMPILERCHECK";

/// Whether this is what the command line asks for.
pub fn is_asked(args: &Args) -> bool {
    let asks = args.clang.iter().any(|word| word == "-E" || word == "--preprocess");
    let side = args.options.emit.side;
    asks && !args.dry_run && side == Side::Both && args.inputs.iter().filter(|input| input.cuda).count() == 1
}

/// Preprocesses both sides at the same time.
pub fn run(args: &Args, host: &mut Command, device: &mut Command) -> Result<()> {
    let named = args.output.clone().filter(|path| path != Path::new("-"));
    let start = |command: &mut Command| command.output().context("cannot run clang");
    host.stderr(Stdio::inherit());
    // Its warnings are for those who compile.
    device.stderr(Stdio::null());
    let (host, device) = std::thread::scope(|scope| {
        let other = scope.spawn(|| start(device));
        (start(host), other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    let (host, device) = (host?, device?);
    if !host.status.success() {
        return Err(regrain_compiler::Error::from(regrain_frontend::Error::Rejected { stderr: String::new() }).into());
    }
    match named {
        None => {
            let mut out = std::io::stdout().lock();
            let end = end(args, &host.stdout, &device);
            out.write_all(&host.stdout).and_then(|()| out.write_all(end.as_bytes())).context("cannot write the output")
        }
        Some(path) => {
            let text = std::fs::read(&path).with_context(|| format!("cannot read '{}'", path.display()))?;
            let end = end(args, &text, &device);
            let file = std::fs::OpenOptions::new().append(true).open(&path);
            let written = file.and_then(|mut file| file.write_all(end.as_bytes()));
            written.with_context(|| format!("cannot write '{}'", path.display()))
        }
    }
}

/// The lines at the end.
fn end(args: &Args, host: &[u8], device: &Output) -> String {
    let everything = [inputs::lines(args).as_bytes(), &device.stdout].concat();
    let hash = inputs::hash(&everything);
    if args.clang.iter().any(|word| word == "-P") {
        return format!("// regrain inputs {hash}\n");
    }
    let known = files(host);
    let mut lines = String::new();
    let mut name = |path: &str| {
        let _ = writeln!(lines, "# 1 \"{path}\"");
    };
    files(&device.stdout).difference(&known).for_each(|path| name(path));
    if let Some(path) = &args.options.profile_use {
        name(&path.display().to_string());
    }
    let asks = std::env::var(ASKS).is_ok_and(|value| value.contains("-print-regrain-inputs"));
    if let Some(header) = header().filter(|_| !asks) {
        name(&header.display().to_string());
    }
    name(&format!("<regrain inputs {hash}>"));
    lines
}

/// The files that line markers of preprocessed text name.
fn files(text: &[u8]) -> BTreeSet<String> {
    let text = String::from_utf8_lossy(text);
    let marked = text.lines().filter_map(|line| {
        let (number, rest) = line.strip_prefix("# ")?.split_once(" \"")?;
        let (path, _) = rest.rsplit_once('"')?;
        (number.bytes().all(|digit| digit.is_ascii_digit()) && !path.starts_with('<')).then(|| path.to_owned())
    });
    marked.collect()
}

/// The header that keeps caches from looking at files alone: in an installation, or in the tree that this was built from.
fn header() -> Option<PathBuf> {
    let executable = std::env::current_exe().ok()?.canonicalize().ok()?;
    let installed = executable.parent()?.join("../lib/regrain/include");
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../frontend/include");
    let places = [installed, built].map(|folder| folder.join("__regrain_environment.h"));
    places.iter().find_map(|path| path.canonicalize().ok())
}
