//! One run of a tool in folders of its own, and what may not come of it.

use std::fs::File;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::tools::tool;

/// A command line.
pub struct Case {
    /// One of our tools.
    pub tool: &'static str,
    /// Its arguments; files are in the folder that it runs in.
    pub arguments: Vec<String>,
    /// What the tool must have made if it says that all went well.
    pub output: Option<&'static str>,
    /// A command that shows by failing in the same way that it is not ours to answer for: clang, or MLIR's own parser.
    pub blamed: Option<(PathBuf, Vec<String>)>,
}

impl Case {
    /// As one would type it.
    pub fn shown(&self) -> String {
        let quoted: Vec<String> = self.arguments.iter().map(|argument| format!("'{argument}'")).collect();
        format!("{} {}", self.tool, quoted.join(" "))
    }
}

/// Where a case runs: a working folder, a folder for temporary files, and one for what it says.
pub struct Trial(tempfile::TempDir);

const LIMIT: Duration = Duration::from_secs(120);
const FOLDERS: [&str; 4] = ["work", "temporary", "cache", "said"];
const OUR_SIGNS: [&str; 2] = ["panicked at", "internal error"];
const LLVMS_SIGNS: [&str; 4] = ["Assertion `", "Stack dump", "submit a bug report", "stack overflow"];

/// Where what a run says goes: our tool's words are kept, whoever else is asked after it.
const OURS: &str = "said/ours";
const THEIRS: &str = "said/theirs";

/// What the driver says when clang dies of what the user gave it: reading a source, or options.
const CLANG_DIED: [&str; 2] = ["compiling this source", "clang' was killed by signal"];

impl Trial {
    /// Empty folders.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for name in FOLDERS {
            std::fs::create_dir(folder.path().join(name)).expect("a folder");
        }
        Self(folder)
    }

    /// The folder that the tool runs in.
    pub fn work(&self) -> PathBuf {
        self.0.path().join("work")
    }

    /// Writes a file there.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.work().join(name), content).expect("a file");
    }

    /// The status, `None` where it took too long, and all that was said.
    fn run(&self, program: &Path, arguments: &[String], said: &str) -> (Option<ExitStatus>, String) {
        let said = self.0.path().join(said);
        let (out, err) = (File::create(&said).expect("a file"), File::options().append(true).open(&said));
        let mut child = Command::new(program)
            .args(arguments)
            .current_dir(self.work())
            .env("TMPDIR", self.0.path().join("temporary"))
            .env("REGRAIN_CACHE_DIR", self.0.path().join("cache"))
            .env("REGRAIN_TUNING_DB", self.work().join("written.db"))
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(err.expect("a file"))
            .process_group(0)
            .spawn()
            .expect("the tool starts");
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().expect("a child") {
                break Some(status);
            }
            if begun.elapsed() > LIMIT {
                // With all that it has started; the tools end their own children at this signal.
                let group = format!("-{}", child.id());
                let _ = Command::new("kill").args(["-TERM", "--", &group]).status();
                std::thread::sleep(Duration::from_secs(1));
                let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
                let _ = child.wait();
                break None;
            }
            std::thread::sleep(Duration::from_millis(4));
        };
        let said = std::fs::read(&said).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        (status, said.unwrap_or_default())
    }

    fn left_over(&self) -> Option<String> {
        let mut entries = std::fs::read_dir(self.0.path().join("temporary")).ok()?.flatten();
        entries.next().map(|entry| entry.file_name().to_string_lossy().into_owned())
    }

    /// Whether the program that is blamed dies alone too.
    fn is_the_fault_of_another(&self, case: &Case) -> bool {
        case.blamed.as_ref().is_some_and(|(program, arguments)| {
            let (status, said) = self.run(program, arguments, THEIRS);
            let broken = status.is_none_or(|status| status.signal().is_some());
            broken || OUR_SIGNS.iter().chain(&LLVMS_SIGNS).any(|sign| said.contains(sign))
        })
    }

    /// What is wrong with what the case does; if nothing is, whether the tool said that all went well.
    pub fn outcome(&self, case: &Case) -> Result<bool, String> {
        let run = || self.run(&tool(case.tool), &case.arguments, OURS);
        let (mut status, mut said) = run();
        if status.is_none() {
            // A machine that has much else to do may take long; what hangs does so again. What was killed could not clear up.
            let temporary = self.0.path().join("temporary");
            std::fs::remove_dir_all(&temporary).and_then(|()| std::fs::create_dir(&temporary)).expect("a folder");
            (status, said) = run();
        }
        // Where the driver says that clang died of what the user gave it, the signs of that are clang's.
        let llvms = if CLANG_DIED.iter().any(|words| said.contains(words)) { &[][..] } else { &LLVMS_SIGNS[..] };
        let line = |sign: &str| said.lines().find(|line| line.contains(sign)).unwrap_or_default().to_owned();
        let wrong = match status {
            None => Some(format!("not done after {} s", LIMIT.as_secs())),
            Some(status) => {
                if let Some(sign) = OUR_SIGNS.iter().chain(llvms).find(|sign| said.contains(**sign)) {
                    Some(line(sign))
                } else if let Some(signal) = status.signal() {
                    Some(format!("killed by signal {signal}"))
                } else if !status.success() && said.trim().is_empty() {
                    Some(format!("{status} without a word"))
                } else if let Some(left) = self.left_over() {
                    Some(format!("'{left}' is left in the folder for temporary files"))
                } else {
                    let output = case.output.filter(|name| status.success() != self.work().join(name).exists());
                    let there = if status.success() { "not there" } else { "there" };
                    output.map(|output| format!("{status}, and '{output}' is {there}"))
                }
            }
        };
        match wrong {
            Some(why) if !self.is_the_fault_of_another(case) => Err(why),
            Some(_) => Ok(false),
            None => Ok(status.is_some_and(|status| status.success())),
        }
    }

    /// Copies the working folder to the folder of failures, if there is one.
    pub fn keep(&self, name: &str, case: &Case) -> String {
        let Some(folder) = std::env::var_os("REGRAIN_FUZZ_KEEP") else { return String::new() };
        let to = Path::new(&folder).join(name);
        let copied = std::fs::create_dir_all(&to).and_then(|()| {
            std::fs::write(to.join("command"), format!("{}\n", case.shown()))?;
            std::fs::copy(self.0.path().join(OURS), to.join("said"))?;
            for entry in std::fs::read_dir(self.work())?.flatten().filter(|entry| entry.path().is_file()) {
                std::fs::copy(entry.path(), to.join(entry.file_name()))?;
            }
            Ok(())
        });
        copied.map_or_else(|error| format!("\n  not kept: {error}"), |()| format!("\n  kept in {}", to.display()))
    }
}
