//! `regrain-lift-control-flow`: the branches of `llvm.func` bodies become `scf.if`, `scf.while`, `scf.index_switch`.
//!
//! ```text
//! Before:                                        After:
//!   llvm.br ^head(%c0 : i32)                       %r = scf.while (%i = %c0) : (i32) -> i32 {
//! ^head(%i: i32):                                    %c = llvm.icmp "slt" %i, %n : i32
//!   %c = llvm.icmp "slt" %i, %n : i32                scf.condition(%c) %i : i32
//!   llvm.cond_br %c, ^body, ^exit                  } do {
//! ^body:                                           ^bb0(%i: i32):
//!   ...                                              ...
//!   llvm.br ^head(%next : i32) {loop_annotation}     scf.yield %next : i32
//!                                                  } attributes {llvm.loop_annotation}
//! ```
//!
//! A function is left as it was, with a remark, when a terminator is no plain branch (`llvm.invoke`, `llvm.indirectbr`), a
//! switch is wider than 64 bits, or the number of synchronising operations would change. Irreducible loops are lifted too:
//! MLIR's transformation gives them one entry that dispatches on a number.

use mlir_bridge::{
    ir::Op,
    lift,
    pass::{Anchor, PassInfo, PassResult, PassRun},
};

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: "regrain-lift-control-flow",
    summary: "lift the branches of llvm functions to scf",
    anchor: Anchor::Module,
    options: &[],
    dialects: lift::DIALECTS,
    run,
};

fn run(_pass: &PassRun<'_>, module: Op<'_>) -> PassResult {
    lift_functions(module);
    Ok(())
}

/// Lifts every function of the module that can be, with a remark for the others.
pub fn lift_functions(module: Op<'_>) {
    for func in module.find_named("llvm.func") {
        if func.region(0).is_empty() {
            continue;
        }
        if let Err(reason) = lift::lift_control_flow(func) {
            let name = func.symbol_name().unwrap_or("");
            func.remark(format!("control flow of {name} is not lifted: {reason}"));
        }
    }
}
