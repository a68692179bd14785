//! What pointers point to: the objects of a launch, and where their addresses get.
//!
//! ```mlir
//! %tile = regrain.shared "tile" : ... -> !llvm.ptr<3>                                  // shared memory of the block
//! %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr         // a pointer that the host passed
//! ```

use mlir_bridge::ir::{Op, Value};
use regrain_dialects::attributes::KERNEL_ARG;
use regrain_dialects::ops::{DynamicShared, Shared};

use crate::analysis::functions::address_space;

/// What a pointer is an offset from.
pub fn root(pointer: Value<'_>) -> Value<'_> {
    let mut root = pointer;
    while let Some(op) = root.defining_op() {
        if !matches!(op.name(), "llvm.getelementptr" | "llvm.addrspacecast" | "llvm.bitcast") {
            break;
        }
        root = op.operand(0);
    }
    root
}

/// What a pointer that is followed no further points to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Shared,
    Dynamic,
    Local,
    /// A struct passed by value.
    Struct,
    /// A pointer that the host passed.
    Argument,
    Global,
}

/// What a root points to; `None` for a pointer of unknown origin.
pub fn object_of(root: Value<'_>) -> Option<Kind> {
    object_kind(root.defining_op()?)
}

/// What the result of an operation points to.
pub fn object_kind(op: Op<'_>) -> Option<Kind> {
    match op.name() {
        Shared::NAME => Some(Kind::Shared),
        DynamicShared::NAME => Some(Kind::Dynamic),
        "llvm.alloca" => Some(Kind::Local),
        "llvm.mlir.addressof" => Some(Kind::Global),
        "llvm.load" if op.has_attr(KERNEL_ARG) && is_struct_argument(op) => Some(Kind::Struct),
        "llvm.load" if op.has_attr(KERNEL_ARG) => Some(Kind::Argument),
        _ => None,
    }
}

/// Where a load or store reads or writes, of one value or of the lanes of a vector.
pub fn address(op: Op<'_>) -> Option<Value<'_>> {
    match op.name() {
        "llvm.load" | "llvm.intr.masked.load" | "llvm.intr.masked.gather" => Some(op.operand(0)),
        "llvm.store" | "llvm.intr.masked.store" | "llvm.intr.masked.scatter" => Some(op.operand(1)),
        _ => None,
    }
}

/// Whether two pointers point to the beginning of one object.
pub fn same_object(a: Value<'_>, b: Value<'_>) -> bool {
    if a == b {
        return true;
    }
    let (Some(left), Some(right)) = (a.defining_op(), b.defining_op()) else { return false };
    match (object_kind(left), object_kind(right)) {
        (Some(Kind::Dynamic), Some(Kind::Dynamic)) => true,
        (Some(Kind::Global), Some(Kind::Global)) => left.attr("global_name") == right.attr("global_name"),
        _ => false,
    }
}

/// Whether an address gets where it is not followed.
pub fn escapes(pointer: Value<'_>) -> bool {
    !pointer.uses().into_iter().all(|used| match used.owner.name() {
        "llvm.getelementptr" | "llvm.addrspacecast" | "llvm.bitcast" => !escapes(used.owner.result(0)),
        "llvm.icmp" => true,
        "llvm.load" | "llvm.atomicrmw" | "llvm.cmpxchg" | "llvm.intr.memset" => used.operand == 0,
        "llvm.store" => used.operand == 1,
        "llvm.intr.memcpy" | "llvm.intr.memmove" => used.operand <= 1,
        name => name.starts_with("llvm.intr.lifetime."),
    })
}

/// Whether an address is of a global that nobody writes while a kernel runs.
pub fn is_constant_global(address: Op<'_>) -> bool {
    let global = || {
        let module = address.parent_of_name("builtin.module")?;
        module.lookup_symbol(address.attr("global_name")?.as_symbol()?)
    };
    address.is("llvm.mlir.addressof")
        && global().is_some_and(|global| global.has_attr("constant") || address_space(global) == 4)
}

/// Whether an operation reads a member of a struct passed by value that the kernel never writes.
pub fn is_read_only_struct(load: Op<'_>) -> bool {
    if !load.is("llvm.load") || load.has_attr("volatile_") {
        return false;
    }
    let mut at = load.operand(0);
    while let Some(op) = at.defining_op() {
        match op.name() {
            "llvm.getelementptr" if op.num_operands() == 1 => at = op.operand(0),
            _ => return object_kind(op) == Some(Kind::Struct) && only_read(at),
        }
    }
    false
}

/// Whether an operation of the launch function gives the address of a struct passed by value.
pub fn is_struct_argument(op: Op<'_>) -> bool {
    op.has_attr(KERNEL_ARG)
        && op.num_operands() == 1
        && op.operand(0).defining_op().is_some_and(|slot| slot.is("llvm.getelementptr"))
}

/// Whether memory is read through a pointer and what is computed of it, and nothing else.
pub fn only_read(pointer: Value<'_>) -> bool {
    pointer.uses().into_iter().all(|used| match used.owner.name() {
        "llvm.getelementptr" | "llvm.addrspacecast" => only_read(used.owner.result(0)),
        "llvm.load" => true,
        "llvm.intr.memcpy" | "llvm.intr.memmove" | "llvm.intr.memcpy.inline" => used.operand == 1,
        _ => false,
    })
}

/// Whether an address surely is one of shared memory.
pub fn is_shared(address: Value<'_>) -> bool {
    let mut at = address;
    loop {
        if at.ty().ptr_space() == Some(3) {
            return true;
        }
        match at.defining_op() {
            Some(op) if matches!(op.name(), "llvm.getelementptr" | "llvm.addrspacecast") => at = op.operand(0),
            _ => return false,
        }
    }
}
