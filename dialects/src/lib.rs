//! The `regrain` dialect: GPU kernels as parallel loops inside host code.
//!
//! `regrain.td` defines the operations and `cpp/Regrain.cpp` their verifiers; [`ops`] gives them a
//! typed face in Rust. The operations are described in `docs/regrain.md`.

pub mod ops;

use mlir_bridge::melior::dialect::DialectHandle;

unsafe extern "C" {
    // SAFETY: defined in cpp/Regrain.cpp; gives a pointer to static data.
    safe fn mlirGetDialectHandle__regrain__() -> mlir_sys::MlirDialectHandle;
}

/// Makes the dialect known to every context made later, to `regrain-opt` and to plugins.
pub fn register() {
    // SAFETY: the handle is that of a dialect, and static.
    mlir_bridge::add_dialect(unsafe { DialectHandle::from_raw(mlirGetDialectHandle__regrain__()) });
}
