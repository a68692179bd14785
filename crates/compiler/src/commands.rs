//! How commands are run, shown or only printed.

use std::process::Command;

use crate::error::{Error, Result};

/// What the user wants to see of commands.
#[derive(Clone, Copy, Debug, Default)]
pub struct Commands {
    /// `-v`: they are shown.
    pub verbose: bool,
    /// `-###`: they are shown and not run.
    pub dry_run: bool,
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
            eprintln!("{}", quoted(command));
        }
        self.dry_run
    }
}

fn start(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_owned();
    let status = command.status().map_err(Error::io("run", program.as_ref()))?;
    if status.success() {
        return Ok(());
    }
    // A program that was killed has said nothing.
    let stderr = regrain_frontend::clang::death(&status)
        .map_or(String::new(), |how| format!("regrain: error: '{}' {how}\n", program.to_string_lossy()));
    Err(regrain_frontend::Error::Rejected { stderr }.into())
}

/// A command line as `-###` prints it.
fn quoted(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| format!(" \"{}\"", word.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\""))).collect()
}
