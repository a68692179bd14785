//! The loops over the threads of a block as counted loops, the innermost over x.
//!
//! ```mlir
//! scf.parallel (%x, %y, %z) = (0, 0, 0) to (%nx, %ny, %nz) { A }
//! ```
//! becomes
//! ```mlir
//! scf.for %z { scf.for %y { scf.for %x { A with access group g } {parallel accesses g} } }
//! ```
//! A loop that asks for nothing but the number of the thread, as one that copies what threads keep, is a single loop over it.
//!
//! Threads between two barriers must not race, so iterations do not depend on one another: `parallelAccesses` says so to the
//! vectoriser. It is not said of memory that threads use one after the other, nor in a loop with atomic or volatile accesses,
//! calls or inline assembly, through which threads might communicate.

use mlir_bridge::ir::{Attr, Builder, Op, Value};
use regrain_targets::device_language::library;

use crate::{
    analysis::{facts::constant, loops::Counting},
    lower::LOOP_ANNOTATION,
};
use regrain_dialects::attributes::REUSED;

/// Lowers all `scf.parallel` of a block function.
pub fn lower(function: Op<'_>) {
    let escapes = reused_memory_escapes(function);
    for parallel in function.find_named("scf.parallel") {
        lower_one(parallel, escapes);
    }
}

fn lower_one(parallel: Op<'_>, escapes: bool) {
    let operands = parallel.operands();
    let mut b = Builder::before(parallel);
    let annotate = may_annotate(parallel).then(|| annotation(parallel)).flatten();
    let mut ivs = Vec::new();
    let flat = thread_number(parallel);
    for axis in (0..3).rev() {
        if flat.is_some() && axis != 0 {
            ivs.insert(0, operands[axis]);
            continue;
        }
        let end = if flat.is_some() { count(b, &operands[3..6]) } else { operands[3 + axis] };
        let made = b.scf_for(operands[axis], end, operands[6 + axis], &[]);
        Builder::at_end(made.body(), b.loc).scf_yield(&[]);
        b = Builder::before_terminator(made.body(), b.loc);
        ivs.insert(0, made.body().arg(0));
        let own = annotate.map(|(_, annotation)| annotation).or(parallel.attr(LOOP_ANNOTATION));
        if let Some(annotation) = own.filter(|_| axis == 0) {
            made.set_attr(LOOP_ANNOTATION, annotation);
        }
    }
    if let Some(linear) = flat {
        // What is left of the computation of the number sees the number itself as x, and no rows.
        linear.replace_all_uses_with(parallel.body().arg(0));
    }
    if let Some((group, _)) = annotate {
        mark_accesses(parallel, group, escapes);
    }
    if let Some(reduce) = parallel.body().terminator() {
        reduce.erase();
    }
    if let Some(last) = b.block().terminator() {
        parallel.body().inline_before(last, &ivs);
    }
    parallel.erase();
}

fn count<'c>(b: Builder<'c>, sizes: &[Value<'c>]) -> Value<'c> {
    b.arith("muli", b.arith("muli", sizes[0], sizes[1]), sizes[2])
}

/// The value x + nx * (y + ny * z), if that is all that a loop over several rows asks of x, y and z.
fn thread_number<'c>(parallel: Op<'c>) -> Option<Value<'c>> {
    let dimensions = Counting::dimensions(parallel);
    let sizes: Vec<_> = dimensions.iter().map(|counting| counting.upper).collect();
    let rows = dimensions.iter().skip(1).any(|counting| constant(counting.upper) != Some(1));
    if !rows || !dimensions.iter().all(Counting::is_plain) {
        return None;
    }
    let only_user = |value: Value<'c>, name: &str| match value.users()[..] {
        [user] if user.is(name) => Some(user),
        _ => None,
    };
    let [x, y, z] = parallel.body().args()[..] else { return None };
    let planes = only_user(z, "arith.muli").filter(|op| op.operands().contains(&sizes[1]))?;
    let row = only_user(planes.result(0), "arith.addi").filter(|op| only_user(y, "arith.addi") == Some(*op))?;
    let rows = only_user(row.result(0), "arith.muli").filter(|op| op.operands().contains(&sizes[0]))?;
    let linear = only_user(rows.result(0), "arith.addi").filter(|op| only_user(x, "arith.addi") == Some(*op))?;
    Some(linear.result(0))
}

/// A fresh access group and the annotation of the loop that it belongs to. What has an annotation runs few threads (`keep_short`).
fn annotation(op: Op<'_>) -> Option<(Attr<'_>, Attr<'_>)> {
    let group = "#llvm.access_group<id = distinct[0]<>>";
    let vectorize = if op.has_attr(LOOP_ANNOTATION) { "vectorize = <disable = true>, " } else { "" };
    let text =
        format!("[{group}, #llvm.loop_annotation<{vectorize}unroll = <disable = true>, parallelAccesses = {group}>]");
    let both = op.ctx().parse_attr(&text)?.as_array()?;
    Some((*both.first()?, *both.get(1)?))
}

/// Whether nothing in the loop lets its iterations communicate.
fn may_annotate(parallel: Op<'_>) -> bool {
    !parallel.contains(|op| match op.name() {
        "llvm.load" | "llvm.store" => {
            let atomic = op.attr("ordering").and_then(|order| order.as_int()).is_some_and(|order| order > 0);
            atomic || op.has_attr("volatile_")
        }
        "llvm.atomicrmw" | "llvm.cmpxchg" | "llvm.fence" | "llvm.inline_asm" => true,
        "llvm.call" => {
            let callee = op.attr("callee").and_then(|callee| callee.as_symbol());
            !callee.is_some_and(library::is_pure)
        }
        "llvm.call_intrinsic" => {
            let name = op.attr("intrin").and_then(|name| name.as_str()).unwrap_or_default();
            !pure_intrinsic(name)
        }
        _ => false,
    })
}

/// Intrinsics that only compute.
fn pure_intrinsic(name: &str) -> bool {
    const IMPURE: [&str; 12] = [
        "atomic", "barrier", "bar.", "membar", "fence", "shfl", "vote", "match", "cp.async", "mbarrier", "clock",
        "sleep",
    ];
    !IMPURE.iter().any(|word| name.contains(word))
}

fn mark_accesses<'c>(parallel: Op<'c>, group: Attr<'c>, escapes: bool) {
    for access in parallel.find_all(|op| matches!(op.name(), "llvm.load" | "llvm.store")) {
        let address = access.operand(if access.is("llvm.store") { 1 } else { 0 });
        if !is_apart(address, escapes) {
            continue;
        }
        let mut groups = access.attr("access_groups").and_then(|groups| groups.as_array()).unwrap_or_default();
        groups.push(group);
        access.set_attr("access_groups", access.ctx().array_attr(&groups));
    }
}

/// Whether an address surely does not lie in stack memory that threads use one after the other.
fn is_apart(address: Value<'_>, escapes: bool) -> bool {
    let mut at = address;
    while let Some(op) = at.defining_op() {
        match op.name() {
            "llvm.getelementptr" | "llvm.addrspacecast" => at = op.operand(0),
            "llvm.alloca" => return !op.has_attr(REUSED),
            "llvm.mlir.addressof" => return true,
            _ => break,
        }
    }
    !escapes
}

/// Whether the address of such memory may be found elsewhere than in the accesses themselves.
fn reused_memory_escapes(function: Op<'_>) -> bool {
    function.find_all(|op| op.has_attr(REUSED)).into_iter().any(|alloca| escapes(alloca.result(0)))
}

fn escapes(pointer: Value<'_>) -> bool {
    pointer.uses().into_iter().any(|used| match used.owner.name() {
        "llvm.getelementptr" | "llvm.addrspacecast" => escapes(used.owner.result(0)),
        "llvm.load" | "llvm.intr.memcpy" | "llvm.intr.memset" | "llvm.intr.memmove" => false,
        "llvm.store" => used.operand == 0,
        _ => true,
    })
}
