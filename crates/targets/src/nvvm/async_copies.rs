//! Asynchronous copies from the device's memory to shared memory (`cp.async`), as inline PTX has them.
//!
//! ```text
//! cp.async.cg.shared.global [$0], [$1], 16, $2;          cp.async.commit_group;
//! { .reg .pred p; setp.ne.b32 p, $0, 0; @p cp.async.ca.shared.global.L2::128B [$1], [$2], 16; }
//! ```
//! What a thread copies so it may use once it has waited for it, so to copy at once, and to wait for nothing, is right.

use mlir_bridge::ir::{Attr, Op, Value};

use crate::from_nvvm::ptx::{Immediates, Instruction, Operand, Statement, parse};

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AsyncStep<'c> {
    /// Closes a group of copies, or waits for some.
    Wait,
    /// Copies.
    Copy(AsyncCopy<'c>),
}

/// A copy of a few bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AsyncCopy<'c> {
    /// The number of the shared address, and bytes behind it.
    pub to: (Value<'c>, i64),
    /// The address or its number, and bytes behind it.
    pub from: (Value<'c>, i64),
    /// 4, 8 or 16.
    pub bytes: u64,
    /// How many bytes are read, an `i32`, if not all; the others are zero.
    pub read: Option<Value<'c>>,
    /// An `i32` that has to be other than 0 for anything to be copied.
    pub guard: Option<Value<'c>>,
}

/// The asynchronous copy, or the wait for such ones, that an operation is; `None` for all else, and for copies with cache policies.
pub fn step(op: Op<'_>) -> Option<AsyncStep<'_>> {
    let text = op.is("llvm.inline_asm").then(|| op.attr("asm_string").and_then(Attr::as_str)).flatten()?;
    let constraints = op.attr("constraints").and_then(Attr::as_str)?;
    if !text.contains("cp.async") || constraints.contains('=') {
        return None;
    }
    let immediates: Immediates = (0..op.num_operands())
        .zip(constraints.split(','))
        .filter(|(_, constraint)| matches!(*constraint, "n" | "i"))
        .filter_map(|(number, _)| Some((number, op.operand(number).defining_op()?.constant_int()?)))
        .collect();
    let mut guard: Option<(String, Value<'_>)> = None;
    let mut found = None;
    for statement in parse(text, &immediates).ok()?.statements {
        let Statement::Instruction(instruction) = statement else { return None };
        match (instruction.opcode[0].as_str(), &found) {
            ("setp", None) if guard.is_none() => guard = Some(other_than_zero(op, &instruction)?),
            ("cp", None) => found = Some(of_instruction(op, &instruction, guard.as_ref())?),
            ("cp", Some(AsyncStep::Wait)) if waits(&instruction) => (),
            _ => return None,
        }
    }
    found
}

/// `setp.ne.b32 p, $0, 0`: the name of the predicate, and the value.
fn other_than_zero<'c>(op: Op<'c>, instruction: &Instruction) -> Option<(String, Value<'c>)> {
    let plain = instruction.guard.is_none()
        && matches!(instruction.mnemonic().as_str(), "setp.ne.b32" | "setp.ne.s32" | "setp.ne.u32");
    match instruction.operands.as_slice() {
        [Operand::Register(name), Operand::Outer(number), Operand::Integer(0)] if plain => {
            Some((name.clone(), outer(op, *number)?))
        }
        _ => None,
    }
}

fn outer(op: Op<'_>, number: usize) -> Option<Value<'_>> {
    (number < op.num_operands()).then(|| op.operand(number))
}

fn waits(instruction: &Instruction) -> bool {
    let [_, second, third, ..] = instruction.opcode.as_slice() else { return false };
    second == "async"
        && matches!(third.as_str(), "commit_group" | "wait_group" | "wait_all")
        && instruction.guard.is_none()
}

fn of_instruction<'c>(
    op: Op<'c>,
    instruction: &Instruction,
    guard: Option<&(String, Value<'c>)>,
) -> Option<AsyncStep<'c>> {
    if waits(instruction) {
        return Some(AsyncStep::Wait);
    }
    let modifiers: Vec<&str> = instruction.opcode.iter().map(String::as_str).collect();
    let known = |word: &&str| word.starts_with("L2::") && *word != "L2::cache_hint";
    match modifiers.as_slice() {
        ["cp", "async", "ca" | "cg", "shared" | "shared::cta", "global", rest @ ..] if rest.iter().all(known) => (),
        _ => return None,
    }
    let address = |operand: &Operand| match operand {
        Operand::Address(base, offset) => match **base {
            Operand::Outer(number) => Some((outer(op, number)?, *offset)),
            _ => None,
        },
        _ => None,
    };
    let [to, from, Operand::Integer(bytes @ (4 | 8 | 16)), rest @ ..] = instruction.operands.as_slice() else {
        return None;
    };
    let read = match rest {
        [] => None,
        [Operand::Integer(number)] if number >= bytes => None,
        [Operand::Outer(number)] => Some(outer(op, *number)?),
        _ => return None,
    };
    let guard = match (&instruction.guard, guard) {
        (None, _) => None,
        (Some((Operand::Register(name), false)), Some((known, value))) if name == known => Some(*value),
        _ => return None,
    };
    Some(AsyncStep::Copy(AsyncCopy { to: address(to)?, from: address(from)?, bytes: *bytes, read, guard }))
}
