//! What kind of work an operation is.

use mlir_bridge::ir::{Op, Type};
use regrain_dialects::ops::{Barrier, BarrierReduce, LaneId, WarpId, is_synchronising};
use regrain_targets::device_language::intrinsics;
use regrain_targets::device_language::library::{self, Work};
use regrain_tuning::statistics::Kind;

use crate::analysis::facts::constant;

/// What kind of work an operation without regions is; `None` for what costs nothing: constants, casts between integers,
/// addresses that are constants away from others, markers.
pub fn kind(op: Op<'_>) -> Option<Kind> {
    let name = op.name();
    let short = name.split_once('.').map_or(name, |(_, rest)| rest);
    if let Some(intrinsic) = name.strip_prefix("llvm.intr.") {
        return of_intrinsic(op, intrinsic);
    }
    match name {
        "llvm.getelementptr" => {
            return op.operands()[1..].iter().any(|index| constant(*index).is_none()).then_some(Kind::Integer);
        }
        "llvm.call" => return Some(of_call(op)),
        "llvm.call_intrinsic" => return Some(of_device_intrinsic(op)),
        Barrier::NAME | BarrierReduce::NAME => return Some(Kind::Barrier),
        LaneId::NAME | WarpId::NAME => return Some(Kind::Integer),
        _ if is_synchronising(op) => return Some(Kind::Warp),
        _ if name.starts_with("math.") => return Some(special(op)),
        _ => {}
    }
    match short {
        "mlir.constant" | "constant" | "mlir.zero" | "mlir.undef" | "mlir.poison" | "mlir.addressof" | "sext"
        | "zext" | "trunc" | "extsi" | "extui" | "trunci" | "index_cast" | "index_castui" | "ptrtoint" | "inttoptr"
        | "addrspacecast" | "bitcast" | "freeze" | "alloca" | "unreachable" | "extractvalue" | "insertvalue"
        | "extractelement" | "insertelement" => None,
        "fadd" | "fsub" | "fmul" | "fneg" | "addf" | "subf" | "mulf" | "negf" | "fcmp" | "cmpf" | "maximumf"
        | "minimumf" | "maxnumf" | "minnumf" => Some(float(op)),
        "fdiv" | "divf" | "frem" | "remf" => Some(divided(op)),
        "fpext" | "fptrunc" | "extf" | "truncf" | "sitofp" | "uitofp" | "fptosi" | "fptoui" => Some(Kind::Conversion),
        "sdiv" | "udiv" | "srem" | "urem" | "divsi" | "divui" | "remsi" | "remui" => {
            let by = constant(op.operand(1));
            let cheap = by.is_some_and(|by| by > 0 && by & (by - 1) == 0);
            Some(if cheap { Kind::Integer } else { Kind::IntegerDivision })
        }
        "select" => Some(Kind::Select),
        _ if op.is_terminator() => None,
        "add" | "sub" | "mul" | "shl" | "lshr" | "ashr" | "and" | "or" | "xor" | "icmp" => Some(Kind::Integer),
        _ if name.starts_with("arith.") => Some(Kind::Integer),
        _ => Some(Kind::Other),
    }
}

/// The number type that an operation computes with: a result's, or of comparisons and conversions an operand's.
fn width(op: Op<'_>) -> Option<u32> {
    let of = |ty: Type<'_>| ty.float_width();
    op.operands()
        .iter()
        .find_map(|operand| of(operand.ty()))
        .or_else(|| op.results().iter().find_map(|result| of(result.ty())))
}

fn float(op: Op<'_>) -> Kind {
    match width(op) {
        Some(64) => Kind::F64,
        Some(16) => Kind::F16,
        _ => Kind::F32,
    }
}

fn divided(op: Op<'_>) -> Kind {
    if width(op) == Some(64) { Kind::F64Special } else { Kind::FloatDivision }
}

fn special(op: Op<'_>) -> Kind {
    if width(op) == Some(64) { Kind::F64Special } else { Kind::Special }
}

fn of_intrinsic(op: Op<'_>, name: &str) -> Option<Kind> {
    let floats = width(op).is_some();
    match name {
        "fma" | "fmuladd" | "fabs" | "copysign" | "maxnum" | "minnum" | "maximum" | "minimum" => Some(float(op)),
        "floor" | "ceil" | "trunc" | "rint" | "nearbyint" | "round" | "roundeven" => Some(Kind::Conversion),
        "sqrt" => Some(divided(op)),
        "assume" | "expect" | "lifetime.start" | "lifetime.end" | "invariant.start" | "invariant.end" => None,
        _ if name.starts_with("dbg") || name.contains("noalias") => None,
        _ if floats => Some(special(op)),
        _ if name.starts_with("mem") => Some(Kind::Other),
        _ => Some(Kind::Integer),
    }
}

/// A function that is known by name, or one that nobody looks into.
fn of_call(op: Op<'_>) -> Kind {
    let callee = op.attr("callee").and_then(|callee| callee.as_symbol()).unwrap_or_default();
    library::work(callee, width(op).is_some()).map_or(Kind::Call, |work| of_work(op, work))
}

/// An intrinsic of the device language.
fn of_device_intrinsic(op: Op<'_>) -> Kind {
    let name = op.attr("intrin").and_then(|name| name.as_str()).unwrap_or_default();
    of_work(op, intrinsics::work(name, width(op).is_some()))
}

fn of_work(op: Op<'_>, work: Work) -> Kind {
    match work {
        Work::Integer => Kind::Integer,
        Work::Arithmetic => float(op),
        Work::Division => divided(op),
        Work::Function => special(op),
        Work::Conversion => Kind::Conversion,
        Work::Other => Kind::Other,
    }
}
