//! Files that are made beside the output: the record of optimisation, the trace of time, and what was made on the way.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use regrain_frontend::Side;
use regrain_targets::image::{Image, part_of_file_name};
use regrain_targets::toolkit::SmArch;
use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::options::Record;
use crate::source::{Sides, Source};

/// Our remarks for the record, while one is kept. A process compiles one source at a time.
static REMARKS: Mutex<Option<Vec<String>>> = Mutex::new(None);

/// Takes note of a remark, if there is a record.
pub(crate) fn note_remark(remark: impl FnOnce() -> String) {
    if let Some(remarks) = REMARKS.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
        remarks.push(remark());
    }
}

impl Source<'_> {
    /// Begins with the files beside the output.
    pub(crate) fn open_side_files(&self) {
        let record = self.side_files.record.as_ref().map(|_| Vec::new());
        *REMARKS.lock().unwrap_or_else(PoisonError::into_inner) = record;
    }

    /// Lets a command of clang's write its part of the trace.
    pub(crate) fn trace(&self, command: &mut Command, step: &str) {
        if self.side_files.trace.is_some() {
            // clang's driver would not hand it to device compilations.
            command
                .arg("-Xclang")
                .arg(format!("-ftime-trace={}", self.scratch(&format!("trace-{step}.json")).display()));
        }
    }

    /// Lets the command that makes the host's code write the record.
    pub(crate) fn record(&self, command: &mut Command) {
        if self.side_files.record.is_some() {
            let path = self.scratch("record.yaml");
            command.arg("-fsave-optimization-record=yaml");
            command.arg(format!("-foptimization-record-file={}", path.display()));
        }
    }

    /// Puts the files in place.
    ///
    /// # Errors
    /// One cannot be written.
    pub(crate) fn close_side_files(&self) -> Result<()> {
        if let Some(record) = &self.side_files.record {
            self.write_record(record)?;
        }
        if let Some(path) = &self.side_files.trace {
            self.write_trace(path)?;
        }
        Ok(())
    }

    fn write_record(&self, record: &Record) -> Result<()> {
        let remarks = REMARKS.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default();
        let of_host = self.scratch("record.yaml");
        // clang writes none where it has nothing to say.
        let mut text = std::fs::read_to_string(&of_host).unwrap_or_default();
        text.extend(remarks.iter().map(|remark| as_yaml(remark)));
        if !record.bitstream {
            return std::fs::write(&record.path, text).map_err(Error::io("write", &record.path));
        }
        std::fs::write(&of_host, text).map_err(Error::io("write", &of_host))?;
        let mut command = Command::new(self.toolchain.clang.sibling("llvm-remarkutil"));
        command.arg("yaml2bitstream").arg(&of_host).arg("-o").arg(&record.path);
        self.toolchain.commands.run(&mut command)
    }

    fn write_trace(&self, path: &Path) -> Result<()> {
        let folder = std::fs::read_dir(&self.scratch).map_err(Error::io("read", &self.scratch))?;
        let is_part = |path: &PathBuf| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("trace-"))
                && path.extension().is_some_and(|extension| extension == "json")
        };
        let mut parts: Vec<PathBuf> = folder.flatten().map(|entry| entry.path()).filter(is_part).collect();
        parts.sort();
        let (mut events, mut begin) = (Vec::new(), Value::Null);
        for (number, part) in parts.iter().enumerate() {
            let bytes = std::fs::read(part).map_err(Error::io("read", part))?;
            let trace: Value = serde_json::from_slice(&bytes).unwrap_or_default();
            begin = if begin.is_null() { trace["beginningOfTime"].clone() } else { begin };
            let name = part.file_stem().unwrap_or_default().to_string_lossy().replacen("trace-", "clang: ", 1);
            for event in trace["traceEvents"].as_array().into_iter().flatten() {
                let mut event = event.clone();
                event["pid"] = json!(number + 1);
                if event["name"] == "process_name" {
                    event["args"]["name"] = json!(name);
                }
                events.push(event);
            }
        }
        let all = json!({ "traceEvents": events, "beginningOfTime": begin });
        std::fs::write(path, all.to_string()).map_err(Error::io("write", path))
    }

    /// Keeps a file that was made on the way: `part` is what its name has behind the source's.
    pub(crate) fn keep(&self, made: &Path, part: &str) -> Result<()> {
        let Some(kept) = &self.side_files.kept else { return Ok(()) };
        let to = kept.folder.join(format!("{}{part}", self.stem()));
        std::fs::copy(made, &to).map(drop).map_err(Error::io("write", &to))
    }

    fn keep_bytes(&self, bytes: &[u8], part: &str) -> Result<()> {
        let made = self.scratch("kept");
        std::fs::write(&made, bytes).map_err(Error::io("write", &made))?;
        self.keep(&made, part)
    }

    /// Keeps both sides as clang gives them, and their preprocessed source.
    pub(crate) fn keep_sides(&self, chips: &[SmArch], sides: &Sides) -> Result<()> {
        let Some(kept) = &self.side_files.kept else { return Ok(()) };
        let one = chips.len() == 1;
        for (chip, bitcode) in chips.iter().zip(&sides.device) {
            let side = Side::Device { arch: &chip.to_string() };
            if kept.as_nvcc {
                let middle = if one { String::new() } else { format!(".compute_{}", chip.number) };
                self.keep_source(side, &format!("{middle}.cpp1.ii"))?;
            } else {
                let part = part_of_file_name(&chip.to_string());
                self.keep_source(side, &format!("{part}.cui"))?;
                self.keep(bitcode, &format!("{part}.bc"))?;
            }
        }
        let Some(host) = &sides.host else { return Ok(()) };
        if kept.as_nvcc {
            return self.keep_source(Side::Host, ".cpp4.ii");
        }
        self.keep_source(Side::Host, &format!("-host-{}.cui", host_triple()))?;
        self.keep(host, &format!("-host-{}.bc", host_triple()))
    }

    fn keep_source(&self, side: Side<'_>, part: &str) -> Result<()> {
        let made = self.scratch("preprocessed.cui");
        let mut command = self.toolchain.clang.preprocess_command(&self.unit, side, &made)?;
        self.toolchain.commands.run(&mut command)?;
        self.keep(&made, part)
    }

    /// Keeps assembly and machine code of `images`.
    pub(crate) fn keep_images(&self, images: &[Image]) -> Result<()> {
        let Some(kept) = &self.side_files.kept else { return Ok(()) };
        for image in images {
            let arch = &image.arch;
            let number = arch.trim_start_matches("sm_");
            let (text, code) = match (kept.as_nvcc, images.len() == 1) {
                (true, true) => (".ptx".to_owned(), format!(".{arch}.cubin")),
                (true, false) => (format!(".compute_{number}.ptx"), format!(".compute_{number}.{arch}.cubin")),
                _ => (format!("{}.s", part_of_file_name(arch)), format!("{}.o", part_of_file_name(arch))),
            };
            self.keep_bytes(image.text.as_bytes(), &text)?;
            if !image.code.is_empty() {
                self.keep_bytes(&image.code, &code)?;
            }
        }
        Ok(())
    }

    /// Keeps the host's code as assembly and as the object, both with the images in them.
    pub(crate) fn keep_host(&self, bitcode: &Path, object: &Path) -> Result<()> {
        let Some(kept) = self.side_files.kept.as_ref().filter(|_| !self.options.emit.text) else { return Ok(()) };
        if kept.as_nvcc {
            return Ok(());
        }
        let assembly = self.scratch("kept.s");
        let mut command = self.host_code_command();
        command.arg("-S").arg(bitcode).arg("-o").arg(&assembly);
        self.toolchain.commands.run(&mut command)?;
        self.keep(&assembly, &format!("-host-{}.s", host_triple()))?;
        self.keep(object, &format!("-host-{}.o", host_triple()))
    }
}

fn host_triple() -> String {
    inkwell::targets::TargetMachine::get_default_triple().as_str().to_string_lossy().into_owned()
}

/// A remark in the form of LLVM's records.
fn as_yaml(remark: &str) -> String {
    let head = remark.lines().next().unwrap_or_default();
    let (place, text) = head.split_once(": remark: ").unwrap_or(("", head));
    let (text, option) = text.rsplit_once(" [-R").unwrap_or((text, "pass-missed=regrain]"));
    let (class, pass) = option.trim_end_matches(']').split_once('=').unwrap_or(("pass-missed", "regrain"));
    let kind = match class {
        "pass" => "Passed",
        "pass-analysis" => "Analysis",
        _ => "Missed",
    };
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
    let mut parts = place.rsplitn(3, ':');
    let (last, middle, first) = (parts.next(), parts.next(), parts.next());
    let number = |text: Option<&str>| text.and_then(|text| text.parse::<u32>().ok());
    let (file, line, column) = match (number(last), number(middle), first) {
        (Some(column), Some(line), Some(file)) => (file, line, column),
        _ => (place, 0, 0),
    };
    let kernel = text.split_once("kernel '").and_then(|(_, rest)| rest.split('\'').next()).unwrap_or(file);
    let function = if kernel.is_empty() { "unknown" } else { kernel };
    format!(
        "--- !{kind}\nPass:            {}\nName:            Grain\nDebugLoc:        {{ File: {}, Line: {line}, Column: {column} }}\n\
         Function:        {}\nArgs:\n  - String:          {}\n...\n",
        quoted(pass),
        quoted(file),
        quoted(function),
        quoted(text)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remark_becomes_yaml() {
        let text = as_yaml("d/a.cu:3:5: remark: kernel '_Z1kv' on sm_80: it's chosen [-Rpass=regrain]\nnote");
        let expected = "--- !Passed\nPass:            'regrain'\nName:            Grain\n\
                        DebugLoc:        { File: 'd/a.cu', Line: 3, Column: 5 }\nFunction:        '_Z1kv'\nArgs:\n  \
                        - String:          'kernel ''_Z1kv'' on sm_80: it''s chosen'\n...\n";
        assert_eq!(text, expected);
        assert!(as_yaml("a.cu: remark: kernel 'k': no").starts_with("--- !Missed\n"));
    }
}
