//! Imports LLVM IR and exports it again: shows what the way through MLIR keeps.
//!
//! `cargo run -p mlir-bridge --example round_trip -- a.ll [--mlir] > b.bc`

use std::io::Write;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: round_trip <file> [--mlir]")?;
    let bytes = std::fs::read(&path)?;
    let context = mlir_bridge::new_context();
    let module = mlir_bridge::import_llvm(&context, &bytes, &path)?;
    let mut out = std::io::stdout().lock();
    if std::env::args().any(|argument| argument == "--mlir") {
        out.write_all(mlir_bridge::module_op(&module).to_string_with_locations().as_bytes())?;
        return Ok(());
    }
    out.write_all(&mlir_bridge::export_llvm(&module, &path)?)?;
    Ok(())
}
