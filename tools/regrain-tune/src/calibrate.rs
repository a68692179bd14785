//! `regrain-tune calibrate`: measures what launches, blocks and operations take on this machine, for the compiler's models.
//!
//! The micro-benchmarks are a program in CUDA (`calibrate.cu`), which the driver builds for the device that is asked for. The result is one small
//! file (`tuning::calibration`).

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::Args;
use regrain_tuning::calibration::{Calibration, Level, VARIABLE};

/// The micro-benchmarks.
const SOURCE: &str = include_str!("calibrate.cu");

/// Options of `calibrate`.
#[derive(Args)]
pub struct Arguments {
    /// Where to write the result (default: REGRAIN_CALIBRATION, else 'regrain.calibration' in this folder)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// What to measure: the processor, or a GPU of this architecture
    #[arg(long, value_name = "ARCH", default_value = "cpu")]
    offload_arch: String,
    /// The compiler (default: 'regrain' beside this program)
    #[arg(long, value_name = "FILE")]
    driver: Option<PathBuf>,
}

/// Measures and writes.
pub fn calibrate(arguments: &Arguments) -> Result<()> {
    let given = arguments.output.clone();
    let given = given.or_else(|| std::env::var_os(VARIABLE).filter(|file| !file.is_empty()).map(Into::into));
    let output = given.unwrap_or_else(|| "regrain.calibration".into());
    let driver = match &arguments.driver {
        Some(driver) => driver.clone(),
        None => std::env::current_exe().context("cannot find this program")?.with_file_name("regrain"),
    };
    let said = measured(&driver, &arguments.offload_arch)?;
    let made = calibration(&said, &arguments.offload_arch)?;
    let text = made.text();
    // What is written can be read: a figure that cannot be is said here, not by the compiler.
    Calibration::parse(&text, &output)?;
    std::fs::write(&output, &text).with_context(|| format!("cannot write '{}'", output.display()))?;
    println!("{text}written to {}", output.display());
    Ok(())
}

/// What the micro-benchmarks print.
fn measured(driver: &Path, arch: &str) -> Result<String> {
    let folder = tempfile::tempdir().context("cannot make a folder")?;
    let (source, program) = (folder.path().join("calibrate.cu"), folder.path().join("calibrate"));
    std::fs::write(&source, SOURCE).with_context(|| format!("cannot write '{}'", source.display()))?;
    let mut build = Command::new(driver);
    build.arg(format!("--offload-arch={arch}")).args(["-O3", "-march=native", "-w"]);
    build.arg(&source).arg("-o").arg(&program).env_remove(VARIABLE);
    let built = build.output().with_context(|| format!("cannot run '{}'", driver.display()))?;
    if !built.status.success() {
        bail!("the micro-benchmarks do not compile for '{arch}': {}", String::from_utf8_lossy(&built.stderr).trim());
    }
    let run = Command::new(&program).output().context("cannot run the micro-benchmarks")?;
    if !run.status.success() {
        bail!("the micro-benchmarks do not run on '{arch}': {}", String::from_utf8_lossy(&run.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&run.stdout).into_owned())
}

/// The parameters that follow from what was measured.
fn calibration(said: &str, arch: &str) -> Result<Calibration> {
    let lines: Vec<Vec<&str>> = said.lines().map(|line| line.split_whitespace().collect()).collect();
    let number = |text: &str| text.parse::<f64>().with_context(|| format!("expected a number, got '{text}'"));
    let figure = |name: &str| {
        let line = lines.iter().find(|line| line.first() == Some(&name) && line.len() == 2);
        number(line.with_context(|| format!("the micro-benchmarks said nothing of '{name}'"))?[1])
    };
    let table = |name: &str| {
        let rows = lines.iter().filter(|line| line.first() == Some(&name) && line.len() == 3);
        rows.map(|line| Ok((number(line[1])?, number(line[2])?))).collect::<Result<Vec<_>>>()
    };
    let (pieces, bytes) = (table("piece")?, table("byte")?);
    let best = pieces.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1));
    let ((shortest, slow), (piece, fast)) =
        pieces.first().copied().zip(best).context("the micro-benchmarks said nothing of 'piece'")?;
    // What a row takes beside its iterations: rows of the shortest piece have more of it for each of them.
    let row = ((slow - fast) / (1.0 / shortest - 1.0 / piece).max(1e-3)).max(0.0);
    let operation = (fast - row / piece).max(fast / 4.0);
    let first = bytes.first().context("the micro-benchmarks said nothing of 'byte'")?.1;
    let last = bytes.len() - 1;
    let level = |(at, (size, byte)): (usize, &(f64, f64))| Level {
        bytes: if at == last { 1e15 } else { *size },
        byte: (byte - first).max(0.0),
    };
    let mut made = Calibration::default();
    (made.launch, made.block, made.alone) = (figure("launch")?, figure("block")?, figure("alone")?);
    (made.row, made.operation, made.piece) = (row * OPERATIONS, operation, piece as u32);
    made.target = arch.to_owned();
    made.levels = bytes.iter().enumerate().map(level).collect();
    Ok(made)
}

/// The operations of an iteration of the micro-benchmarks, by which their times are divided.
const OPERATIONS: f64 = 7.0;

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "workers 2\nlaunch 900\nblock 40\npiece 4 0.2\npiece 8 0.12\npiece 16 0.11\npiece 64 0.2\nalone 0.35\n\
                        byte 32768 0.1\nbyte 1048576 0.12\nbyte 268435456 0.2\n";

    #[test]
    fn parameters_follow_from_figures() {
        let made = calibration(SAID, "cpu").unwrap();
        assert_eq!((made.launch, made.block, made.alone, made.piece), (900.0, 40.0, 0.35, 16));
        // 0.09 more for each operation where a row is of 4 and not of 16 iterations.
        assert!((made.row - 7.0 * 0.48).abs() < 1e-9, "{}", made.row);
        assert!((made.operation - 0.08).abs() < 1e-9, "{}", made.operation);
        let levels: Vec<(f64, f64)> = made.levels.iter().map(|level| (level.bytes, level.byte)).collect();
        assert_eq!((levels[0], levels[2].0), ((32_768.0, 0.0), 1e15));
        assert!(Calibration::parse(&made.text(), Path::new("c")).is_ok());
    }

    #[test]
    fn what_is_missing_is_said() {
        let without = |name: &str| {
            let kept: Vec<&str> = SAID.lines().filter(|line| !line.starts_with(name)).collect();
            calibration(&kept.join("\n"), "cpu").unwrap_err().to_string()
        };
        for name in ["launch", "piece", "byte"] {
            assert_eq!(without(name), format!("the micro-benchmarks said nothing of '{name}'"));
        }
        assert_eq!(
            calibration("launch x", "cpu").map(drop).unwrap_err().to_string(),
            "the micro-benchmarks said nothing of 'piece'"
        );
        let wrong = SAID.replace("launch 900", "launch soon");
        assert_eq!(calibration(&wrong, "cpu").unwrap_err().to_string(), "expected a number, got 'soon'");
    }
}
