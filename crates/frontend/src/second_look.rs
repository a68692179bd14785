//! What clang is told once more after it has rejected a source that nvcc may take.
//!
//! In this order, each only where the source has it: brackets of launches are closed up (`launch_tokens`), and `__NVCC__` is
//! defined where a file of the user's asks for it. Sources that clang takes as they are never come here: they are compiled once,
//! and see no `__NVCC__`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::clang::{Clang, TranslationUnit};
use crate::error::Error;
use crate::launch_tokens;

/// What has been conceded to one source so far.
#[derive(Default)]
pub struct Concessions {
    /// Files that clang reads otherwise, and where their text is.
    files: Vec<(PathBuf, PathBuf)>,
    /// Whether `__NVCC__` is defined.
    names_nvcc: bool,
}

impl Concessions {
    /// Options for all commands that compile the source.
    ///
    /// # Errors
    /// The overlay cannot be written.
    pub fn options(&self, scratch: &Path) -> Result<Vec<OsString>, Error> {
        let mut options = Vec::new();
        if !self.files.is_empty() {
            let path = scratch.join("overlay.yaml");
            write(&path, &launch_tokens::overlay(&self.files))?;
            options.extend(["-ivfsoverlay".into(), path.into_os_string()]);
        }
        if self.names_nvcc {
            options.push("-D__NVCC__=1".into());
        }
        Ok(options)
    }

    /// Concedes to a source that was rejected with `stderr` what has not been conceded yet. `false`: there is nothing left.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn concede(
        &mut self,
        clang: &Clang,
        unit: &TranslationUnit,
        scratch: &Path,
        stderr: &str,
    ) -> Result<bool, Error> {
        if self.names_nvcc {
            return Ok(false);
        }
        let before = self.files.len();
        for file in launch_tokens::files_with_errors(stderr) {
            if self.files.iter().any(|(known, _)| *known == file) {
                continue;
            }
            let text = std::fs::read(&file).ok().and_then(|bytes| String::from_utf8(bytes).ok());
            let Some(closed) = text.as_deref().and_then(launch_tokens::close_up) else { continue };
            let path = scratch.join(format!("closed-{}", self.files.len()));
            write(&path, &closed)?;
            self.files.push((file, path));
        }
        if self.files.len() > before {
            return Ok(true);
        }
        self.names_nvcc = asks_for_nvcc(clang, unit)?;
        Ok(self.names_nvcc)
    }

    /// Whether `__NVCC__` was the last that could be conceded: what clang says then is of a source that its user did not write.
    pub fn is_last(&self) -> bool {
        self.names_nvcc
    }
}

/// Whether a file of the user's names `__NVCC__`.
fn asks_for_nvcc(clang: &Clang, unit: &TranslationUnit) -> Result<bool, Error> {
    let mut command = clang.cuda_command(unit)?;
    command.args(["--cuda-host-only", "-MM"]).arg(&unit.input);
    let Ok(output) = command.output() else { return Ok(false) };
    let rule = String::from_utf8_lossy(&output.stdout).replace("\\\n", " ");
    let files = rule.split_once(": ").map_or("", |(_, files)| files).split_whitespace();
    let names =
        |file: &str| std::fs::read(file).is_ok_and(|bytes| bytes.windows(8).any(|window| window == b"__NVCC__"));
    Ok(files.into_iter().any(names))
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    std::fs::write(path, text).map_err(|source| Error::Io { path: path.display().to_string(), source })
}
