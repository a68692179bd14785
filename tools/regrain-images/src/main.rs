//! `regrain-images`: lists the device images of objects, archives, executables and libraries.
//!
//! A thin main: reading is `regrain_targets::listing`'s.

#![allow(clippy::print_stdout, reason = "a tool speaks on standard output")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Parser;
use comfy_table::{CellAlignment, Table, presets};
use regrain_targets::listing::{self, Listed};

/// Device images of objects, archives, executables and libraries: for which target, how large, with which kernels.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// Files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut images = Vec::new();
    let mut failed = false;
    for file in &arguments.files {
        match images_of(file) {
            Ok(found) => images.extend(found),
            Err(error) => {
                eprintln!("regrain-images: error: {error:#}");
                failed = true;
            }
        }
    }
    if !images.is_empty() {
        println!("{}", table(&images));
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn images_of(file: &Path) -> Result<Vec<Listed>> {
    let name = file.display();
    let bytes = std::fs::read(file).with_context(|| format!("cannot read '{name}'"))?;
    let images = listing::list(&name.to_string(), &bytes)?;
    if images.is_empty() {
        bail!("{name}: no device images");
    }
    Ok(images)
}

fn table(images: &[Listed]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_header(["file", "unit", "target", "kind", "size", "kernels"]);
    for image in images {
        let kernels = image.kernels.as_ref().map_or("?".into(), |kernels| kernels.join(" "));
        let unit = image.unit.as_deref().unwrap_or("-");
        table.add_row([&image.file, unit, &image.target, image.kind, &image.size.to_string(), &kernels]);
    }
    if let Some(size) = table.column_mut(4) {
        size.set_cell_alignment(CellAlignment::Right);
    }
    table
}
