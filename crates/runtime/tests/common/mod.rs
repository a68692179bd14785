//! Links a C++ program of `tests/programs` against the static library, with clang as a user's build does.

use std::path::{Path, PathBuf};
use std::process::Command;

#[allow(dead_code, reason = "not every test runs programs against a stand-in")]
pub mod run;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("workspace root")
}

/// The folder of CUDA's headers.
pub fn cuda_include() -> PathBuf {
    std::env::var_os("CUDA_PATH").map_or_else(|| root().join(".toolchain/cuda"), PathBuf::from).join("include")
}

/// The static library of this test's own build: the newest in `deps`, as `cargo test` does not copy it up to where
/// `cargo build` does.
#[allow(dead_code, reason = "for the stand-in that holds it")]
pub fn library() -> PathBuf {
    let exe = std::env::current_exe().expect("path of the test");
    let deps = exe.parent().expect("target folder").read_dir().expect("readable target folder");
    let archives = deps.filter_map(|entry| {
        let entry = entry.ok()?;
        let name = entry.file_name().into_string().ok()?;
        (name.starts_with("libregrain_rt") && name.ends_with(".a"))
            .then_some((entry.metadata().ok()?.modified().ok()?, entry.path()))
    });
    archives.max().expect("the static library is built with the tests").1
}

/// Builds a program of `tests/programs`.
pub fn build(name: &str) -> PathBuf {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("regrain-rt-{name}"));
    let done = Command::new("/usr/lib/llvm-22/bin/clang++")
        .args(["-O1", "-std=c++17", "-x", "c++"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/programs/{name}.cpp")))
        .args(["-x", "none"])
        .arg(library())
        .arg("-I")
        .arg(cuda_include())
        .args(["-lpthread", "-ldl", "-lm", "-o"])
        .arg(&out)
        .output()
        .expect("clang++ runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    out
}
