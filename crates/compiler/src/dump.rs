//! `-fregrain-dump-ir=DIR`: one readable file per stage, numbered in the order in which the stages ran.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use inkwell::module::Module;

use crate::error::{Error, Result};

/// Where the stages of one source go.
pub struct Dump {
    folder: Option<PathBuf>,
    stem: String,
    next: Cell<u32>,
}

impl Dump {
    /// Dumps below `folder`, which is made if it is missing; nothing at all without one.
    pub fn new(folder: Option<&Path>, stem: &str) -> Result<Self> {
        if let Some(folder) = folder {
            std::fs::create_dir_all(folder).map_err(Error::io("make", folder))?;
        }
        Ok(Self { folder: folder.map(Path::to_path_buf), stem: stem.to_owned(), next: Cell::new(1) })
    }

    /// Whether anything is written.
    pub fn is_on(&self) -> bool {
        self.folder.is_some()
    }

    /// Writes LLVM IR.
    pub fn llvm(&self, stage: &str, module: &Module<'_>) -> Result<()> {
        let Some(path) = self.path(stage, "ll") else { return Ok(()) };
        module.print_to_file(&path).map_err(|e| Error::Io {
            doing: "write",
            path,
            cause: std::io::Error::other(e.to_string()),
        })
    }

    /// Writes text of any kind, such as MLIR or PTX.
    pub fn text(&self, stage: &str, extension: &str, text: &str) -> Result<()> {
        let Some(path) = self.path(stage, extension) else { return Ok(()) };
        std::fs::write(&path, text).map_err(Error::io("write", &path))
    }

    fn path(&self, stage: &str, extension: &str) -> Option<PathBuf> {
        let folder = self.folder.as_ref()?;
        let number = self.next.replace(self.next.get() + 1);
        Some(folder.join(format!("{}.{number}-{stage}.{extension}", self.stem)))
    }
}
