//! Running `ptxas`: PTX text in, cubin and resource reports out. Its errors come back with what stands in the source
//! (by the PTX's `.loc`) or else in the PTX at the line that it names.

use std::path::Path;
use std::process::Command;

use super::report::{self, Report};
use crate::Error;
use crate::toolkit::{SmArch, Toolkit};

/// How to assemble.
#[derive(Clone, Debug)]
pub struct AssembleOptions {
    /// The chip.
    pub arch: SmArch,
    /// `-O` level of ptxas, 0 to 3.
    pub opt_level: u32,
    /// Keep the source lines (`-lineinfo`).
    pub line_info: bool,
    /// Full debug information (`-g`), which turns optimisation off.
    pub debug: bool,
    /// `--maxrregcount`.
    pub max_registers: Option<u32>,
    /// For linking with other device code later (`-c`).
    pub relocatable: bool,
    /// What the user passes on with `-Xcuda-ptxas`.
    pub extra: Vec<String>,
}

impl AssembleOptions {
    /// Full optimisation for `arch`.
    pub fn new(arch: SmArch) -> Self {
        Self {
            arch,
            opt_level: 3,
            line_info: false,
            debug: false,
            max_registers: None,
            relocatable: false,
            extra: Vec::new(),
        }
    }

    fn arguments(&self) -> Vec<String> {
        let mut arguments = vec!["-m64".into(), "-v".into(), "--gpu-name".into(), self.arch.to_string()];
        if self.debug {
            arguments.extend(["-g", "--dont-merge-basicblocks", "--return-at-end"].map(String::from));
        } else {
            arguments.push(format!("-O{}", self.opt_level.min(3)));
        }
        if self.line_info && !self.debug {
            arguments.push("-lineinfo".into());
        }
        if let Some(count) = self.max_registers {
            arguments.push(format!("--maxrregcount={count}"));
        }
        if self.relocatable {
            arguments.push("-c".into());
        }
        arguments.extend(self.extra.iter().cloned());
        arguments
    }
}

/// What ptxas made.
#[derive(Clone, Debug)]
pub struct Assembled {
    /// The cubin.
    pub cubin: Vec<u8>,
    /// Reports, one for each kernel and device function.
    pub reports: Vec<Report>,
    /// Its warnings.
    pub warnings: Vec<String>,
    /// What it says with `-v`.
    pub notes: String,
}

/// The command that [`assemble`] runs, for `-###` and `-v`.
pub fn command_line(toolkit: &Toolkit, options: &AssembleOptions, input: &Path, output: &Path) -> Vec<String> {
    let mut line = vec![toolkit.ptxas.display().to_string()];
    line.extend(options.arguments());
    line.extend(["-o".into(), output.display().to_string(), input.display().to_string()]);
    line
}

/// Assembles `ptx`.
pub fn assemble(toolkit: &Toolkit, ptx: &str, options: &AssembleOptions) -> Result<Assembled, Error> {
    toolkit.require(options.arch)?;
    let in_dir = |path: &Path, source| Error::Io { path: path.display().to_string(), source };
    let dir = tempfile::Builder::new()
        .prefix("regrain-ptxas-")
        .tempdir()
        .map_err(|source| in_dir(&std::env::temp_dir(), source))?;
    let (input, cubin) = (dir.path().join("kernel.ptx"), dir.path().join("kernel.cubin"));
    std::fs::write(&input, ptx).map_err(|source| in_dir(&input, source))?;
    let line = command_line(toolkit, options, &input, &cubin);
    let output = Command::new(&line[0]).args(&line[1..]).output().map_err(|source| in_dir(&toolkit.ptxas, source))?;
    let mut said = String::from_utf8_lossy(&output.stdout).into_owned();
    said.push_str(&String::from_utf8_lossy(&output.stderr));
    if !output.status.success() {
        return Err(failure(&said, ptx, &output.status.to_string()));
    }
    Ok(Assembled {
        cubin: std::fs::read(&cubin).map_err(|source| in_dir(&cubin, source))?,
        reports: report::parse(&said),
        warnings: messages(&said, "warning").map(|(_, text)| text.to_string()).collect(),
        notes: notes(&said),
    })
}

/// The messages of one severity, with the PTX line where they name one.
fn messages<'a>(said: &'a str, severity: &'static str) -> impl Iterator<Item = (Option<usize>, &'a str)> {
    said.lines().filter_map(move |line| {
        let (head, text) = line.split_once(": ")?;
        let head = head.trim_end().strip_suffix(severity)?;
        let number =
            head.rsplit_once(", line ").and_then(|(_, number)| number.trim_end_matches([' ', ';']).parse().ok());
        head.starts_with("ptxas").then_some((number, text.trim()))
    })
}

/// The lines that are neither warning nor error.
fn notes(said: &str) -> String {
    let is_note =
        |line: &&str| !["warning", "error", "fatal"].iter().any(|word| line.starts_with(&format!("ptxas {word}")));
    said.lines().filter(is_note).map(|line| format!("{line}\n")).collect()
}

fn failure(said: &str, ptx: &str, status: &str) -> Error {
    let mut lines: Vec<String> = messages(said, "error")
        .map(|(line, text)| match line {
            Some(line) => located(ptx, line, text),
            None => text.to_string(),
        })
        .collect();
    if lines.is_empty() {
        lines = messages(said, "fatal").map(|(_, text)| text.to_string()).collect();
    }
    if lines.is_empty() {
        lines.push(format!("{status}\n{}", said.trim()).trim().to_string());
    }
    Error::Tool { tool: "ptxas".into(), message: lines.join("\n") }
}

/// `text` with where it happened: the CUDA source by the last `.loc` of that function, and the PTX instruction.
fn located(ptx: &str, line: usize, text: &str) -> String {
    let instruction = ptx.lines().nth(line.saturating_sub(1)).unwrap_or_default().trim();
    let message = format!("{text} in PTX line {line}: '{instruction}'");
    let before: Vec<&str> = ptx.lines().take(line).collect();
    let since_start = before.iter().rev().take_while(|line| !line.trim_start().starts_with(".visible .entry"));
    let loc = since_start.into_iter().find_map(|line| line.trim_start().strip_prefix(".loc"));
    let Some(loc) = loc else { return message };
    let mut numbers = loc.split_whitespace().map(|word| word.trim_end_matches(','));
    let (Some(file), Some(row)) = (numbers.next(), numbers.next()) else { return message };
    let name = ptx.lines().find_map(|line| {
        let rest = line.trim_start().strip_prefix(".file")?.trim_start();
        rest.strip_prefix(file)?.trim_start().strip_prefix('"')?.split('"').next()
    });
    match name {
        Some(name) => format!("{name}:{row}: error: {message}"),
        None => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As printed by ptxas 12.9.
    const ERRORS: &str = "\
ptxas /tmp/kernel.ptx, line 7; error   : Arguments mismatch for instruction 'add'
ptxas /tmp/kernel.ptx, line 7; error   : Unknown symbol '%zz'
ptxas fatal   : Ptx assembly aborted due to errors
";
    const PTX: &str = "\
.version 8.8
.target sm_80
.file 1 \"/src/a.cu\"
.visible .entry k()
{
 .loc 1 12 3
 add.f32 %r1, %r2, %zz;
";

    #[test]
    fn errors_name_the_source_line() {
        let message = failure(ERRORS, PTX, "exit status: 255").to_string();
        let first = message.lines().next().unwrap();
        assert!(first.contains("/src/a.cu:12: error: Arguments mismatch for instruction 'add'"), "{message}");
        assert!(first.ends_with("in PTX line 7: 'add.f32 %r1, %r2, %zz;'"), "{message}");
        assert!(!message.contains("/tmp/"), "{message}");
        assert_eq!(message.lines().count(), 2, "{message}");
    }

    #[test]
    fn errors_without_lines_stay_as_they_are() {
        let said = "ptxas error   : Entry function 'k' uses too much shared data (0x13880 bytes, 0xc000 max)\n";
        let message = failure(said, PTX, "exit status: 255").to_string();
        assert_eq!(message, "ptxas failed: Entry function 'k' uses too much shared data (0x13880 bytes, 0xc000 max)");
        let fatal = "ptxas fatal   : Unresolved extern function 'f'\n";
        assert_eq!(failure(fatal, PTX, "").to_string(), "ptxas failed: Unresolved extern function 'f'");
        assert_eq!(failure("", PTX, "signal: 9 (SIGKILL)").to_string(), "ptxas failed: signal: 9 (SIGKILL)");
    }

    #[test]
    fn warnings_are_kept() {
        let said = "ptxas warning : For profile sm_70 adjusting per thread register count of 16 to lower bound of 24\n";
        let found: Vec<_> = messages(said, "warning").collect();
        assert_eq!(found.len(), 1);
        assert!(found[0].1.starts_with("For profile sm_70"));
    }

    #[test]
    fn options_become_arguments() {
        let mut options = AssembleOptions::new(SmArch { number: 80, specific: false });
        options.line_info = true;
        options.max_registers = Some(32);
        let line = options.arguments().join(" ");
        assert_eq!(line, "-m64 -v --gpu-name sm_80 -O3 -lineinfo --maxrregcount=32");
    }
}
