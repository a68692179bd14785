//! Objects to code objects by lld, which lays out sections and resolves relocations.

use std::path::Path;
use std::process::Command;

use crate::Error;

/// Links one object of AMDGPU's to a code object.
pub(super) fn code_object(object: &[u8], lld: &Path) -> Result<Vec<u8>, Error> {
    let in_dir = |path: &Path, source| Error::Io { path: path.display().to_string(), source };
    let dir = tempfile::Builder::new()
        .prefix("regrain-lld-")
        .tempdir()
        .map_err(|source| in_dir(&std::env::temp_dir(), source))?;
    let (input, made) = (dir.path().join("kernels.o"), dir.path().join("kernels.hsaco"));
    std::fs::write(&input, object).map_err(|source| in_dir(&input, source))?;
    let output = Command::new(lld)
        .args(["-m", "elf64_amdgpu", "--no-undefined", "-shared", "-o"])
        .args([&made, &input])
        .output()
        .map_err(|source| in_dir(lld, source))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().replace(&input.display().to_string(), "device code");
        return Err(Error::Tool { tool: "lld".into(), message: said });
    }
    std::fs::read(&made).map_err(|source| in_dir(&made, source))
}
