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

use crate::analysis::{addresses, facts::width};

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
    let mut found = None;
    is_plain(alloca.result(0), &mut found).then_some(())?;
    found.filter(|found| {
        *found > 0 && size > *found && size.is_multiple_of(*found) && steps_by(alloca.result(0), *found)
    })
}

/// Whether an address is used for loads and stores of one size alone.
fn is_plain(pointer: Value<'_>, size: &mut Option<u64>) -> bool {
    pointer.uses().into_iter().all(|used| {
        let op = used.owner;
        let accessed = match op.name() {
            "llvm.getelementptr" => return used.operand == 0 && is_plain(op.result(0), size),
            "llvm.addrspacecast" => return is_plain(op.result(0), size),
            "llvm.load" => op.result(0).ty(),
            "llvm.store" if used.operand == 1 => op.operand(0).ty(),
            name => return name.starts_with("llvm.intr.lifetime."),
        };
        let scalar = accessed.is_float() || accessed.ptr_space().is_some() || width(accessed).is_some();
        let bytes = accessed.layout(op).0;
        scalar && !op.has_attr("volatile_") && *size.get_or_insert(bytes) == bytes
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
        _ => true,
    })
}

/// Makes all steps from the address of `alloca` ones over the elements of `count` (i64) threads.
pub fn interleave<'c>(alloca: Op<'c>, count: Value<'c>) {
    scale(alloca.result(0), count);
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
                let spec = b.op("llvm.getelementptr").operands(&[op.operand(0), far]);
                let spec = spec.attr("elem_type", ctx.type_attr(ctx.int(8)));
                let spec = spec.attr("rawConstantIndices", ctx.i32_array_attr(&[i32::MIN]));
                op.replace_with(&[spec.result(op.result(0).ty()).build().result(0)]);
            }
            "llvm.addrspacecast" => scale(op.result(0), count),
            _ => (),
        }
    }
}
