//! Values and their uses.

use super::{Block, Loc, Op, Type, handle};
use crate::ffi;
use std::fmt;

handle!(
    /// An operation result or block argument.
    Value, MlirValue
);

/// One operand that uses a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use<'c> {
    pub owner: Op<'c>,
    pub operand: usize,
}

impl<'c> Value<'c> {
    pub fn ty(self) -> Type<'c> {
        // SAFETY: the value is live, here and below.
        Type::wrap(unsafe { mlir_sys::mlirValueGetType(self.raw) })
    }

    /// Changes the type in place; the caller mends uses.
    pub fn set_type(self, ty: Type<'c>) {
        // SAFETY: both are live.
        unsafe { mlir_sys::mlirValueSetType(self.raw, ty.raw) }
    }

    pub fn loc(self) -> Loc<'c> {
        // SAFETY: the value is live.
        Loc::wrap(unsafe { mlir_sys::mlirValueGetLocation(self.raw) })
    }

    /// The operation whose result this is.
    pub fn defining_op(self) -> Option<Op<'c>> {
        // SAFETY: the owner is asked of results only.
        unsafe { mlir_sys::mlirValueIsAOpResult(self.raw).then(|| Op::wrap(mlir_sys::mlirOpResultGetOwner(self.raw))) }
    }

    /// The number of this result within its operation.
    pub fn result_number(self) -> Option<usize> {
        // SAFETY: asked of results only.
        unsafe {
            mlir_sys::mlirValueIsAOpResult(self.raw).then(|| mlir_sys::mlirOpResultGetResultNumber(self.raw) as usize)
        }
    }

    /// The block and number of a block argument.
    pub fn block_arg(self) -> Option<(Block<'c>, usize)> {
        // SAFETY: asked of block arguments only.
        unsafe {
            mlir_sys::mlirValueIsABlockArgument(self.raw).then(|| {
                (
                    Block::wrap(mlir_sys::mlirBlockArgumentGetOwner(self.raw)),
                    mlir_sys::mlirBlockArgumentGetArgNumber(self.raw) as usize,
                )
            })
        }
    }

    /// The block that holds the definition.
    pub fn parent_block(self) -> Option<Block<'c>> {
        match self.defining_op() {
            Some(op) => op.block(),
            None => self.block_arg().map(|(block, _)| block),
        }
    }

    /// All uses, as they are now.
    pub fn uses(self) -> Vec<Use<'c>> {
        let mut found = Vec::new();
        // SAFETY: the use list does not change while it is read.
        unsafe {
            let mut at = mlir_sys::mlirValueGetFirstUse(self.raw);
            while !mlir_sys::mlirOpOperandIsNull(at) {
                found.push(Use {
                    owner: Op::wrap(mlir_sys::mlirOpOperandGetOwner(at)),
                    operand: mlir_sys::mlirOpOperandGetOperandNumber(at) as usize,
                });
                at = mlir_sys::mlirOpOperandGetNextUse(at);
            }
        }
        found
    }

    /// The operations that use this value, each once.
    pub fn users(self) -> Vec<Op<'c>> {
        let mut found: Vec<Op<'c>> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for used in self.uses() {
            if seen.insert(used.owner) {
                found.push(used.owner);
            }
        }
        found
    }

    pub fn has_uses(self) -> bool {
        // SAFETY: the value is live.
        unsafe { !mlir_sys::mlirOpOperandIsNull(mlir_sys::mlirValueGetFirstUse(self.raw)) }
    }

    pub fn replace_all_uses_with(self, with: Value<'c>) {
        if self != with {
            // SAFETY: both are live.
            unsafe { mlir_sys::mlirValueReplaceAllUsesOfWith(self.raw, with.raw) }
        }
    }

    /// Replaces the uses for which `wanted` holds.
    pub fn replace_uses_if(self, with: Value<'c>, wanted: impl Fn(Use<'c>) -> bool) {
        for used in self.uses() {
            if wanted(used) {
                used.owner.set_operand(used.operand, with);
            }
        }
    }

    /// Replaces the uses by `root` and by what is nested in it.
    pub fn replace_uses_within(self, with: Value<'c>, root: Op<'c>) {
        self.replace_uses_if(with, |used| root.is_ancestor_of(used.owner));
    }
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: the sink gets a live Vec.
        f.write_str(&ffi::print(|sink, user| unsafe { mlir_sys::mlirValuePrint(self.raw, sink, user) }))
    }
}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
