//! How commands are run, shown or only printed.

use std::io::{IsTerminal as _, Write as _};
use std::process::{Command, Stdio};

use regrain_frontend::clang::death;
use regrain_frontend::crash::without_crash;

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
        if self.announce(command) { Ok(()) } else { start(command) }
    }

    /// The same of clang, which says itself what it runs for it: that is what tools read (CMake the directories of the linker and
    /// the chip). With `-###` it does no more than that.
    ///
    /// # Errors
    /// It cannot be started, or fails; then it has said why.
    pub fn run_clang(self, command: &mut Command) -> Result<()> {
        self.announce(command);
        self.ask(command);
        start(command)
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

fn start(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_owned();
    if std::io::stderr().is_terminal() && program.to_string_lossy().contains("clang") {
        command.arg("-fcolor-diagnostics");
    }
    // Only standard error is ours to look at.
    let child = command.stderr(Stdio::piped()).spawn().map_err(Error::io("run", program.as_ref()))?;
    let output = child.wait_with_output().map_err(Error::io("run", program.as_ref()))?;
    let said = without_crash(&String::from_utf8_lossy(&output.stderr));
    if output.status.success() {
        // Nobody may be listening any more.
        let _ = std::io::stderr().write_all(said.as_bytes());
        return Ok(());
    }
    // A program that was killed has said nothing.
    let killed = death(&output.status)
        .map_or(String::new(), |how| format!("regrain: error: '{}' {how}\n", program.to_string_lossy()));
    let stderr = said + &killed;
    Err(regrain_frontend::Error::Rejected { stderr }.into())
}

/// A command line as `-###` prints it.
fn quoted(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| format!(" \"{}\"", word.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\""))).collect()
}
