//! What code depends on beside the command line and the files that a source includes: the tools, the machine, variables of the
//! environment, the tuning database.
//!
//! Compiler caches do not know of these. They are told in two ways: `-print-regrain-inputs` lists them (for ccache's
//! `compiler_check`), and `regrain -E` of a CUDA source ends in a line marker with their hash ([`crate::preprocess`]).

use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use regrain_frontend::Clang;
use regrain_targets::cache::stamp;
use regrain_targets::find;
use regrain_targets::toolkit::Toolkit;

use crate::archs;
use crate::args::Args;
use crate::parse::APPEND_FLAGS;

/// Variables that change what code is made.
const VARIABLES: &[&str] = &[
    APPEND_FLAGS,
    archs::VARIABLE,
    "REGRAIN_CLANG",
    "REGRAIN_ROCM_DEVICE_LIB_PATH",
    "ROCM_PATH",
    "CUDA_PATH",
    "NVCC_PREPEND_FLAGS",
    "NVCC_APPEND_FLAGS",
    "CCC_OVERRIDE_OPTIONS",
];

/// A line for each input.
pub fn lines(args: &Args) -> String {
    let mut text = String::new();
    let mut add = |name: &str, value: &str| {
        let _ = writeln!(text, "{name}: {value}");
    };
    let own = std::env::current_exe().map(|path| stamp(&path)).unwrap_or_default();
    add("regrain", &format!("{} {own}", env!("CARGO_PKG_VERSION")));
    let clang = Clang::find();
    if let Ok(clang) = &clang {
        let real = clang.path().canonicalize().unwrap_or_else(|_| clang.path().to_path_buf());
        add("clang", &format!("{} {}", clang.path().display(), stamp(&real)));
    }
    let toolkit = Toolkit::find(args.cuda_path.as_deref()).ok();
    if let Some(toolkit) = &toolkit {
        add("toolkit", &format!("{} {}", toolkit.root.display(), toolkit.stamp()));
    }
    let wanted = clang.ok().and_then(|clang| archs::wanted(args, &clang, toolkit.as_ref(), true).ok());
    let archs: Vec<String> = wanted.iter().flat_map(|wanted| &wanted.archs).map(ToString::to_string).collect();
    add("architectures", &archs.join(","));
    if let Ok(cpu) = find("cpu") {
        // A search weighs how many cores there are, too.
        add("processor", &cpu.target.record_name(&["cpu"], args.options.cpu.as_deref()));
    }
    for name in VARIABLES {
        if let Ok(value) = std::env::var(name) {
            add(name, &value);
        }
    }
    if let Some(path) = std::env::var_os(regrain_compiler::CALIBRATION).filter(|path| !path.is_empty()) {
        add("calibration", &content(Path::new(&path)));
    }
    if let Some(path) = &args.options.profile_use {
        add("tuning database", &format!("{} {}", path.display(), content(path)));
    }
    text
}

/// The content of a file in 16 digits.
fn content(path: &Path) -> String {
    std::fs::read(path).map_or_else(|error| error.to_string(), |bytes| hash(&bytes))
}

/// 16 digits for `bytes`.
pub fn hash(bytes: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}
