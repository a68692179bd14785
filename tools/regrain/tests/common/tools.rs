//! Where our tools are.

use std::path::PathBuf;

/// One of our tools; `REGRAIN_TEST_DRIVER` is a driver of another folder.
pub fn tool(name: &str) -> PathBuf {
    let other = std::env::var_os("REGRAIN_TEST_DRIVER").map(PathBuf::from);
    other.unwrap_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_regrain"))).with_file_name(name)
}
