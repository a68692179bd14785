//! `regrain-tune show`: tables of what was measured.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use comfy_table::{CellAlignment, Table, presets};
use regrain_tuning::choice::choose_for;
use regrain_tuning::database::Shape;
use regrain_tuning::record::Summary;
use regrain_tuning::{Choice, Database, Grain, Missing, Policy};

use crate::filter::{Filter, name};

/// Options of `show`.
#[derive(Args)]
pub struct Arguments {
    /// Databases
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    filter: Filter,
    /// One line for each kernel and block shape
    #[arg(long)]
    summary: bool,
}

/// Shows databases on standard output.
pub fn show(arguments: &Arguments) -> Result<()> {
    let mut database = crate::open_all(&arguments.files)?;
    database.retain(|record| arguments.filter.shows(&record.kernel, &record.key.target));
    let mut text = String::new();
    if !arguments.summary {
        for shapes in database.versions().values() {
            let winner = choose_for(shapes, &Policy::default()).ok().map(|choice| choice.grain);
            for shape in shapes {
                text += &format!("{}\n{}\n\n", heading(shape), candidates(shape, winner));
            }
        }
    }
    text += &if database.is_empty() { "nothing is recorded\n".to_owned() } else { format!("{}\n", summary(&database)) };
    io::stdout().write_all(text.as_bytes()).context("cannot write to standard output")
}

fn dims([x, y, z]: [u32; 3]) -> String {
    format!("{x}x{y}x{z}")
}

fn heading(shape: &Shape) -> String {
    let key = &shape.key;
    let shared =
        if key.shared == 0 { String::new() } else { format!(", {} bytes of dynamic shared memory", key.shared) };
    let settled = shape.settled.map_or_else(String::new, |grain| format!("; the program settled on {grain}"));
    format!(
        "{}: {} blocks of {} threads{shared}, on {}, version {}; {} in {}{settled}",
        name(&shape.kernel),
        dims(key.grid),
        dims(key.block),
        key.target,
        key.version,
        count(shape.launches, "launch", "launches"),
        count(shape.runs as u64, "run", "runs")
    )
}

fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// The candidates of a launch shape, the fastest first.
fn candidates(shape: &Shape, winner: Option<Grain>) -> Table {
    let mut table = table(&["grain", "samples", "median", "minimum", "mad", "gain", ""], 1..6);
    let mut grains: Vec<&Grain> = shape.candidates.keys().collect();
    grains.sort_by(|a, b| {
        let gain = |grain: &Grain| shape.gain(grain).unwrap_or(0.0);
        gain(b).total_cmp(&gain(a)).then(a.cmp(b))
    });
    for grain in grains {
        let times = &shape.candidates[grain];
        // Where there is no warm sample the cold ones are shown, and said to be.
        let is_cold = times.warm.is_empty() && !times.cold.is_empty();
        let (all, cold) = if is_cold { (&times.cold, " cold") } else { (&times.warm, "") };
        let (samples, [median, minimum, mad]) = match Summary::of(all) {
            Some(all) => (all.samples, [all.median, all.minimum, all.mad].map(time)),
            None => (0, std::array::from_fn(|_| "-".to_owned())),
        };
        let gain = shape.gain(grain).map_or_else(|| "-".into(), |gain| format!("{gain:.2}x"));
        let note = match (times.failed, winner == Some(*grain)) {
            (true, _) => "cannot be launched",
            (_, true) => "winner",
            _ => "",
        };
        table.add_row([grain.to_string(), format!("{samples}{cold}"), median, minimum, mad, gain, note.to_owned()]);
    }
    table
}

/// One row for each kernel and block shape: what compiling takes, over all grids.
pub fn summary(database: &Database) -> Table {
    let mut table = table(&["kernel", "target", "block", "grids", "original", "best", "gain", "grain"], 3..7);
    let versions = database.versions();
    let row =
        |shapes: &Vec<Shape>| Some(summary_of(shapes.first()?, shapes.len(), choose_for(shapes, &Policy::default())));
    let mut rows: Vec<_> = versions.values().filter_map(row).collect();
    rows.sort();
    table.add_rows(rows);
    table
}

fn summary_of(shape: &Shape, grids: usize, choice: Result<Choice, Missing>) -> [String; 8] {
    let key = &shape.key;
    let [original, best, gain, grain] = match choice {
        Ok(choice) => {
            let times = [choice.original, choice.time].map(|nanoseconds| time(nanoseconds.round() as u64));
            let [original, best] = times;
            [original, best, format!("{:.2}x", choice.gain()), choice.grain.to_string()]
        }
        Err(Missing::Incomplete { measured, needed }) => {
            let none = || "-".to_owned();
            [none(), none(), none(), format!("{measured} of {needed} samples")]
        }
        Err(missing) => [String::new(), String::new(), String::new(), missing.to_string()],
    };
    [name(&shape.kernel), key.target.clone(), dims(key.block), grids.to_string(), original, best, gain, grain]
}

/// A table with a head; the columns `numbers` are set to the right.
fn table(head: &[&str], numbers: std::ops::Range<usize>) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::ASCII_MARKDOWN).set_header(head.iter().copied());
    for column in numbers {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// A time with four digits and its unit.
fn time(nanoseconds: u64) -> String {
    let value = nanoseconds as f64;
    match nanoseconds {
        0..1_000 => format!("{nanoseconds} ns"),
        1_000..1_000_000 => format!("{:.3} us", value / 1e3),
        1_000_000..1_000_000_000 => format!("{:.3} ms", value / 1e6),
        _ => format!("{:.3} s", value / 1e9),
    }
}
