//! What memory an address lies in, where kernels ask.

use std::collections::HashSet;

use mlir_bridge::ir::{Builder, Op, Value};
use regrain_targets::device_language::thread_ops::{asks_for_space, said_of_space};

use super::{
    objects::{is_read_only_struct, is_shared, root},
    waiting::{argument_sources, result_sources},
};
use regrain_dialects::attributes::KERNEL_ARG;

/// The answer to an operation that asks, if that is the same for all that the address may be.
fn answer(op: Op<'_>) -> Option<bool> {
    said_of_space(op, true)?;
    said_of_space(op, lies_in_shared(op.operand(0))?)
}

/// Answers what asks in a launch, where that is known.
pub fn answer_all(wrapper: Op<'_>) {
    for op in wrapper.find_all(asks_for_space) {
        if let Some(answer) = answer(op) {
            let b = Builder::before(op);
            op.replace_with(&[b.const_int(op.result(0).ty(), i64::from(answer))]);
        }
    }
}

/// Whether an operation asks, by itself or in what it calls, and is not answered.
pub fn asks_of_unknown<'c>(op: Op<'c>, module: Op<'c>) -> bool {
    if op.is("llvm.call") {
        return may_ask(op, module, &mut HashSet::new());
    }
    asks_for_space(op) && answer(op).is_none()
}

/// Whether a function that is called asks, or one that it calls.
fn may_ask<'c>(call: Op<'c>, module: Op<'c>, seen: &mut HashSet<Op<'c>>) -> bool {
    let callee = call.attr("callee").and_then(|name| name.as_symbol()).and_then(|name| module.lookup_symbol(name));
    callee.is_some_and(|callee| {
        seen.insert(callee)
            && (callee.contains(asks_for_space)
                || callee.find_named("llvm.call").into_iter().any(|inner| may_ask(inner, module, seen)))
    })
}

/// Whether an address lies in shared memory, or in what the host hands in; `None` where it may be either, or is not known.
fn lies_in_shared(address: Value<'_>) -> Option<bool> {
    let (mut work, mut seen) = (vec![address], HashSet::new());
    let mut known = None;
    while let Some(value) = work.pop() {
        if is_shared(value) {
            (known != Some(false)).then(|| known = Some(true))?;
            continue;
        }
        let value = root(value);
        if !seen.insert(value) {
            continue;
        }
        let sources = match (value.defining_op(), value.block_arg()) {
            (Some(op), _) if is_handed_in(op) => {
                (known != Some(true)).then(|| known = Some(false))?;
                continue;
            }
            (Some(op), _) if matches!(op.name(), "llvm.select" | "arith.select") => op.operands()[1..].to_vec(),
            (Some(op), _) if matches!(op.name(), "scf.if" | "scf.for" | "scf.while") => {
                result_sources(op, value.result_number()?)
            }
            (None, Some((block, number))) => {
                let owner = block.parent_op().filter(|owner| matches!(owner.name(), "scf.for" | "scf.while"))?;
                argument_sources(owner, block, number)
            }
            _ => return None,
        };
        work.extend(sources.into_iter().filter(|source| source.ty().ptr_space().is_some()));
    }
    known
}

/// Whether an operation gives an address that the host hands in: by itself, or in a structure that nobody writes.
fn is_handed_in(op: Op<'_>) -> bool {
    op.is("llvm.load") && (op.has_attr(KERNEL_ARG) || is_read_only_struct(op))
}
