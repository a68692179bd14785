//! The typed views: what a constructor makes verifies, prints as expected, and reads back.

use mlir_bridge::{
    ir::{Builder, Op, Value},
    melior::{Context, ir::Module},
    module_op, new_context, parse_module,
};
use regrain_dialects::ops::{
    ActiveMask, Alternatives, Barrier, BarrierReduce, DynamicShared, GpuWrapper, LaneId, Match, MatchKind, ReduceKind,
    Shared, Shuffle, ShuffleKind, TakeBlocks, Vote, VoteKind, WarpBarrier, WarpCall, WarpId, WarpReduce,
    WarpReduceKind, is_synchronising, thread_loop, yield_results,
};
use regrain_dialects::{LaunchBounds, attributes};

fn context() -> Context {
    regrain_dialects::register();
    let context = new_context();
    for dialect in ["regrain", "scf", "arith", "llvm"] {
        mlir_bridge::ir::Ctx::from(&context).load_dialect(dialect);
    }
    context
}

fn function<'c>(context: &'c Context) -> Module<'c> {
    let source = "func.func @f(%n: index, %s: !llvm.ptr, %b: i64, %m: i32, %p: i1) { return }";
    parse_module(context, source, "f.mlir").unwrap()
}

/// A launch with both loops, empty inside; the builder stands in the block loop.
fn launch<'c>(root: Op<'c>) -> (GpuWrapper<'c>, Builder<'c>, Vec<Value<'c>>) {
    let body = root.lookup_symbol("f").unwrap().body();
    let (n, stream, bytes) = (body.arg(0), body.arg(1), body.arg(2));
    let b = Builder::before_terminator(body, root.loc());
    let (zero, one) = (b.const_index(0), b.const_index(1));
    let wrapper = GpuWrapper::create(b, Some("k"), [n; 3], [n; 3], Some(bytes), Some(stream));
    let b = Builder::at_end(wrapper.body(), b.loc);
    let grid = b.scf_parallel(&[zero; 3], &[n; 3], &[one; 3]);
    let b = Builder::before_terminator(grid.body(), b.loc);
    let block = b.scf_parallel(&[zero; 3], &[n; 3], &[one; 3]);
    let inner = Builder::before_terminator(block.body(), b.loc);
    (wrapper, inner, block.body().args())
}

#[test]
fn launch_reads_back() {
    let context = context();
    let module = function(&context);
    let root = module_op(&module);
    let (wrapper, inner, ivs) = launch(root);
    let grid = wrapper.grid_loop().unwrap();
    let b = Builder::at_start(grid.body(), inner.loc);
    let memory = b.ctx().parse_type("!llvm.array<4 x f32>").unwrap();
    let tile = Shared::create(b, memory, Some(16), Some("tile"));
    let dynamic = DynamicShared::create(b, wrapper.shared_bytes().unwrap(), Some(128));
    let many = TakeBlocks::create(b, 8, b.const_int(b.ctx().int(1), 1));
    let barrier = Barrier::create(inner, &ivs);
    assert!(root.verify(), "{root}");
    assert_eq!(wrapper.kernel(), Some("k"));
    assert_eq!((wrapper.grid().len(), wrapper.block_shape().len()), (3, 3));
    assert!(wrapper.stream().is_some());
    assert_eq!(barrier.parallel_loop(), wrapper.block_loop());
    assert_eq!(thread_loop(barrier.op()), wrapper.block_loop());
    assert_eq!((tile.memory_type(), tile.alignment(), tile.name()), (memory, Some(16), Some("tile")));
    assert_eq!((dynamic.bytes(), dynamic.alignment()), (wrapper.shared_bytes().unwrap(), Some(128)));
    assert_eq!((many.count(), many.allowed().ty(), many.taken().ty()), (8, b.ctx().int(1), b.ctx().int(1)));
    assert!(GpuWrapper::cast(grid).is_none());
}

#[test]
fn synchronisation_reads_back() {
    let context = context();
    let module = function(&context);
    let root = module_op(&module);
    let (wrapper, b, ivs) = launch(root);
    let body = root.lookup_symbol("f").unwrap().body();
    let (mask, predicate) = (body.arg(3), body.arg(4));
    let named = Barrier::create_named(b, &ivs, Some(mask), Some(mask), true);
    assert_eq!((named.id(), named.count(), named.is_unaligned()), (Some(mask), Some(mask), true));
    let reduce = BarrierReduce::create(b, ReduceKind::Or, predicate, &ivs, Some(mask));
    assert_eq!((reduce.kind(), reduce.predicate(), reduce.id()), (ReduceKind::Or, predicate, Some(mask)));
    let shuffle = Shuffle::create(b, ShuffleKind::Bfly, [mask; 4], &ivs);
    assert_eq!((shuffle.kind(), shuffle.clamp(), shuffle.ivs()), (ShuffleKind::Bfly, mask, ivs.clone()));
    let vote = Vote::create(b, VoteKind::Ballot, predicate, mask, &ivs);
    assert!(vote.kind() == VoteKind::Ballot && vote.op().result(0).ty().is_int(32));
    let matched = Match::create(b, MatchKind::All, mask, mask, &ivs);
    assert_eq!((matched.kind(), matched.value()), (MatchKind::All, mask));
    let sum = WarpReduce::create(b, WarpReduceKind::Xor, mask, mask, &ivs);
    assert_eq!(sum.kind(), WarpReduceKind::Xor);
    let together = WarpCall::create(b, "f", &[mask, mask], 3, &ivs);
    assert_eq!((together.function(), together.values(), together.ivs()), ("f", vec![mask; 2], ivs.clone()));
    assert_eq!(together.op().num_results(), 3);
    let wait = WarpBarrier::create(b, mask, &ivs);
    assert_eq!((wait.mask(), wait.ivs().len()), (mask, 3));
    let active = ActiveMask::create(b, &ivs);
    let (lane, warp) = (LaneId::create(b, &ivs), WarpId::create(b, &ivs));
    assert!(root.verify(), "{root}");
    for op in [
        named.op(),
        reduce.op(),
        shuffle.op(),
        vote.op(),
        matched.op(),
        sum.op(),
        together.op(),
        wait.op(),
        active.op(),
    ] {
        assert_eq!(thread_loop(op), wrapper.block_loop(), "{op:?}");
        assert!(!op.is_memory_effect_free(), "{op:?}");
    }
    assert!(lane.op().is_pure() && warp.op().is_pure() && !is_synchronising(lane.op()));
}

#[test]
fn alternatives_read_back() {
    let context = context();
    let module = function(&context);
    let root = module_op(&module);
    let body = root.lookup_symbol("f").unwrap().body();
    let b = Builder::before_terminator(body, root.loc());
    let choice = Alternatives::create(b, &["original", "block 2"], &[root.ctx().int(32)]);
    for region in choice.choices() {
        let end = Builder::at_end(region.entry(), root.loc());
        yield_results(end, &[end.const_i32(0)]);
    }
    assert_eq!(choice.op().num_results(), 1);
    assert!(root.verify(), "{root}");
    assert_eq!(choice.descriptions(), ["original", "block 2"]);
    assert_eq!(choice.choices().len(), 2);
    let left = choice.retain(|at, name| at == 1 && name == "block 2");
    assert_eq!(left.descriptions(), ["block 2"]);
    left.select(0);
    assert!(root.verify() && Alternatives::all(root).is_empty(), "{root}");
}

#[test]
fn the_verifier_knows_every_attribute() {
    let context = context();
    for name in attributes::ALL {
        // A module carries none of them, so each is an error, but not that of a name that is not known.
        let source = format!("module attributes {{{name}}} {{}}");
        let said = parse_module(&context, &source, "m.mlir").expect_err(name).to_string();
        assert!(said.contains(name) && said.contains("stands on 'builtin.module'"), "{said}");
    }
    let said = parse_module(&context, "module attributes {regrain.other} {}", "m.mlir").unwrap_err().to_string();
    assert!(said.contains("attribute 'regrain.other' is not known to the regrain dialect"), "{said}");
}

#[test]
fn launch_bounds_read_back() {
    let context = context();
    let module = parse_module(&context, "llvm.func @k()", "k.mlir").unwrap();
    let root = module_op(&module);
    let kernel = root.lookup_symbol("k").unwrap();
    assert_eq!(LaunchBounds::of(kernel), LaunchBounds::default());
    let bounds = LaunchBounds {
        max_threads: vec![16, 16],
        required_threads: vec![16, 8, 1],
        min_blocks: Some(2),
        cluster_shape: vec![2],
        max_cluster: Some(8),
    };
    bounds.put(kernel);
    assert!(root.verify(), "{root}");
    assert_eq!(LaunchBounds::of(kernel), bounds);
    assert_eq!(bounds.most_threads(), Some(256));
    LaunchBounds::default().put(kernel);
    assert!(attributes::ALL.iter().all(|name| !kernel.has_attr(name)), "{root}");
}
