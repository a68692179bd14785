//! CUDA's other libraries where they are not there: cuRAND's functions for the host are compiled with the toolkit's headers and linked with
//! the program.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::session::Session;

const CURAND: &str = include_str!("curand.cpp");

/// cuRAND among the libraries of a link, and as files.
pub const CURAND_NAMES: &[&str] = &["-lcurand", "-lcurand_static"];
/// See [`CURAND_NAMES`].
pub const CURAND_FILES: &[&str] = &["libcurand.so", "libcurand_static.a"];

/// Whether cuRAND's own library runs the program: it is there, and code for the GPUs that it needs.
fn has_curand(session: &Session) -> bool {
    let folder = session.toolchain().ok().and_then(|toolchain| toolchain.toolkit.lib_dir.clone());
    let is_there = folder.is_some_and(|folder| CURAND_FILES.iter().any(|name| folder.join(name).exists()));
    is_there && session.archs.iter().any(|arch| arch.target.has_own_runtime())
}

/// The object that stands for cuRAND, if the program asks for it (`asks`) and cannot have it otherwise.
///
/// # Errors
/// The toolkit has no header of cuRAND.
pub fn curand(session: &Session, asks: impl Fn(&OsString) -> bool) -> Result<Option<PathBuf>> {
    if !session.args.link.iter().any(asks) || has_curand(session) {
        return Ok(None);
    }
    let (source, object) = (session.scratch("curand.cpp"), session.scratch("curand.o"));
    std::fs::write(&source, CURAND).with_context(|| format!("cannot write '{}'", source.display()))?;
    let mut command = Command::new(session.clang.path());
    command.args(["-x", "c++", "-std=c++17", "-O2", "-fPIC", "-w", "-isystem"]);
    command.arg(&session.toolchain()?.toolkit.include).arg("-c").arg(&source).arg("-o").arg(&object);
    session.run(&mut command)?;
    if session.args.dry_run {
        std::fs::write(&object, "").with_context(|| format!("cannot write '{}'", object.display()))?;
    }
    Ok(Some(object))
}
