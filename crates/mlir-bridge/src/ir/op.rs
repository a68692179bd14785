//! Operations: their structure and attributes.

use super::{Attr, Block, Ctx, Loc, Region, Value, handle};
use crate::ffi;
use melior::ir::OperationRef;
use std::fmt;

handle!(
    /// An operation.
    Op, MlirOperation
);

impl<'c> From<&melior::ir::Module<'c>> for Op<'c> {
    fn from(module: &melior::ir::Module<'c>) -> Self {
        // SAFETY: gives the module's operation.
        Self::wrap(unsafe { mlir_sys::mlirModuleGetOperation(module.to_raw()) })
    }
}

impl<'c> From<OperationRef<'c, '_>> for Op<'c> {
    fn from(op: OperationRef<'c, '_>) -> Self {
        Self::wrap(op.to_raw())
    }
}

/// Structure.
impl<'c> Op<'c> {
    /// The operation as melior sees it.
    pub fn melior(self) -> OperationRef<'c, 'c> {
        // SAFETY: the handle is live.
        unsafe { OperationRef::from_raw(self.raw) }
    }

    pub fn ctx(self) -> Ctx<'c> {
        // SAFETY: the operation is live, here and below.
        Ctx::wrap(unsafe { mlir_sys::mlirOperationGetContext(self.raw) })
    }

    /// The full name, as `scf.for`.
    pub fn name(self) -> &'c str {
        // SAFETY: operation names live with the context.
        unsafe { ffi::to_str(mlir_sys::mlirIdentifierStr(mlir_sys::mlirOperationGetName(self.raw))) }
    }

    pub fn is(self, name: &str) -> bool {
        self.name() == name
    }

    pub fn loc(self) -> Loc<'c> {
        // SAFETY: the operation is live.
        Loc::wrap(unsafe { mlir_sys::mlirOperationGetLocation(self.raw) })
    }

    pub fn set_loc(self, loc: Loc<'c>) {
        // SAFETY: both are live.
        unsafe { mlir_sys::mlirOperationSetLocation(self.raw, loc.raw) }
    }

    /// Gives an `llvm.func` that has none a subprogram of its own, after the one that its operations name: so it keeps its
    /// source lines in LLVM IR.
    pub fn scope_debug_info(self) {
        // SAFETY: the operation is live; what is no such function is left alone.
        unsafe { ffi::regrainScopeDebugInfo(self.raw) }
    }

    pub fn num_operands(self) -> usize {
        // SAFETY: the operation is live.
        unsafe { mlir_sys::mlirOperationGetNumOperands(self.raw) as usize }
    }

    pub fn operands(self) -> Vec<Value<'c>> {
        // SAFETY: the indices are in range.
        unsafe {
            (0..self.num_operands())
                .map(|i| Value::wrap(mlir_sys::mlirOperationGetOperand(self.raw, i as isize)))
                .collect()
        }
    }

    /// The operand `index`; panics when there is none.
    pub fn operand(self, index: usize) -> Value<'c> {
        let count = self.num_operands();
        assert!(index < count, "operand {index} of {count} of {}", self.name());
        // SAFETY: the index is in range.
        Value::wrap(unsafe { mlir_sys::mlirOperationGetOperand(self.raw, index as isize) })
    }

    pub fn set_operand(self, index: usize, value: Value<'c>) {
        let count = self.num_operands();
        assert!(index < count, "operand {index} of {count} of {}", self.name());
        // SAFETY: the index is in range.
        unsafe { mlir_sys::mlirOperationSetOperand(self.raw, index as isize, value.raw) }
    }

    /// Replaces the whole operand list; segment sizes are the caller's matter.
    pub fn set_operands(self, values: &[Value<'c>]) {
        let raw: Vec<_> = values.iter().map(|value| value.raw).collect();
        // SAFETY: the array is read during the call.
        unsafe {
            mlir_sys::mlirOperationSetOperands(self.raw, raw.len() as isize, raw.as_ptr());
        }
    }

    /// Inserts operands before `index`; segment sizes are the caller's matter.
    pub fn insert_operands(self, index: usize, values: &[Value<'c>]) {
        assert!(index <= self.num_operands(), "operand index {index} out of range");
        let raw: Vec<_> = values.iter().map(|value| value.raw).collect();
        // SAFETY: the array is read during the call, the index is in range.
        unsafe { ffi::regrainInsertOperands(self.raw, index as u32, raw.len(), raw.as_ptr()) }
    }

    pub fn erase_operands(self, index: usize, length: usize) {
        assert!(index + length <= self.num_operands(), "operand range out of bounds");
        // SAFETY: the range is in bounds.
        unsafe { ffi::regrainEraseOperands(self.raw, index as u32, length as u32) }
    }

    pub fn num_results(self) -> usize {
        // SAFETY: the operation is live.
        unsafe { mlir_sys::mlirOperationGetNumResults(self.raw) as usize }
    }

    pub fn results(self) -> Vec<Value<'c>> {
        // SAFETY: the indices are in range.
        unsafe {
            (0..self.num_results())
                .map(|i| Value::wrap(mlir_sys::mlirOperationGetResult(self.raw, i as isize)))
                .collect()
        }
    }

    /// The result `index`; panics when there is none.
    pub fn result(self, index: usize) -> Value<'c> {
        let count = self.num_results();
        assert!(index < count, "result {index} of {count} of {}", self.name());
        // SAFETY: the index is in range.
        Value::wrap(unsafe { mlir_sys::mlirOperationGetResult(self.raw, index as isize) })
    }

    pub fn num_regions(self) -> usize {
        // SAFETY: the operation is live.
        unsafe { mlir_sys::mlirOperationGetNumRegions(self.raw) as usize }
    }

    pub fn regions(self) -> Vec<Region<'c>> {
        (0..self.num_regions()).map(|i| self.region(i)).collect()
    }

    /// The region `index`; panics when there is none.
    pub fn region(self, index: usize) -> Region<'c> {
        let count = self.num_regions();
        assert!(index < count, "region {index} of {count} of {}", self.name());
        // SAFETY: the index is in range.
        Region::wrap(unsafe { mlir_sys::mlirOperationGetRegion(self.raw, index as isize) })
    }

    /// The first block of the first region: the body of a loop, function or module.
    pub fn body(self) -> Block<'c> {
        self.region(0).entry()
    }

    pub fn successors(self) -> Vec<Block<'c>> {
        // SAFETY: indices are in range.
        unsafe {
            (0..mlir_sys::mlirOperationGetNumSuccessors(self.raw))
                .map(|i| Block::wrap(mlir_sys::mlirOperationGetSuccessor(self.raw, i)))
                .collect()
        }
    }

    pub fn set_successor(self, index: usize, block: Block<'c>) {
        // SAFETY: both are live; MLIR checks the index.
        unsafe { mlir_sys::mlirOperationSetSuccessor(self.raw, index as isize, block.raw) }
    }

    /// The block that holds this operation.
    pub fn block(self) -> Option<Block<'c>> {
        // SAFETY: the operation is live.
        Block::wrap_option(unsafe { mlir_sys::mlirOperationGetBlock(self.raw) })
    }

    /// The operation around this one.
    pub fn parent(self) -> Option<Op<'c>> {
        self.block()?.parent_op()
    }

    /// The nearest operation around this one with the given name.
    pub fn parent_of_name(self, name: &str) -> Option<Op<'c>> {
        let mut at = self.parent();
        while let Some(op) = at {
            if op.is(name) {
                return Some(op);
            }
            at = op.parent();
        }
        None
    }

    /// Whether `other` is this operation or nested in it.
    pub fn is_ancestor_of(self, other: Op<'c>) -> bool {
        let mut at = Some(other);
        while let Some(op) = at {
            if op == self {
                return true;
            }
            at = op.parent();
        }
        false
    }

    pub fn is_proper_ancestor_of(self, other: Op<'c>) -> bool {
        self != other && self.is_ancestor_of(other)
    }

    pub fn next(self) -> Option<Op<'c>> {
        // SAFETY: the operation is live.
        Op::wrap_option(unsafe { mlir_sys::mlirOperationGetNextInBlock(self.raw) })
    }

    pub fn prev(self) -> Option<Op<'c>> {
        // SAFETY: the operation is live.
        Op::wrap_option(unsafe { ffi::regrainPrevOp(self.raw) })
    }

    /// Whether this stands before `other`, both in the same block.
    pub fn is_before(self, other: Op<'c>) -> bool {
        assert!(self.block() == other.block(), "operations of different blocks");
        // SAFETY: both are in one block.
        unsafe { mlir_sys::mlirOperationIsBeforeInBlock(self.raw, other.raw) }
    }
}

/// Attributes.
impl<'c> Op<'c> {
    /// An attribute, inherent or discardable.
    pub fn attr(self, name: &str) -> Option<Attr<'c>> {
        // SAFETY: the operation is live, here and below.
        Attr::wrap_option(unsafe { mlir_sys::mlirOperationGetAttributeByName(self.raw, ffi::string(name)) })
    }

    pub fn has_attr(self, name: &str) -> bool {
        self.attr(name).is_some()
    }

    pub fn set_attr(self, name: &str, attr: Attr<'c>) {
        // SAFETY: both are live.
        unsafe {
            mlir_sys::mlirOperationSetAttributeByName(self.raw, ffi::string(name), attr.raw);
        }
    }

    /// Removes an attribute; false if it was not there.
    pub fn remove_attr(self, name: &str) -> bool {
        // SAFETY: the operation is live.
        unsafe { mlir_sys::mlirOperationRemoveAttributeByName(self.raw, ffi::string(name)) }
    }

    /// All attributes, inherent and discardable.
    pub fn attrs(self) -> Vec<(&'c str, Attr<'c>)> {
        // SAFETY: indices are in range.
        unsafe {
            (0..mlir_sys::mlirOperationGetNumAttributes(self.raw))
                .map(|i| {
                    let item = mlir_sys::mlirOperationGetAttribute(self.raw, i);
                    (ffi::to_str(mlir_sys::mlirIdentifierStr(item.name)), Attr::wrap(item.attribute))
                })
                .collect()
        }
    }

    /// The discardable attributes.
    pub fn discardable_attrs(self) -> Vec<(&'c str, Attr<'c>)> {
        // SAFETY: indices are in range.
        unsafe {
            (0..mlir_sys::mlirOperationGetNumDiscardableAttributes(self.raw))
                .map(|i| {
                    let item = mlir_sys::mlirOperationGetDiscardableAttribute(self.raw, i);
                    (ffi::to_str(mlir_sys::mlirIdentifierStr(item.name)), Attr::wrap(item.attribute))
                })
                .collect()
        }
    }

    /// The `sym_name` of a symbol.
    pub fn symbol_name(self) -> Option<&'c str> {
        self.attr("sym_name")?.as_str()
    }

    /// The symbol `name` among the operations directly in this one.
    pub fn lookup_symbol(self, name: &str) -> Option<Op<'c>> {
        if self.num_regions() == 0 || self.region(0).is_empty() {
            return None;
        }
        self.body().ops().into_iter().find(|op| op.symbol_name() == Some(name))
    }

    /// The integer that a constant operation (`arith.constant`, `llvm.mlir.constant`) gives.
    pub fn constant_int(self) -> Option<i64> {
        match self.name() {
            "arith.constant" | "llvm.mlir.constant" => self.attr("value")?.as_int(),
            _ => None,
        }
    }
}

impl fmt::Display for Op<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: the sink gets a live Vec.
        f.write_str(&ffi::print(|sink, user| unsafe { mlir_sys::mlirOperationPrint(self.raw, sink, user) }))
    }
}

impl fmt::Debug for Op<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_line())
    }
}
