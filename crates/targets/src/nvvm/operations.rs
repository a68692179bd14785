//! Operations of the regrain dialect as `llvm.nvvm.*` intrinsics, special registers, and globals in address space 3.
//!
//! ```mlir
//! regrain.barrier(%x, %y, %z)              llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"(%zero)
//! regrain.vote any %p mask %m (...)        llvm.call_intrinsic "llvm.nvvm.vote.any.sync"(%m, %p)
//! %t = regrain.shared "tile" : ...         %t = llvm.mlir.addressof @tile : !llvm.ptr<3>
//! ```

use mlir_bridge::ir::{Builder, Op, Type, Value};
use mlir_bridge::reasons::fill;

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

    fn require_block(&self, kernel: Op<'_>, shape: [u32; 3]) {
        kernel.set_attr("nvvm.reqntid", kernel.ctx().i32_array_attr(&shape.map(u32::cast_signed)));
    }
}

fn lower(module: Op<'_>, kernel: Op<'_>) -> Result<(), String> {
    for op in kernel.find_all(|op| op.name().starts_with("regrain.")) {
        let b = Builder::before(op);
        match op.name() {
            "regrain.barrier" => barrier(b, op),
            "regrain.barrier_reduce" => barrier_reduce(b, op),
            "regrain.shared" => shared(module, kernel, op),
            "regrain.dynamic_shared" => dynamic_shared(module, op),
            "regrain.shuffle" => shuffle(b, op),
            "regrain.vote" => vote(b, op),
            "regrain.match" => match_lanes(b, op),
            "regrain.warp_reduce" => warp_reduce(b, op),
            "regrain.active_mask" => replace(op, &[call(b, "activemask", &[], b.ctx().int(32))]),
            "regrain.warp_barrier" => {
                call_void(b, "bar.warp.sync", &[op.operand(0)]);
                op.erase();
            }
            "regrain.lane_id" => replace(op, &[register(b, "laneid")]),
            "regrain.warp_id" => replace(op, &[warp_number(b)]),
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

/// The operands of one of an operation's segments.
fn segment<'c>(op: Op<'c>, index: usize) -> Vec<Value<'c>> {
    let sizes = op.attr("operandSegmentSizes").and_then(|sizes| sizes.as_i32_array()).unwrap_or_default();
    let start: i32 = sizes.iter().take(index).sum();
    let size = sizes.get(index).copied().unwrap_or(0);
    op.operands().into_iter().skip(start as usize).take(size as usize).collect()
}

/// The name of an operation's `kind`.
fn kind(op: Op<'_>, names: &[&'static str]) -> &'static str {
    let number = op.attr("kind").and_then(|kind| kind.as_int()).unwrap_or(0);
    usize::try_from(number).ok().and_then(|number| names.get(number).copied()).unwrap_or_default()
}

fn barrier(b: Builder<'_>, op: Op<'_>) {
    let aligned = if op.has_attr("unaligned") { "" } else { ".aligned" };
    let id = segment(op, 1).first().copied().unwrap_or_else(|| constant_i32(b, 0));
    match segment(op, 2).first() {
        Some(count) => call_void(b, &format!("barrier.cta.sync{aligned}.count"), &[id, *count]),
        None => call_void(b, &format!("barrier.cta.sync{aligned}.all"), &[id]),
    }
    op.erase();
}

fn barrier_reduce(b: Builder<'_>, op: Op<'_>) {
    let id = segment(op, 2).first().copied().unwrap_or_else(|| constant_i32(b, 0));
    let predicate = op.operand(0);
    let kind = kind(op, &["popc", "and", "or"]);
    let result = call(b, &format!("barrier.cta.red.{kind}.aligned.all"), &[id, predicate], op.result(0).ty());
    replace(op, &[result]);
}

fn vote(b: Builder<'_>, op: Op<'_>) {
    let kind = kind(op, &["all", "any", "uni", "ballot"]);
    let result = call(b, &format!("vote.{kind}.sync"), &[op.operand(1), op.operand(0)], op.result(0).ty());
    replace(op, &[result]);
}

fn warp_reduce(b: Builder<'_>, op: Op<'_>) {
    let kind = kind(op, &["add", "umin", "umax", "min", "max", "and", "or", "xor"]);
    let result = call(b, &format!("redux.sync.{kind}"), &[op.operand(0), op.operand(1)], b.ctx().int(32));
    replace(op, &[result]);
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
fn match_lanes(b: Builder<'_>, op: Op<'_>) {
    let (value, mask) = (op.operand(0), op.operand(1));
    let bits = if value.ty().is_int(64) { 64 } else { 32 };
    let i32 = b.ctx().int(32);
    let (lanes, all) = if kind(op, &["any", "all"]) == "all" {
        call_pair(b, &format!("match.all.sync.i{bits}p"), &[mask, value], i32)
    } else {
        let lanes = call(b, &format!("match.any.sync.i{bits}"), &[mask, value], i32);
        (lanes, b.cmpi("eq", lanes, mask))
    };
    replace(op, &[lanes, all]);
}

/// The verifier leaves 32 and 64 bits.
fn shuffle(b: Builder<'_>, op: Op<'_>) {
    let [value, offset, clamp, mask] = [0, 1, 2, 3].map(|number| op.operand(number));
    let ctx = b.ctx();
    let ty = value.ty();
    let kind = kind(op, &["idx", "up", "down", "bfly"]);
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

fn shared<'c>(module: Op<'c>, kernel: Op<'c>, op: Op<'c>) {
    let stem = op.attr("name").and_then(|name| name.as_str().map(String::from));
    let stem = stem.unwrap_or_else(|| format!("{}.shared", kernel.symbol_name().unwrap_or("kernel")));
    let name = unused_name(module, &stem);
    let Some(ty) = op.attr("type").and_then(|ty| ty.as_type()) else { return };
    let global = global(module, &name, ty, op, "internal");
    let body = global.region(0).append_block(&[], op.loc());
    let inside = Builder::at_end(body, op.loc());
    let undefined = inside.op("llvm.mlir.undef").result(ty).build().result(0);
    inside.op("llvm.return").operands(&[undefined]).build();
    replace_by_address(op, &name);
}

fn dynamic_shared<'c>(module: Op<'c>, op: Op<'c>) {
    let ctx = module.ctx();
    let alignment = |op: Op<'_>| op.attr("alignment").and_then(|alignment| alignment.as_int()).unwrap_or(16);
    let found = module.lookup_symbol(DYNAMIC_SHARED);
    let global = found.unwrap_or_else(|| global(module, DYNAMIC_SHARED, ctx.llvm_array(ctx.int(8), 0), op, "external"));
    // One name for all kernels of the module, with the largest alignment that one of them wants.
    global.set_attr("alignment", ctx.i64_attr(alignment(global).max(alignment(op)).max(16)));
    replace_by_address(op, DYNAMIC_SHARED);
}

fn global<'c>(module: Op<'c>, name: &str, ty: Type<'c>, from: Op<'c>, linkage: &str) -> Op<'c> {
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
    if let Some(alignment) = from.attr("alignment").and_then(|alignment| alignment.as_int()) {
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
