//! Blocks and regions.

use super::{Loc, Mapping, Op, Type, Value, handle};
use crate::ffi;
use std::fmt;

handle!(
    /// A block.
    Block, MlirBlock
);
handle!(
    /// A region.
    Region, MlirRegion
);

impl<'c> Block<'c> {
    pub fn args(self) -> Vec<Value<'c>> {
        (0..self.num_args()).map(|i| self.arg(i)).collect()
    }

    pub fn num_args(self) -> usize {
        // SAFETY: the block is live, here and below.
        unsafe { mlir_sys::mlirBlockGetNumArguments(self.raw) as usize }
    }

    /// The argument `index`; panics when there is none.
    pub fn arg(self, index: usize) -> Value<'c> {
        let count = self.num_args();
        assert!(index < count, "block argument {index} of {count}");
        // SAFETY: the index is in range.
        Value::wrap(unsafe { mlir_sys::mlirBlockGetArgument(self.raw, index as isize) })
    }

    pub fn add_arg(self, ty: Type<'c>, loc: Loc<'c>) -> Value<'c> {
        // SAFETY: block, type and location are live.
        Value::wrap(unsafe { mlir_sys::mlirBlockAddArgument(self.raw, ty.raw, loc.raw) })
    }

    pub fn insert_arg(self, index: usize, ty: Type<'c>, loc: Loc<'c>) -> Value<'c> {
        assert!(index <= self.num_args(), "block argument {index} out of range");
        // SAFETY: the index is in range.
        Value::wrap(unsafe { mlir_sys::mlirBlockInsertArgument(self.raw, index as isize, ty.raw, loc.raw) })
    }

    /// Removes an argument that has no uses.
    pub fn erase_arg(self, index: usize) {
        assert!(!self.arg(index).has_uses(), "block argument {index} still has uses");
        // SAFETY: the index is in range and the argument is unused.
        unsafe { mlir_sys::mlirBlockEraseArgument(self.raw, index as u32) }
    }

    /// The operations of this block, as they are now.
    pub fn ops(self) -> Vec<Op<'c>> {
        let mut found = Vec::new();
        let mut at = self.first_op();
        while let Some(op) = at {
            found.push(op);
            at = op.next();
        }
        found
    }

    pub fn first_op(self) -> Option<Op<'c>> {
        // SAFETY: the block is live.
        Op::wrap_option(unsafe { mlir_sys::mlirBlockGetFirstOperation(self.raw) })
    }

    /// The last operation if it is a terminator.
    pub fn terminator(self) -> Option<Op<'c>> {
        // SAFETY: the block is live.
        Op::wrap_option(unsafe { mlir_sys::mlirBlockGetTerminator(self.raw) })
    }

    pub fn region(self) -> Option<Region<'c>> {
        // SAFETY: the block is live.
        Region::wrap_option(unsafe { mlir_sys::mlirBlockGetParentRegion(self.raw) })
    }

    pub fn parent_op(self) -> Option<Op<'c>> {
        // SAFETY: the block is live.
        Op::wrap_option(unsafe { mlir_sys::mlirBlockGetParentOperation(self.raw) })
    }

    pub fn next(self) -> Option<Block<'c>> {
        // SAFETY: the block is live.
        Block::wrap_option(unsafe { mlir_sys::mlirBlockGetNextInRegion(self.raw) })
    }

    pub fn predecessors(self) -> Vec<Block<'c>> {
        // SAFETY: indices are in range.
        unsafe {
            (0..mlir_sys::mlirBlockGetNumPredecessors(self.raw))
                .map(|i| Block::wrap(mlir_sys::mlirBlockGetPredecessor(self.raw, i)))
                .collect()
        }
    }

    pub fn successors(self) -> Vec<Block<'c>> {
        // SAFETY: indices are in range.
        unsafe {
            (0..mlir_sys::mlirBlockGetNumSuccessors(self.raw))
                .map(|i| Block::wrap(mlir_sys::mlirBlockGetSuccessor(self.raw, i)))
                .collect()
        }
    }

    /// Moves the operations of this block before `before`, leaving the block empty. Arguments are
    /// replaced by `args` first.
    pub fn inline_before(self, before: Op<'c>, args: &[Value<'c>]) {
        assert_eq!(args.len(), self.num_args(), "values for the block arguments");
        for (arg, value) in self.args().into_iter().zip(args) {
            arg.replace_all_uses_with(*value);
        }
        if let (Some(first), Some(to)) = (self.first_op(), before.block()) {
            first.splice_to(None, to, Some(before));
        }
    }

    /// Moves the block before another one, into that one's region.
    pub fn move_before(self, other: Block<'c>) {
        // SAFETY: both blocks are live.
        unsafe { ffi::regrainMoveBlockBefore(self.raw, other.raw) }
    }

    /// Erases the block with its operations; their results must not be used outside of it.
    pub fn erase(self) {
        // SAFETY: detaching gives us the block, and destroying drops its operations' uses first.
        unsafe {
            mlir_sys::mlirBlockDetach(self.raw);
            mlir_sys::mlirBlockDestroy(self.raw);
        }
    }
}

impl<'c> Region<'c> {
    pub fn blocks(self) -> Vec<Block<'c>> {
        let mut found = Vec::new();
        let mut at = self.first_block();
        while let Some(block) = at {
            found.push(block);
            at = block.next();
        }
        found
    }

    pub fn first_block(self) -> Option<Block<'c>> {
        // SAFETY: the region is live.
        Block::wrap_option(unsafe { mlir_sys::mlirRegionGetFirstBlock(self.raw) })
    }

    pub fn is_empty(self) -> bool {
        self.first_block().is_none()
    }

    /// The first block; panics when the region is empty.
    pub fn entry(self) -> Block<'c> {
        self.first_block().expect("region without a block")
    }

    /// The only block of this region.
    pub fn single_block(self) -> Option<Block<'c>> {
        self.first_block().filter(|block| block.next().is_none())
    }

    /// The operation that holds this region.
    pub fn parent_op(self) -> Option<Op<'c>> {
        // SAFETY: the region is live.
        Op::wrap_option(unsafe { ffi::regrainRegionParent(self.raw) })
    }

    /// Appends a new block with arguments of the given types.
    pub fn append_block(self, args: &[Type<'c>], loc: Loc<'c>) -> Block<'c> {
        let types: Vec<_> = args.iter().map(|ty| ty.raw).collect();
        let locs = vec![loc.raw; args.len()];
        // SAFETY: the arrays are read during the call; the region takes the block.
        unsafe {
            let block = mlir_sys::mlirBlockCreate(types.len() as isize, types.as_ptr(), locs.as_ptr());
            mlir_sys::mlirRegionAppendOwnedBlock(self.raw, block);
            Block::wrap(block)
        }
    }

    /// Moves all blocks of `from` to the end of this region.
    pub fn take_blocks(self, from: Region<'c>) {
        if self != from {
            // SAFETY: both regions are live and distinct.
            unsafe { ffi::regrainMoveBlocks(from.raw, self.raw) }
        }
    }

    /// Appends a copy of all blocks; the mapping learns old to new.
    pub fn clone_into(self, to: Region<'c>, mapping: &mut Mapping<'c>) {
        // SAFETY: both regions are live.
        unsafe { ffi::regrainCloneRegionInto(self.raw, to.raw, mapping.raw()) }
    }
}

impl fmt::Display for Block<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: the sink gets a live Vec.
        f.write_str(&ffi::print(|sink, user| unsafe { mlir_sys::mlirBlockPrint(self.raw, sink, user) }))
    }
}

impl fmt::Debug for Block<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Debug for Region<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for block in self.blocks() {
            write!(f, "{block}")?;
        }
        Ok(())
    }
}
