//! Linking: clang's linker driver, with the runtime that the objects need.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::session::Session;

/// NVIDIA's own host libraries, which our runtime stands for.
const REPLACED: &[&str] = &["-lcudart", "-lcudart_static", "-lcuda", "-lcudadevrt", "-lcudart.so"];

/// Links `objects` (the compiled sources, by input index) and the other inputs.
pub fn link(session: &Session, objects: &HashMap<usize, PathBuf>) -> Result<()> {
    let ours = links_our_runtime(session, objects);
    let args = &session.args;
    let output = args.output.clone().unwrap_or_else(|| "a.out".into());
    let mut command = Command::new(session.clang.path());
    command.arg("--driver-mode=g++");
    for index in 0..args.inputs.len() {
        if let Some(object) = objects.get(&index) {
            command.arg(object);
        }
    }
    command.args(args.link.iter().filter(|arg| !ours || !REPLACED.contains(&arg.to_string_lossy().as_ref())));
    if ours {
        command.arg(library("runtime", "libregrain_rt.a")?).args(["-lpthread", "-ldl", "-lm"]);
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
        command.args(session.toolchain()?.toolkit.link_args(shared)?);
    }
    if !args.compile.iter().any(|a| a.to_string_lossy().starts_with("-fuse-ld")) && ours {
        command.arg(format!("--ld-path={}", session.clang.sibling("ld.lld").display()));
    }
    command.arg("-o").arg(output);
    session.run(&mut command)
}

/// Whether the program needs our runtime: code for one target whose maker has a runtime goes without. Without `--offload-arch`,
/// objects compiled earlier say what they are for.
fn links_our_runtime(session: &Session, objects: &HashMap<usize, PathBuf>) -> bool {
    let asked = || session.archs.iter().any(|arch| !arch.target.has_own_runtime());
    if !session.args.archs.is_empty() || !objects.is_empty() && session.args.inputs.iter().any(|i| i.cuda) {
        return asked();
    }
    let given = session.args.inputs.iter().filter(|i| !i.source).map(|i| i.path.as_path());
    given.filter_map(made_for_our_runtime).next().unwrap_or_else(asked)
}

/// Whether an object or archive holds device code that our runtime alone runs; `None` when it holds none at all.
fn made_for_our_runtime(path: &Path) -> Option<bool> {
    let bytes = std::fs::read(path).ok()?;
    if [&b"__regrain_cpu_image."[..], b".llvm.offloading"].iter().any(|mark| holds(&bytes, mark)) {
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
    session.args.options.profile_generate
        || session.args.inputs.iter().any(|input| !input.source && calls_it(&input.path))
}

fn holds(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|window| window == text)
}

/// A library that programs are linked with: beside the executable, in `../lib` of an installation, in `REGRAIN_LIB_DIR`, or where
/// this executable was built.
fn library(what: &str, name: &str) -> Result<PathBuf> {
    let executable = std::env::current_exe().context("cannot find my own executable")?;
    let executable = executable.canonicalize().unwrap_or(executable);
    let folder = executable.parent().unwrap_or(Path::new("."));
    let mut folders = vec![folder.to_path_buf(), folder.join("../lib")];
    folders.extend(std::env::var_os("REGRAIN_LIB_DIR").map(PathBuf::from));
    folders.push(PathBuf::from(env!("REGRAIN_BUILD_DIR")));
    match folders.iter().map(|folder| folder.join(name)).find(|path| path.exists()) {
        Some(path) => Ok(path),
        None => {
            let looked: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
            bail!("cannot find the {what} '{name}' (looked in {}); set REGRAIN_LIB_DIR", looked.join(", "))
        }
    }
}
