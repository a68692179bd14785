//! nvcc's dialect: what its users may write and clang alone does not take.
//!
//! Most of it is headers of ours (`include/`), which every CUDA source gets behind clang's wrapper of NVIDIA's headers:
//! `min` and `max` of mixed types on both sides, the headers of the C library that nvcc's `cuda_runtime.h` includes, all
//! loads and stores with cache hints, nvcc's atomic functions. They are system headers: they give no warnings, `-MMD`
//! leaves them out, and what a source does wrong is reported where the source does it.
//!
//! `__NVCC__` is not among the macros. Sources ask it which compiler's command line, pragmas and bugs they have to do with
//! (CMake, Kokkos, Eigen, NVIDIA's own libraries do), and clang's are what they meet here. A driver that takes nvcc's
//! command line defines it itself; NVIDIA's headers are kept from it then (`include/nv` and its neighbours).

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::unit::TranslationUnit;

/// The header that is included in front of every CUDA source.
const HEADER: &str = "__regrain_nvcc.h";

/// Options with which clang leaves out its wrapper of CUDA's headers, on which ours stands.
const WITHOUT_HEADERS: &[&str] = &["-nocudainc", "-nogpuinc"];

/// What clang is told of every CUDA source, in front of the user's own options.
///
/// # Errors
/// Our headers are not there.
pub fn options(unit: &TranslationUnit) -> Result<Vec<OsString>, Error> {
    // The word was dropped from the language, not from sources.
    let mut options: Vec<OsString> = vec!["-Wno-register".into()];
    if unit.options.iter().any(|option| WITHOUT_HEADERS.iter().any(|name| option == name)) {
        return Ok(options);
    }
    let mut version = unit.cuda_version.split('.');
    for name in ["MAJOR", "MINOR", "BUILD"] {
        options.push(format!("-D__CUDACC_VER_{name}__={}", version.next().unwrap_or("0")).into());
    }
    if unit.relocatable {
        options.push("-D__CUDACC_RDC__=1".into());
    }
    options.extend(["-isystem".into(), headers()?.into_os_string()]);
    // CUDA 13 keeps Thrust, CUB and libcu++ apart, where nvcc looks without being told.
    let libraries = unit.cuda_path.join("include/cccl");
    if libraries.is_dir() {
        options.extend(["-isystem".into(), libraries.into_os_string()]);
    }
    options.extend(["-include".into(), HEADER.into()]);
    Ok(options)
}

/// The folder of our headers: beside the executable, in an installation, or in the tree that this was built from.
fn headers() -> Result<PathBuf, Error> {
    let executable = std::env::current_exe().ok().and_then(|path| path.canonicalize().ok());
    let folder = executable.as_deref().and_then(Path::parent).unwrap_or(Path::new("."));
    let places = [
        folder.join("include"),
        folder.join("../lib/regrain/include"),
        Path::new(env!("CARGO_MANIFEST_DIR")).join("include"),
    ];
    places.iter().find(|place| place.join(HEADER).is_file()).cloned().ok_or_else(|| {
        let looked: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
        Error::User(format!("cannot find our header '{HEADER}' (looked in {})", looked.join(", ")))
    })
}
