//! Questions about operations: traits, memory effects, dominance.

use super::{Op, Value};
use crate::ffi;
use std::{ffi::c_void, marker::PhantomData};

/// What an operation does to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffectKind {
    Read,
    Write,
    Allocate,
    Free,
}

/// One memory effect. Without a value it is on the whole resource.
#[derive(Clone, Debug)]
pub struct Effect<'c> {
    pub kind: EffectKind,
    pub value: Option<Value<'c>>,
    pub resource: String,
}

/// # Safety
/// `user` points to a live `Vec<Effect>` that nothing else touches during the call.
unsafe extern "C" fn push_effect(
    effect: ffi::RegrainEffect,
    value: mlir_sys::MlirValue,
    resource: mlir_sys::MlirStringRef,
    user: *mut c_void,
) {
    let kind = match effect {
        ffi::RegrainEffectRead => EffectKind::Read,
        ffi::RegrainEffectWrite => EffectKind::Write,
        ffi::RegrainEffectAllocate => EffectKind::Allocate,
        ffi::RegrainEffectFree.. => EffectKind::Free,
    };
    // SAFETY: the caller's promise.
    let list = unsafe { &mut *user.cast::<Vec<Effect<'static>>>() };
    list.push(Effect { kind, value: Value::wrap_option(value), resource: ffi::to_str(resource).to_owned() });
}

impl<'c> Op<'c> {
    fn query(self, query: ffi::RegrainQuery) -> bool {
        // SAFETY: the operation is live.
        unsafe { ffi::regrainQuery(self.raw, query) }
    }

    pub fn is_terminator(self) -> bool {
        self.query(ffi::RegrainQueryTerminator)
    }

    /// No memory effect and no undefined behaviour: may be executed anywhere or not at all.
    pub fn is_pure(self) -> bool {
        self.query(ffi::RegrainQueryPure)
    }

    pub fn is_memory_effect_free(self) -> bool {
        self.query(ffi::RegrainQueryMemoryEffectFree)
    }

    pub fn is_speculatable(self) -> bool {
        self.query(ffi::RegrainQuerySpeculatable)
    }

    pub fn is_isolated_from_above(self) -> bool {
        self.query(ffi::RegrainQueryIsolatedFromAbove)
    }

    /// A symbol (it may still lack a name).
    pub fn is_symbol(self) -> bool {
        self.query(ffi::RegrainQuerySymbol)
    }

    pub fn is_symbol_table(self) -> bool {
        self.query(ffi::RegrainQuerySymbolTable)
    }

    /// Unused and without effects: may be erased.
    pub fn is_trivially_dead(self) -> bool {
        self.query(ffi::RegrainQueryTriviallyDead)
    }

    /// Whether the operation's dialect is known.
    pub fn is_registered(self) -> bool {
        self.query(ffi::RegrainQueryRegistered)
    }

    pub fn has_recursive_effects(self) -> bool {
        self.query(ffi::RegrainQueryRecursiveEffects)
    }

    /// The memory effects of the operation and of its regions, in no order; `None` when not known.
    pub fn effects(self) -> Option<Vec<Effect<'c>>> {
        let mut list: Vec<Effect<'c>> = Vec::new();
        // SAFETY: the operation is live, `push_effect` gets the list it expects.
        let known = unsafe { ffi::regrainEffects(self.raw, Some(push_effect), (&raw mut list).cast::<c_void>()) };
        known.then_some(list)
    }
}

/// MLIR's dominance information for a root. Do not change the control flow while using it.
pub struct Dominance<'c> {
    raw: *mut ffi::RegrainDominance,
    life: PhantomData<&'c ()>,
}

impl<'c> Dominance<'c> {
    pub fn new(root: Op<'c>) -> Self {
        Self {
            // SAFETY: gives an owned object, destroyed in Drop.
            raw: unsafe { ffi::regrainDominanceCreate(root.raw) },
            life: PhantomData,
        }
    }

    /// Whether `value` may be used by `op`.
    pub fn value_dominates(&self, value: Value<'c>, op: Op<'c>) -> bool {
        // SAFETY: all are live.
        unsafe { ffi::regrainValueDominates(self.raw, value.raw, op.raw) }
    }

    /// Whether `a` properly dominates `b`.
    pub fn op_dominates(&self, a: Op<'c>, b: Op<'c>) -> bool {
        // SAFETY: all are live.
        unsafe { ffi::regrainOpDominates(self.raw, a.raw, b.raw) }
    }
}

impl Drop for Dominance<'_> {
    fn drop(&mut self) {
        // SAFETY: ours, and not used afterwards.
        unsafe { ffi::regrainDominanceDestroy(self.raw) }
    }
}
