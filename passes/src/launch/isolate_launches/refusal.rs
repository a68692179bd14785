//! The closed list of reasons why a launch cannot become a kernel of its own.

/// Why a launch cannot become a kernel of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    NoKernel,
    Clusters,
    LaunchBounds,
    Loops,
    HostValue,
    SharedMemory,
    Parameters,
}

/// All reasons.
pub const REFUSALS: &[Refusal] = &[
    Refusal::NoKernel,
    Refusal::Clusters,
    Refusal::LaunchBounds,
    Refusal::Loops,
    Refusal::HostValue,
    Refusal::SharedMemory,
    Refusal::Parameters,
];

impl Refusal {
    /// The reason as remarks give it.
    pub fn text(self) -> &'static str {
        match self {
            Self::NoKernel => "its kernel is not declared",
            Self::Clusters => "its kernel asks for clusters of blocks",
            Self::LaunchBounds => "its kernel's launch bounds forbid blocks of this shape",
            Self::Loops => "its loops do not run over the whole launch",
            Self::HostValue => "it uses a value that the host alone has",
            Self::Parameters => "its kernel would have more bytes of parameters than a kernel may have",
            Self::SharedMemory => "its blocks would take more static shared memory than a block may have unasked",
        }
    }
}
