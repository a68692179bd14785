//! What the device side of a source comes to for one target.

use std::collections::HashMap;
use std::path::PathBuf;

use regrain_targets::jobs::Image;
use regrain_targets::offload::Entry;

use crate::versions::Versions;

/// The device side for one target.
pub(crate) struct DeviceSide {
    /// Versions of kernels at other grains that launches may choose.
    pub(crate) versions: Versions,
    /// The most threads of a block of a version, where that is known.
    pub(crate) most_threads: HashMap<String, u32>,
    /// The code.
    pub(crate) code: Code,
    /// What the target is called in a tuning database.
    pub(crate) record_name: String,
    /// Device variables that other units may refer to.
    pub(crate) external_variables: Vec<String>,
}

/// Device code.
pub(crate) enum Code {
    /// Images that are loaded when the program runs.
    Images {
        images: Vec<Image>,
        /// An upper bound of the static shared memory of a kernel, where kernels were specialised, bytes.
        static_shared: u64,
    },
    /// An object that is linked into the program.
    Object {
        path: PathBuf,
        /// The symbol of the table of its kernels.
        table: String,
        /// The table as a part of an image set.
        entry: Entry,
    },
}
