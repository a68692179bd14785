//! Linking: clang's linker driver, with the runtime that the objects need.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use regrain_compiler::place;
use regrain_compiler::unfinished::Unfinished;
use regrain_targets::listing::{self, Member};
use regrain_targets::units;

use crate::args::{Args, Cudart};
use crate::device_link::Waiting;
use crate::libraries::{self, CURAND_FILES, CURAND_NAMES};
use crate::our_library::library;
use crate::session::Session;
use crate::toolkit_view;

/// NVIDIA's own host libraries, which our runtime stands for.
const REPLACED: &[&str] = &["-lcudart", "-lcudart_static", "-lcuda", "-lcudadevrt", "-lcudart.so"];

/// The same as files, as CMake names them.
const REPLACED_FILES: &[&str] = &["libcudart.so", "libcudart_static.a", "libcuda.so", "libcudadevrt.a"];

/// Links `objects` (the compiled sources, by input index) and the other inputs to `output`.
pub fn link(session: &Session, objects: &HashMap<usize, PathBuf>, output: &Path) -> Result<()> {
    let args = &session.args;
    let compiled = in_order(args, objects);
    let (mut found, mut waiting) = look_into(args, objects);
    if args.dry_run || found.linked || args.extra.no_device_link {
        waiting = Waiting::default();
    }
    if args.dry_run {
        // clang asks no more of them than that they are there.
        for path in &compiled {
            std::fs::write(path, "").with_context(|| format!("cannot write '{}'", path.display()))?;
        }
    }
    let ours = found.linked || waiting.is_some() || links_our_runtime(session, objects, &found);
    if ours {
        found.curand = libraries::curand(session, |arg| is_one_of(&arg.to_string_lossy(), CURAND_NAMES, CURAND_FILES))?;
    }
    let program = |images: Option<&Path>, output: &Path| command(session, &compiled, images, &found, ours, output);
    let images = waiting.link(session, |stand_in, output| program(Some(stand_in), output))?;
    let unfinished = Unfinished::of_others(output);
    session.run(&mut program(images.as_deref(), output)?)?;
    unfinished.done();
    Ok(())
}

/// nvcc's `-dlink`: links the device code of `objects` and of the other inputs to an object for the host's linker.
pub fn device_code(session: &Session, objects: &HashMap<usize, PathBuf>, output: &Path) -> Result<()> {
    let (_, waiting) = look_into(&session.args, objects);
    if session.args.dry_run {
        return Ok(());
    }
    let made = waiting.link_all(session)?;
    place(&made, output).with_context(|| format!("cannot write '{}'", output.display()))
}

/// nvcc's `-lib`: an archive of `objects` and of the other inputs.
pub fn archive(session: &Session, objects: &HashMap<usize, PathBuf>, output: &Path) -> Result<()> {
    let args = &session.args;
    let finished = session.scratch("archive.a");
    let archiver = args.extra.archiver.clone().unwrap_or_else(|| session.clang.sibling("llvm-ar"));
    let mut command = Command::new(archiver);
    command.arg("rcs").args(&args.extra.archive_options).arg(&finished).args(in_order(args, objects));
    command.args(args.inputs.iter().filter(|input| !input.source).map(|input| &input.path));
    session.commands.run(&mut command)?;
    if args.dry_run {
        return Ok(());
    }
    place(&finished, output).with_context(|| format!("cannot write '{}'", output.display()))
}

/// The compiled sources in the order of the inputs.
fn in_order(args: &Args, objects: &HashMap<usize, PathBuf>) -> Vec<PathBuf> {
    (0..args.inputs.len()).filter_map(|index| objects.get(&index).cloned()).collect()
}

/// What the compiled sources and the other inputs hold.
fn look_into(args: &Args, objects: &HashMap<usize, PathBuf>) -> (Found, Waiting) {
    let files = linked_files(args);
    let compiled = in_order(args, objects);
    let sources =
        (0..args.inputs.len()).filter(|index| objects.contains_key(index)).map(|index| &args.inputs[index].path);
    let (mut found, mut waiting) = (Found::default(), Waiting::default());
    // What was compiled just now by the name of its source.
    for (path, name) in compiled.iter().zip(sources) {
        each_member(path, name, |name, member| waiting.note(name, member));
    }
    for path in &files {
        each_member(path, path, |name, member| {
            found.note(member);
            waiting.note(name, member);
        });
    }
    (found, waiting)
}

/// The command that makes `output` of the compiled sources, of the images that units share and of the other inputs.
fn command(
    session: &Session,
    compiled: &[PathBuf],
    images: Option<&Path>,
    found: &Found,
    ours: bool,
    output: &Path,
) -> Result<Command> {
    let args = &session.args;
    let mut command = Command::new(session.clang.path());
    command.arg("--driver-mode=g++").args(compiled).args(images);
    let mut given = if ours { without(&args.link, REPLACED, REPLACED_FILES) } else { args.link.clone() };
    if let Some(curand) = &found.curand {
        given = without(&given, CURAND_NAMES, CURAND_FILES);
        given.push(curand.into());
    }
    command.args(&given);
    if ours {
        if let Some(view) = view_for_others(session) {
            command.arg(format!("-L{}", view.display()));
        }
        // As nvcc finds CUDA's other libraries.
        if given.iter().any(is_library) {
            command.args(libraries_of_toolkit(session).map(|folder| format!("-L{}", folder.display())));
        }
        command.arg(library("runtime", "libregrain_rt.a")?).args(["-lpthread", "-ldl", "-lm"]);
    } else {
        if args.options.profile_generate || args.options.adaptive || found.profiled {
            // Before the CUDA runtime, which it uses. A reset of the device would lose times that are on their way.
            command.arg(library("profiler", "libregrain_profiler.a")?).args([
                "-Wl,--wrap=cudaDeviceReset",
                "-lpthread",
                "-ldl",
                "-lm",
            ]);
        }
        let shared = args.cudart == Cudart::Shared || args.link.iter().any(|arg| arg == "-lcudart");
        if args.cudart != Cudart::None {
            command.args(session.toolchain()?.toolkit.link_args(shared)?);
        }
    }
    if !args.compile.iter().any(|a| a.to_string_lossy().starts_with("-fuse-ld")) && ours {
        command.arg(format!("--ld-path={}", session.clang.sibling("ld.lld").display()));
    }
    command.arg("-o").arg(output);
    Ok(command)
}

fn is_library(arg: &OsString) -> bool {
    arg.to_string_lossy().starts_with("-l")
}

fn libraries_of_toolkit(session: &Session) -> Option<PathBuf> {
    session.toolchain().ok()?.toolkit.lib_dir.clone()
}

/// The folder in which other compilers find our runtime by the names of NVIDIA's, if CMake was shown it: it takes the folders for their
/// command lines from what we say of a link.
fn view_for_others(session: &Session) -> Option<PathBuf> {
    let toolkit = &session.toolchain().ok()?.toolkit;
    let view = toolkit_view::place(toolkit, true)?.join("lib64");
    (session.args.verbose && view.is_dir()).then_some(view)
}

/// Whether an argument is a library of these names, or a file of theirs.
fn is_one_of(text: &str, names: &[&str], files: &[&str]) -> bool {
    let file = Path::new(text).file_name().unwrap_or_default().to_string_lossy();
    let is_file =
        !text.starts_with('-') && files.iter().any(|name| file == *name || file.starts_with(&format!("{name}.")));
    names.contains(&text) || is_file
}

/// What is passed to the linker, without libraries of these names and files, which something else stands for.
fn without(link: &[OsString], names: &[&str], files: &[&str]) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut rest = link.iter();
    while let Some(arg) = rest.next() {
        let value = if arg == "-l" { rest.next() } else { None };
        let text = [Some(arg), value].into_iter().flatten().map(|part| part.to_string_lossy()).collect::<String>();
        if !is_one_of(&text, names, files) {
            kept.extend([Some(arg), value].into_iter().flatten().cloned());
        }
    }
    kept
}

/// Whether the program needs our runtime: code for one target whose maker has a runtime goes without. Objects compiled earlier say
/// what they are for, whatever stands on this command line; our runtime also runs what others are made for.
fn links_our_runtime(session: &Session, objects: &HashMap<usize, PathBuf>, found: &Found) -> bool {
    let asked = || session.archs.iter().any(|arch| !arch.target.has_own_runtime());
    let compiled = !objects.is_empty() && session.args.inputs.iter().any(|i| i.cuda);
    if found.ours {
        true
    } else if session.args.gpu.is_named() || compiled || !found.theirs {
        asked()
    } else {
        false
    }
}

/// What the files that are linked hold, beside the sources that were compiled just now.
#[derive(Default)]
struct Found {
    /// Device code that our runtime alone runs.
    ours: bool,
    /// Device code that a runtime of its maker runs.
    theirs: bool,
    /// Device code that is linked already (`-dlink`).
    linked: bool,
    /// Calls of the profiler: compiled with `-fregrain-profile-generate` or `-fregrain-adaptive`.
    profiled: bool,
    /// What stands for cuRAND.
    curand: Option<PathBuf>,
}

impl Found {
    fn note(&mut self, member: &Member<'_>) {
        let holds = |mark: &str| holds(&member.bytes, mark.as_bytes());
        self.ours |= holds("__regrain_cpu_image.") || holds(".llvm.offloading");
        self.linked |= units::are_linked(&member.bytes);
        self.theirs |= holds(".nv_fatbin");
        self.profiled |= holds("__regrain_profile_begin") || holds("__regrain_adapt_begin");
    }
}

/// Shows the object in the file `path`, or those in the archive that it is; users know it as `name`.
fn each_member(path: &Path, name: &Path, mut show: impl FnMut(&str, &Member<'_>)) {
    let Ok(bytes) = std::fs::read(path) else { return };
    let name = name.to_string_lossy();
    // What cannot be read as an archive is for the linker to judge.
    for member in listing::members(&name, &bytes).unwrap_or_default() {
        show(&name, &member);
    }
}

/// The files that are linked: those given, and the libraries of `-l` in the folders of `-L`.
fn linked_files(args: &Args) -> Vec<PathBuf> {
    let values = |name: &str| {
        let next = args.link.iter().skip(1).map(Some).chain([None]);
        let of = |(arg, next): (&OsString, Option<&OsString>)| {
            let text = arg.to_string_lossy().into_owned();
            let value =
                if text == name { next?.to_string_lossy().into_owned() } else { text.strip_prefix(name)?.into() };
            Some(value)
        };
        args.link.iter().zip(next).filter_map(of).collect::<Vec<String>>()
    };
    let folders = values("-L");
    let mut files: Vec<PathBuf> = args.inputs.iter().filter(|i| !i.source).map(|i| i.path.clone()).collect();
    for library in values("-l") {
        let names = match library.strip_prefix(':') {
            Some(name) => vec![name.to_owned()],
            None => vec![format!("lib{library}.so"), format!("lib{library}.a")],
        };
        let places = folders.iter().flat_map(|folder| names.iter().map(move |name| Path::new(folder).join(name)));
        files.extend(places.filter(|path| path.is_file()));
    }
    files
}

fn holds(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|window| window == text)
}
