//! Runs programs of `tests/programs` against stand-ins for vendors' libraries that record calls.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

/// What a run printed, and what the stand-in recorded.
pub struct Run {
    pub out: String,
    pub err: String,
    pub log: String,
}

impl Run {
    /// Fails unless the program found everything right, said nothing, and called the driver rightly.
    pub fn passes(self) -> Self {
        assert!(self.out.ends_with("passed\n"), "{}\n{}\n{}", self.out, self.err, self.log);
        assert_eq!(self.err, "");
        assert!(!self.log.contains("MISUSE"), "{}", self.log);
        self
    }

    /// Fails unless the log has these lines, in this order, by their ends.
    pub fn records(&self, lines: &[&str]) {
        let mut log = self.log.lines();
        for line in lines {
            assert!(log.any(|entry| entry.contains(line)), "no '{line}' in its place in\n{}", self.log);
        }
    }

    pub fn counts(&self, what: &str) -> usize {
        self.log.lines().filter(|line| line.contains(what)).count()
    }
}

/// Runs a program with an image and the part of the test, and a stand-in, if one is given, that writes the file that
/// the variable `log` names.
pub fn run_part(program: &Path, log: &str, library: Option<&Path>, args: [&str; 2], env: &[(&str, &str)]) -> Run {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{log}-{}-{number}.log", std::process::id()));
    let mut command = Command::new(program);
    command.args(args).env(log, &file).env_remove("LD_LIBRARY_PATH").env_remove("REGRAIN_DEVICE");
    if let Some(library) = library {
        command.env("LD_LIBRARY_PATH", library);
    }
    let Output { stdout, stderr, .. } = command.envs(env.iter().copied()).output().expect("the program runs");
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    let _ = std::fs::remove_file(&file);
    let [out, err] = [stdout, stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Run { out, err, log: text }
}

/// Files in the place of AMD's library that the loader refuses, so that one of the machine's is not found.
pub fn broken_hip(folder: &Path) {
    for name in ["libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"] {
        std::fs::write(folder.join(name), "no library").expect("a file");
    }
}

/// A folder with files in the place of all vendors' libraries that the loader refuses.
pub fn broken_libraries(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("libcuda.so.1"), "no library").expect("a file");
    broken_hip(&folder);
    folder
}
