//! How commands are run, shown or only printed.

use std::ffi::OsString;
use std::io::{IsTerminal as _, Write as _};
use std::process::{Child, Command, Stdio};

use regrain_frontend::clang::death;
use regrain_frontend::crash::without_crash;
use regrain_frontend::own_tools;

use crate::error::{Error, Result};

/// What the user wants to see of commands.
#[derive(Clone, Copy, Debug, Default)]
pub struct Commands {
    /// `-v`: they are shown.
    pub verbose: bool,
    /// `-###`: they are shown and not run.
    pub dry_run: bool,
    /// They are shown as nvcc shows its own.
    pub as_nvcc: bool,
}

impl Commands {
    /// Runs a command whose standard error is the user's.
    ///
    /// # Errors
    /// It cannot be started, or fails; then it has said why.
    pub fn run(self, command: &mut Command) -> Result<()> {
        if self.announce(command) { Ok(()) } else { Running::start(command)?.finish() }
    }

    /// The same of clang, which says itself what it runs for it: that is what tools read (CMake the directories of the linker and
    /// the chip). With `-###` it does no more than that.
    ///
    /// # Errors
    /// It cannot be started, or fails; then it has said why.
    pub fn run_clang(self, command: &mut Command) -> Result<()> {
        self.start_clang(command)?.finish()
    }

    /// Starts clang, and does not wait for it.
    ///
    /// # Errors
    /// It cannot be started.
    pub(crate) fn start_clang(self, command: &mut Command) -> Result<Running> {
        self.announce(command);
        self.ask(command);
        Running::start(command)
    }

    /// Has clang say what it runs where the user wants to see that.
    pub(crate) fn ask(self, command: &mut Command) {
        if self.dry_run {
            command.arg("-###");
        } else if self.verbose {
            command.arg("-v");
        }
    }

    /// Shows a command that is about to be run; `true` when it must not be.
    pub fn announce(self, command: &Command) -> bool {
        if self.verbose || self.dry_run {
            eprintln!("{}{}", if self.as_nvcc { "#$" } else { "" }, quoted(command));
        }
        self.dry_run
    }
}

fn is_clang(command: &Command) -> bool {
    own_tools::is_clang(command) || command.get_program().to_string_lossy().contains("clang")
}

/// A command that runs. Whoever loses interest in it ends it.
pub(crate) struct Running {
    program: OsString,
    /// None once it has ended.
    child: Option<Child>,
}

impl Running {
    fn start(command: &mut Command) -> Result<Self> {
        let program = command.get_program().to_owned();
        if std::io::stderr().is_terminal() && is_clang(command) {
            command.arg("-fcolor-diagnostics");
        }
        // Only standard error is ours to look at.
        let child = command.stderr(Stdio::piped()).spawn().map_err(Error::io("run", program.as_ref()))?;
        Ok(Self { program, child: Some(child) })
    }

    /// Waits for it, and says what it said.
    ///
    /// # Errors
    /// It failed; then it has said why.
    pub(crate) fn finish(mut self) -> Result<()> {
        let Some(child) = self.child.take() else { return Ok(()) };
        let output = child.wait_with_output().map_err(Error::io("run", self.program.as_ref()))?;
        let said = without_crash(&String::from_utf8_lossy(&output.stderr));
        if output.status.success() {
            // Nobody may be listening any more.
            let _ = std::io::stderr().write_all(said.as_bytes());
            return Ok(());
        }
        // A program that was killed has said nothing.
        let killed = death(&output.status)
            .map_or(String::new(), |how| format!("regrain: error: '{}' {how}\n", self.program.to_string_lossy()));
        let stderr = said + &killed;
        Err(regrain_frontend::Error::Rejected { stderr }.into())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A command line as `-###` prints it.
fn quoted(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| format!(" \"{}\"", word.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\""))).collect()
}
