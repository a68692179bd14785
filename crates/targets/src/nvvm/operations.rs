//! Operations of the regrain dialect as `llvm.nvvm.*` intrinsics, special registers, and globals in address space 3.
//!
//! ```mlir
//! regrain.barrier(%x, %y, %z)              llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"(%zero)
//! regrain.vote any %p mask %m (...)        llvm.call_intrinsic "llvm.nvvm.vote.any.sync"(%m, %p)
//! %t = regrain.shared "tile" : ...         %t = llvm.mlir.addressof @tile : !llvm.ptr<3>
//! ```

use mlir_bridge::ir::{Attr, Builder, Op, Type, Value};
use mlir_bridge::reasons::fill;

use regrain_dialects::LaunchBounds;
use regrain_dialects::ops::{
    ActiveMask, Barrier, BarrierReduce, DynamicShared, LaneId, Match, MatchKind, Shared, Shuffle, Vote, WarpBarrier,
    WarpId, WarpReduce, is_regrain,
};

use super::{DIALECT, SHARED};
use crate::device_operations::{Axis, DeviceOperations, Place};

const DYNAMIC_SHARED: &str = "__regrain_dynamic_shared";

/// How much dynamic shared memory the launch gave the block.
const DYNAMIC_SHARED_SIZE: &str = "llvm.nvvm.read.ptx.sreg.dynamic_smem_size";

mlir_bridge::reasons! {
    /// Why an operation of the parallel form cannot be lowered.
    pub enum NoCounterpart {
        Operation => "'{}' has no counterpart on this target",
    }
}

/// The parallel form in NVVM.
pub struct Operations;

impl DeviceOperations for Operations {
    fn dialects(&self) -> &'static [&'static str] {
        &["llvm", DIALECT]
    }

    fn place<'c>(&self, b: Builder<'c>, place: Place, axis: Axis) -> Value<'c> {
        let name = match place {
            Place::Thread => "tid",
            Place::Block => "ctaid",
            Place::BlockSize => "ntid",
            Place::GridSize => "nctaid",
        };
        register(b, &format!("{name}.{}", axis.name()))
    }

    fn dynamic_shared_size<'c>(&self, b: Builder<'c>) -> Value<'c> {
        let ctx = b.ctx();
        let bytes = b.op("llvm.call_intrinsic").attr("intrin", ctx.str_attr(DYNAMIC_SHARED_SIZE)).result(ctx.int(32));
        let sizes =
            [("op_bundle_sizes", ctx.i32_array_attr(&[])), ("operandSegmentSizes", ctx.i32_array_attr(&[0, 0]))];
        bytes.attrs(&sizes).build().result(0)
    }

    fn is_dynamic_shared_size(&self, op: Op<'_>) -> bool {
        op.attr("intrin").and_then(|name| name.as_str()) == Some(DYNAMIC_SHARED_SIZE)
    }

    fn lower(&self, module: Op<'_>, kernel: Op<'_>) -> Result<(), String> {
        lower(module, kernel)
    }

    fn set_bounds(&self, kernel: Op<'_>, bounds: &LaunchBounds) {
        super::bounds::set(kernel, bounds);
    }

    fn require_block(&self, kernel: Op<'_>, shape: [u32; 3]) {
        kernel.set_attr("nvvm.reqntid", kernel.ctx().i32_array_attr(&shape.map(u32::cast_signed)));
    }
}

fn lower(module: Op<'_>, kernel: Op<'_>) -> Result<(), String> {
    for op in kernel.find_all(is_regrain) {
        let b = Builder::before(op);
        match op.name() {
            Barrier::NAME if !Barrier::of(op).is_grid() => barrier(b, Barrier::of(op)),
            BarrierReduce::NAME => barrier_reduce(b, BarrierReduce::of(op)),
            Shared::NAME => shared(module, kernel, Shared::of(op)),
            DynamicShared::NAME => dynamic_shared(module, DynamicShared::of(op)),
            Shuffle::NAME => shuffle(b, Shuffle::of(op)),
            Vote::NAME => vote(b, Vote::of(op)),
            Match::NAME => match_lanes(b, Match::of(op)),
            WarpReduce::NAME => warp_reduce(b, WarpReduce::of(op)),
            ActiveMask::NAME => replace(op, &[call(b, "activemask", &[], b.ctx().int(32))]),
            WarpBarrier::NAME => {
                call_void(b, "bar.warp.sync", &[WarpBarrier::of(op).mask()]);
                op.erase();
            }
            LaneId::NAME => replace(op, &[register(b, "laneid")]),
            WarpId::NAME => replace(op, &[warp_number(b)]),
            name => return Err(fill(NoCounterpart::Operation, &[&name])),
        }
    }
    Ok(())
}

/// The special register `name`, an i32.
fn register<'c>(b: Builder<'c>, name: &str) -> Value<'c> {
    b.value(&format!("{}{name}", super::REGISTER), &[], b.ctx().int(32))
}

fn replace<'c>(op: Op<'c>, values: &[Value<'c>]) {
    op.replace_with(values);
}

fn call_op<'c>(b: Builder<'c>, name: &str, operands: &[Value<'c>], results: &[Type<'c>]) -> Op<'c> {
    let ctx = b.ctx();
    b.op("llvm.call_intrinsic")
        .operands(operands)
        .results(results)
        .attr("intrin", ctx.str_attr(&format!("llvm.nvvm.{name}")))
        .attr("op_bundle_sizes", ctx.i32_array_attr(&[]))
        .attr("operandSegmentSizes", ctx.i32_array_attr(&[operands.len() as i32, 0]))
        .build()
}

fn call<'c>(b: Builder<'c>, name: &str, operands: &[Value<'c>], result: Type<'c>) -> Value<'c> {
    call_op(b, name, operands, &[result]).result(0)
}

fn call_void<'c>(b: Builder<'c>, name: &str, operands: &[Value<'c>]) {
    call_op(b, name, operands, &[]);
}

fn constant_i32(b: Builder<'_>, value: i64) -> Value<'_> {
    let ty = b.ctx().int(32);
    b.op("llvm.mlir.constant").attr("value", b.ctx().int_attr(ty, value)).result(ty).build().result(0)
}

fn barrier(b: Builder<'_>, barrier: Barrier<'_>) {
    let aligned = if barrier.is_unaligned() { "" } else { ".aligned" };
    let id = barrier.id().unwrap_or_else(|| constant_i32(b, 0));
    match barrier.count() {
        Some(count) => call_void(b, &format!("barrier.cta.sync{aligned}.count"), &[id, count]),
        None => call_void(b, &format!("barrier.cta.sync{aligned}.all"), &[id]),
    }
    barrier.op().erase();
}

fn barrier_reduce<'c>(b: Builder<'c>, reduce: BarrierReduce<'c>) {
    let id = reduce.id().unwrap_or_else(|| constant_i32(b, 0));
    let name = format!("barrier.cta.red.{}.aligned.all", reduce.kind().name());
    let result = call(b, &name, &[id, reduce.predicate()], reduce.op().result(0).ty());
    replace(reduce.op(), &[result]);
}

fn vote<'c>(b: Builder<'c>, vote: Vote<'c>) {
    let name = format!("vote.{}.sync", vote.kind().name());
    let result = call(b, &name, &[vote.mask(), vote.predicate()], vote.op().result(0).ty());
    replace(vote.op(), &[result]);
}

fn warp_reduce<'c>(b: Builder<'c>, reduction: WarpReduce<'c>) {
    let name = format!("redux.sync.{}", reduction.kind().name());
    let result = call(b, &name, &[reduction.value(), reduction.mask()], b.ctx().int(32));
    replace(reduction.op(), &[result]);
}

/// Two fields of a structure that an intrinsic gives.
fn call_pair<'c>(b: Builder<'c>, name: &str, operands: &[Value<'c>], first: Type<'c>) -> (Value<'c>, Value<'c>) {
    let ctx = b.ctx();
    let pair = call(b, name, operands, ctx.llvm_struct(&[first, ctx.int(1)], false));
    let field = |index: i64, ty| {
        let position = ctx.i64_array_attr(&[index]);
        b.op("llvm.extractvalue").operands(&[pair]).attr("position", position).result(ty).build().result(0)
    };
    (field(0, first), field(1, ctx.int(1)))
}

/// The verifier leaves 32 and 64 bits.
fn match_lanes<'c>(b: Builder<'c>, found: Match<'c>) {
    let (value, mask) = (found.value(), found.mask());
    let bits = if value.ty().is_int(64) { 64 } else { 32 };
    let i32 = b.ctx().int(32);
    let (lanes, all) = match found.kind() {
        MatchKind::All => call_pair(b, &format!("match.all.sync.i{bits}p"), &[mask, value], i32),
        MatchKind::Any => {
            let lanes = call(b, &format!("match.any.sync.i{bits}"), &[mask, value], i32);
            (lanes, b.cmpi("eq", lanes, mask))
        }
    };
    replace(found.op(), &[lanes, all]);
}

/// The verifier leaves 32 and 64 bits.
fn shuffle<'c>(b: Builder<'c>, shuffle: Shuffle<'c>) {
    let (value, offset, clamp, mask) = (shuffle.value(), shuffle.offset(), shuffle.clamp(), shuffle.mask());
    let op = shuffle.op();
    let ctx = b.ctx();
    let ty = value.ty();
    let kind = shuffle.kind().name();
    let suffix = if ty.is_float() { "f32" } else { "i32" };
    let bits = ty.int_width().or_else(|| ty.float_width()).unwrap_or(0);
    if bits == 32 {
        let operands = [mask, value, offset, clamp];
        if op.result(1).has_uses() {
            let (result, in_bounds) = call_pair(b, &format!("shfl.sync.{kind}.{suffix}p"), &operands, ty);
            replace(op, &[result, in_bounds]);
        } else {
            let result = call(b, &format!("shfl.sync.{kind}.{suffix}"), &operands, ty);
            let unused = b.const_int(ctx.int(1), 0);
            replace(op, &[result, unused]);
        }
        return;
    }
    let (i32, i64) = (ctx.int(32), ctx.int(64));
    let whole = if ty.is_float() { b.value("llvm.bitcast", &[value], i64) } else { value };
    let half = b.const_int(i64, 32);
    let exchange = |word| call_pair(b, &format!("shfl.sync.{kind}.i32p"), &[mask, word, offset, clamp], i32);
    let (low, in_bounds) = exchange(b.value("llvm.trunc", &[whole], i32));
    let (high, _) = exchange(b.value("llvm.trunc", &[b.arith("shrui", whole, half)], i32));
    let widen = |word| b.value("llvm.zext", &[word], i64);
    let joined = b.arith("ori", b.arith("shli", widen(high), half), widen(low));
    let result = if ty.is_float() { b.value("llvm.bitcast", &[joined], ty) } else { joined };
    replace(op, &[result, in_bounds]);
}

/// The linear thread number divided by 32. (The register `%warpid` is the number of a hardware slot.)
fn warp_number(b: Builder<'_>) -> Value<'_> {
    let row = b.arith("muli", register(b, "ntid.y"), register(b, "tid.z"));
    let row = b.arith("addi", row, register(b, "tid.y"));
    let linear = b.arith("muli", row, register(b, "ntid.x"));
    let linear = b.arith("addi", linear, register(b, "tid.x"));
    b.arith("divui", linear, b.const_i32(32))
}

fn shared<'c>(module: Op<'c>, kernel: Op<'c>, shared: Shared<'c>) {
    let stem = shared.name().map(String::from);
    let stem = stem.unwrap_or_else(|| format!("{}.shared", kernel.symbol_name().unwrap_or("kernel")));
    let name = unused_name(module, &stem);
    let (op, ty) = (shared.op(), shared.memory_type());
    let global = global(module, &name, (ty, shared.alignment()), op, "internal");
    let body = global.region(0).append_block(&[], op.loc());
    let inside = Builder::at_end(body, op.loc());
    let undefined = inside.op("llvm.mlir.undef").result(ty).build().result(0);
    inside.op("llvm.return").operands(&[undefined]).build();
    replace_by_address(op, &name);
}

fn dynamic_shared<'c>(module: Op<'c>, shared: DynamicShared<'c>) {
    let ctx = module.ctx();
    let memory = (ctx.llvm_array(ctx.int(8), 0), shared.alignment());
    let found = module.lookup_symbol(DYNAMIC_SHARED);
    let global = found.unwrap_or_else(|| global(module, DYNAMIC_SHARED, memory, shared.op(), "external"));
    // One name for all kernels of the module, with the largest alignment that one of them wants.
    let stated = global.attr("alignment").and_then(Attr::as_int).unwrap_or(16);
    global.set_attr("alignment", ctx.i64_attr(stated.max(shared.alignment().unwrap_or(16)).max(16)));
    replace_by_address(shared.op(), DYNAMIC_SHARED);
}

fn global<'c>(
    module: Op<'c>,
    name: &str,
    (ty, alignment): (Type<'c>, Option<i64>),
    from: Op<'c>,
    linkage: &str,
) -> Op<'c> {
    let ctx = module.ctx();
    let linkage = ctx.parse_attr(&format!("#llvm.linkage<{linkage}>"));
    let global = Builder::at_start(module.body(), from.loc())
        .op("llvm.mlir.global")
        .attr("sym_name", ctx.str_attr(name))
        .attr("global_type", ctx.type_attr(ty))
        .attr("linkage", linkage.expect("a linkage of the llvm dialect"))
        .attr("addr_space", ctx.i32_attr(i32::from(SHARED)))
        .regions(1)
        .build();
    if let Some(alignment) = alignment {
        global.set_attr("alignment", ctx.i64_attr(alignment));
    }
    global
}

fn unused_name(module: Op<'_>, stem: &str) -> String {
    let taken = |name: &str| module.lookup_symbol(name).is_some();
    if !taken(stem) {
        return stem.into();
    }
    (1..).map(|number| format!("{stem}.{number}")).find(|name| !taken(name)).unwrap_or_default()
}

fn replace_by_address(op: Op<'_>, name: &str) {
    let b = Builder::before(op);
    let address = b
        .op("llvm.mlir.addressof")
        .attr("global_name", b.ctx().symbol_attr(name))
        .result(b.ctx().ptr(SHARED.into()))
        .build();
    replace(op, &[address.result(0)]);
}
