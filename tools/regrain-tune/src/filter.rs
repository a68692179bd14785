//! Which kernels a table shows, and what they are called in the source.

use clap::Args;
use glob::Pattern;

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

/// Whether a kernel's symbol or its name in the source matches.
pub fn matches(pattern: &Pattern, symbol: &str) -> bool {
    pattern.matches(symbol) || pattern.matches(&name(symbol))
}

/// A kernel's name as in the source, without its parameters.
pub fn name(symbol: &str) -> String {
    let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type();
    let demangled =
        cpp_demangle::Symbol::new(symbol).ok().and_then(|parsed| parsed.demangle_with_options(&options).ok());
    demangled.unwrap_or_else(|| symbol.to_owned())
}
