//! Operations: moving, copying, erasing.

use super::{Block, Mapping, Op, Value};
use crate::ffi;

impl<'c> Op<'c> {
    pub fn move_before(self, other: Op<'c>) {
        if self != other {
            // SAFETY: both are live and distinct.
            unsafe { mlir_sys::mlirOperationMoveBefore(self.raw, other.raw) }
        }
    }

    pub fn move_after(self, other: Op<'c>) {
        if self != other {
            // SAFETY: both are live and distinct.
            unsafe { mlir_sys::mlirOperationMoveAfter(self.raw, other.raw) }
        }
    }

    /// Moves this operation to the end of `block`.
    pub fn move_to_end(self, block: Block<'c>) {
        // SAFETY: removing hands the operation to us, appending to the block.
        unsafe {
            mlir_sys::mlirOperationRemoveFromParent(self.raw);
            mlir_sys::mlirBlockAppendOwnedOperation(block.raw, self.raw);
        }
    }

    /// Moves the operations from this one up to, without, `end` (or to the end of the block) into
    /// `to`, before `before` or at its end.
    pub fn splice_to(self, end: Option<Op<'c>>, to: Block<'c>, before: Option<Op<'c>>) {
        let null = mlir_sys::MlirOperation { ptr: std::ptr::null_mut() };
        // SAFETY: all are live; null means "the end".
        unsafe {
            ffi::regrainSpliceOps(self.raw, end.map_or(null, |op| op.raw), to.raw, before.map_or(null, |op| op.raw))
        }
    }

    /// Splits the block before this operation; gives the new block, which holds this and the rest.
    pub fn split_block(self) -> Block<'c> {
        // SAFETY: the operation is live and in a block.
        Block::wrap(unsafe { ffi::regrainSplitBlock(self.raw) })
    }

    /// A detached copy with regions; insert it with `Builder::insert`. Operands and successors
    /// are mapped where the mapping knows them, which in turn learns results and inner values.
    pub fn clone_with(self, mapping: &mut Mapping<'c>) -> Op<'c> {
        // SAFETY: all are live.
        Op::wrap(unsafe { ffi::regrainCloneOp(self.raw, mapping.raw(), true) })
    }

    /// As `clone_with`, with empty regions.
    pub fn clone_without_regions(self, mapping: &mut Mapping<'c>) -> Op<'c> {
        // SAFETY: all are live.
        Op::wrap(unsafe { ffi::regrainCloneOp(self.raw, mapping.raw(), false) })
    }

    /// Erases the operation and what is in it; panics when a result still has uses.
    pub fn erase(self) {
        for (number, result) in self.results().into_iter().enumerate() {
            assert!(!result.has_uses(), "erasing {}: result {number} still has uses", self.name());
        }
        // SAFETY: no result has uses; MLIR unlinks the operation and drops inner uses.
        unsafe { mlir_sys::mlirOperationDestroy(self.raw) }
    }

    /// Replaces all uses of the results and erases the operation.
    pub fn replace_with(self, values: &[Value<'c>]) {
        assert_eq!(values.len(), self.num_results(), "values for the results of {}", self.name());
        for (result, value) in self.results().into_iter().zip(values) {
            result.replace_all_uses_with(*value);
        }
        self.erase();
    }

    /// Drops all operands and references of this operation and what is in it, before erasing
    /// operations that use one another.
    pub fn drop_all_references(self) {
        // SAFETY: the operation is live.
        unsafe { ffi::regrainDropAllReferences(self.raw) }
    }

    /// Takes the operation out of its block without erasing it.
    pub fn detach(self) {
        // SAFETY: the operation is live.
        unsafe { mlir_sys::mlirOperationRemoveFromParent(self.raw) }
    }
}
