//! What a tool says that cannot write.

/// What a tool says that was ended by the system in the middle of writing.
const NO_SPACE: &str = "error: a tool could not write its output: is there space left where it writes?";

/// What a tool printed on standard error, without what it says of a defect of its own where there is no space left on a disk.
pub fn without_crash(stderr: &str) -> String {
    let full =
        ["No space left on device", "Disk quota exceeded", "File too large", "Bus error", "File size limit exceeded"];
    if !full.iter().any(|words| stderr.contains(words)) {
        return stderr.to_owned();
    }
    let ended = ["Bus error", "File size limit exceeded"];
    let mut kept = String::new();
    for line in stderr.lines() {
        let text = line.trim_start();
        let is_frame = text.starts_with('#') && text[1..].trim_start().starts_with(|c: char| c.is_ascii_digit());
        let is_stack = text.split_once(".\t").is_some_and(|(number, _)| number.bytes().all(|b| b.is_ascii_digit()));
        let noise = ["PLEASE submit a bug report", "PLEASE ATTACH", "Stack dump", "********", "Preprocessed source"];
        let of_driver = ["diagnostic msg:", "command failed due to signal", "frontend command failed"];
        if is_frame || is_stack || noise.iter().any(|words| text.starts_with(words)) {
            continue;
        }
        if ended.iter().any(|words| text.contains(words)) {
            kept.push_str(NO_SPACE);
        } else if of_driver.iter().any(|words| text.contains(words)) {
            continue;
        } else {
            kept.push_str(&line.replace("LLVM ERROR: IO failure on output stream:", "error: cannot write the output:"));
        }
        kept.push('\n');
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_no_defect_of_a_tool() {
        let said = "PLEASE submit a bug report to x\n #0 0x00007f27 f() (/usr/lib/libLLVM.so+0x4)\n#10 0x01 g\nStack dump:\n\
                    0.\tProgram arguments: ld\nclang: error: unable to execute command: Bus error\n\
                    clang: error: linker command failed due to signal (use -v to see invocation)\n";
        assert_eq!(without_crash(said), format!("{NO_SPACE}\n"));
        let other = "PLEASE submit a bug report to x\nStack dump:\n";
        assert_eq!(without_crash(other), other);
    }
}
