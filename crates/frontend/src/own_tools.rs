//! Our own executable as clang and as ld.lld.
//!
//! The installed ones take longer to load their libraries than to compile a short source. An executable of ours that has all of LLVM in itself is told
//! by a variable what it is to be. It takes what clang takes for a compilation, no more (`mlir-bridge/cpp/clang.cpp`).

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use mlir_bridge::tool;

/// What our own executable is to be.
const ROLE: &str = "REGRAIN_ROLE";

/// A tool that our own executable can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// `clang`
    Clang,
    /// `ld.lld`
    Lld,
}

impl Tool {
    fn name(self) -> &'static str {
        match self {
            Self::Clang => "clang",
            Self::Lld => "ld.lld",
        }
    }

    /// `executable`, which is ours, in place of the installed tool at `path`.
    pub fn command(self, executable: &Path, path: &Path) -> Command {
        let mut command = Command::new(executable);
        // clang finds its headers from where it lies.
        command.arg0(path).env(ROLE, self.name());
        command
    }
}

/// Whether it is our own executable as clang.
pub fn is_clang(command: &Command) -> bool {
    is_role(command, Tool::Clang)
}

fn is_role(command: &Command, tool: Tool) -> bool {
    command.get_envs().any(|(name, value)| name == ROLE && value == Some(OsStr::new(tool.name())))
}

/// Does what a command of our own `ld.lld` is for in this process: to start another one takes longer than to join two objects. `None` for other commands;
/// else whether it succeeded, if not it has said why.
pub fn link_here(command: &Command) -> Option<bool> {
    // lld has one state for all of a process.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    if !is_role(command, Tool::Lld) {
        return None;
    }
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let words = std::iter::once(OsStr::new(Tool::Lld.name())).chain(command.get_args());
    Some(tool::lld_main(words.map(OsStr::to_owned).collect()) == 0)
}

/// Does what the tool does that this process is to be, if any; gives its exit code.
pub fn play() -> Option<i32> {
    let role = std::env::var_os(ROLE)?;
    let arguments: Vec<OsString> = std::env::args_os().collect();
    match role.to_str() {
        Some("clang") => Some(tool::clang_main(arguments)),
        Some("ld.lld") => Some(tool::lld_main(arguments)),
        _ => None,
    }
}

/// What options have in them that only the installed clang takes: code that it loads, what its own main function measures, other backends.
const INSTALLED_ONLY: [&str; 6] = ["plugin", "-load", "-mllvm", "-ftime-", "-target", "--driver-mode"];

/// Whether the installed clang alone does what variables ask it for.
const VARIABLES: [&str; 5] =
    ["CCC_OVERRIDE_OPTIONS", "CC_PRINT_OPTIONS", "CC_PRINT_HEADERS", "CC_LOG_DIAGNOSTICS", "CC_PRINT_PROC_STAT"];

/// Whether we can be clang for these options.
pub fn takes(options: &[OsString]) -> bool {
    let is_plain = |option: &OsString| {
        let text = option.to_string_lossy();
        !text.starts_with('@') && !INSTALLED_ONLY.iter().any(|part| text.contains(part))
    };
    options.iter().all(is_plain) && VARIABLES.iter().all(|name| std::env::var_os(name).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_installed_clang_alone_can_do_is_left_to_it() {
        let takes = |options: &[&str]| super::takes(&options.iter().map(OsString::from).collect::<Vec<_>>());
        assert!(takes(&["-O3", "-march=native", "-c", "a.c"]));
        for option in ["-fpass-plugin=a.so", "-fplugin=a.so", "@file", "--target=riscv64-linux", "-ftime-trace"] {
            assert!(!takes(&["-O3", option]), "{option}");
        }
    }
}
