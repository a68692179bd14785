//! Memory on the stack: the types of what is kept there, and arrays of threads, one element of all threads beside the other.
//!
//! ```mlir
//! %a = llvm.alloca %one x !llvm.array<8 x f32>
//! %p = llvm.getelementptr %a[0, %i] ; llvm.load %p : f32       // 4 * %i bytes behind %a
//! ```
//! becomes, for `%count` threads,
//! ```mlir
//! %p = llvm.getelementptr %a[4 * %i * %count] : i8             // and %a is 4 bytes further on from thread to thread
//! ```
//! so that threads that read their own element `%i` read consecutive memory. Only where all accesses are of elements of one size, and the
//! address gets nowhere else.

use mlir_bridge::ir::{Builder, Ctx, Op, Type, Value};

use crate::analysis::{
    addresses,
    facts::{constant, width},
};

/// The type that a value has in memory: LLVM knows no index, and vectorises bytes better than bits.
pub fn cell_type<'c>(ctx: Ctx<'c>, ty: Type<'c>) -> Type<'c> {
    if ty == ctx.index() {
        ctx.int(64)
    } else if ty == ctx.int(1) {
        ctx.int(8)
    } else {
        ty
    }
}

/// The size of all elements that are accessed through an address of stack memory; `None` where it is used otherwise.
pub fn element_size(alloca: Op<'_>) -> Option<u64> {
    let element = alloca.attr("elem_type")?.as_type()?;
    let (size, _) = element.layout(alloca);
    let found = std::cell::Cell::new(None);
    is_plain(alloca.result(0), &found).then_some(())?;
    found.get().filter(|found| {
        *found > 0 && size > *found && size.is_multiple_of(*found) && steps_by(alloca.result(0), *found)
    })
}

/// Whether memory is accessed through an address by plain operations alone, of which `fits` says that they fit.
pub fn is_accessed_only<'c>(pointer: Value<'c>, fits: &dyn Fn(Op<'c>) -> bool) -> bool {
    pointer.uses().into_iter().all(|used| {
        let op = used.owner;
        match op.name() {
            "llvm.getelementptr" => used.operand == 0 && is_accessed_only(op.result(0), fits),
            "llvm.addrspacecast" => is_accessed_only(op.result(0), fits),
            "llvm.store" => used.operand == 1 && fits(op),
            "llvm.load" => fits(op),
            name if is_bulk(name) => used.operand < 2 && fits(op),
            name => name.starts_with("llvm.intr.lifetime."),
        }
    })
}

/// Operations that fill or copy memory.
fn is_bulk(name: &str) -> bool {
    matches!(name, "llvm.intr.memset" | "llvm.intr.memcpy" | "llvm.intr.memmove")
}

/// The bytes that an operation fills or copies, if that is known and nothing else is to be kept.
fn bulk_bytes(op: Op<'_>) -> Option<i64> {
    let volatile = op.attr("isVolatile").and_then(|attr| attr.as_int()).unwrap_or(0) != 0;
    if op.is("llvm.intr.memmove") || volatile { None } else { constant(op.operand(2)) }
}

/// Whether an address is used for loads and stores of one size alone, and to fill and copy.
fn is_plain(pointer: Value<'_>, size: &std::cell::Cell<Option<u64>>) -> bool {
    is_accessed_only(pointer, &|op| {
        let accessed = match op.name() {
            "llvm.load" => op.result(0).ty(),
            "llvm.store" => op.operand(0).ty(),
            _ => return bulk_bytes(op).is_some(),
        };
        let scalar = accessed.is_float() || accessed.ptr_space().is_some() || width(accessed).is_some();
        let bytes = accessed.layout(op).0;
        size.set(size.get().or(Some(bytes)));
        scalar && !op.has_attr("volatile_") && size.get() == Some(bytes)
    })
}

/// Whether all steps from an address are over whole elements.
fn steps_by(pointer: Value<'_>, size: u64) -> bool {
    let whole = |bytes: i64| bytes % size.cast_signed() == 0;
    pointer.users().into_iter().all(|op| match op.name() {
        "llvm.getelementptr" => {
            let known = addresses::steps(op).is_some_and(|steps| {
                whole(steps.bytes)
                    && steps.indices.iter().all(|(index, bytes)| whole(*bytes) && width(index.ty()).is_some())
            });
            known && steps_by(op.result(0), size)
        }
        "llvm.addrspacecast" => steps_by(op.result(0), size),
        name if is_bulk(name) => size <= 8 && bulk_bytes(op).is_some_and(whole),
        _ => true,
    })
}

/// Makes all steps from the address of `alloca`, of elements of `size` bytes, ones over the elements of `count` (i64) threads.
pub fn interleave<'c>(alloca: Op<'c>, size: u64, count: Value<'c>) {
    take_apart(alloca.result(0), size);
    scale(alloca.result(0), count);
}

/// Fills and copies element by element.
fn take_apart(pointer: Value<'_>, size: u64) {
    for op in pointer.users() {
        match op.name() {
            "llvm.getelementptr" | "llvm.addrspacecast" => take_apart(op.result(0), size),
            name if is_bulk(name) => by_elements(op, size),
            _ => (),
        }
    }
}

fn by_elements(op: Op<'_>, size: u64) {
    let Some(bytes) = bulk_bytes(op) else { return };
    let b = Builder::before(op);
    let ctx = b.ctx();
    let (i64, element) = (ctx.int(64), ctx.int(8 * size as u32));
    let filled = op.is("llvm.intr.memset").then(|| {
        let wide = if size > 1 { b.value("arith.extui", &[op.operand(1)], element) } else { op.operand(1) };
        b.arith("muli", wide, b.const_int(element, 0x0101_0101_0101_0101 >> (64 - 8 * size)))
    });
    let [first, end, step] = [0, bytes, size.cast_signed()].map(|number| b.const_int(i64, number));
    let made = b.scf_for(first, end, step, &[]);
    let (inside, number) = (Builder::at_end(made.body(), b.loc), made.body().arg(0));
    let value =
        filled.unwrap_or_else(|| inside.llvm_load(inside.llvm_byte_at(op.operand(1), number), element, Some(1)));
    inside.llvm_store(value, inside.llvm_byte_at(op.operand(0), number), Some(1));
    inside.scf_yield(&[]);
    op.erase();
}

fn scale<'c>(pointer: Value<'c>, count: Value<'c>) {
    for op in pointer.users() {
        match op.name() {
            "llvm.getelementptr" => {
                let Some(steps) = addresses::steps(op) else { continue };
                scale(op.result(0), count);
                let b = Builder::before(op);
                let ctx = b.ctx();
                let i64 = ctx.int(64);
                let mut bytes = b.const_int(i64, steps.bytes);
                for (index, stride) in steps.indices {
                    let wide = match width(index.ty()) {
                        _ if index.ty().is_index() => b.index_cast(index, i64),
                        Some(64) => index,
                        _ => b.value("arith.extsi", &[index], i64),
                    };
                    bytes = b.arith("addi", bytes, b.arith("muli", wide, b.const_int(i64, stride)));
                }
                let far = b.arith("muli", bytes, count);
                op.replace_with(&[b.llvm_byte_at(op.operand(0), far)]);
            }
            "llvm.addrspacecast" => scale(op.result(0), count),
            _ => (),
        }
    }
}
