//! The loops over the threads of a block as counted loops, the innermost over x.
//!
//! ```mlir
//! scf.parallel (%x, %y, %z) = (0, 0, 0) to (%nx, %ny, %nz) { A }
//! ```
//! becomes
//! ```mlir
//! scf.for %z { scf.for %y { scf.for %x { A with access group g } {parallel accesses g} } }
//! ```
//! Threads between two barriers must not race, so iterations do not depend on one another: `parallelAccesses` says so to the
//! vectoriser. It is not said of memory that threads use one after the other, nor in a loop with atomic or volatile accesses,
//! calls or inline assembly, through which threads might communicate.

use mlir_bridge::ir::{Attr, Builder, Op, Value};

use crate::split_barriers::REUSED;

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
    for axis in (0..3).rev() {
        let made = b.scf_for(operands[axis], operands[3 + axis], operands[6 + axis], &[]);
        Builder::at_end(made.body(), b.loc).scf_yield(&[]);
        b = Builder::before_terminator(made.body(), b.loc);
        ivs.insert(0, made.body().arg(0));
        if axis == 0
            && let Some((_, loop_annotation)) = annotate
        {
            made.set_attr("llvm.loop_annotation", loop_annotation);
        }
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

/// A fresh access group and the annotation of the loop that it belongs to.
fn annotation(op: Op<'_>) -> Option<(Attr<'_>, Attr<'_>)> {
    let group = "#llvm.access_group<id = distinct[0]<>>";
    let text = format!("[{group}, #llvm.loop_annotation<unroll = <disable = true>, parallelAccesses = {group}>]");
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
            !callee.is_some_and(|name| name.starts_with("__nv_"))
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
        "atomic", "barrier", "bar.", "membar", "fence", "shfl", "vote", "match", "cp.async", "mbarrier", "clock", "sleep",
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
