//! What the device side of a source comes to for one target.

use std::collections::HashMap;

use regrain_targets::image::Image;
use regrain_targets::units::DeviceCode;
use regrain_targets::{Error, Unsupported};

use crate::diagnostics;
use crate::error::Result;
use crate::source::Source;
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
    /// What is compiled when the program is linked.
    Waiting {
        /// clang's code for each architecture; none where the unit has no device code.
        codes: Vec<DeviceCode>,
        /// The translation unit.
        unit: String,
    },
    /// Objects that are linked into the program.
    Object {
        /// The symbol of the table of its kernels.
        table: String,
        /// The translation unit.
        unit: String,
        /// The kernels.
        kernels: Vec<String>,
    },
}

impl Code {
    /// The name of a unit whose code waits to be linked.
    pub(crate) fn waiting_unit(&self) -> Option<&str> {
        match self {
            Self::Waiting { unit, codes } if !codes.is_empty() => Some(unit),
            _ => None,
        }
    }
}

/// Warns of what a target cannot do, and what comes of it; an error where warnings are to be.
pub(crate) fn say_lacking(source: &Source<'_>, lacking: Vec<Unsupported>, outcome: &str) -> Result<()> {
    let says = |option: &str| source.unit.options.iter().any(|given| given == option);
    if let Some(first) = lacking.first().filter(|_| says("-Werror")) {
        return Err(Error::Unsupported(first.clone()).into());
    }
    if !says("-w") {
        for one in lacking {
            diagnostics::warn(&one.warning(outcome));
        }
    }
    Ok(())
}
