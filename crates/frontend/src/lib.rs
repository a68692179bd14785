//! The front end: clang, driven for both sides of a `.cu` file.
//!
//! We do not walk the AST. clang's own code generation gives the LLVM IR of host and device, so every C++ feature
//! that clang knows works here; see [`clang`]. What happens to the host side afterwards is in [`host`].

pub mod clang;
pub mod clean;
pub mod dispatch;
pub mod host;
pub mod launches;
pub mod private_names;
pub mod specialise;

pub use clang::{Clang, Side, TranslationUnit};

/// An error of the front end.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// clang refused the program; its diagnostics are in `stderr`, already located.
    #[error("clang failed")]
    Rejected {
        /// What clang printed.
        stderr: String,
    },
    /// The user's setup is wrong.
    #[error("{0}")]
    User(String),
    /// A defect of ours.
    #[error("internal error while {doing}: {message}")]
    Internal {
        /// What was being done.
        doing: String,
        /// What went wrong.
        message: String,
    },
    /// Reading or writing a file, or starting a program, failed.
    #[error("{path}: {source}")]
    Io {
        /// The file or program.
        path: String,
        /// The system's answer.
        source: std::io::Error,
    },
}
