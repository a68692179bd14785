//! `regrain-hash-kernels`: marks each launch function with a hash of what its kernel does.
//!
//! ```text
//! Before:                                        After:
//!   llvm.func @__regrain_launch.k(...) -> i32      llvm.func @__regrain_launch.k(...) -> i32
//!       attributes {regrain.launch = @k}               attributes {regrain.content = "5d41402abc4b2a76...", ...}
//! ```
//!
//! The hash covers the structure of the launch function in parallel form and of all functions and variables that it
//! reaches (`Op::structure`): it says whether times measured earlier are still those of this kernel, wherever its
//! source lies now. Locations, names of values, of the launch function and of internal symbols, and how a compiler
//! prints IR count for nothing. The chip is no part of it, so that a kernel that is the same for two chips has one
//! hash.

use mlir_bridge::{
    ir::Op,
    pass::{Anchor, PassInfo, PassResult, PassRun},
};
use regrain_dialects::attributes::{BLOCK_SHAPE, COMDAT, CONTENT, HOST, SPACE};

use crate::launch::launch_function::launches;

/// What is known or wanted of a kernel, and does not change what it does. The body of a launch for a constant block
/// shape has the sizes in it.
const LEFT_OUT: &[&str] = &[BLOCK_SHAPE, COMDAT, CONTENT, HOST, SPACE];

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: "regrain-hash-kernels",
    summary: "mark launch functions with a hash of what their kernels do",
    anchor: Anchor::Module,
    options: &[],
    dialects: &[],
    run,
};

fn run(_: &PassRun<'_>, module: Op<'_>) -> PassResult {
    mark(module);
    Ok(())
}

/// Marks every launch function of a module.
pub fn mark(module: Op<'_>) {
    for (launch, ..) in launches(module) {
        launch.set_attr(CONTENT, module.ctx().str_attr(&hash(module, launch)));
    }
}

/// The hash of one function of a module and of what it reaches, in hexadecimal.
pub fn hash(module: Op<'_>, function: Op<'_>) -> String {
    let structure = module.structure(&[function], LEFT_OUT);
    blake3::hash(&structure).to_hex()[..32].to_owned()
}
