//! What the user says of code for some targets alone.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Options that not every target has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// `-mcode-object-version=`: 4, 5 or 6.
    pub code_object: Option<u32>,
    /// `-mwavefrontsize64`, `-mno-wavefrontsize64`, on chips that have both.
    pub wave64: Option<bool>,
    /// Products and sums become one operation only where the code says that they may (`-ffp-contract=off`, `on`); on NVIDIA's chips.
    #[serde(default)]
    pub keeps_apart: bool,
    /// Square roots of floats are rounded as IEEE has it, on NVIDIA's chips: nvcc's `-prec-sqrt=true`.
    #[serde(default)]
    pub exact_root: bool,
    /// Quotients of floats may be two units in the last place off, on NVIDIA's chips: nvcc's `-prec-div=false`.
    #[serde(default)]
    pub near_quotient: bool,
    /// `--rocm-path=`
    pub rocm_path: Option<PathBuf>,
    /// `--rocm-device-lib-path=`
    pub device_lib_path: Option<PathBuf>,
}
