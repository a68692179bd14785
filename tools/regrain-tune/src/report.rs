//! `regrain-tune report`: what the compiler weighed (`-fregrain-report=`), a table for each kernel and target.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use comfy_table::{CellAlignment, Table, presets};
use regrain_tuning::occupancy::{Occupancy, Resources};
use serde::Deserialize;

use crate::filter::{Filter, name};

/// Options of `report`.
#[derive(Args)]
pub struct Arguments {
    /// Files that `-fregrain-report=` wrote
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    filter: Filter,
}

/// A line of a report, as far as tables show it.
#[derive(Deserialize)]
struct Row {
    kernel: String,
    block: Option<[u32; 3]>,
    target: String,
    grain: String,
    decision: String,
    reason: Option<String>,
    resources: Option<Resources>,
    occupancy: Option<Occupancy>,
    prediction: Option<Prediction>,
}

/// What the model says.
#[derive(Deserialize)]
struct Prediction {
    /// Of no meaning but beside those of other grains of the kernel.
    time: f64,
}

impl Row {
    fn is_beside(&self, other: &Self) -> bool {
        (&self.kernel, self.block, &self.target) == (&other.kernel, other.block, &other.target)
    }
}

/// Shows reports on standard output.
pub fn report(arguments: &Arguments) -> Result<()> {
    let mut rows = Vec::new();
    for path in &arguments.files {
        rows.extend(read(path)?);
    }
    rows.retain(|row| arguments.filter.shows(&row.kernel, &row.target));
    let mut tables: Vec<Vec<Row>> = Vec::new();
    for row in rows {
        match tables.iter_mut().find(|table| table[0].is_beside(&row)) {
            Some(table) => table.push(row),
            None => tables.push(vec![row]),
        }
    }
    let texts: Vec<String> = tables.iter().map(|rows| format!("{}\n{}\n", heading(&rows[0]), table(rows))).collect();
    let text = if texts.is_empty() { "nothing is reported\n".to_owned() } else { texts.join("\n") };
    io::stdout().write_all(text.as_bytes()).context("cannot write to standard output")
}

fn read(path: &Path) -> Result<Vec<Row>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read '{}'", path.display()))?;
    let row = |(number, line): (usize, &str)| {
        serde_json::from_str(line).with_context(|| format!("{}:{}: not a row of a report", path.display(), number + 1))
    };
    text.lines().enumerate().map(row).collect()
}

fn heading(row: &Row) -> String {
    let block = row.block.map_or("blocks of any shape".to_owned(), |[x, y, z]| format!("blocks of {x}x{y}x{z}"));
    format!("{}, {block}, on {}", name(&row.kernel), row.target)
}

fn table(rows: &[Row]) -> Table {
    let original = rows.iter().find(|row| row.grain == "original").and_then(|row| row.prediction.as_ref());
    let mut table = Table::new();
    table.load_preset(presets::ASCII_MARKDOWN);
    table.set_header(["grain", "registers", "spills", "shared", "warps", "model", ""]);
    for row in rows {
        let gain = original.zip(row.prediction.as_ref()).map(|(original, ours)| original.time / ours.time);
        let shown = |text: Option<String>| text.unwrap_or_else(|| "-".into());
        let decision = row.decision.replace('_', " ");
        table.add_row([
            row.grain.clone(),
            shown(row.resources.map(|resources| resources.registers.to_string())),
            shown(row.resources.map(|resources| resources.spills().to_string())),
            shown(row.resources.map(|resources| resources.static_shared.to_string())),
            shown(row.occupancy.map(|occupancy| occupancy.warps.to_string())),
            shown(gain.map(|gain| format!("{gain:.2}x"))),
            row.reason.as_ref().map_or(decision.clone(), |reason| format!("{decision}: {reason}")),
        ]);
    }
    for column in 1..6 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}
