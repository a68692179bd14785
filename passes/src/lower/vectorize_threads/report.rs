//! What became of thread loops, as remarks.
//!
//! ```text
//! k.cu:4:9: remark: kernel '_Z1kPf': threads go in rows of 16: 2 accesses contiguous, 1 strided [-Rpass-analysis=regrain-vectorize-threads]
//! k.cu:5:12: remark: llvm.load is strided: 128 bytes from thread to thread [-Rpass-analysis=regrain-vectorize-threads]
//! ```
//! The classes are clang's: what was done, what was not, and the numbers of both.

use mlir_bridge::{
    diagnostics::Severity,
    ir::{Loc, Op},
};

use super::{
    apart::{Apart, NAME},
    classify::callee,
    shapes::Shapes,
    ways::Way,
};
use crate::{
    launch::launch_function::{described, of_label},
    lower::BLOCK_PREFIX,
};

/// What remarks about a thread loop begin with, and where they point to; the loop itself need not be there any more.
pub struct About<'c> {
    parallel: Op<'c>,
    subject: String,
    place: Loc<'c>,
}

impl<'c> About<'c> {
    pub fn of(parallel: Op<'c>) -> Self {
        Self { parallel, subject: subject(parallel), place: place(parallel) }
    }

    fn say(&self, text: &str, class: &str, notes: &[(Loc<'c>, &str)]) {
        self.place.emit(Severity::Remark, &format!("{}{text} {}", self.subject, option(class)), notes);
    }

    /// Says that the threads run one by one. What was in the way of some operation or of profit is always said, the rest if `all`.
    pub fn apart(&self, why: &Apart, all: bool) {
        let text = format!("its threads run one by one: {why}");
        let culprit = match why {
            // What is found before anything is made leaves the loop as it was.
            Apart::Operation(named) => self.parallel.find_named(named).into_iter().next(),
            _ => None,
        };
        let note = culprit.map(|op| (op.loc(), "it stands here"));
        if all || matches!(why, Apart::Operation(_) | Apart::Expensive(_)) {
            self.say(&text, "-missed", note.as_slice());
        }
        if all {
            self.say(&text, "-analysis", note.as_slice());
        }
    }
}

/// Says of a choice that blocks go together in it.
pub fn blocks_together(choice: Op<'_>, lanes: u64) {
    let about = About::of(choice);
    for class in ["", "-analysis"] {
        about.say(&format!("{lanes} blocks go together, each as a lane"), class, &[]);
    }
}

/// Says of a thread loop that its threads go in rows, and how their accesses are made. `shapes` are those of its whole rows.
pub fn together<'c>(parallel: Op<'c>, lanes: u32, shapes: &Shapes<'c>) {
    let about = About::of(parallel);
    let counts = shapes.report.counts();
    let how = if counts.is_empty() { "no accesses".to_owned() } else { counts };
    about.say(&format!("threads go in rows of {lanes}"), "", &[]);
    about.say(&format!("threads go in rows of {lanes}: {how}"), "-analysis", &[]);
    let ways = shapes.report.ways();
    for op in parallel.find_all(|op| ways.get(&op).is_some_and(|way| *way > Way::Contiguous)) {
        let way = ways[&op];
        let why = match way {
            Way::Strided | Way::Transposed => stride(op, shapes),
            Way::Tiled => {
                let rounds = shapes.report.rounds(op).unwrap_or_default();
                format!(": a tile of {rounds} rounds, transposed{}", stride(op, shapes).replacen(':', ",", 1))
            }
            Way::Gathered => ": its addresses differ unevenly from thread to thread".to_owned(),
            _ => String::new(),
        };
        let verb = if way == Way::Serial { "runs" } else { "is" };
        op.remark(format!("{} {verb} {}{why} {}", name(op), way.text(), option("-analysis")));
    }
}

/// The option that asks for a remark of a class.
fn option(class: &str) -> String {
    format!("[-Rpass{class}={}]", NAME)
}

/// Where a thread loop begins in the source. One that was made has the place of the kernel's head, which names no column: then at the first
/// operation in the kernel's file below it.
fn place(parallel: Op<'_>) -> Loc<'_> {
    let Some((file, head, 0)) = parallel.loc().file_line() else { return parallel.loc() };
    let is_below = |op: &Op<'_>| op.loc().file_line().is_some_and(|(of, line, _)| of == file && line > head);
    parallel.find_all(|op| op != parallel).into_iter().find(is_below).map_or(parallel.loc(), Op::loc)
}

/// What a remark is about, if the thread loop is one of a block function.
fn subject(parallel: Op<'_>) -> String {
    let function = parallel.parent_of_name("llvm.func");
    let label = function.and_then(|function| function.symbol_name()?.strip_prefix(BLOCK_PREFIX));
    label.map_or(String::new(), |label| {
        let (kernel, shape) = of_label(label);
        format!("{}: ", described(kernel, shape))
    })
}

/// What an operation is called in remarks: a call by what it calls.
fn name(op: Op<'_>) -> String {
    let plain = match op.name() {
        "llvm.load" => "a load",
        "llvm.store" => "a store",
        "llvm.atomicrmw" | "llvm.cmpxchg" => "an atomic operation",
        "llvm.inline_asm" => "inline assembly",
        name => return callee(op).map_or_else(|| format!("'{name}'"), |callee| format!("a call of '{callee}'")),
    };
    let accessed = match op.name() {
        "llvm.load" => op.result(0).ty(),
        "llvm.store" => op.operand(0).ty(),
        _ => return plain.to_owned(),
    };
    format!("{plain} of {accessed}")
}

fn stride<'c>(op: Op<'c>, shapes: &Shapes<'c>) -> String {
    let address = op.operands().into_iter().rfind(|operand| operand.ty().ptr_space().is_some());
    match address.and_then(|address| shapes.stride(address)) {
        Some(bytes) => format!(": {bytes} bytes from thread to thread"),
        None => String::new(),
    }
}
