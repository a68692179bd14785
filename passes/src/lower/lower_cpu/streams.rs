//! What a launch writes and does not read goes past the caches, where it is more than they hold.
//!
//! A store to a line that is not in a cache reads it from memory first, and what a large launch has written is gone from the caches before
//! anyone can read it. Stores of whole lines past them save a third of the traffic of `a[i] = b[i]`. Here it is only said which stores are
//! such ones (`nontemporal`), and how many bytes a thread stores so (a function attribute); what it means is decided last of all
//! (`mlir-bridge/cpp/streams.cpp`), for each launch.
//!
//! Left out are what is read in the kernel too, and is in a cache then, and what a thread stores to again in another round of a loop. Buffers that
//! are handed in apart are taken for different ones: it is about speed alone.

use std::collections::HashSet;

use mlir_bridge::ir::{Op, Value};

use crate::analysis::{
    addresses::{Offsets, Symbol},
    counted_loop::is_outside,
    facts::{constant, width},
    loops::Counting,
    objects::root,
    uniformity::free_values,
};

/// The function attribute: bytes that each thread stores past the caches.
const STREAMS: &str = "regrain-streams";
/// Bytes of a line of the cache.
const LINE: u64 = 64;
/// How far two addresses are compared.
const DEPTH: u32 = 8;

/// Says of the stores of a block function which may go past the caches.
pub fn mark(function: Op<'_>) {
    let (read, offsets) = (buffers_read(function), Offsets::default());
    let mut bytes = 0;
    for parallel in function.find_named("scf.parallel") {
        for store in parallel.find_named("llvm.store") {
            if let Some(of_store) = streamed(store, parallel, &read, &offsets) {
                store.set_attr("nontemporal", store.ctx().unit_attr());
                bytes += of_store;
            }
        }
    }
    if bytes > 0 {
        let ctx = function.ctx();
        let said = ctx.array_attr(&[ctx.str_attr(STREAMS), ctx.str_attr(&bytes.to_string())]);
        function.set_attr("passthrough", ctx.array_attr(&[said]));
    }
}

/// What the addresses that a function reads are computed of, and those of what it does more with than to store there.
fn buffers_read(function: Op<'_>) -> HashSet<Value<'_>> {
    let mut read = HashSet::new();
    for op in function.find_all(|op| !matches!(op.name(), "llvm.getelementptr" | "llvm.addrspacecast")) {
        let addresses = op
            .operands()
            .into_iter()
            .enumerate()
            .filter(|(number, value)| value.ty().ptr_space().is_some() && !(op.is("llvm.store") && *number == 1));
        read.extend(addresses.map(|(_, address)| root(address)));
    }
    read
}

/// The bytes that a thread stores by an operation, if they may go past the caches.
fn streamed<'c>(store: Op<'c>, parallel: Op<'c>, read: &HashSet<Value<'c>>, offsets: &Offsets<'c>) -> Option<u64> {
    let (value, address) = (store.operand(0), store.operand(1));
    let plain = (value.ty().is_float() || width(value.ty()).is_some()) && !store.has_attr("volatile_");
    let atomic = store.attr("ordering").and_then(|ordering| ordering.as_int()).unwrap_or(0) != 0;
    let buffer = root(address);
    let given = buffer.defining_op().is_some_and(|op| op.is("llvm.load")) && is_outside(buffer, parallel);
    if !plain || atomic || !given || read.iter().any(|other| same(*other, buffer, DEPTH)) {
        return None;
    }
    if !depends_on(address, parallel, &parallel.body().args()) {
        return None;
    }
    let mut bytes = value.ty().layout(store).0;
    // Threads that lie apart store parts of lines.
    let step = offsets.address(address).offset.map_or(0, |by| by.factor(Symbol::Value(parallel.body().arg(0))));
    if step != 0 && step != i128::from(bytes) {
        return None;
    }
    // Rows of threads that fill parts of lines would have them written part by part.
    if constant(parallel.operand(3)).is_some_and(|width| !(width.cast_unsigned() * bytes).is_multiple_of(LINE)) {
        return None;
    }
    let mut inside = store;
    while let Some(around) = inside.parent().filter(|op| !op.is("llvm.func")) {
        if matches!(around.name(), "scf.for" | "scf.while") {
            let numbers: Vec<_> = around.regions().into_iter().flat_map(|region| region.entry().args()).collect();
            if !depends_on(address, around, &numbers) {
                return None;
            }
            bytes = bytes.saturating_mul(
                Counting::of(around).and_then(|counting| counting.rounds()).map_or(1, i64::unsigned_abs),
            );
        }
        inside = around;
    }
    Some(bytes)
}

/// Whether a value in a loop is computed of one of its numbers.
fn depends_on<'c>(value: Value<'c>, around: Op<'c>, numbers: &[Value<'c>]) -> bool {
    let (mut work, mut seen) = (vec![value], HashSet::new());
    while let Some(value) = work.pop() {
        if numbers.contains(&value) {
            return true;
        }
        if is_outside(value, around) || !seen.insert(value) {
            continue;
        }
        match value.defining_op() {
            Some(op) => work.extend(free_values(op)),
            // The number of an inner loop, of what that begins with.
            None => work.extend(
                value.parent_block().and_then(|block| block.parent_op()).into_iter().flat_map(|op| op.operands()),
            ),
        }
    }
    false
}

/// Whether two values are surely computed alike. Memory is each its own, as that of two structures by value.
fn same<'c>(a: Value<'c>, b: Value<'c>, depth: u32) -> bool {
    let (Some(left), Some(right)) = (a.defining_op(), b.defining_op()) else { return a == b };
    a == b
        || depth > 0
            && !left.is("llvm.alloca")
            && left.name() == right.name()
            && left.num_regions() == 0
            && left.num_operands() == right.num_operands()
            && left.attrs() == right.attrs()
            && left.operands().into_iter().zip(right.operands()).all(|(a, b)| same(a, b, depth - 1))
}
