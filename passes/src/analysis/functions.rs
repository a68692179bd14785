//! Which functions are kernels, and why a kernel has no parallel form.
//!
//! A kernel can be formed when its body is structured and everything that ties it to its thread stands in the body
//! itself. It is declined when a function that it calls knows its thread, synchronises, may wait or holds shared memory, when it
//! calls through a pointer or calls a function that nobody knows, and when it holds an operation without parallel form.

use std::collections::{HashMap, HashSet};

use mlir_bridge::ir::{Op, Walk};
use mlir_bridge::reasons::fill;

pub use regrain_targets::device_language::is_kernel;
use regrain_targets::device_language::library::is_known_external;
use regrain_targets::device_language::thread_ops::{ThreadOp, classify};

use crate::analysis::waiting::function_may_wait;

mlir_bridge::reasons! {
    /// Why a kernel has no parallel form, but for the operations that have none (`device_language::thread_ops`).
    pub enum NoForm {
        ControlFlow => "its control flow is not structured",
        ForeignShared => "it uses shared memory of another module",
        VariableArguments => "it has variable arguments",
        PointerCall => "it calls through a pointer",
        UnknownCall => "it calls {}, which may synchronise",
        CallKnowsThread => "it calls {}, which knows its thread",
        CallUsesShared => "it calls {}, which uses shared memory",
        CallWaits => "it calls {}, which may wait for another thread",
    }
}

/// The address space of a global that `llvm.mlir.addressof` names.
pub fn address_space(global: Op<'_>) -> i64 {
    global.attr("addr_space").and_then(|space| space.as_int()).unwrap_or(0)
}

/// What is known of each function of a module.
pub struct Functions<'c> {
    by_name: HashMap<&'c str, Op<'c>>,
    globals: HashMap<&'c str, Op<'c>>,
    /// What called functions do, filled on demand.
    summaries: HashMap<&'c str, Summary<'c>>,
}

/// What a function does in its own body.
#[derive(Clone, Default)]
struct Summary<'c> {
    /// Why a call of it cannot stand in a parallel loop.
    reason: Option<String>,
    /// Whom it calls; `None` through a pointer.
    calls: Vec<Option<&'c str>>,
}

fn callee_of<'c>(call: Op<'c>) -> Option<&'c str> {
    call.attr("callee").and_then(|callee| callee.as_symbol())
}

impl<'c> Functions<'c> {
    pub fn new(module: Op<'c>) -> Self {
        let named = |kind: &str| {
            module
                .body()
                .ops()
                .into_iter()
                .filter(|op| op.is(kind))
                .filter_map(|op| op.symbol_name().map(|name| (name, op)))
                .collect::<HashMap<_, _>>()
        };
        Self { by_name: named("llvm.func"), globals: named("llvm.mlir.global"), summaries: HashMap::new() }
    }

    /// The global that an `llvm.mlir.addressof` names.
    pub fn global_of(&self, address: Op<'c>) -> Option<Op<'c>> {
        self.globals.get(address.attr("global_name")?.as_symbol()?).copied()
    }

    /// Why the kernel has no parallel form, or `None`.
    pub fn why_not(&mut self, kernel: Op<'c>) -> Option<String> {
        if kernel.region(0).single_block().is_none() {
            return Some(NoForm::ControlFlow.to_string());
        }
        let mut reason = None;
        kernel.walk_pre(|op| {
            reason = match classify(op) {
                Some(ThreadOp::Unsupported(why)) => Some(why.to_string()),
                Some(_) => None,
                None => self.why_not_op(op),
            };
            if reason.is_some() { Walk::Stop } else { Walk::Advance }
        });
        reason
    }

    fn why_not_op(&mut self, op: Op<'c>) -> Option<String> {
        match op.name() {
            "llvm.call" => self.why_not_call(op),
            "llvm.mlir.addressof" => {
                let global = self.global_of(op).filter(|global| address_space(*global) == 3)?;
                (is_shared_declaration(global) && !is_dynamic_shared(global)).then(|| NoForm::ForeignShared.to_string())
            }
            "llvm.va_start" | "llvm.intr.vastart" => Some(NoForm::VariableArguments.to_string()),
            _ => None,
        }
    }

    /// Whether a call may stand in a parallel loop: nothing that it leads to knows its thread or synchronises.
    pub fn may_call(&mut self, call: Op<'c>) -> bool {
        self.why_not_call(call).is_none()
    }

    /// Looks at everything that the call leads to.
    fn why_not_call(&mut self, call: Op<'c>) -> Option<String> {
        let mut seen: HashSet<&str> = HashSet::new();
        let mut work = vec![callee_of(call)];
        while let Some(callee) = work.pop() {
            let Some(callee) = callee else {
                return Some(NoForm::PointerCall.to_string());
            };
            if !seen.insert(callee) {
                continue;
            }
            let known = match self.summaries.get(callee) {
                Some(known) => known.clone(),
                None => self.summarise(callee),
            };
            if known.reason.is_some() {
                return known.reason;
            }
            work.extend(&known.calls);
            self.summaries.insert(callee, known);
        }
        None
    }

    fn summarise(&self, callee: &'c str) -> Summary<'c> {
        let body = self.by_name.get(callee).copied().filter(|func| !func.region(0).is_empty());
        let mut summary = Summary::default();
        let Some(func) = body else {
            if !is_known_external(callee) {
                summary.reason = Some(fill(NoForm::UnknownCall, &[&callee]));
            }
            return summary;
        };
        func.walk_pre(|op| {
            if classify(op).is_some() {
                summary.reason = Some(fill(NoForm::CallKnowsThread, &[&callee]));
            } else if self.is_shared_address(op) {
                summary.reason = Some(fill(NoForm::CallUsesShared, &[&callee]));
            } else if op.is("llvm.call") {
                summary.calls.push(callee_of(op));
            }
            if summary.reason.is_some() { Walk::Stop } else { Walk::Advance }
        });
        let waits = |module| function_may_wait(module, func);
        if summary.reason.is_none() && func.parent_of_name("builtin.module").is_some_and(waits) {
            summary.reason = Some(fill(NoForm::CallWaits, &[&callee]));
        }
        summary
    }

    fn is_shared_address(&self, op: Op<'c>) -> bool {
        op.is("llvm.mlir.addressof") && self.global_of(op).is_some_and(|global| address_space(global) == 3)
    }
}

fn is_shared_declaration(global: Op<'_>) -> bool {
    global.region(0).is_empty() && !global.has_attr("value")
}

/// Whether the global is `extern __shared__ T name[]`.
pub fn is_dynamic_shared(global: Op<'_>) -> bool {
    let ty = global.attr("global_type").and_then(|ty| ty.as_type());
    is_shared_declaration(global) && ty.and_then(|ty| ty.llvm_array_parts()).is_some_and(|(_, count)| count == 0)
}
