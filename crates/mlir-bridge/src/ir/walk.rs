//! Operations: walking, verifying, printing.

use super::Op;
use crate::ffi;
use std::ffi::c_void;

/// What a walk does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Walk {
    Advance,
    /// Do not enter this operation's regions (only before they are visited, in `walk_pre`).
    Skip,
    Stop,
}

type Visitor<'v, 'c> = &'v mut dyn FnMut(Op<'c>) -> Walk;

struct WalkState<'v, 'c> {
    visit: Visitor<'v, 'c>,
    panic: Option<Box<dyn std::any::Any + Send>>,
}

unsafe extern "C" fn visit(op: mlir_sys::MlirOperation, user: *mut c_void) -> mlir_sys::MlirWalkResult {
    // SAFETY: `walk` passes a pointer to its live state.
    let state = unsafe { &mut *user.cast::<WalkState<'_, '_>>() };
    let run = std::panic::AssertUnwindSafe(|| (state.visit)(Op::wrap(op)));
    match std::panic::catch_unwind(run) {
        Ok(Walk::Advance) => mlir_sys::MlirWalkResult_MlirWalkResultAdvance,
        Ok(Walk::Skip) => mlir_sys::MlirWalkResult_MlirWalkResultSkip,
        Ok(Walk::Stop) => mlir_sys::MlirWalkResult_MlirWalkResultInterrupt,
        Err(payload) => {
            state.panic = Some(payload);
            mlir_sys::MlirWalkResult_MlirWalkResultInterrupt
        }
    }
}

/// Walking, checking, printing.
impl<'c> Op<'c> {
    fn walk(self, order: mlir_sys::MlirWalkOrder, f: Visitor<'_, 'c>) {
        let mut state = WalkState { visit: f, panic: None };
        // SAFETY: `visit` gets the state it expects, and never unwinds.
        unsafe { mlir_sys::mlirOperationWalk(self.raw, Some(visit), (&raw mut state).cast(), order) }
        if let Some(payload) = state.panic {
            std::panic::resume_unwind(payload);
        }
    }

    /// Visits this operation and all nested ones, outer before inner.
    pub fn walk_pre(self, mut f: impl FnMut(Op<'c>) -> Walk) {
        self.walk(mlir_sys::MlirWalkOrder_MlirWalkPreOrder, &mut f);
    }

    /// Visits all nested operations and this one, inner before outer. The visited operation may
    /// be erased.
    pub fn walk_post(self, mut f: impl FnMut(Op<'c>) -> Walk) {
        self.walk(mlir_sys::MlirWalkOrder_MlirWalkPostOrder, &mut f);
    }

    /// This operation and the nested ones (outer before inner) for which `wanted` holds.
    pub fn find_all(self, wanted: impl Fn(Op<'c>) -> bool) -> Vec<Op<'c>> {
        let mut found = Vec::new();
        self.walk_pre(|op| {
            if wanted(op) {
                found.push(op);
            }
            Walk::Advance
        });
        found
    }

    /// All operations of that name at any depth, outer before inner.
    pub fn find_named(self, name: &str) -> Vec<Op<'c>> {
        self.find_all(|op| op.is(name))
    }

    /// Whether `wanted` holds for this or any nested operation.
    pub fn contains(self, wanted: impl Fn(Op<'c>) -> bool) -> bool {
        let mut found = false;
        self.walk_pre(|op| {
            found = wanted(op);
            if found { Walk::Stop } else { Walk::Advance }
        });
        found
    }

    /// Runs the verifier; diagnostics go to the context's handlers.
    pub fn verify(self) -> bool {
        // SAFETY: the operation is live.
        unsafe { mlir_sys::mlirOperationVerify(self.raw) }
    }

    fn print_with(self, set: impl FnOnce(mlir_sys::MlirOpPrintingFlags)) -> String {
        // SAFETY: the flags are ours and destroyed after use, the sink gets a live Vec.
        unsafe {
            let flags = mlir_sys::mlirOpPrintingFlagsCreate();
            set(flags);
            let text = ffi::print(|sink, user| mlir_sys::mlirOperationPrintWithFlags(self.raw, flags, sink, user));
            mlir_sys::mlirOpPrintingFlagsDestroy(flags);
            text
        }
    }

    /// The text with locations.
    pub fn to_string_with_locations(self) -> String {
        // SAFETY: the flags are live during the call.
        self.print_with(|flags| unsafe { mlir_sys::mlirOpPrintingFlagsEnableDebugInfo(flags, true, false) })
    }

    /// The text without the regions: one line, for messages. Values are numbered within the function, or a message would take as long as
    /// the whole module is large.
    pub fn to_line(self) -> String {
        // SAFETY: the flags are live during the call.
        self.print_with(|flags| unsafe {
            mlir_sys::mlirOpPrintingFlagsSkipRegions(flags);
            mlir_sys::mlirOpPrintingFlagsUseLocalScope(flags);
        })
    }

    /// The text in the generic form, which prints invalid operations too.
    pub fn to_generic_string(self) -> String {
        // SAFETY: the flags are live during the call.
        self.print_with(|flags| unsafe { mlir_sys::mlirOpPrintingFlagsPrintGenericOpForm(flags) })
    }
}
