//! Links a C++ program that calls the profiler, on a fake device, as the driver links a user's program.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The static library of this test's own build: the newest in `deps`, as `cargo test` does not copy it up.
fn library() -> PathBuf {
    let exe = std::env::current_exe().expect("path of the test");
    let deps = exe.parent().expect("target folder").read_dir().expect("readable target folder");
    let archives = deps.filter_map(|entry| {
        let entry = entry.ok()?;
        let name = entry.file_name().into_string().ok()?;
        (name.starts_with("libregrain_profiler") && name.ends_with(".a"))
            .then_some((entry.metadata().ok()?.modified().ok()?, entry.path()))
    });
    archives.max().expect("the static library is built with the tests").1
}

/// Links the program `source` of `tests/programs` as `name`.
pub fn build(source: &str, name: &str, options: &[&str]) -> PathBuf {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("regrain-profiled-{name}"));
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let done = Command::new("/usr/lib/llvm-22/bin/clang++")
        .args(["-O1", "-std=c++17", "-fuse-ld=lld"])
        .args(options)
        .args([sources.join(source), sources.join("reset.cpp")])
        .arg(library())
        .args(["-lpthread", "-ldl", "-lm", "-o"])
        .arg(&out)
        .output()
        .expect("clang++ runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    out
}
