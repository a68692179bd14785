//! Breakpoints in the processes of a command.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use nix::errno::Errno;
use nix::sys::ptrace::{self, Event, Options};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use object::{Object as _, ObjectSection as _, ObjectSymbol as _, SymbolKind};

/// `int3`.
const BREAKPOINT: u8 = 0xcc;

/// The functions of an executable that a command calls, by name, in the order of their first calls.
///
/// # Errors
/// There is no such executable, the command fails, or this process must not trace others.
pub fn called(executable: &Path, command: &[OsString]) -> Result<Vec<String>> {
    let mut code = Code::read(executable).with_context(|| format!("cannot read '{}'", executable.display()))?;
    // It waits for us, and is the command then.
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "kill -STOP $$; exec \"$@\"", "sh"]).args(command);
    let first = Pid::from_raw(shell.spawn().context("cannot run '/bin/sh'")?.id().try_into()?);
    waitpid(first, Some(WaitPidFlag::WUNTRACED))?;
    let children = Options::PTRACE_O_TRACEFORK | Options::PTRACE_O_TRACEVFORK | Options::PTRACE_O_TRACECLONE;
    let options = children | Options::PTRACE_O_TRACEEXEC | Options::PTRACE_O_EXITKILL;
    ptrace::seize(first, options).context("cannot trace another process")?;
    kill(first, Signal::SIGCONT)?;
    let mut outcome = None;
    loop {
        match waitpid(None, Some(WaitPidFlag::__WALL)) {
            Ok(WaitStatus::Stopped(thread, Signal::SIGTRAP)) => {
                let is_ours = code.passed(thread)?;
                go_on(thread, (!is_ours).then_some(Signal::SIGTRAP))?;
            }
            Ok(WaitStatus::Stopped(thread, signal)) => go_on(thread, Some(signal))?,
            Ok(WaitStatus::PtraceEvent(thread, _, event)) => {
                if event == Event::PTRACE_EVENT_EXEC as i32 {
                    code.begin(thread)?;
                }
                go_on(thread, None)?;
            }
            Ok(WaitStatus::Exited(thread, status)) if thread == first => outcome = Some(status),
            Ok(_) => {}
            // All have ended.
            Err(Errno::ECHILD) => break,
            Err(error) => return Err(error.into()),
        }
    }
    if outcome != Some(0) {
        bail!("the command failed");
    }
    Ok(code.called)
}

/// Lets a thread go on, if it is there yet.
fn go_on(thread: Pid, signal: Option<Signal>) -> Result<()> {
    match ptrace::cont(thread, signal) {
        Ok(()) | Err(Errno::ESRCH) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The code of an executable.
struct Code {
    executable: PathBuf,
    /// Where it begins.
    address: u64,
    bytes: Vec<u8>,
    /// The same with breakpoints where nobody has been.
    broken: Vec<u8>,
    /// What begins where.
    functions: HashMap<u64, String>,
    called: Vec<String>,
}

impl Code {
    fn read(executable: &Path) -> Result<Self> {
        let executable = executable.canonicalize()?;
        let data = std::fs::read(&executable)?;
        let file = object::File::parse(&*data)?;
        if file.kind() != object::ObjectKind::Executable {
            bail!("it is not at fixed addresses");
        }
        let text = file.section_by_name(".text").context("it has no code")?;
        let (address, bytes) = (text.address(), text.data()?.to_vec());
        let mut functions = HashMap::new();
        let mut broken = bytes.clone();
        for symbol in file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0) {
            let at = symbol.address().checked_sub(address).and_then(|at| usize::try_from(at).ok());
            let Some(byte) = at.and_then(|at| broken.get_mut(at)) else { continue };
            *byte = BREAKPOINT;
            functions.entry(symbol.address()).or_insert_with(|| symbol.name().unwrap_or_default().to_owned());
        }
        if functions.is_empty() {
            bail!("it has no symbols");
        }
        Ok(Self { executable, address, bytes, broken, functions, called: Vec::new() })
    }

    /// Puts breakpoints into a process that has begun to run something.
    fn begin(&self, process: Pid) -> Result<()> {
        match std::fs::read_link(format!("/proc/{process}/exe")) {
            Ok(running) if running == self.executable => Ok(memory(process)?.write_all_at(&self.broken, self.address)?),
            _ => Ok(()),
        }
    }

    /// Whether it was a breakpoint of ours that a thread came to; it is gone then.
    fn passed(&mut self, thread: Pid) -> Result<bool> {
        let mut registers = ptrace::getregs(thread)?;
        let place = registers.rip.wrapping_sub(1);
        let Some(name) = self.functions.get(&place) else { return Ok(false) };
        let at = usize::try_from(place - self.address)?;
        memory(thread)?.write_all_at(&self.bytes[at..=at], place)?;
        registers.rip = place;
        ptrace::setregs(thread, registers)?;
        if self.broken[at] != self.bytes[at] {
            self.broken[at] = self.bytes[at];
            self.called.push(name.clone());
        }
        Ok(true)
    }
}

fn memory(process: Pid) -> Result<File> {
    Ok(OpenOptions::new().write(true).open(format!("/proc/{process}/mem"))?)
}
