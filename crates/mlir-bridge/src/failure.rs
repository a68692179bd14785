//! Why a pass failed.

/// Why a pass failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PassError {
    /// A diagnostic was emitted already.
    Reported,
    /// To be emitted as an error at the operation the pass runs on.
    Message(String),
}

/// What a pass gives back.
pub type PassResult = Result<(), PassError>;

impl From<String> for PassError {
    fn from(message: String) -> Self {
        Self::Message(message)
    }
}

impl From<&str> for PassError {
    fn from(message: &str) -> Self {
        Self::Message(message.to_owned())
    }
}
