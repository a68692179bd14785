//! The dialect's discardable attributes: their names, and readers of their values.
//!
//! `docs/regrain.md` says what each means and what it stands on; `cpp/Attributes.cpp` verifies them. No other place
//! spells these names.

use mlir_bridge::ir::{Attr, Op};

/// On a host function: the kernel that it launches as the program does.
pub const LAUNCH: &str = "regrain.launch";
/// On a host function: the kernel whose versions it launches.
pub const DISPATCH: &str = "regrain.dispatch";
/// On a host function or a version: the only block shape that it is for.
pub const BLOCK_SHAPE: &str = "regrain.block_shape";
/// On a host function, and on a function that runs one block: no launch is expected to need it.
pub const SELDOM: &str = "regrain.seldom";
/// In the same places: launches that need it are less likely than those that another one is for, by a guess.
pub const DOUBTFUL: &str = "regrain.doubtful";
/// In the same places: no launch is expected that needs another one, and there is none for all shapes.
pub const SOLE: &str = "regrain.sole";
/// On a host function: hash of what its kernel does, in hexadecimal.
pub const CONTENT: &str = "regrain.content";
/// On a host function: which grains are tried for its launch, in place of the request's.
pub const SPACE: &str = "regrain.space";
/// On a host function: the grains that are not among its alternatives, each with `declined` or `pruned` and the reason.
pub const OMITTED: &str = "regrain.omitted";
/// On a function that runs one block: the kernel.
pub const BLOCK_OF: &str = "regrain.block_of";
/// On a function that runs one block of a version: the sizes of the kernel's parameters, bytes.
pub const PARAMETER_SIZES: &str = "regrain.parameter_sizes";
/// On functions and globals of the host's half.
pub const HOST: &str = "regrain.host";

/// On the declaration of a kernel that was made of a changed launch: the original kernel.
pub const VERSION_OF: &str = "regrain.version_of";
/// On a version, and on what stands for it in launches: the dimension in which it runs what coarse blocks leave over.
pub const REST: &str = "regrain.rest";
/// On a version: bytes of static shared memory of a block. On a dispatch function: the most of its versions.
pub const STATIC_SHARED: &str = "regrain.static_shared";
/// On a global whose address stands for a kernel in launches: the kernel.
pub const HANDLE: &str = "regrain.handle";

/// Launch bound of a kernel: the most threads of a block, as one to three factors.
pub const MAX_THREADS: &str = "regrain.max_threads";
/// Launch bound of a kernel: the shape that its blocks must have.
pub const REQUIRED_THREADS: &str = "regrain.required_threads";
/// Launch bound of a kernel: blocks that are to be resident at once.
pub const MIN_BLOCKS: &str = "regrain.min_blocks";
/// Blocks of a kernel's clusters.
pub const CLUSTER_SHAPE: &str = "regrain.cluster_shape";
/// The most blocks of a kernel's clusters.
pub const MAX_CLUSTER: &str = "regrain.max_cluster";

/// On a kernel that stays as it is: why.
pub const NOT_RAISED: &str = "regrain.not_raised";
/// On the declaration that is left of a raised kernel: the linkage that its definition had.
pub const LINKAGE: &str = "regrain.linkage";
/// Likewise its comdat.
pub const COMDAT: &str = "regrain.comdat";

/// On a wrapper or version: how many original blocks one of its blocks is, by dimension.
pub const GRAIN: &str = "regrain.grain";
/// On a wrapper or version: how many original threads one of its threads is, by dimension.
pub const THREAD_GRAIN: &str = "regrain.thread_grain";
/// On a wrapper: how many of its blocks a CPU's thread takes at once.
pub const TASKS: &str = "regrain.tasks";
/// On a wrapper: it runs the blocks that a coarsened launch beside it leaves over.
pub const EPILOGUE: &str = "regrain.epilogue";
/// On a launch of a kernel as the program wrote it, in a function that may be changed.
pub const ORIGINAL: &str = "regrain.original";
/// On a wrapper that nothing may make coarser: it stays the launch that the program wrote.
pub const KEPT: &str = "regrain.kept";
/// On a launch that was optimised.
pub const OPTIMISED: &str = "regrain.optimised";
/// On a launch whose block loop cannot be split: why.
pub const NOT_SPLIT: &str = "regrain.not_split";

/// On the value that stands for a kernel argument: its number.
pub const KERNEL_ARG: &str = "regrain.kernel_arg";
/// On a load of memory that nothing writes while the kernel runs.
pub const UNCHANGING: &str = "regrain.unchanging";
/// On stack memory that the threads of a block use in turn.
pub const REUSED: &str = "regrain.reused";
/// On stack memory of which each element lies beside those of the other threads of the block: the bytes of an element.
pub const INTERLEAVED: &str = "regrain.interleaved";
/// On stack memory of a thread that is filled anew in each thread loop that uses it.
pub const SCOPED: &str = "regrain.scoped";
/// On stack memory that nothing points to but what is computed of its address: each thread's part is its own, or barriers order it.
pub const OWN: &str = "regrain.own";
/// On stack memory of a block with room on both sides for what lies beside the lanes of a row.
pub const GUARDED: &str = "regrain.guarded";
/// On the function of a thread loop that waits: whoever runs it asks for each row.
pub const TAKEN_BY_ROW: &str = "regrain.taken_by_row";
/// On a condition under which the threads of a block meet: all take it or none, but for those that have ended.
pub const TOGETHER: &str = "regrain.together";
/// On a condition about a block: what its `ori` joins, each for itself, holds for all blocks between two of a row of the grid for which
/// it holds.
pub const CONVEX: &str = "regrain.convex";
/// On a loop over the rows of a block's threads, between two barriers: its rounds may run in any order.
pub const ROWS: &str = "regrain.rows";
/// On shared memory of several blocks that go together, and on the choice between them and one block: how many.
pub const OF_BLOCKS: &str = "regrain.of_blocks";

/// All names, those that the bridge alone uses included.
pub const ALL: &[&str] = &[
    LAUNCH,
    DISPATCH,
    BLOCK_SHAPE,
    SELDOM,
    DOUBTFUL,
    SOLE,
    CONTENT,
    SPACE,
    OMITTED,
    BLOCK_OF,
    PARAMETER_SIZES,
    HOST,
    VERSION_OF,
    REST,
    STATIC_SHARED,
    HANDLE,
    MAX_THREADS,
    REQUIRED_THREADS,
    MIN_BLOCKS,
    CLUSTER_SHAPE,
    MAX_CLUSTER,
    NOT_RAISED,
    LINKAGE,
    COMDAT,
    GRAIN,
    THREAD_GRAIN,
    TASKS,
    EPILOGUE,
    ORIGINAL,
    KEPT,
    OPTIMISED,
    NOT_SPLIT,
    KERNEL_ARG,
    UNCHANGING,
    REUSED,
    INTERLEAVED,
    GUARDED,
    OWN,
    TAKEN_BY_ROW,
    TOGETHER,
    CONVEX,
    ROWS,
    OF_BLOCKS,
    "regrain.asm_attributes",
    "regrain.grid_constant",
];

/// The symbol that an attribute names.
pub fn symbol<'c>(op: Op<'c>, name: &str) -> Option<&'c str> {
    op.attr(name)?.as_symbol()
}

/// The text of an attribute.
pub fn text<'c>(op: Op<'c>, name: &str) -> Option<&'c str> {
    op.attr(name)?.as_str()
}

/// The number that an attribute holds, if it is none below 0.
pub fn count(op: Op<'_>, name: &str) -> Option<u64> {
    op.attr(name)?.as_int()?.try_into().ok()
}

/// The three factors that an operation carries under `name`, as [`GRAIN`] and [`THREAD_GRAIN`]; 1 each without.
pub fn factors(op: Op<'_>, name: &str) -> [i64; 3] {
    op.attr(name).and_then(Attr::as_i64_array).and_then(|list| list.try_into().ok()).unwrap_or([1; 3])
}

/// The constant block shape that a function is for.
pub fn block_shape(function: Op<'_>) -> Option<[u32; 3]> {
    let sizes = function.attr(BLOCK_SHAPE)?.as_i64_array()?;
    let sizes: Vec<u32> = sizes.into_iter().map(|size| size.try_into().ok()).collect::<Option<_>>()?;
    sizes.try_into().ok()
}

/// States the constant block shape that a function is for.
pub fn set_block_shape(function: Op<'_>, shape: [u32; 3]) {
    function.set_attr(BLOCK_SHAPE, function.ctx().i64_array_attr(&shape.map(i64::from)));
}

/// The blocks of a task that a wrapper asks for.
pub fn tasks(wrapper: Op<'_>) -> Option<u32> {
    wrapper.attr(TASKS)?.as_int()?.try_into().ok()
}

/// The kernel argument that an operation's result is.
pub fn kernel_arg(op: Op<'_>) -> Option<usize> {
    op.attr(KERNEL_ARG)?.as_int()?.try_into().ok()
}
