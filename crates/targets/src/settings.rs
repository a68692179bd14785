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
    /// `--rocm-path=`
    pub rocm_path: Option<PathBuf>,
    /// `--rocm-device-lib-path=`
    pub device_lib_path: Option<PathBuf>,
}
