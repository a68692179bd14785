//! MLIR contexts.

/// A context that knows all dialects and passes.
pub fn mlir_context() -> melior::Context {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        regrain_dialects::register();
        mlir_bridge::register_upstream_passes();
        regrain_passes::registry::register();
    });
    mlir_bridge::new_context()
}
