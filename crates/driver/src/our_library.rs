//! Where the libraries of ours are that programs are linked with.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// The library `name`, which is `what`: in `REGRAIN_LIB_DIR` where that is set, else beside the executable, in `../lib` of an
/// installation, or where this executable was built.
pub(crate) fn library(what: &str, name: &str) -> Result<PathBuf> {
    let folders = match std::env::var_os("REGRAIN_LIB_DIR").filter(|folder| !folder.is_empty()) {
        Some(folder) => vec![PathBuf::from(folder)],
        None => {
            let executable = std::env::current_exe().context("cannot find my own executable")?;
            let executable = executable.canonicalize().unwrap_or(executable);
            let folder = executable.parent().unwrap_or(Path::new("."));
            vec![folder.to_path_buf(), folder.join("../lib"), PathBuf::from(env!("REGRAIN_BUILD_DIR"))]
        }
    };
    match folders.iter().map(|folder| folder.join(name)).find(|path| path.exists()) {
        Some(path) => Ok(path),
        None => {
            let looked: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
            bail!("cannot find the {what} '{name}' (looked in {}); set REGRAIN_LIB_DIR", looked.join(", "))
        }
    }
}
