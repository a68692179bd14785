//! What can go wrong while a source is compiled, sorted by whose it is.

use std::path::{Path, PathBuf};

/// An error of the compiler.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Of the front end; among them what clang has already said.
    #[error(transparent)]
    Frontend(#[from] regrain_frontend::Error),
    /// Of a target.
    #[error(transparent)]
    Target(#[from] regrain_targets::Error),
    /// A tuning database that cannot be read.
    #[error(transparent)]
    Database(#[from] regrain_tuning::database::Error),
    /// A calibration that cannot be read.
    #[error(transparent)]
    Calibration(#[from] regrain_tuning::calibration::Error),
    /// What the user asks for cannot be done.
    #[error("{0}")]
    User(String),
    /// Reading or writing a file, or starting a program, failed.
    #[error("cannot {doing} '{}': {cause}", path.display())]
    Io {
        /// As in `read`.
        doing: &'static str,
        /// The file or program.
        path: PathBuf,
        /// The system's answer.
        cause: std::io::Error,
    },
    /// A defect of ours.
    #[error("internal error: {0}")]
    Internal(String),
}

/// What most functions here give.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// For `map_err`: what was being done with which file.
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |cause| Self::Io { doing, path, cause }
    }

    /// A defect of ours.
    pub(crate) fn internal(what: impl Into<String>) -> Self {
        Self::Internal(what.into())
    }
}
