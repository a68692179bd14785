//! What an operation is to a row of threads.

use mlir_bridge::ir::{Op, Type, Value};
use regrain_dialects::ops::{ActiveMask, Match, Shuffle, Vote, WarpBarrier, WarpCall, WarpReduce, is_shared_memory};
use regrain_targets::device_language::{library, thread_ops::orders_or_sleeps};

use crate::{
    analysis::{addresses, synchronisation::STRUCTURES, uniformity::computes},
    lower::{SET_THREAD, WAIT},
};

/// How an operation is brought to a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Has no operands and gives the same to all.
    Constant,
    /// One operation on vectors does what each lane does.
    Elementwise,
    /// A mathematical function.
    Math,
    /// Takes structs and short vectors apart or makes them.
    Aggregate,
    Load,
    Store,
    /// An operation of a warp.
    Warp,
    /// Done once for all lanes.
    Once,
    /// Structured control flow.
    Structure,
    /// Nothing is left of it.
    Nothing,
    /// Runs for one lane after the other.
    Serial,
}

const ARITH: &[&str] = &[
    "addi",
    "subi",
    "muli",
    "andi",
    "ori",
    "xori",
    "shli",
    "shrui",
    "shrsi",
    "divsi",
    "divui",
    "remsi",
    "remui",
    "minsi",
    "maxsi",
    "minui",
    "maxui",
    "cmpi",
    "cmpf",
    "select",
    "extsi",
    "extui",
    "trunci",
    "extf",
    "truncf",
    "index_cast",
    "index_castui",
    "sitofp",
    "uitofp",
    "fptosi",
    "fptoui",
    "bitcast",
    "addf",
    "subf",
    "mulf",
    "divf",
    "negf",
];

const LLVM: &[&str] = &[
    "add",
    "sub",
    "mul",
    "and",
    "or",
    "xor",
    "shl",
    "lshr",
    "ashr",
    "sdiv",
    "udiv",
    "srem",
    "urem",
    "icmp",
    "fcmp",
    "select",
    "sext",
    "zext",
    "trunc",
    "fpext",
    "fptrunc",
    "sitofp",
    "uitofp",
    "fptosi",
    "fptoui",
    "bitcast",
    "freeze",
    "ptrtoint",
    "inttoptr",
    "getelementptr",
    "fneg",
    "fadd",
    "fsub",
    "fmul",
    "fdiv",
    "addrspacecast",
];

const INTRINSICS: &[&str] = &[
    "fabs",
    "sqrt",
    "fma",
    "fmuladd",
    "ctpop",
    "ctlz",
    "cttz",
    "bswap",
    "bitreverse",
    "smin",
    "smax",
    "umin",
    "umax",
    "fshl",
    "fshr",
    "copysign",
    "minnum",
    "maxnum",
    "minimum",
    "maximum",
    "floor",
    "ceil",
    "trunc",
    "rint",
    "nearbyint",
    "round",
    "roundeven",
    "abs",
    "sadd.sat",
    "uadd.sat",
    "ssub.sat",
    "usub.sat",
    "fptosi.sat",
    "fptoui.sat",
];

/// Classifies an operation.
pub fn kind(op: Op<'_>) -> Kind {
    let name = op.name();
    if STRUCTURES.contains(&name) {
        return Kind::Structure;
    }
    let scalar = |value: Value<'_>| is_scalar(value.ty());
    let scalars = || op.operands().into_iter().all(scalar) && op.results().into_iter().all(scalar);
    match name {
        "arith.constant"
        | "llvm.mlir.constant"
        | "llvm.mlir.zero"
        | "llvm.mlir.undef"
        | "llvm.mlir.poison"
        | "llvm.mlir.addressof"
        | "ub.poison" => Kind::Constant,
        "llvm.load" if lane_types(op.result(0).ty()).is_some() => Kind::Load,
        "llvm.store" if lane_types(op.operand(0).ty()).is_some() && is_ordinary(op) => Kind::Store,
        "llvm.extractvalue" | "llvm.insertvalue" => Kind::Aggregate,
        "llvm.extractelement" | "llvm.insertelement" if constant_lane(op).is_some() => Kind::Aggregate,
        "llvm.bitcast" if element_casts(op).is_some() => Kind::Aggregate,
        "llvm.intr.assume" => Kind::Nothing,
        WarpBarrier::NAME => Kind::Nothing,
        Shuffle::NAME | Vote::NAME | Match::NAME | WarpReduce::NAME | WarpCall::NAME | ActiveMask::NAME => Kind::Warp,
        "llvm.call" if computes(op) && scalars() && op.num_results() == 1 => Kind::Math,
        "llvm.call_intrinsic" if scalars() && has_vector_form(op) => Kind::Math,
        "llvm.call" if callee(op) == Some(WAIT) => Kind::Once,
        // Says where the pointers of a function that was inlined begin to be its own: of a row as of a thread.
        "llvm.intr.experimental.noalias.scope.decl" => Kind::Once,
        _ if orders_or_sleeps(op) => Kind::Once,
        "llvm.call" => Kind::Serial,
        _ if name.starts_with("llvm.intr.lifetime.") || name.starts_with("llvm.intr.dbg.") => Kind::Nothing,
        _ if is_elementwise(name) && scalars() => Kind::Elementwise,
        _ => Kind::Serial,
    }
}

/// The type of the elements that a short vector has after a cast of each of them.
pub fn element_casts(op: Op<'_>) -> Option<Type<'_>> {
    let [from, to] = [op.operand(0).ty(), op.result(0).ty()].map(Type::vector_parts);
    from.zip(to).filter(|((_, length), (_, same))| length == same).map(|(_, (element, _))| element)
}

fn is_elementwise(name: &str) -> bool {
    let among = |prefix: &str, names: &[&str]| name.strip_prefix(prefix).is_some_and(|short| names.contains(&short));
    among("arith.", ARITH) || among("llvm.intr.", INTRINSICS) || among("llvm.", LLVM)
}

/// The name of a function that is called directly, or of an intrinsic.
pub fn callee(op: Op<'_>) -> Option<&str> {
    let intrinsic = || op.attr("intrin").and_then(|name| name.as_str());
    op.attr("callee").and_then(|callee| callee.as_symbol()).or_else(intrinsic)
}

/// Whether an intrinsic is a mathematical function that exists for vectors.
fn has_vector_form(op: Op<'_>) -> bool {
    op.num_results() == 1 && callee(op).is_some_and(|name| library::vector_form(name, 16).is_some())
}

/// Whether an operation counts on the row being a warp.
pub fn is_of_warp(op: Op<'_>) -> bool {
    op.is(WarpBarrier::NAME) || kind(op) == Kind::Warp
}

/// A number before it was made wider, and whether that was by its sign.
pub fn before_widening(value: Value<'_>) -> Option<(Value<'_>, bool)> {
    let op = value.defining_op()?;
    match op.name() {
        "llvm.sext" | "arith.extsi" => Some((op.operand(0), true)),
        "llvm.zext" | "arith.extui" => Some((op.operand(0), false)),
        _ => None,
    }
}

/// Whether a call says which thread may fail next.
pub fn names_thread(op: Op<'_>) -> bool {
    op.is("llvm.call") && callee(op) == Some(SET_THREAD)
}

/// Whether a call does not come back.
pub fn ends_thread(op: Op<'_>) -> bool {
    matches!(op.name(), "llvm.intr.trap" | "llvm.intr.ubsantrap") || callee(op).is_some_and(library::never_returns)
}

/// Whether an access is an ordinary one, which may be made for several lanes at once. What is volatile is so where no other block can
/// see it: the threads of this one run one after the other.
pub fn is_ordinary(op: Op<'_>) -> bool {
    let address = if op.is("llvm.store") { op.operand(1) } else { op.operand(0) };
    let unordered = op.attr("ordering").and_then(|order| order.as_int()).unwrap_or(0) == 0;
    unordered && (!op.has_attr("volatile_") || is_of_block(address))
}

/// Whether an address is one of shared memory or of the stack.
fn is_of_block(address: Value<'_>) -> bool {
    let mut at = address;
    while let Some(op) = at.defining_op() {
        match op.name() {
            "llvm.getelementptr" | "llvm.addrspacecast" => at = op.operand(0),
            name => return name == "llvm.alloca" || is_shared_memory(op),
        }
    }
    false
}

/// The number of the element that an operation on a short vector names.
pub fn constant_lane(op: Op<'_>) -> Option<usize> {
    let last = op.operands().pop()?;
    usize::try_from(crate::analysis::facts::constant(last)?).ok()
}

/// Whether a vector can have such elements.
pub fn is_scalar(ty: Type<'_>) -> bool {
    ty.is_index() || ty.is_float() || ty.ptr_space().is_some() || ty.int_width().is_some_and(|bits| bits <= 64)
}

/// The scalars that a value is made of: itself, the elements of a short vector, or the fields of a flat struct. `None` for all else.
pub fn lane_types(ty: Type<'_>) -> Option<Vec<Type<'_>>> {
    // Of inline assembly that gives nothing.
    if ty == ty.ctx().llvm_void() {
        return Some(Vec::new());
    }
    if is_scalar(ty) {
        return Some(vec![ty]);
    }
    if let Some((element, count)) = ty.vector_parts() {
        return is_scalar(element).then(|| vec![element; count as usize]);
    }
    let fields = ty.llvm_struct_fields().filter(|_| !ty.is_packed_struct())?;
    fields.iter().all(|field| is_scalar(*field)).then_some(fields)
}

/// Whether integer operations may trap, so that lanes that take no part must not compute with what they have.
pub fn divides(op: Op<'_>) -> bool {
    let name = op.name();
    let short = name.split_once('.').map_or(name, |(_, rest)| rest);
    matches!(short, "sdiv" | "udiv" | "srem" | "urem" | "divsi" | "divui" | "remsi" | "remui")
}

/// Whether a division reads its operands as signed numbers.
pub fn is_signed(op: Op<'_>) -> bool {
    matches!(op.name(), "llvm.sdiv" | "llvm.srem" | "arith.divsi" | "arith.remsi")
}

/// What a `getelementptr` adds is known.
pub fn is_known_address(op: Op<'_>) -> bool {
    addresses::steps(op).is_some()
}
