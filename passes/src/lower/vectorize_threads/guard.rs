//! Memory of a block that a row may read and write beside the elements of the lanes that take part.
//!
//! ```mlir
//! llvm.intr.masked.store %v, %p, %mask          // %p in shared memory
//! ```
//! becomes
//! ```mlir
//! %old = llvm.load %p : vector<8xf32>
//! llvm.store (llvm.select %mask, %v, %old), %p
//! ```
//! A processor without masks in registers of their own takes many times as long for the first. A block runs on one OS thread, and nobody
//! else sees its memory: what is written back is what was there. The lanes follow one another, and one of them is within the object, so
//! that the others are at most a row away from it: the object gets that much room on both sides (`own_memory.rs`).

use std::collections::HashSet;

use mlir_bridge::ir::{Builder, Op, Value};
use regrain_targets::device_language::thread_ops::{ThreadOp, classify};

use super::{
    classify::is_ordinary,
    emit::Emitter,
    memory::Scalar,
    own_memory::{needs_room, root},
    shapes::Shapes,
};
use crate::analysis::{
    objects::{self, Kind, escapes, object_of, same_object},
    uniformity::computes,
};

/// Registers of so many bits come with masks of their own.
const MASKING_BITS: u32 = 512;
/// Whether only one thread loop of a function writes memory that others see, and threads do nothing that tells the order of their accesses.
pub fn writes_in_one_loop(function: Op<'_>) -> bool {
    let tells = |op: Op<'_>| {
        matches!(op.name(), "llvm.atomicrmw" | "llvm.cmpxchg" | "llvm.fence" | "llvm.inline_asm")
            || op.name().starts_with("llvm.intr.mem")
            || matches!(op.name(), "llvm.load" | "llvm.store") && !is_ordinary(op)
            || op.is("llvm.call") && !computes(op)
    };
    let loops = function.find_named("scf.parallel");
    loops.into_iter().filter(|parallel| parallel.contains(is_seen)).count() < 2 && !function.contains(tells)
}

/// Whether the threads of a loop may go through it twice: nothing that they write is read there.
pub fn may_repeat(parallel: Op<'_>) -> bool {
    let (mut read, mut written) = (Vec::new(), Vec::new());
    for op in parallel.find_all(|op| op != parallel) {
        match op.name() {
            "llvm.load" if is_ordinary(op) => read.push(objects::root(op.operand(0))),
            "llvm.store" if is_ordinary(op) => written.push(objects::root(op.operand(1))),
            "llvm.call" if computes(op) => (),
            "scf.if" | "scf.for" | "scf.while" | "scf.yield" | "scf.condition" | "scf.reduce" => (),
            _ if op.is_memory_effect_free() => (),
            _ => return false,
        }
    }
    written.iter().all(|written| read.iter().all(|read| lie_apart(*written, *read)))
}

/// Whether one of two pointers is to memory of the block that the other cannot point to.
fn lie_apart<'c>(one: Value<'c>, other: Value<'c>) -> bool {
    let hidden = |memory: Value<'c>| object_of(memory) == Some(Kind::Local) && !escapes(memory);
    let own = |memory: Value<'c>| object_of(memory) == Some(Kind::Local) || root(memory).is_some();
    let known = object_of(one).is_some() && object_of(other).is_some();
    !same_object(one, other) && (hidden(one) || hidden(other) || known && (own(one) || own(other)))
}

/// Whether a store is one that other blocks see.
fn is_seen(op: Op<'_>) -> bool {
    op.is("llvm.store") && root(op.operand(1)).is_none()
}

/// Whether all stores of a thread loop that others see are ones of lanes side by side.
pub fn writes_side_by_side<'c>(shapes: &Shapes<'c>, parallel: Op<'c>) -> bool {
    let apart =
        |op: Op<'c>| is_seen(op) && shapes.stride(op.operand(1)) != Some(op.operand(0).ty().layout(op).0.cast_signed());
    !parallel.contains(apart)
}

impl<'c> Emitter<'c, '_> {
    /// Whether all elements of a row from an address on may be accessed; `beyond` if not all lanes take part.
    pub fn may_touch_all(&mut self, address: Value<'c>, beyond: bool) -> bool {
        let Some(memory) = root(address) else { return false };
        let known = self.touched.contains(&address);
        if !known && (self.sure || self.mask.is_none()) {
            self.touched.push(address);
        }
        if beyond {
            needs_room(memory);
        }
        known || self.sure || self.mask.is_none()
    }

    /// Whether all lanes have read what is at their addresses, and no other thread may write there.
    ///
    /// A thread that writes where another one reads, neither of them by an atomic operation, has no meaning in CUDA. So nobody but the thread
    /// itself writes what it has just read, and it may write that back. That is made use of only where all writes of the kernel are ones of
    /// lanes side by side: programs that race as they update what others own do it at addresses that they have read. And where blocks have
    /// places of their own: `if (!found[t] && ...) found[t] = true` in all blocks is a race too, but one that programs live by.
    pub fn may_write_back(&self, address: Value<'c>) -> bool {
        self.writes_back
            && self.register_bits < MASKING_BITS
            && self.read.contains(&address)
            && tells_blocks_apart(address)
    }

    /// Stores the lanes of a mask (the first of `values`) among what is there; `pointer` is the row's.
    pub fn blend(
        &mut self,
        op: Op<'c>,
        address: Value<'c>,
        pointer: Value<'c>,
        scalar: &Scalar<'c>,
        [mask, vector]: [Value<'c>; 2],
    ) {
        if self.may_touch_all(address, true) {
            self.blended(op, pointer, scalar, [mask, vector]);
            return;
        }
        // Where no lane takes part the address may be anywhere.
        let made = self.b.scf_if(self.any(mask), &[], false);
        let inside = Builder::at_end(made.body(), self.b.loc);
        let outer = std::mem::replace(&mut self.b, inside);
        self.blended(op, pointer, scalar, [mask, vector]);
        self.b.scf_yield(&[]);
        self.b = outer;
    }

    fn blended(&self, op: Op<'c>, pointer: Value<'c>, scalar: &Scalar<'c>, [mask, vector]: [Value<'c>; 2]) {
        let all = self.among(op, pointer, scalar, mask, vector);
        self.store_lanes_at(op, pointer, scalar, all);
    }

    /// The lanes of a mask among what is in memory. What is read is frozen, or LLVM would make one masked store of all again.
    pub fn among(
        &self,
        op: Op<'c>,
        pointer: Value<'c>,
        scalar: &Scalar<'c>,
        mask: Value<'c>,
        vector: Value<'c>,
    ) -> Value<'c> {
        let old = self.load_lanes_at(op, pointer, None, scalar);
        self.select(mask, vector, self.b.value("llvm.freeze", &[old], old.ty()))
    }
}

/// Whether each number of the block that a function asks for is one that an address is a sum of, products and flipped bits among them.
fn tells_blocks_apart(address: Value<'_>) -> bool {
    let Some(function) = address
        .parent_block()
        .and_then(|block| std::iter::successors(block.parent_op(), |op| op.parent()).find(|op| op.is("llvm.func")))
    else {
        return false;
    };
    let number = |op: Op<'_>| match classify(op) {
        Some(ThreadOp::BlockId(axis)) => Some(axis),
        _ => None,
    };
    let (mut found, mut seen, mut work) = (Vec::new(), HashSet::new(), vec![address]);
    while let Some(value) = work.pop() {
        if !seen.insert(value) {
            continue;
        }
        match (value.defining_op(), value.block_arg()) {
            (Some(op), _) if number(op).is_some() => found.extend(number(op)),
            (Some(op), _) if is_sum(op) => work.extend(op.operands()),
            (None, Some((block, index))) => work.extend(block.parent_op().and_then(|op| begins_with(op, index))),
            _ => {}
        }
    }
    function.find_all(|op| number(op).is_some()).into_iter().filter_map(number).all(|axis| found.contains(&axis))
}

fn is_sum(op: Op<'_>) -> bool {
    let (_, name) = op.name().split_once('.').unwrap_or_default();
    let sums = [
        "getelementptr",
        "addrspacecast",
        "add",
        "addi",
        "sub",
        "subi",
        "mul",
        "muli",
        "shl",
        "shli",
        "or",
        "ori",
        "xor",
        "xori",
    ];
    let casts = ["sext", "zext", "trunc", "extsi", "extui", "trunci", "index_cast", "index_castui"];
    sums.contains(&name) || casts.contains(&name)
}

/// What a loop's argument is in the first round.
fn begins_with(op: Op<'_>, index: usize) -> Option<Value<'_>> {
    match op.name() {
        "scf.for" if index == 0 => Some(op.operand(0)),
        "scf.for" => op.operands().get(2 + index).copied(),
        "scf.while" => op.operands().get(index).copied(),
        _ => None,
    }
}
