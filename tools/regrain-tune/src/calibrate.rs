//! `regrain-tune calibrate`: measures what launches, blocks and operations take on this machine, for the compiler's models.
//!
//! The micro-benchmarks are a program in CUDA (`calibrate.cu`), which the driver builds for the device that is asked for. The result is one small
//! file (`tuning::calibration`).

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::Args;
use regrain_tuning::calibration::{Calibration, Level, MOST_LEVELS, Table, Together, VARIABLE, Waits};

/// How often the micro-benchmarks run, some 20 seconds: what else a machine does, on the other threads of its cores above all, is seldom the same so long.
const RUNS: usize = 12;
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
    let made = calibration(&least(&said)?, &arguments.offload_arch)?;
    let text = made.text();
    // What is written can be read: a figure that cannot be is said here, not by the compiler.
    Calibration::parse(&text, &output)?;
    std::fs::write(&output, &text).with_context(|| format!("cannot write '{}'", output.display()))?;
    println!("{text}written to {}", output.display());
    Ok(())
}

/// What the micro-benchmarks print in each run.
fn measured(driver: &Path, arch: &str) -> Result<Vec<String>> {
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
    let run = |_| {
        let run = Command::new(&program).output().context("cannot run the micro-benchmarks")?;
        if !run.status.success() {
            bail!("the micro-benchmarks do not run on '{arch}': {}", String::from_utf8_lossy(&run.stderr).trim());
        }
        Ok(String::from_utf8_lossy(&run.stdout).into_owned())
    };
    (0..RUNS).map(run).collect()
}

fn number(text: &str) -> Result<f64> {
    text.parse::<f64>().with_context(|| format!("expected a number, got '{text}'"))
}

/// The least of what several runs say, line by line; sizes are alike in all.
fn least(runs: &[String]) -> Result<String> {
    let split = |run: &String| -> Vec<Vec<String>> {
        run.lines().map(|line| line.split_whitespace().map(str::to_owned).collect()).collect()
    };
    let mut runs = runs.iter().map(split);
    let mut least = runs.next().unwrap_or_default();
    for run in runs {
        for (words, others) in least.iter_mut().zip(&run) {
            if words.len() != others.len() || words.first() != others.first() {
                bail!("the micro-benchmarks say '{}' in one run, '{}' in another", words.join(" "), others.join(" "));
            }
            for (word, other) in words.iter_mut().zip(others).skip(1) {
                if number(other)? < number(word)? {
                    word.clone_from(other);
                }
            }
        }
    }
    Ok(least.iter().map(|words| words.join(" ") + "\n").collect())
}

/// Rows of a length of one of the micro-benchmarks.
struct Rows {
    /// The operations of an iteration.
    operations: f64,
    /// Those that wait for the iteration before.
    waiting: f64,
    /// The nanoseconds of one that waits for the one before.
    wait: f64,
    /// Those that a row waits for the row before.
    through: f64,
    /// The iterations of a row.
    length: f64,
    /// The nanoseconds of a row.
    time: f64,
}

/// The parameters that follow from what was measured.
fn calibration(said: &str, arch: &str) -> Result<Calibration> {
    let lines: Vec<Vec<&str>> = said.lines().map(|line| line.split_whitespace().collect()).collect();
    let table = |name: &str, columns: usize| {
        let rows = lines.iter().filter(|line| line.first() == Some(&name) && line.len() == columns + 1);
        let rows: Vec<Vec<f64>> = rows
            .map(|line| line[1..].iter().map(|text| number(text)).collect::<Result<Vec<f64>>>())
            .collect::<Result<_>>()?;
        if rows.is_empty() { bail!("the micro-benchmarks said nothing of '{name}'") } else { Ok(rows) }
    };
    let figure = |name: &str| Ok::<f64, anyhow::Error>(table(name, 1)?[0][0]);
    let mut made = Calibration::default();
    made.target = arch.to_owned();
    (made.start, made.launch, made.block) = (figure("start")?, figure("launch")?, figure("block")?);
    made.waits = Waits {
        add: figure("add")?,
        multiply: figure("multiply")?,
        divide: figure("divide")?,
        forward: figure("forward")?,
        other: figure("other")?,
    };
    let of = |row: &Vec<f64>| Rows {
        operations: row[0],
        waiting: row[1],
        wait: row[2],
        through: row[3],
        length: row[4],
        time: row[5],
    };
    let rows: Vec<Rows> = table("row", 6)?.iter().map(of).collect();
    made.alone = rows[0].wait / rows[0].operations;
    (made.row, made.operation, made.window) = fitted(&rows);
    made.levels = levels(&table("line", 3)?);
    made.pages = tables(&table("page", 2)?);
    made.followed = tables(&table("stream", 2)?);
    // What a point does waits for a product with a sum, which the model has by itself.
    let together = |name: &str| {
        let row = &table(name, 2)?[0];
        Ok::<Together, anyhow::Error>(Together {
            step: row[0].max(0.0),
            point: (row[1] - made.waits.multiply).max(0.0),
        })
    };
    (made.device, made.chip) = (together("device")?, together("chip")?);
    made.copied = figure("copied")?.max(0.0);
    Ok(made)
}

/// What a row and an operation take and how many operations may wait at once: those of many for which the relative errors of the model of `tiles.h` are
/// least in the mean of squares.
fn fitted(rows: &[Rows]) -> (f64, f64, f64) {
    let least = |of: &dyn Fn(&Rows) -> f64| rows.iter().map(of).fold(f64::INFINITY, f64::min);
    let shortest = least(&|row| row.time);
    let cheapest = least(&|row| row.time / (row.length * row.operations));
    let mut best = (f64::INFINITY, (0.0, 1e-6, 1.0));
    for window in (0..64).map(|step| 8.0 * 1.1f64.powi(step)) {
        // Of each row, what bounds it beside what it has to do.
        let power = |time: f64| time.powi(4);
        let bounds = |row: &Rows| {
            let waited = row.length * row.length * row.wait / (row.length + window / row.waiting);
            power(waited) + power(row.through)
        };
        let bounds: Vec<f64> = rows.iter().map(bounds).collect();
        for operation in (0..100).map(|step| (1.25 * cheapest / 1.03f64.powi(step)).max(1e-6)) {
            for row in (0..20).map(|step| 0.05 * shortest * f64::from(step)) {
                let error = |(of, bounds): (&Rows, &f64)| {
                    let work = row + of.length * of.operations * operation;
                    ((power(work) + bounds).sqrt().sqrt() / of.time - 1.0).powi(2)
                };
                let error = rows.iter().zip(&bounds).map(error).sum();
                if error < best.0 {
                    best = (error, (row, operation, window));
                }
            }
        }
    }
    best.1
}

/// Cuts a series of times into so many parts at most, where the logarithms in each agree best: where each ends.
fn cuts(times: &[f64], most: usize) -> Vec<usize> {
    let logarithms: Vec<f64> = times.iter().map(|time| time.max(1e-3).ln()).collect();
    let apart = |from: usize, to: usize| {
        let part = &logarithms[from..to];
        let mean = part.iter().sum::<f64>() / part.len() as f64;
        part.iter().map(|time| (time - mean).powi(2)).sum::<f64>()
    };
    // Of each number of times, the best cuts of the first of them.
    let mut best: Vec<(f64, Vec<usize>)> = (1..=times.len()).map(|to| (apart(0, to), vec![to])).collect();
    for _ in 1..most {
        let further = |to: usize| {
            let mut made = best[to - 1].clone();
            for cut in 1..to {
                let (error, cuts) = &best[cut - 1];
                if error + apart(cut, to) < made.0 {
                    made = (error + apart(cut, to), [&cuts[..], &[to]].concat());
                }
            }
            made
        };
        best = (1..=times.len()).map(further).collect();
    }
    best.pop().map(|(_, cuts)| cuts).unwrap_or_default()
}

/// The geometric mean.
fn mean(times: &[f64]) -> f64 {
    (times.iter().map(|time| time.max(1e-3).ln()).sum::<f64>() / times.len() as f64).exp()
}

/// The levels of memory, by what lines take that are waited for: as many as there may be.
fn levels(lines: &[Vec<f64>]) -> Vec<Level> {
    let column = |at: usize| lines.iter().map(|line| line[at]).collect::<Vec<f64>>();
    let (waited, visited) = (column(1), column(2));
    let (mut levels, mut nearest) = (Vec::<Level>::new(), None);
    for to in cuts(&waited, MOST_LEVELS) {
        let stream = visited[to - 1];
        let first = *nearest.get_or_insert(stream);
        let last = levels.last().map_or(0.0, |level| level.stream);
        let bytes = if to == lines.len() { 1e15 } else { lines[to - 1][0] };
        levels.push(Level { bytes, stream: (stream - first).max(last) });
    }
    levels
}

/// Tables of pages, by what a visit of one of so many takes: `N`, or less where the times do not differ. Of more pages none takes less: it is hidden
/// where lines are not near either.
fn tables<const N: usize>(found: &[Vec<f64>]) -> [Table; N] {
    // A tenth of a nanosecond is no difference.
    let mut most = 0.1f64;
    let rising = |page: &Vec<f64>| {
        most = most.max(page[1]);
        most
    };
    let times: Vec<f64> = found.iter().map(rising).collect();
    let cuts = cuts(&times, N + 1);
    let mut made = [Table { pages: 1e15, missed: 0.0 }; N];
    let mut before = mean(&times[..cuts[0]]);
    for (table, part) in made.iter_mut().zip(cuts.windows(2)) {
        let missed = mean(&times[part[0]..part[1]]) - before;
        *table = Table { pages: found[part[0] - 1][0], missed };
        before += missed;
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str =
        "workers 2\nstart 150\nlaunch 900\nblock 40\nadd 1\nmultiply 1.5\ndivide 5\nforward 2\nother 0.4\n";

    /// Rows as the model has them, and lines of two levels.
    fn said() -> String {
        let mut said = SAID.to_owned();
        for (operations, waiting, wait, through) in [(7.0, 2.0, 2.0, 3.0), (13.0, 3.0, 3.0, 5.0)] {
            for length in [4.0, 8.0, 16.0, 64.0] {
                let work: f64 = 2.0 + 0.08 * length * operations;
                let waited: f64 = wait * length * length / (length + 120.0 / waiting);
                let time = (work.powi(4) + waited.powi(4) + f64::powi(through, 4)).sqrt().sqrt();
                said += &format!("row {operations} {waiting} {wait} {through} {length} {time}\n");
            }
        }
        said += "line 1 4 2\nline 2 4 2\nline 4 9 2\nline 8 9 2\nline 16 20 3\nline 32 90 7\nline 64 90 7\n";
        said + "page 16 0\npage 32 0.02\npage 64 0.8\npage 128 0.8\npage 256 0.1\npage 512 6\npage 1024 6\nstream 8 2\nstream 16 2\nstream 32 5\nstream 64 5\nstream 128 12\ndevice 300 12\nchip 40 2\ncopied 3\n"
    }

    #[test]
    fn parameters_follow_from_figures() {
        let made = calibration(&said(), "cpu").unwrap();
        assert_eq!((made.start, made.launch, made.block, made.waits.divide), (150.0, 900.0, 40.0, 5.0));
        assert!((made.alone - 2.0 / 7.0).abs() < 1e-9, "{}", made.alone);
        // One window of those that are tried is within a twentieth of the right one.
        assert!((made.window / 120.0 - 1.0).abs() < 0.06, "{}", made.window);
        assert!(
            (made.row - 2.0).abs() < 0.4 && (made.operation - 0.08).abs() < 0.01,
            "{} {}",
            made.row,
            made.operation
        );
        let levels: Vec<[i64; 2]> =
            made.levels.iter().map(|level| [level.bytes, level.stream].map(|number| number.round() as i64)).collect();
        assert_eq!(levels, [[2, 0], [8, 0], [16, 1], [1_000_000_000_000_000, 5]]);
        let pages = made.pages.map(|table| [table.pages, (table.missed * 10.0).round()]);
        assert_eq!(pages, [[32.0, 7.0], [256.0, 52.0]]);
        let followed = made.followed.map(|table| [table.pages, table.missed.round()]);
        assert_eq!(followed, [[16.0, 3.0], [64.0, 7.0]]);
        assert_eq!((made.device.step, made.device.point), (300.0, 10.5));
        assert_eq!((made.chip.step, made.chip.point, made.copied), (40.0, 0.5, 3.0));
        assert!(Calibration::parse(&made.text(), Path::new("c")).is_ok());
    }

    #[test]
    fn the_least_of_all_runs_counts() {
        let runs = ["start 5\nline 64 3 2\n", "start 4\nline 64 9 1\n", "start 6\nline 64 4 7\n"].map(str::to_owned);
        assert_eq!(least(&runs).unwrap(), "start 4\nline 64 3 1\n");
        let other = ["start 5\n", "launch 4\n"].map(str::to_owned);
        let said = least(&other).unwrap_err().to_string();
        assert_eq!(said, "the micro-benchmarks say 'start 5' in one run, 'launch 4' in another");
    }

    #[test]
    fn what_is_missing_is_said() {
        let without = |name: &str| {
            let said = said();
            let kept: Vec<&str> = said.lines().filter(|line| !line.starts_with(name)).collect();
            calibration(&kept.join("\n"), "cpu").unwrap_err().to_string()
        };
        for name in
            ["start", "launch", "multiply", "forward", "row", "line", "page", "stream", "device", "chip", "copied"]
        {
            assert_eq!(without(name), format!("the micro-benchmarks said nothing of '{name}'"));
        }
        let wrong = said().replace("launch 900", "launch soon");
        assert_eq!(calibration(&wrong, "cpu").unwrap_err().to_string(), "expected a number, got 'soon'");
    }
}
