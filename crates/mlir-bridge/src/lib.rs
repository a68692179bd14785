//! The only raw FFI and C++ of the compiler: MLIR and LLVM made safe to use from Rust.
//!
//! # A pass
//!
//! ```
//! use mlir_bridge::ir::{Builder, Op, Walk};
//! use mlir_bridge::pass::{Anchor, PassInfo, PassOption, PassResult, PassRun};
//!
//! static PASSES: &[PassInfo] = &[PassInfo {
//!     name: "regrain-doubled-adds",
//!     summary: "turns x + x into x * 2",
//!     anchor: Anchor::Module,
//!     options: &[PassOption { name: "limit", default: "10", description: "at most so many" }],
//!     dialects: &["arith"],
//!     run: doubled_adds,
//! }];
//!
//! fn doubled_adds(pass: &PassRun<'_>, module: Op<'_>) -> PassResult {
//!     let limit = pass.option_int("limit")? as usize;
//!     for add in module.find_named("arith.addi").into_iter().take(limit) {
//!         if add.operand(0) != add.operand(1) {
//!             add.remark("not doubled: the operands differ");
//!             continue;
//!         }
//!         let b = Builder::before(add);
//!         let two = b.const_int(add.operand(0).ty(), 2);
//!         let product = b.arith("muli", add.operand(0), two);
//!         add.replace_with(&[product]);
//!     }
//!     Ok(())
//! }
//!
//! let context = mlir_bridge::new_context();
//! mlir_bridge::register_upstream_passes();
//! mlir_bridge::pass::register(PASSES);
//! let text = "func.func @f(%a: i32) -> i32 { %0 = arith.addi %a, %a : i32 return %0 : i32 }";
//! let module = mlir_bridge::parse_module(&context, text, "f.mlir").unwrap();
//! mlir_bridge::run_on_module(&module, "regrain-doubled-adds{limit=3},cse").unwrap();
//! assert!(mlir_bridge::module_op(&module).to_string().contains("arith.muli"));
//! ```
//!
//! # What is where
//!
//! - [`ir`]: handles (`Op`, `Value`, `Block`, `Region`, `Type`, `Attr`, `Loc`, `Ctx`), [`ir::Builder`],
//!   [`ir::Mapping`] for clones, [`ir::Dominance`], memory effects.
//! - [`pass`]: the table row of a pass, registration, running pipelines.
//! - [`diagnostics`]: errors, warnings, remarks; collecting them as text.
//! - [`isl`]: sets, schedules and code of affine loops.
//! - crate root: contexts, parsing, import and export of LLVM IR.
//! - [`tool`]: what `regrain-opt` and the plugin are made of.
//!
//! Handles are `Copy` and follow MLIR's rule: never touch one after its operation was erased.
//! A pass returns `Err(op.error("..."))` or `Err("...".into())`; a panic in it becomes an error too.

pub mod amdgpu_backend;
pub mod diagnostics;
mod failure;
mod ffi;
mod inherited;
pub mod ir;
pub mod isl;
pub mod lift;
pub mod llvm;
mod module;
pub mod nvptx_backend;
mod optimise;
mod panics;
pub mod pass;
pub mod reasons;
pub mod regions;
pub mod timing;
pub mod tool;
pub mod transforms;

pub use inherited::jobserver_of_make;
pub use melior;
#[doc(hidden)]
pub use mlir_sys;
pub use module::{
    Diagnostics, add_dialect, export_inkwell, export_llvm, import_inkwell, import_llvm, module_op, new_context,
    parse_module, register_upstream_passes, run_on_module, verify,
};
pub use optimise::{VectorRegisters, has_feature, optimise_for_host};
