//! MLIR contexts, and running the registered pipelines: the ones that `regrain-opt` and the plugin run.

use std::cell::RefCell;

use mlir_bridge::ir::Op;
use mlir_bridge::pass;

thread_local! {
    /// A context that nobody has taken yet.
    static SPARE: RefCell<Option<melior::Context>> = const { RefCell::new(None) };
}

/// The dialects of device code, which take some milliseconds to load.
const DIALECTS: [&str; 8] = ["arith", "cf", "func", "gpu", "llvm", "memref", "regrain", "scf"];

/// Has a context ready for who wants one next: for while there is nothing else to do.
pub fn expect_context() {
    if SPARE.with_borrow(Option::is_none) {
        let context = mlir_context();
        for dialect in DIALECTS {
            context.get_or_load_dialect(dialect);
        }
        SPARE.set(Some(context));
    }
}

/// A context that knows all dialects and passes.
pub fn mlir_context() -> melior::Context {
    if let Some(context) = SPARE.take() {
        return context;
    }
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        regrain_dialects::register();
        mlir_bridge::register_upstream_passes();
        regrain_passes::registry::register();
    });
    mlir_bridge::new_context()
}

/// Runs passes on an operation; the verifier runs between them in debug builds, and where `REGRAIN_VERIFY_EACH` is set.
///
/// # Errors
/// A pass fails; what it says goes to the context's diagnostics.
pub fn run(op: Op<'_>, passes: &str) -> Result<(), String> {
    let verifies = cfg!(debug_assertions) || std::env::var_os("REGRAIN_VERIFY_EACH").is_some();
    let done = if verifies { pass::run_pipeline(op, passes) } else { pass::run_pipeline_unverified(op, passes) };
    done.map_err(|error| format!("'{passes}' failed: {error:?}"))
}
