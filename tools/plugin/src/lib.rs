//! Regrain's dialect and passes as a plugin of the stock `mlir-opt`:
//!
//! ```text
//! mlir-opt-22 --load-dialect-plugin=libregrain_plugin.so --load-pass-plugin=libregrain_plugin.so \
//!   --pass-pipeline='builtin.module(regrain-eliminate-redundant-barriers)' a.mlir
//! ```
//!
//! It shares `libMLIR.so` with the host tool; there must be no second MLIR in the process.

mlir_bridge::mlir_plugin!("regrain", regrain_passes::registry::register, regrain_dialects::register);
