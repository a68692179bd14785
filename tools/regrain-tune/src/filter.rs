//! Which kernels a table shows.

use clap::Args;
use glob::Pattern;

use crate::show::matches;

/// Options of all commands that show kernels.
#[derive(Args)]
pub struct Filter {
    /// Only kernels whose name matches, as in '*hotspot*'
    #[arg(long, value_name = "GLOB")]
    kernel: Option<Pattern>,
    /// Only this target
    #[arg(long, value_name = "TARGET")]
    target: Option<String>,
}

impl Filter {
    /// Whether a kernel (its symbol) on a target is shown.
    pub fn shows(&self, kernel: &str, target: &str) -> bool {
        self.kernel.as_ref().is_none_or(|pattern| matches(pattern, kernel))
            && self.target.as_ref().is_none_or(|wanted| wanted == target)
    }
}
