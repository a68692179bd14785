//! Scatters lane by lane, for processors that have none: by the lanes' indices, not by their addresses.
//!
//! ```mlir
//! %p = llvm.getelementptr %a[%i] : vector<8x!llvm.ptr> ; llvm.intr.masked.scatter %v, %p, %all
//! ```
//! becomes
//! ```mlir
//! %i0 = vector.extractelement %i[0] ; %p0 = llvm.getelementptr %a[%i0] ; llvm.store (vector.extractelement %v[0]), %p0
//! ... the other lanes
//! ```
//! An index is often half as wide as an address, its way from the array is part of the store, and several arrays share it.
//!
//! What is left to LLVM: scatters of some lanes, and of pointers that were loaded.

use mlir_bridge::ir::{Attr, Builder, Op, Value};

use super::transpose::all_take_part;
use crate::lower::vectorize_threads::{Machine, SCATTERING, extract};

/// Takes the scatters of a function apart that go by indices.
pub fn take_apart(function: Op<'_>, machine: Machine) {
    if machine.register_bits >= SCATTERING {
        return;
    }
    for scatter in function.find_named("llvm.intr.masked.scatter") {
        let [vector, pointers, mask] = [0, 1, 2].map(|number| scatter.operand(number));
        let Some((element, lanes)) = vector.ty().vector_parts() else { continue };
        if !all_take_part(mask) || !is_indexed(pointers) {
            continue;
        }
        let b = Builder::before(scatter);
        let alignment = scatter.attr("alignment").and_then(Attr::as_int).unwrap_or(1);
        for lane in 0..lanes {
            let lane = b.const_i32(lane.cast_signed());
            b.llvm_store(extract(b, vector, lane, element), of_lane(b, pointers, lane), Some(alignment));
        }
        scatter.erase();
    }
}

/// Whether pointers are ways from one.
fn is_indexed(pointers: Value<'_>) -> bool {
    match pointers.defining_op().filter(|_| pointers.ty().vector_parts().is_some()) {
        Some(op) if op.is("llvm.getelementptr") => is_indexed(op.operand(0)),
        Some(op) => op.is("vector.broadcast") && op.operand(0).ty().vector_parts().is_none(),
        None => pointers.ty().vector_parts().is_none(),
    }
}

/// What a lane has of a value: of addresses and widened numbers, it is computed of what the lane has of their operands.
fn of_lane<'c>(b: Builder<'c>, value: Value<'c>, lane: Value<'c>) -> Value<'c> {
    let Some((element, _)) = value.ty().vector_parts() else { return value };
    match value.defining_op() {
        Some(op) if op.is("vector.broadcast") && op.operand(0).ty() == element => op.operand(0),
        Some(op) if COMPUTED.contains(&op.name()) => {
            let operands: Vec<_> = op.operands().into_iter().map(|operand| of_lane(b, operand, lane)).collect();
            b.op(op.name()).operands(&operands).attrs(&op.attrs()).result(element).build().result(0)
        }
        _ => extract(b, value, lane, element),
    }
}

const COMPUTED: [&str; 5] = ["llvm.getelementptr", "llvm.zext", "llvm.sext", "arith.extui", "arith.extsi"];
