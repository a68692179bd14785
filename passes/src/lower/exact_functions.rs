//! Functions that are a few operations on bits, as these operations.
//!
//! ```mlir
//! %a = llvm.call @__nv_abs(%x)       // %a = llvm.intr.abs(%x)
//! %h = llvm.call @__nv_umulhi(%x, %y)  // %h = trunci (extui %x * extui %y) >> 32
//! ```
//! A row of threads does an operation on all its lanes; a function without a vector form is called for one lane after the other.

use mlir_bridge::ir::{Builder, Op, OpSpec, Type, Value};
use regrain_targets::device_language::library::{Exact, exact};

/// Expands the calls in an operation.
pub fn expand(root: Op<'_>) {
    for call in root.find_named("llvm.call") {
        let callee = call.attr("callee").and_then(|callee| callee.as_symbol()).unwrap_or_default();
        let known = exact(callee).filter(|_| call.num_results() == 1);
        if let Some(made) = known.and_then(|exact| made(call, exact)) {
            call.replace_with(&[made]);
        }
    }
}

/// What stands for a call.
fn made<'c>(call: Op<'c>, exact: Exact) -> Option<Value<'c>> {
    let b = Builder::before(call);
    let (operands, result) = (call.operands(), call.result(0).ty());
    let first = *operands.first()?;
    let bits = |value: Value<'c>| value.ty().int_width();
    let number = |number: i64| b.const_int(first.ty(), number);
    Some(match exact {
        Exact::Operation(name) => b.value(&format!("arith.{name}"), &operands, result),
        Exact::Absolute => counted(b.op("llvm.intr.abs"), "is_int_min_poison", first),
        Exact::SetBits => resized(b, b.value("llvm.intr.ctpop", &[first], first.ty()), result),
        Exact::LeadingZeros => resized(b, counted(b.op("llvm.intr.ctlz"), "is_zero_poison", first), result),
        Exact::FirstSetBit => {
            let zeros = counted(b.op("llvm.intr.cttz"), "is_zero_poison", first);
            let none = b.cmpi("eq", first, number(0));
            let place = b.value("arith.select", &[none, number(0), b.arith("addi", zeros, number(1))], first.ty());
            resized(b, place, result)
        }
        Exact::ReversedBits => b.value("llvm.intr.bitreverse", &[first], first.ty()),
        Exact::UpperHalf { signed } => {
            let (wide, width) = (b.ctx().int(64), bits(first).filter(|width| *width == 32)?);
            let name = if signed { "arith.extsi" } else { "arith.extui" };
            let [x, y] = [first, *operands.get(1)?].map(|value| b.value(name, &[value], wide));
            let product = b.arith("shrui", b.arith("muli", x, y), b.const_int(wide, width.into()));
            b.value("arith.trunci", &[product], result)
        }
        Exact::Product24 { signed } => {
            let name = if signed { "shrsi" } else { "shrui" };
            let lower = |value: Value<'c>| b.arith(name, b.arith("shli", value, number(8)), number(8));
            b.arith("muli", lower(first), lower(*operands.get(1)?))
        }
        Exact::Distance { signed } => {
            let (second, added) = (*operands.get(1)?, *operands.get(2)?);
            let above = b.cmpi(if signed { "sgt" } else { "ugt" }, first, second);
            let ways = [b.arith("subi", first, second), b.arith("subi", second, first)];
            b.arith("addi", b.value("arith.select", &[above, ways[0], ways[1]], first.ty()), added)
        }
    })
}

/// An operation that is defined for all numbers.
fn counted<'c>(spec: OpSpec<'c>, promise: &str, value: Value<'c>) -> Value<'c> {
    let ctx = value.ty().ctx();
    spec.operands(&[value]).attr(promise, ctx.int_attr(ctx.int(1), 0)).result(value.ty()).build().result(0)
}

/// A small number in the width of a result.
fn resized<'c>(b: Builder<'c>, value: Value<'c>, result: Type<'c>) -> Value<'c> {
    if value.ty() == result { value } else { b.value("arith.trunci", &[value], result) }
}
