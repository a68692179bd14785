//! The closed list of reasons why a launch cannot become a kernel of its own.

mlir_bridge::reasons! {
    /// Why a launch cannot become a kernel of its own.
    pub enum Refusal {
        NoKernel => "its kernel is not declared",
        Clusters => "its kernel asks for clusters of blocks",
        LaunchBounds => "its kernel's launch bounds forbid blocks of this shape",
        Loops => "its loops do not run over the whole launch",
        HostValue => "it uses a value that the host alone has",
        Arguments => "it asks for an argument that its kernel does not have",
        SharedMemory => "its blocks would take more static shared memory than a block may have unasked",
        Parameters => "its kernel would have more bytes of parameters than a kernel may have",
    }
}
