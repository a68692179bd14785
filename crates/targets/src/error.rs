//! What can go wrong while a target makes code.

use std::fmt;

/// An error of a target, sorted by whose it is.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The program asks for something that the target has not.
    #[error("{0}")]
    Unsupported(Unsupported),
    /// The program is wrong at a place that is known.
    #[error("{place}: error: {what}")]
    Located {
        /// A source file, with the line where that is known.
        place: String,
        /// What is wrong.
        what: String,
    },
    /// The user's setup or request is wrong (no toolkit, unknown architecture, ...).
    #[error("{0}")]
    User(String),
    /// A tool that we run failed.
    #[error("{tool} failed: {message}")]
    Tool {
        /// The tool's name, as in `ptxas`.
        tool: String,
        /// What it printed.
        message: String,
    },
    /// A defect of ours.
    #[error("internal error while {doing}: {message}")]
    Internal {
        /// What was being done.
        doing: String,
        /// What went wrong.
        message: String,
    },
    /// Reading or writing a file failed.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// The system's answer.
        source: std::io::Error,
    },
}

impl Error {
    /// A defect of ours, met while `doing`.
    pub fn internal(doing: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Internal { doing: doing.into(), message: message.into() }
    }
}

/// A construct that the target cannot express, with where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// The device function that holds it (mangled).
    pub function: String,
    /// Source file and line, where known.
    pub location: Option<(String, u32)>,
    /// What it is.
    pub what: String,
}

impl Unsupported {
    /// A warning that says what comes of it.
    pub fn warning(&self, outcome: &str) -> String {
        format!("{}warning: {} in '{}'; {outcome}", self.place(), self.what, self.function)
    }

    fn place(&self) -> String {
        self.location.as_ref().map_or(String::new(), |(file, line)| format!("{file}:{line}: "))
    }
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}error: {} in '{}'", self.place(), self.what, self.function)
    }
}
