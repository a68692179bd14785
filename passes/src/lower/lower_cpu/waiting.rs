//! Thread loops in which a thread may wait for another one become functions that the runtime runs.
//!
//! ```mlir
//! scf.parallel (%x, %y, %z) = ... { A(%v) ; scf.while { load volatile ... } do { ... } }
//! ```
//! becomes
//! ```mlir
//! llvm.store %v, %frame[0] ; llvm.call @__regrain_wait_loop(@block.waits0, %frame)
//!
//! llvm.func @block.waits0(%frame) {
//!   %v = llvm.load %frame[0]
//!   scf.while : () -> i64 { %i = llvm.call @__regrain_next_thread() ; %i < %nx * %ny * %nz } do {
//!     %x, %y, %z = %i % %nx, %i / %nx % %ny, ...
//!     A(%v) ; scf.while { ... } do { llvm.call @__regrain_wait() ; ... }
//!   }
//! }
//! ```
//! The runtime may begin the function again on another stack, while a thread waits in it; who has begun is not begun again. Where the rows of
//! the loop are warps whose lanes wait in step, a row is what is taken (`vectorize_threads`); else its threads go one by one, and meet
//! at operations of warps as coroutines do. Stack memory that threads use one after the other becomes the function's own.
//!
//! A loop of the whole block that may wait says so once for each round.

use mlir_bridge::ir::{Builder, Mapping, Op, Type, Value};
use regrain_dialects::{
    attributes::REUSED,
    ops::{is_barrier, is_synchronising},
};

use regrain_targets::device_operations::DeviceOperations;

use super::empty_function;
use crate::{
    analysis::{
        uniformity::free_values,
        waiting::{holds_polls, may_wait, meets_warp_each_time},
    },
    lower::{TAKEN_BY_ROW, WAIT},
};

const WAIT_LOOP: &str = "__regrain_wait_loop";
const NEXT_THREAD: &str = "__regrain_next_thread";
const WAIT_OF_BLOCK: &str = "__regrain_wait_of_block";
/// What a captured value takes.
const CELL: u64 = 64;

/// Outlines the thread loops of a block function that may wait. Gives the functions that are still to be vectorised.
///
/// # Errors
/// An operation of a warp that the device has not.
pub fn outline<'c>(module: Op<'c>, function: Op<'c>, operations: &dyn DeviceOperations) -> Result<Vec<Op<'c>>, String> {
    let mut made = Vec::new();
    let mut count = 0;
    for parallel in function.find_named("scf.parallel") {
        let loops = parallel.find_all(|op| op.is("scf.while") && may_wait(op));
        if loops.is_empty() || parallel.num_results() > 0 {
            continue;
        }
        let of_warps = parallel.contains(|op| is_synchronising(op) && !is_barrier(op));
        let in_step = loops.iter().all(|spin| meets_warp_each_time(*spin));
        let items = match (of_warps, in_step) {
            (false, _) => Items::Threads,
            (true, true) => Items::Rows,
            (true, false) => Items::Lanes,
        };
        for spin in loops {
            call_at_start(module, spin, WAIT);
        }
        let name = format!("{}.waits{count}", function.symbol_name().unwrap_or_default());
        count += 1;
        let outlined = outline_one(module, parallel, &name, items);
        match items {
            Items::Rows => made.push(outlined),
            Items::Threads => (),
            Items::Lanes => operations.lower(module, outlined)?,
        }
    }
    let in_thread_loop = |op: Op<'c>| op.parent_of_name("scf.parallel").is_some();
    for spin in function.find_all(|op| op.is("scf.while") && !in_thread_loop(op) && holds_polls(op)) {
        call_at_start(module, spin, WAIT_OF_BLOCK);
    }
    Ok(made)
}

/// Calls a function of the runtime in each round of a loop.
fn call_at_start(module: Op<'_>, spin: Op<'_>, name: &str) {
    declare(module, name, &[], module.ctx().llvm_void());
    Builder::at_start(spin.region(1).entry(), spin.loc()).llvm_call(name, &[], &[]);
}

fn declare<'c>(module: Op<'c>, name: &str, inputs: &[Type<'c>], result: Type<'c>) {
    if module.lookup_symbol(name).is_none() {
        Builder::at_end(module.body(), module.ctx().unknown_loc()).llvm_func(name, result, inputs);
    }
}

/// What the function of a thread loop runs one after the other, as the runtime has it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Items {
    /// Warps as rows.
    Rows,
    Threads,
    /// Threads that wait for one another at operations of their warp.
    Lanes,
}

/// Makes the function of a thread loop.
fn outline_one<'c>(module: Op<'c>, parallel: Op<'c>, name: &str, items: Items) -> Op<'c> {
    let ctx = module.ctx();
    let outlined = empty_function(module, name);
    let inside = Builder::before_terminator(outlined.body(), parallel.loc());
    let outside = Builder::before(parallel);
    let captured = free_values(parallel);
    let cells = captured.iter().filter(|value| copied(**value).is_none()).count() as i64;
    let bytes = ctx.llvm_array(ctx.int(8), (cells.cast_unsigned().max(1) * CELL) as u32);
    let function = parallel.parent_of_name("llvm.func").unwrap_or(parallel);
    let start = Builder::at_start(function.region(0).entry(), parallel.loc());
    let spec = start.op("llvm.alloca").operands(&[start.const_i32(1)]).result(ctx.ptr(0));
    let frame = spec.attr("elem_type", ctx.type_attr(bytes)).attr("alignment", ctx.i64_attr(64)).build().result(0);
    let mut mapping = Mapping::new();
    let mut cell = 0;
    for value in captured {
        if let Some(op) = copied(value) {
            copy(inside, op, &mut mapping);
            continue;
        }
        store(outside, value, address(outside, frame, cell));
        mapping.map(value, load(inside, value.ty(), address(inside, outlined.body().arg(0), cell)));
        cell += CELL as i32;
    }
    let moved = inside.clone_op(parallel, &mut mapping);
    declare(module, WAIT_LOOP, &[ctx.ptr(0), ctx.ptr(0), ctx.int(32)], ctx.llvm_void());
    let kind = outside.const_i32(items as i32);
    outside.llvm_call(WAIT_LOOP, &[outside.llvm_addressof(name), frame, kind], &[]);
    parallel.erase();
    match items {
        Items::Rows => outlined.set_attr(TAKEN_BY_ROW, ctx.unit_attr()),
        _ => take_threads(module, moved),
    }
    outlined
}

/// What a captured value is made by, if that is made again in the function.
fn copied(value: Value<'_>) -> Option<Op<'_>> {
    let op = value.defining_op()?;
    let constant = op.num_operands() == 0 && op.num_regions() == 0 && op.is_pure();
    let own = op.is("llvm.alloca") && op.has_attr(REUSED) && copied(op.operand(0)).is_some();
    (constant || own).then_some(op)
}

fn copy<'c>(b: Builder<'c>, op: Op<'c>, mapping: &mut Mapping<'c>) {
    for operand in op.operands() {
        if mapping.get(operand).is_none()
            && let Some(source) = operand.defining_op()
        {
            copy(b, source, mapping);
        }
    }
    b.clone_op(op, mapping);
}

fn address<'c>(b: Builder<'c>, frame: Value<'c>, offset: i32) -> Value<'c> {
    let ctx = b.ctx();
    let spec = b.op("llvm.getelementptr").operands(&[frame]).attr("elem_type", ctx.type_attr(ctx.int(8)));
    spec.attr("rawConstantIndices", ctx.i32_array_attr(&[offset])).result(ctx.ptr(0)).build().result(0)
}

fn store<'c>(b: Builder<'c>, value: Value<'c>, address: Value<'c>) {
    let value = if value.ty().is_index() { b.index_cast(value, b.ctx().int(64)) } else { value };
    b.llvm_store(value, address, None);
}

fn load<'c>(b: Builder<'c>, ty: Type<'c>, address: Value<'c>) -> Value<'c> {
    let kept = if ty.is_index() { b.ctx().int(64) } else { ty };
    let value = b.llvm_load(address, kept, None);
    if ty.is_index() { b.index_cast(value, ty) } else { value }
}

/// Threads are those that nobody has begun, one after the other.
fn take_threads<'c>(module: Op<'c>, parallel: Op<'c>) {
    let b = Builder::before(parallel);
    let i64 = b.ctx().int(64);
    declare(module, NEXT_THREAD, &[], i64);
    let sizes: Vec<_> = parallel.operands()[3..6].iter().map(|size| b.index_cast(*size, i64)).collect();
    let count = b.arith("muli", b.arith("muli", sizes[0], sizes[1]), sizes[2]);
    let threads = b.scf_while(&[], &[i64]);
    let before = Builder::at_end(threads.region(0).entry(), b.loc);
    let next = before.llvm_call(NEXT_THREAD, &[], &[i64]).result(0);
    before.scf_condition(before.cmpi("slt", next, count), &[next]);
    let body = threads.region(1).entry();
    let inside = Builder::at_end(body, b.loc);
    let (thread, index) = (body.arg(0), b.ctx().index());
    let row = inside.arith("divui", thread, sizes[0]);
    let places = [
        inside.arith("remui", thread, sizes[0]),
        inside.arith("remui", row, sizes[1]),
        inside.arith("divui", row, sizes[1]),
    ];
    let places = places.map(|place| inside.index_cast(place, index));
    let end = inside.scf_yield(&[]);
    if let Some(reduce) = parallel.body().terminator() {
        reduce.erase();
    }
    parallel.body().inline_before(end, &places);
    parallel.erase();
}
