//! `regrain-copy-at-once`: asynchronous copies to shared memory are loads and stores, and waiting for them is nothing.
//!
//! Before:
//! ```mlir
//! %n = llvm.trunc (llvm.ptrtoint %tile) ; llvm.inline_asm "cp.async.ca.shared.global [$0], [$1], 4;", "r,l" %n, %p
//! ```
//! After:
//! ```mlir
//! %v = llvm.load %p : f32 ; llvm.store %v, %tile
//! ```
//! For targets that run a block's threads one after the other. No thread may look at what it copies before it has waited for it, so the
//! earliest time is as good as any. The elements are those of the array that is copied to, as the loads behind see it.
//!
//! Left as they are: copies to what is not computed of the address of an array where it is used.

use mlir_bridge::{
    ir::{Builder, Op, Type, Value},
    pass::{Anchor, PassInfo, PassResult, PassRun},
};
use regrain_dialects::ops::{GpuWrapper, Shared};
use regrain_targets::device_language::async_copies::{AsyncCopy, AsyncStep, step};
use regrain_targets::device_language::library::SHARED_POINTER;

use crate::analysis::{facts::width, objects::root};

/// How many sums an address is followed through.
const DEPTH: u32 = 8;

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: "regrain-copy-at-once",
    summary: "make loads and stores of asynchronous copies to shared memory",
    anchor: Anchor::Module,
    options: &[],
    dialects: &["regrain", "arith", "scf", "llvm"],
    run,
};

fn run(_pass: &PassRun<'_>, module: Op<'_>) -> PassResult {
    for wrapper in GpuWrapper::all(module) {
        for op in wrapper.op().find_named("llvm.inline_asm") {
            match step(op) {
                Some(AsyncStep::Wait) => op.erase(),
                Some(AsyncStep::Copy(copy)) => at_once(op, &copy),
                None => (),
            }
        }
        wrapper.op().find_named("llvm.call").into_iter().filter(|op| is_shared_pointer(*op)).for_each(whole_address);
    }
    Ok(())
}

fn is_shared_pointer(call: Op<'_>) -> bool {
    call.attr("callee").and_then(|callee| callee.as_symbol()) == Some(SHARED_POINTER)
}

/// The pointer that a number of 32 bits was made of, instead of one that is put together of it.
fn whole_address(call: Op<'_>) {
    let (b, number) = (Builder::before(call), call.operand(0));
    let Some(made) = pointer(b, number, DEPTH) else { return };
    let wanted = call.result(0).ty();
    let made = if made.ty() == wanted { made } else { b.value("llvm.addrspacecast", &[made], wanted) };
    call.replace_with(&[made]);
    drop_dead(number);
}

/// Makes the loads and stores of a copy.
fn at_once<'c>(op: Op<'c>, copy: &AsyncCopy<'c>) {
    let mut b = Builder::before(op);
    let Some(to) = pointer(b, copy.to.0, DEPTH) else { return };
    let element = element(root(to), copy.bytes).unwrap_or(b.ctx().int(32));
    if let Some(guard) = copy.guard {
        let zero = b.const_int(guard.ty(), 0);
        b = inside(b, b.cmpi("ne", guard, zero));
    }
    let from = match copy.from.0 {
        from if from.ty().ptr_space().is_some() => from,
        number => b.value("llvm.inttoptr", &[number], b.ctx().ptr(0)),
    };
    let bytes = copy.bytes.cast_signed();
    let move_all = |b: Builder<'c>| {
        let size = element.layout(op).0.cast_signed();
        let from_place = |at: i64| b.llvm_byte_at(from, b.const_int(b.ctx().int(64), copy.from.1 + at));
        let values: Vec<_> = (0..bytes / size)
            .map(|at| b.llvm_load(from_place(at * size), element, Some(alignment(bytes, at * size))))
            .collect();
        for (at, value) in (0..).zip(values) {
            let place = b.llvm_byte_at(to, b.const_int(b.ctx().int(64), copy.to.1 + at * size));
            b.llvm_store(value, place, Some(alignment(bytes, at * size)));
        }
    };
    match copy.read {
        None => move_all(b),
        Some(read) => {
            let whole = b.scf_if(b.cmpi("uge", read, b.const_int(read.ty(), bytes)), &[], true);
            let [taken, part] = [0, 1].map(|region| Builder::at_end(whole.region(region).entry(), b.loc));
            move_all(taken);
            taken.scf_yield(&[]);
            move_some(part, (to, copy.to.1), (from, copy.from.1), bytes, read);
            part.scf_yield(&[]);
        }
    }
    let number = copy.to.0;
    op.erase();
    drop_dead(number);
}

/// Copies `read` of `bytes` bytes, fewer than all; the others are zero.
fn move_some<'c>(b: Builder<'c>, to: (Value<'c>, i64), from: (Value<'c>, i64), bytes: i64, read: Value<'c>) {
    let i8 = b.ctx().int(8);
    let [low, high, step] = [0, bytes, 1].map(|number| b.const_int(read.ty(), number));
    let each = b.scf_for(low, high, step, &[]);
    let (b, at) = (Builder::at_end(each.body(), b.loc), each.body().arg(0));
    let place = |base: (Value<'c>, i64), b: Builder<'c>| {
        let moved = b.llvm_byte_at(base.0, b.const_int(b.ctx().int(64), base.1));
        b.llvm_byte_at(moved, at)
    };
    let one = b.scf_if(b.cmpi("ult", at, read), &[i8], true);
    let [taken, other] = [0, 1].map(|region| Builder::at_end(one.region(region).entry(), b.loc));
    taken.scf_yield(&[taken.llvm_load(place(from, taken), i8, Some(1))]);
    other.scf_yield(&[other.const_int(i8, 0)]);
    b.llvm_store(one.result(0), place(to, b), Some(1));
    b.scf_yield(&[]);
}

/// Inside of a branch on `condition`.
fn inside<'c>(b: Builder<'c>, condition: Value<'c>) -> Builder<'c> {
    let made = b.scf_if(condition, &[], false);
    Builder::at_end(made.body(), b.loc).scf_yield(&[]);
    Builder::before_terminator(made.body(), b.loc)
}

/// What is known of an address so many bytes behind one that a copy of `bytes` bytes is aligned to.
fn alignment(bytes: i64, at: i64) -> i64 {
    1 << (bytes | at).trailing_zeros()
}

/// The pointer that a number was made of, with what was added to it.
fn pointer<'c>(b: Builder<'c>, number: Value<'c>, depth: u32) -> Option<Value<'c>> {
    let op = number.defining_op().filter(|_| depth > 0)?;
    match op.name() {
        "llvm.trunc" | "llvm.zext" | "arith.trunci" | "arith.extui" => pointer(b, op.operand(0), depth - 1),
        "llvm.ptrtoint" => {
            let address = op.operand(0);
            let generic = address.defining_op().filter(|op| op.is("llvm.addrspacecast")).map(|op| op.operand(0));
            Some(generic.unwrap_or(address))
        }
        "llvm.add" | "arith.addi" => [(0, 1), (1, 0)].into_iter().find_map(|(base, other)| {
            let base = pointer(b, op.operand(base), depth - 1)?;
            let other = op.operand(other);
            let wide =
                if width(other.ty()) == Some(64) { other } else { b.value("arith.extsi", &[other], b.ctx().int(64)) };
            Some(b.llvm_byte_at(base, wide))
        }),
        _ => None,
    }
}

/// The type of the elements of shared memory, if all are alike and a copy is of some of them.
fn element<'c>(memory: Value<'c>, bytes: u64) -> Option<Type<'c>> {
    let op = memory.defining_op()?;
    let module = op.parent_of_name("builtin.module")?;
    let mut ty = match op.name() {
        "llvm.mlir.addressof" => {
            module.lookup_symbol(op.attr("global_name")?.as_symbol()?)?.attr("global_type")?.as_type()?
        }
        Shared::NAME => Shared::of(op).memory_type(),
        _ => return None,
    };
    loop {
        if let Some((inner, _)) = ty.llvm_array_parts() {
            ty = inner;
        } else if let Some(fields) = ty.llvm_struct_fields() {
            ty = *fields.first().filter(|first| fields.iter().all(|field| field == *first))?;
        } else {
            break;
        }
    }
    let size = ty.layout(op).0;
    ((ty.is_float() || width(ty).is_some_and(|bits| bits >= 8)) && bytes.is_multiple_of(size.max(1))).then_some(ty)
}

/// Erases what computed a number that nobody wants any more.
fn drop_dead(number: Value<'_>) {
    let Some(op) = number.defining_op().filter(|op| op.is_trivially_dead()) else { return };
    let operands = op.operands();
    op.erase();
    operands.into_iter().for_each(drop_dead);
}
