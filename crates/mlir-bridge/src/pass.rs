//! Passes written in Rust, under a name in MLIR's global registry.
//!
//! A pass is a row of a static table: name, summary, anchor, options, dialects it makes operations
//! of, and a function. `register` makes it known to pipelines, `regrain-opt` and plugins. A panic
//! inside the function becomes an MLIR error at the operation; it never unwinds through C++.

pub use crate::failure::{PassError, PassResult};

use crate::{diagnostics::Severity, ffi, ir::Op, panics};
use std::{ffi::c_void, sync::Mutex};

/// Which operation a pass runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// `builtin.module`.
    Module,
    /// An operation by name, as `llvm.func`.
    Op(&'static str),
    /// Whatever the pipeline nests it under.
    Any,
}

/// An option of a pass, given as `{name=value}` in a pipeline. Values are text.
#[derive(Clone, Copy, Debug)]
pub struct PassOption {
    pub name: &'static str,
    pub default: &'static str,
    pub description: &'static str,
}

/// A pass.
#[derive(Clone, Copy)]
pub struct PassInfo {
    pub name: &'static str,
    pub summary: &'static str,
    pub anchor: Anchor,
    pub options: &'static [PassOption],
    /// Dialects whose operations the pass makes and the input may lack.
    pub dialects: &'static [&'static str],
    pub run: for<'c> fn(&PassRun<'_>, Op<'c>) -> PassResult,
}

/// A pass at work: its options, and nested pipelines.
pub struct PassRun<'a> {
    info: &'static PassInfo,
    values: Vec<&'a str>,
    raw: *mut ffi::RegrainPass,
}

impl PassRun<'_> {
    pub fn name(&self) -> &'static str {
        self.info.name
    }

    /// The value of an option; panics for a name that the pass's table does not hold.
    pub fn option(&self, name: &str) -> &str {
        let index = self.info.options.iter().position(|option| option.name == name);
        match index {
            Some(index) => self.values[index],
            None => panic!("pass {} has no option '{name}'", self.info.name),
        }
    }

    /// An option as a number; an error that names it when it is none.
    pub fn option_int(&self, name: &str) -> Result<i64, PassError> {
        let text = self.option(name);
        let bad = |_| format!("option '{name}' of {} is '{text}', expected an integer", self.name());
        Ok(text.trim().parse::<i64>().map_err(bad)?)
    }

    /// An option as a truth value.
    pub fn option_bool(&self, name: &str) -> Result<bool, PassError> {
        match self.option(name).trim() {
            "true" | "1" | "on" | "yes" => Ok(true),
            "" | "false" | "0" | "off" | "no" => Ok(false),
            text => {
                let who = self.name();
                Err(format!("option '{name}' of {who} is '{text}', expected true or false").into())
            }
        }
    }

    /// Runs upstream (or our) passes on `op`, the pass's operation or one nested in it:
    /// `canonicalize,cse` — without the anchor.
    pub fn run_pipeline(&self, op: Op<'_>, passes: &str) -> PassResult {
        let (outcome, reason) = ffi::gather(|sink, user| {
            // SAFETY: the pass and the operation are live, the sink gets its own.
            unsafe { ffi::regrainPassRunPipeline(self.raw, op.raw(), ffi::string(passes), sink, user) }
        });
        pipeline_result(outcome, passes, &reason)
    }
}

fn pipeline_result(outcome: ffi::RegrainOutcome, passes: &str, reason: &[u8]) -> PassResult {
    match outcome {
        ffi::RegrainOutcomeDone => Ok(()),
        ffi::RegrainOutcomeNotParsed => {
            let reason = String::from_utf8_lossy(reason);
            Err(format!("pass pipeline '{passes}' does not parse: {}", reason.trim()).into())
        }
        ffi::RegrainOutcomeFailed.. => Err(PassError::Reported),
    }
}

/// Runs passes on any operation, outside of a running pass: `canonicalize,cse` on a module runs
/// them on it; to nest, write `llvm.func(...)` or `any(...)`.
pub fn run_pipeline(op: Op<'_>, passes: &str) -> PassResult {
    run(op, passes, true)
}

/// As `run_pipeline`, without the verifier between passes.
pub fn run_pipeline_unverified(op: Op<'_>, passes: &str) -> PassResult {
    run(op, passes, false)
}

fn run(op: Op<'_>, passes: &str, verify: bool) -> PassResult {
    let (outcome, reason) = ffi::gather(|sink, user| {
        // SAFETY: the operation is live, the sink gets its own.
        unsafe { ffi::regrainRunPipeline(op.raw(), ffi::string(passes), verify, sink, user) }
    });
    pipeline_result(outcome, passes, &reason)
}

static REGISTERED: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());

/// Runs `register` unless `name` is registered. One thread at a time: MLIR's registry has no lock, and a name counts as
/// registered only when its entry is complete.
fn first_time(name: &'static str, register: impl FnOnce()) {
    let mut names = REGISTERED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if !names.contains(&name) {
        register();
        names.push(name);
    }
}

/// Registers passes under their names; those already registered are left alone. What runs pipelines on other threads
/// registers all before it begins: they read the registry without a lock.
pub fn register(passes: &'static [PassInfo]) {
    for info in passes {
        first_time(info.name, || register_one(info));
    }
}

fn register_one(info: &'static PassInfo) {
    let options: Vec<_> = info
        .options
        .iter()
        .map(|option| ffi::RegrainPassOption {
            name: ffi::string(option.name),
            value: ffi::string(option.default),
            description: ffi::string(option.description),
        })
        .collect();
    let dialects: Vec<_> = info.dialects.iter().map(|name| ffi::string(name)).collect();
    // The registry keeps these for the life of the process.
    let (options, dialects) = (options.leak(), dialects.leak());
    let desc = ffi::RegrainPassDesc {
        name: ffi::string(info.name),
        summary: ffi::string(info.summary),
        anchor: ffi::string(match info.anchor {
            Anchor::Module => "builtin.module",
            Anchor::Op(name) => name,
            Anchor::Any => "",
        }),
        options: options.as_ptr(),
        num_options: options.len(),
        dialects: dialects.as_ptr(),
        num_dialects: dialects.len(),
        run: Some(run_pass),
        info: std::ptr::from_ref(info).cast(),
    };
    // SAFETY: everything that `desc` points at is static or leaked; `desc` itself is copied.
    unsafe { ffi::regrainRegisterPass(&desc) }
}

/// Registers a named pipeline; `text` is the list of passes without the anchor.
pub fn register_pipeline(name: &'static str, summary: &'static str, text: &str) {
    // SAFETY: all strings are copied by the callee, or static.
    let register = || unsafe {
        ffi::regrainRegisterPipeline(ffi::string(name), ffi::string(summary), ffi::string(text));
    };
    first_time(name, register);
}

/// Called by C++ for each run of a Rust pass.
///
/// # Safety
/// `info` is what `register_one` handed over, `op` a live operation, `pass` the running pass, and
/// `values` holds `num_values` strings.
unsafe extern "C" fn run_pass(
    info: *const c_void,
    op: mlir_sys::MlirOperation,
    pass: *mut ffi::RegrainPass,
    values: *const mlir_sys::MlirStringRef,
    num_values: usize,
) -> bool {
    let op = Op::wrap(op);
    // Taken first: afterwards the operation may be half rewritten.
    let loc = op.loc();
    let outcome = panics::catch(|| {
        // SAFETY: `info` is the &'static PassInfo given to `register_one`; `values` holds one
        // string for each option, alive during the call.
        let (info, values) = unsafe {
            let info = &*info.cast::<PassInfo>();
            let values = match num_values {
                0 => Vec::new(),
                _ => std::slice::from_raw_parts(values, num_values).iter().map(|value| ffi::to_str(*value)).collect(),
            };
            (info, values)
        };
        (info.run)(&PassRun { info, values, raw: pass }, op)
    });
    match outcome {
        Ok(Ok(())) => true,
        Ok(Err(PassError::Reported)) => false,
        Ok(Err(PassError::Message(message))) => {
            loc.emit(Severity::Error, &message, &[]);
            false
        }
        Err(panic) => {
            // SAFETY: as above.
            let name = unsafe { &*info.cast::<PassInfo>() }.name;
            let message = format!("internal error in pass {name}: {panic}");
            loc.emit(Severity::Error, &message, &[]);
            false
        }
    }
}
