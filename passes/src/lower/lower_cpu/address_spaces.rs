//! On the CPU all address spaces are one: pointers become flat, so that the vectoriser knows all of them alike.
//!
//! ```mlir
//! %t = llvm.addrspacecast %m : !llvm.ptr to !llvm.ptr<3>     // gone
//! %v = llvm.load %t : !llvm.ptr<3> -> f32                    // llvm.load %m : !llvm.ptr -> f32
//! %g = llvm.mlir.addressof @g : !llvm.ptr<1>                 // and a cast to !llvm.ptr
//! ```
//! What names its pointer types elsewhere (calls, intrinsics by name, inline assembly) keeps them through casts.

use mlir_bridge::ir::{Builder, Op, Type, Value};

/// Makes all pointers in `function` flat.
pub fn flatten(function: Op<'_>) {
    let flat = function.ctx().ptr(0);
    let is_special = |ty: Type<'_>| ty.ptr_space().is_some_and(|space| space != 0);
    for op in function.find_all(|op| keeps_types(op)) {
        for (number, operand) in op.operands().into_iter().enumerate() {
            if is_special(operand.ty()) {
                let cast = Builder::before(op).value("llvm.addrspacecast", &[operand], operand.ty());
                op.set_operand(number, cast);
            }
        }
        for result in op.results() {
            if is_special(result.ty()) {
                let cast = Builder::after(op).value("llvm.addrspacecast", &[result], flat);
                result.replace_uses_if(cast, |used| Some(used.owner) != cast.defining_op());
            }
        }
    }
    for value in special_values(function, is_special) {
        value.set_type(flat);
    }
    for cast in function.find_named("llvm.addrspacecast") {
        if cast.operand(0).ty() == cast.result(0).ty() {
            cast.replace_with(&[cast.operand(0)]);
        }
    }
}

/// Whether the types of an operation's operands and results are fixed by something else than its neighbours.
fn keeps_types(op: Op<'_>) -> bool {
    matches!(op.name(), "llvm.call" | "llvm.call_intrinsic" | "llvm.inline_asm" | "llvm.mlir.addressof")
}

/// The values that change: all but the results of operations that keep their types, and the casts made for their operands.
fn special_values<'c>(function: Op<'c>, is_special: impl Fn(Type<'c>) -> bool) -> Vec<Value<'c>> {
    let mut found = Vec::new();
    for op in function.find_all(|_| true) {
        let for_fixed = op.is("llvm.addrspacecast") && op.result(0).users().into_iter().any(keeps_types);
        if !keeps_types(op) && !for_fixed {
            found.extend(op.results().into_iter().filter(|value| is_special(value.ty())));
        }
        for region in op.regions() {
            for block in region.blocks() {
                found.extend(block.args().into_iter().filter(|value| is_special(value.ty())));
            }
        }
    }
    found
}
