//! MLIR's IRMapping: which value, block or operation stands for which in a copy.

use super::{Block, Op, Value};
use crate::ffi;
use std::marker::PhantomData;

/// A mapping from old to new values, blocks and operations, filled while cloning.
pub struct Mapping<'c> {
    raw: *mut ffi::RegrainMapping,
    life: PhantomData<&'c ()>,
}

impl<'c> Mapping<'c> {
    pub fn new() -> Self {
        Self {
            // SAFETY: gives an owned object, destroyed in Drop.
            raw: unsafe { ffi::regrainMappingCreate() },
            life: PhantomData,
        }
    }

    pub(crate) fn raw(&self) -> *mut ffi::RegrainMapping {
        self.raw
    }

    pub fn map(&mut self, from: Value<'c>, to: Value<'c>) {
        // SAFETY: the mapping is ours, the values are live.
        unsafe { ffi::regrainMappingMapValue(self.raw, from.raw, to.raw) }
    }

    /// Maps two lists of equal length.
    pub fn map_all(&mut self, from: &[Value<'c>], to: &[Value<'c>]) {
        assert_eq!(from.len(), to.len(), "mapping lists of different length");
        for (from, to) in from.iter().zip(to) {
            self.map(*from, *to);
        }
    }

    pub fn map_block(&mut self, from: Block<'c>, to: Block<'c>) {
        // SAFETY: as above.
        unsafe { ffi::regrainMappingMapBlock(self.raw, from.raw, to.raw) }
    }

    pub fn get(&self, from: Value<'c>) -> Option<Value<'c>> {
        // SAFETY: as above.
        Value::wrap_option(unsafe { ffi::regrainMappingLookupValue(self.raw, from.raw) })
    }

    /// What `from` is mapped to, or itself.
    pub fn get_or_self(&self, from: Value<'c>) -> Value<'c> {
        self.get(from).unwrap_or(from)
    }

    pub fn get_block(&self, from: Block<'c>) -> Option<Block<'c>> {
        // SAFETY: as above.
        Block::wrap_option(unsafe { ffi::regrainMappingLookupBlock(self.raw, from.raw) })
    }

    pub fn get_op(&self, from: Op<'c>) -> Option<Op<'c>> {
        // SAFETY: as above.
        Op::wrap_option(unsafe { ffi::regrainMappingLookupOp(self.raw, from.raw) })
    }
}

impl Default for Mapping<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl Clone for Mapping<'_> {
    fn clone(&self) -> Self {
        Self {
            // SAFETY: copies our live object.
            raw: unsafe { ffi::regrainMappingClone(self.raw) },
            life: PhantomData,
        }
    }
}

impl Drop for Mapping<'_> {
    fn drop(&mut self) {
        // SAFETY: ours, and not used afterwards.
        unsafe { ffi::regrainMappingDestroy(self.raw) }
    }
}
