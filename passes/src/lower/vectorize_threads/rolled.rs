//! Rounds of a loop that not all of a row's lanes make.
//!
//! They are few, the last ones, and their code need not be fast but short. A loop in them stays a loop where only the source's word would have it
//! unrolled, or there would be as much code for them as for all rounds before. What such a loop accesses of its threads' memory is a copy for
//! the while, so that the memory itself, whose places are constants wherever loops are unrolled, still becomes registers:
//! ```mlir
//! scf.for %i ... { scf.for %j ... { %a[%j] } unroll }                scf.for %i ... { scf.for %j ... { %a[%j] } unroll }
//! scf.while any ... { scf.for %j ... { %a[%j] } unroll }       ->    memcpy %b, %a
//!                                                                    scf.while any ... { scf.for %j ... { %b[%j] } }
//!                                                                    scf.if any { memcpy %a, %b }
//! ```

use mlir_bridge::ir::{Builder, Mapping, Op, Value};
use regrain_dialects::attributes::REUSED;

use crate::{
    analysis::{facts::constant, loops::Counting, objects::root, uniformity::free_values},
    lower::{LOOP_ANNOTATION, keep_rolled},
};

/// What LLVM unrolls a loop to without being told.
const UNROLLED: u64 = 300;
/// Bytes of memory that is worth being copied for what is left of a loop.
const COPIED: i64 = 1 << 14;

/// Keeps long loops of rounds that not all lanes make as short as they are; `some` says whether there are such rounds.
pub fn keep<'c>(rounds: Op<'c>, some: Value<'c>) {
    let is_long = |op: &Op<'_>| {
        op.is("scf.for") && op.has_attr(LOOP_ANNOTATION) && rounds_of(*op) > 1 && unrolled(*op) > UNROLLED
    };
    let loops = rounds.find_all(|op| op != rounds && is_long(&op));
    let memories: Vec<_> = loops.iter().map(|op| memories(*op)).collect();
    let mut apart: Vec<(Op<'_>, bool)> = Vec::new();
    for memory in memories.iter().flatten() {
        if !apart.iter().any(|(known, _)| known == memory) {
            apart.push((*memory, may_be_copied(*memory, rounds)));
        }
    }
    let all_apart = |memories: &[Op<'_>]| memories.iter().all(|memory| apart.contains(&(*memory, true)));
    for op in loops.iter().zip(&memories).filter(|(_, memories)| all_apart(memories)).map(|(op, _)| op) {
        keep_rolled(*op);
    }
    for (memory, _) in apart.into_iter().filter(|(_, may)| *may) {
        copy(memory, rounds, some);
    }
}

/// The operations of a loop that goes a known number of rounds, all of them one after the other.
fn unrolled(op: Op<'_>) -> u64 {
    let inside = op.regions().into_iter().flat_map(|region| region.blocks()).flat_map(|block| block.ops());
    let of_round = inside.filter(|op| !op.is("llvm.mlir.constant") && !op.is("arith.constant")).map(unrolled);
    1 + of_round.fold(0, u64::saturating_add).saturating_mul(rounds_of(op))
}

/// The rounds of a loop, 1 where they are not known.
fn rounds_of(op: Op<'_>) -> u64 {
    Counting::of(op).and_then(|counting| counting.rounds()).map_or(1, i64::unsigned_abs)
}

/// The memory of threads that is accessed in an operation.
fn memories(op: Op<'_>) -> Vec<Op<'_>> {
    let mut found = Vec::new();
    for value in free_values(op).into_iter().filter(|value| value.ty().ptr_space().is_some()) {
        if let Some(memory) = root(value).defining_op().filter(|op| op.is("llvm.alloca") && op.has_attr(REUSED))
            && !found.contains(&memory)
        {
            found.push(memory);
        }
    }
    found
}

/// Whether `rounds` can have a copy of memory: all of its addresses are known, and none is handed in.
fn may_be_copied(memory: Op<'_>, rounds: Op<'_>) -> bool {
    let address = memory.result(0);
    let handed_in = free_values(rounds)
        .into_iter()
        .any(|value| value != address && value.ty().ptr_space().is_some() && root(value) == address);
    !handed_in && !rounds.is_ancestor_of(memory) && size(memory).is_some_and(|bytes| bytes <= COPIED) && stays(address)
}

/// Whether an address is only that of accesses.
fn stays(address: Value<'_>) -> bool {
    address.uses().into_iter().all(|used| match used.owner.name() {
        "llvm.getelementptr" => used.owner.result(0).ty().ptr_space().is_some() && stays(used.owner.result(0)),
        "llvm.load" | "llvm.intr.masked.load" | "llvm.intr.memset" => used.operand == 0,
        "llvm.store" | "llvm.intr.masked.store" => used.operand == 1,
        name => name.starts_with("llvm.intr.lifetime."),
    })
}

/// The bytes of an `llvm.alloca`.
fn size(alloca: Op<'_>) -> Option<i64> {
    let element = alloca.attr("elem_type")?.as_type()?;
    let (size, alignment) = element.layout(alloca);
    size.next_multiple_of(alignment.max(1)).cast_signed().checked_mul(constant(alloca.operand(0))?)
}

/// Gives `rounds` a copy of memory, if there are some.
fn copy<'c>(memory: Op<'c>, rounds: Op<'c>, some: Value<'c>) {
    let Some(bytes) = size(memory) else { return };
    let (own, address) = (Builder::after(memory).clone_op(memory, &mut Mapping::new()).result(0), memory.result(0));
    for op in rounds.find_all(|_| true) {
        for (index, operand) in op.operands().into_iter().enumerate() {
            if operand == address {
                op.set_operand(index, own);
            }
        }
    }
    for (b, to, from) in [(Builder::after(rounds), address, own), (Builder::before(rounds), own, address)] {
        let made = b.scf_if(some, &[], false);
        let inside = Builder::at_end(made.body(), b.loc);
        let bytes = inside.const_int(b.ctx().int(64), bytes);
        inside.llvm_memcpy(to, from, bytes);
        inside.scf_yield(&[]);
    }
}
