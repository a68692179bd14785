//! The memory of a block that rows may access beside their lanes' elements: one OS thread runs a block, and there is room around it.

use mlir_bridge::ir::{Builder, Op, Value};
use regrain_dialects::attributes::{GUARDED, INTERLEAVED, REUSED};

use crate::{analysis::constants::constant, lower::DYNAMIC_SHARED};

/// The room: twice a row of the most lanes of the widest elements.
pub const ROOM: i64 = 512;
/// How far an address is followed to its memory.
const DEPTH: usize = 16;

/// The memory of the block that an address lies in, if there is room around it or can be.
pub fn root(address: Value<'_>) -> Option<Op<'_>> {
    let ops = std::iter::successors(address.defining_op(), |op| {
        matches!(op.name(), "llvm.getelementptr" | "llvm.addrspacecast").then(|| op.operand(0).defining_op())?
    });
    let op = ops.take(DEPTH).find(|op| !matches!(op.name(), "llvm.getelementptr" | "llvm.addrspacecast"))?;
    let of_block = match op.name() {
        "llvm.alloca" => {
            let of_threads = op.has_attr(REUSED) || op.has_attr(INTERLEAVED);
            let count = op.operand(0);
            let is_counted = constant(count).is_some() || count.ty().int_width() == Some(64);
            !of_threads && is_counted && op.attr("elem_type").is_some()
        }
        // The runtime's array has room on both sides.
        "llvm.mlir.addressof" => op.attr("global_name").and_then(|name| name.as_symbol()) == Some(DYNAMIC_SHARED),
        _ => false,
    };
    of_block.then_some(op)
}

/// Asks for room around memory.
pub fn needs_room(memory: Op<'_>) {
    if memory.is("llvm.alloca") {
        memory.set_attr(GUARDED, memory.ctx().unit_attr());
    }
}

/// Gives the memory that rows reach beyond some room on both sides.
pub fn make_room(function: Op<'_>) {
    for alloca in function.find_all(|op| op.has_attr(GUARDED)) {
        alloca.remove_attr(GUARDED);
        let Some(element) = alloca.attr("elem_type").and_then(|ty| ty.as_type()) else { continue };
        let alignment = alloca.attr("alignment").and_then(|alignment| alignment.as_int()).unwrap_or(1);
        let (size, natural) = element.layout(alloca);
        let alignment = alignment.max(natural.cast_signed());
        let room = ROOM.max(alignment);
        let b = Builder::before(alloca);
        let ctx = b.ctx();
        let i64_type = ctx.int(64);
        let whole = |bytes| b.const_int(i64_type, bytes);
        let count = alloca.operand(0);
        let bytes = match constant(count) {
            Some(count) => whole(size.cast_signed() * count + 2 * room),
            None => {
                let elements = b.value("llvm.mul", &[count, whole(size.cast_signed())], i64_type);
                b.value("llvm.add", &[elements, whole(2 * room)], i64_type)
            }
        };
        let spec = b.op("llvm.alloca").operands(&[bytes]).result(alloca.result(0).ty());
        let spec = spec.attr("elem_type", ctx.type_attr(ctx.int(8))).attr("alignment", ctx.i64_attr(alignment));
        let memory = spec.build();
        for (name, attr) in alloca.discardable_attrs() {
            memory.set_attr(name, attr);
        }
        alloca.replace_with(&[b.llvm_byte_at(memory.result(0), whole(room))]);
    }
}
