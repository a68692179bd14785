//! Linking: clang's linker driver, with the runtime that the objects need.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::jobs::Session;

/// NVIDIA's own host libraries, which the CPU runtime stands for.
const REPLACED: &[&str] = &["-lcudart", "-lcudart_static", "-lcuda", "-lcudadevrt", "-lcudart.so"];

/// Links `objects` (the compiled sources, by input index) and the other inputs.
pub fn link(session: &Session, objects: &HashMap<usize, PathBuf>) -> Result<()> {
    let cpu = is_for_cpu(session, objects);
    let args = &session.args;
    let output = args.output.clone().unwrap_or_else(|| "a.out".into());
    let mut command = Command::new(session.clang.path());
    command.arg("--driver-mode=g++");
    for index in 0..args.inputs.len() {
        if let Some(object) = objects.get(&index) {
            command.arg(object);
        }
    }
    command.args(args.link.iter().filter(|arg| !cpu || !REPLACED.contains(&arg.to_string_lossy().as_ref())));
    if cpu {
        command.arg(library("CPU runtime", "libregrain_rt.a")?).args(["-lpthread", "-ldl", "-lm"]);
    } else {
        if is_profiled(session) {
            // Before the CUDA runtime, which it uses. A reset of the device would lose times that are on their way.
            command.arg(library("profiler", "libregrain_profiler.a")?).args([
                "-Wl,--wrap=cudaDeviceReset",
                "-lpthread",
                "-ldl",
                "-lm",
            ]);
        }
        let shared = args.link.iter().any(|arg| arg == "-lcudart");
        command.args(session.toolkit()?.link_args(shared)?);
    }
    if !args.compile.iter().any(|a| a.to_string_lossy().starts_with("-fuse-ld")) && cpu {
        command.arg(format!("--ld-path={}", session.clang.sibling("ld.lld").display()));
    }
    command.arg("-o").arg(output);
    session.run(&mut command)
}

/// Without `--offload-arch`, objects compiled earlier say what they are for.
fn is_for_cpu(session: &Session, objects: &HashMap<usize, PathBuf>) -> bool {
    if !session.args.archs.is_empty() || !objects.is_empty() && session.args.inputs.iter().any(|i| i.cuda) {
        return session.targets.cpu;
    }
    let given = session.args.inputs.iter().filter(|i| !i.source).map(|i| i.path.as_path());
    given.filter_map(made_for_cpu).next().unwrap_or(session.targets.cpu)
}

/// Whether an object or archive holds device code for the CPU; `None` when it holds none at all.
fn made_for_cpu(path: &Path) -> Option<bool> {
    let bytes = std::fs::read(path).ok()?;
    if holds(&bytes, b"__regrain_cpu_image.") {
        Some(true)
    } else if holds(&bytes, b".nv_fatbin") {
        Some(false)
    } else {
        None
    }
}

/// Whether something that is linked calls the profiler: it was, or an object was, compiled with `-fregrain-profile-generate`.
fn is_profiled(session: &Session) -> bool {
    let calls_it = |path: &Path| std::fs::read(path).is_ok_and(|bytes| holds(&bytes, b"__regrain_profile_begin"));
    session.args.profile_generate || session.args.inputs.iter().any(|input| !input.source && calls_it(&input.path))
}

fn holds(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|window| window == text)
}

/// A library that programs are linked with: beside the executable, or in `../lib` of an installation.
fn library(what: &str, name: &str) -> Result<PathBuf> {
    let executable = std::env::current_exe().context("cannot find my own executable")?;
    let executable = executable.canonicalize().unwrap_or(executable);
    let folder = executable.parent().unwrap_or(Path::new("."));
    let places = [folder.join(name), folder.join("../lib").join(name)];
    match places.iter().find(|place| place.exists()) {
        Some(place) => Ok(place.clone()),
        None => bail!("cannot find the {what} '{name}' (looked in {})", folder.display()),
    }
}
