//! Which operations tie code to its thread, warp or block.
//!
//! One classification for all passes: clang's CUDA headers reach the hardware through `nvvm.read.ptx.sreg.*`,
//! `llvm.call_intrinsic "llvm.nvvm.*"` and a few lines of inline assembly.

use mlir_bridge::ir::Op;

use regrain_dialects::ops::ReduceKind;

use crate::device_operations::Axis;

/// What an operation has to do with threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadOp {
    /// The number of the thread in its block.
    ThreadId(Axis),
    /// The number of the block in the grid.
    BlockId(Axis),
    /// Threads of a block.
    BlockDim(Axis),
    /// Blocks of the grid.
    GridDim(Axis),
    /// A register of the lane or warp, by its name without `%`.
    Lane(&'static str),
    /// All threads of the block meet.
    Barrier,
    /// All threads of the grid meet.
    GridBarrier,
    /// All threads of the block meet and join a predicate.
    BarrierReduce(ReduceKind),
    /// Threads of a warp meet or exchange values.
    Warp,
    /// Something that has no parallel form.
    Unsupported(NoParallelForm),
}

mlir_bridge::reasons! {
    /// Why an operation has no parallel form.
    pub enum NoParallelForm {
        Grid => "it synchronises the grid",
        Clusters => "it uses thread block clusters",
        NamedBarrier => "it uses a named barrier",
        Reduction => "it uses an unknown barrier reduction",
        PartialBarrier => "it uses a barrier of part of the block",
        AsyncBarrier => "it uses an asynchronous barrier",
        Exit => "its threads exit",
        AssemblyBarrier => "inline assembly synchronises",
        AssemblyWarp => "inline assembly holds a warp operation",
        AssemblyThread => "inline assembly names the thread",
        Synchronisation => "it holds a synchronisation without parallel form",
    }
}

/// Registers of a lane or warp.
const LANE_REGISTERS: &[&str] = &[
    "laneid",
    "warpid",
    "nwarpid",
    "warpsize",
    "lanemask.eq",
    "lanemask.le",
    "lanemask.lt",
    "lanemask.ge",
    "lanemask.gt",
    "lanemask_eq",
    "lanemask_le",
    "lanemask_lt",
    "lanemask_ge",
    "lanemask_gt",
];

/// Beginnings of the names of warp operations, after `llvm.nvvm.`.
const WARP_INTRINSICS: &[&str] = &[
    "bar.warp.sync",
    "shfl.",
    "vote.",
    "match.",
    "activemask",
    "redux.",
    "elect.",
    "wmma.",
    "mma.",
    "ldmatrix.",
    "stmatrix.",
    "fns",
];

/// Classifies an operation; `None` for one that knows nothing of threads.
pub fn classify(op: Op<'_>) -> Option<ThreadOp> {
    let name = op.name();
    if let Some(register) = super::special_register(op) {
        return register_op(register);
    }
    match name {
        "nvvm.barrier0" => Some(ThreadOp::Barrier),
        "llvm.call_intrinsic" => intrinsic_op(op, op.attr("intrin")?.as_str()?.strip_prefix("llvm.nvvm.")?),
        "llvm.call" => match op.attr("callee")?.as_symbol()? {
            super::grid_barriers::WAIT => Some(ThreadOp::GridBarrier),
            callee => super::matrices::is_together(callee).then_some(ThreadOp::Warp),
        },
        "llvm.inline_asm" => assembly_op(op.attr("asm_string")?.as_str()?.trim()),
        _ if name.starts_with("nvvm.") => nvvm_op(name),
        _ => None,
    }
}

fn register_op(register: &str) -> Option<ThreadOp> {
    if let Some((kind, axis)) = register.split_once('.') {
        let axis = match axis {
            "x" => Some(Axis::X),
            "y" => Some(Axis::Y),
            "z" => Some(Axis::Z),
            _ => None,
        };
        match (kind, axis) {
            ("tid", Some(axis)) => return Some(ThreadOp::ThreadId(axis)),
            ("ctaid", Some(axis)) => return Some(ThreadOp::BlockId(axis)),
            ("ntid", Some(axis)) => return Some(ThreadOp::BlockDim(axis)),
            ("nctaid", Some(axis)) => return Some(ThreadOp::GridDim(axis)),
            _ => {}
        }
    }
    if let Some(lane) = LANE_REGISTERS.iter().find(|lane| **lane == register) {
        return Some(ThreadOp::Lane(lane));
    }
    if register.starts_with("envreg") {
        return Some(ThreadOp::Unsupported(NoParallelForm::Grid));
    }
    register.contains("cluster").then_some(ThreadOp::Unsupported(NoParallelForm::Clusters))
}

fn intrinsic_op(op: Op<'_>, name: &str) -> Option<ThreadOp> {
    if let Some(register) = name.strip_prefix("read.ptx.sreg.") {
        return register_op(register);
    }
    if WARP_INTRINSICS.iter().any(|start| name.starts_with(start)) {
        return Some(ThreadOp::Warp);
    }
    let first_is_zero =
        || op.operands().first().is_some_and(|id| id.defining_op().and_then(Op::constant_int) == Some(0));
    let whole_block = |found| {
        if first_is_zero() { found } else { ThreadOp::Unsupported(NoParallelForm::NamedBarrier) }
    };
    match name {
        "barrier0" => Some(ThreadOp::Barrier),
        "barrier.cta.sync.aligned.all" | "barrier.cta.sync.all" => Some(whole_block(ThreadOp::Barrier)),
        _ if name.starts_with("barrier.cta.red.") && name.ends_with(".all") => {
            let reduction = match name.split('.').nth(3) {
                Some("popc") => ReduceKind::Popc,
                Some("and") => ReduceKind::And,
                Some("or") => ReduceKind::Or,
                _ => {
                    return Some(ThreadOp::Unsupported(NoParallelForm::Reduction));
                }
            };
            Some(whole_block(ThreadOp::BarrierReduce(reduction)))
        }
        _ if name.contains("cluster") => Some(ThreadOp::Unsupported(NoParallelForm::Clusters)),
        _ if name.starts_with("barrier") || name.starts_with("bar.") => {
            Some(ThreadOp::Unsupported(NoParallelForm::PartialBarrier))
        }
        _ if name.starts_with("mbarrier") => Some(ThreadOp::Unsupported(NoParallelForm::AsyncBarrier)),
        "exit" => Some(ThreadOp::Unsupported(NoParallelForm::Exit)),
        _ => None,
    }
}

fn assembly_op(text: &str) -> Option<ThreadOp> {
    let register = text
        .strip_prefix("mov.u32")
        .and_then(|rest| rest.trim().strip_prefix("$0,"))
        .and_then(|rest| rest.trim().strip_prefix('%'))
        .and_then(|rest| rest.trim().strip_suffix(';'));
    if let Some(register) = register {
        return register_op(register.trim());
    }
    if matches!(text, "bar.sync 0;" | "barrier.sync 0;" | "barrier.sync.aligned 0;") {
        return Some(ThreadOp::Barrier);
    }
    if assembly_shuffle(text).is_some() || assembly_shuffle_add(text).is_some() || is_assembly_bit_match(text) {
        return Some(ThreadOp::Warp);
    }
    let has = |parts: &[&str]| parts.iter().any(|part| text.contains(part));
    if has(&["bar.", "barrier"]) {
        return Some(ThreadOp::Unsupported(NoParallelForm::AssemblyBarrier));
    }
    if has(&["shfl", "vote", "match.", "activemask", "redux", "elect", "mma", "ldmatrix"]) {
        return Some(ThreadOp::Unsupported(NoParallelForm::AssemblyWarp));
    }
    if has(&["exit"]) {
        return Some(ThreadOp::Unsupported(NoParallelForm::Exit));
    }
    has(&["%tid", "%ctaid", "%ntid", "%nctaid", "%lane", "%warp", "%nwarp", "%envreg", "%cluster"])
        .then_some(ThreadOp::Unsupported(NoParallelForm::AssemblyThread))
}

/// The kind of shuffle that inline assembly is, as CUB writes it: value, offset, clamp and mask are its operands.
pub fn assembly_shuffle(text: &str) -> Option<&str> {
    let kind = text.trim().strip_prefix("shfl.sync.")?.strip_suffix(".b32 $0, $1, $2, $3, $4;")?;
    matches!(kind, "idx" | "up" | "down" | "bfly").then_some(kind)
}

/// Whether inline assembly finds the lanes that agree with this one on a bit, as CUB writes it: a word and the bit's mask.
pub fn is_assembly_bit_match(text: &str) -> bool {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text == "{ .reg .pred p; and.b32 $0, $1, $2; setp.ne.u32 p, $0, 0; \
             vote.ballot.sync.b32 $0, p, 0xffffffff; @!p not.b32 $0, $0; }"
}

/// The kind of shuffle in CUB's step of a reduction or scan, which adds what arrives if it came from a lane in range, and
/// whether it adds floats. Operands: value, offset, clamp, summand, mask.
pub fn assembly_shuffle_add(text: &str) -> Option<(&'static str, bool)> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let forms = ["down", "up"].into_iter().flat_map(|kind| ["f32", "u32", "s32"].map(|ty| (kind, ty)));
    forms.into_iter().find_map(|(kind, ty)| {
        let form = format!(
            "{{ .reg .{ty} r0; .reg .pred p; shfl.sync.{kind}.b32 r0|p, $1, $2, $3, $5; \
             @p add.{ty} r0, r0, $4; mov.{ty} $0, r0;}}"
        );
        (form == text).then_some((kind, ty == "f32"))
    })
}

/// Operations of the nvvm dialect that an importer might make where clang's are intrinsic calls.
fn nvvm_op(name: &str) -> Option<ThreadOp> {
    let rest = name.strip_prefix("nvvm.")?;
    if ["shfl", "vote", "match", "redux", "elect", "mma", "wmma", "ldmatrix", "stmatrix", "bar.warp"]
        .iter()
        .any(|part| rest.starts_with(part))
    {
        return Some(ThreadOp::Warp);
    }
    (rest.contains("barrier") || rest.contains("cluster") || rest == "exit")
        .then_some(ThreadOp::Unsupported(NoParallelForm::Synchronisation))
}

/// Whether an operation only orders accesses or lets time pass: done once, it is done for all threads that are there.
pub fn orders_or_sleeps(op: Op<'_>) -> bool {
    let text = |name: &str| op.attr(name).and_then(|text| text.as_str()).unwrap_or_default();
    match op.name() {
        "llvm.fence" => true,
        "llvm.call_intrinsic" => ["membar.", "nanosleep"]
            .iter()
            .any(|name| text("intrin").strip_prefix("llvm.nvvm.").is_some_and(|n| n.starts_with(name))),
        "llvm.inline_asm" => {
            let assembly = text("asm_string").trim();
            let only = assembly.trim_end_matches(';').chars().filter(|c| *c == ';').count() == 0;
            only && ["nanosleep.", "membar.", "fence."].iter().any(|name| assembly.starts_with(name))
        }
        _ => false,
    }
}

/// What an operation that asks what memory its address lies in says of block-shared memory, or else of the device's.
pub fn said_of_space(op: Op<'_>, shared: bool) -> Option<bool> {
    let intrinsic = op.attr("intrin").and_then(|name| name.as_str())?;
    let space = intrinsic.strip_prefix("llvm.nvvm.isspacep.")?;
    Some(if shared { space.starts_with("shared") } else { space == "global" })
}

/// Whether an operation asks what memory an address lies in.
pub fn asks_for_space(op: Op<'_>) -> bool {
    let assembly = || op.attr("asm_string").and_then(|text| text.as_str());
    said_of_space(op, true).is_some()
        || op.is("llvm.inline_asm") && assembly().is_some_and(|text| text.contains("isspacep"))
}
