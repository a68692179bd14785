//! The `regrain` dialect: GPU kernels as parallel loops inside host code.
//!
//! `regrain.td` defines the operations and `cpp/Regrain.cpp` their verifiers; [`ops`] gives them a
//! typed face in Rust, [`attributes`] names the attributes. All are described in `docs/regrain.md`.

pub mod attributes;
mod bounds;
pub mod ops;

pub use bounds::LaunchBounds;

mlir_bridge::mlir_dialect!(
    /// Makes the dialect known to every context made later, to `regrain-opt` and to plugins.
    register,
    mlirGetDialectHandle__regrain__
);
