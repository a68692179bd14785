//! The handles: building, cloning with a mapping, moving, queries.

use mlir_bridge::{
    ir::{Builder, Dominance, EffectKind, Mapping, Op, Walk},
    melior::{Context, ir::Module},
    module_op, new_context, parse_module,
};

fn parse<'c>(context: &'c Context, source: &str) -> Module<'c> {
    parse_module(context, source, "test.mlir").unwrap()
}

fn only<'c>(root: Op<'c>, name: &str) -> Op<'c> {
    let found = root.find_named(name);
    assert_eq!(found.len(), 1, "{name}");
    found[0]
}

const LOOP: &str = "func.func @f(%n: index, %m: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %m[%i] : memref<?xf32>
    %w = arith.addf %v, %v : f32
    memref.store %w, %m[%i] : memref<?xf32>
  }
  return
}";

#[test]
fn parse_errors_show_the_line() {
    let context = new_context();
    let error = parse_module(&context, "func.func @f() {\n  arith.nothing\n}", "a.mlir").unwrap_err();
    let text = error.to_string();
    assert!(text.contains("a.mlir:2:3: error: custom op 'arith.nothing' is unknown"), "{text}");
    assert!(text.contains("  arith.nothing\n  ^"), "{text}");
}

#[test]
fn clone_body_with_mapping() {
    let context = new_context();
    let module = parse(&context, LOOP);
    let root = module_op(&module);
    let outer = only(root, "scf.for");
    let b = Builder::after(outer);
    let four = b.const_index(4);
    let copy = b.scf_for(outer.operand(0), four, outer.operand(2), &[]);
    let mut map = Mapping::new();
    map.map(outer.body().arg(0), copy.body().arg(0));
    let inner = Builder::at_end(copy.body(), b.loc);
    inner.clone_body(outer.body(), &mut map);
    inner.scf_yield(&[]);
    assert!(root.verify(), "{root}");
    let load = copy.find_named("memref.load")[0];
    assert_eq!(load.operand(1), copy.body().arg(0));
    assert_eq!(map.get(outer.find_named("memref.load")[0].result(0)), Some(load.result(0)));
}

#[test]
fn build_structured_control_flow() {
    let context = new_context();
    let module = parse(&context, "func.func @f(%n: index) { return }");
    let function = only(module_op(&module), "func.func");
    let n = function.body().arg(0);
    for dialect in ["scf", "arith", "ub"] {
        n.ty().ctx().load_dialect(dialect);
    }
    let b = Builder::before_terminator(function.body(), function.loc());
    let (zero, one) = (b.const_index(0), b.const_index(1));
    let parallel = b.scf_parallel(&[zero, zero], &[n, n], &[one, one]);
    let inner = Builder::before_terminator(parallel.body(), b.loc);
    let iv = parallel.body().arg(0);
    let condition = inner.cmpi("ult", iv, n);
    let choice = inner.scf_if(condition, &[iv.ty()], true);
    Builder::at_end(choice.region(0).entry(), b.loc).scf_yield(&[iv]);
    let other = Builder::at_end(choice.region(1).entry(), b.loc);
    let poison = other.poison(iv.ty());
    other.scf_yield(&[poison]);
    let repeat = inner.scf_while(&[choice.result(0)], &[iv.ty()]);
    let before = Builder::at_end(repeat.region(0).entry(), b.loc);
    before.scf_condition(condition, &[repeat.region(0).entry().arg(0)]);
    let after = repeat.region(1).entry();
    Builder::at_end(after, b.loc).scf_yield(&[after.arg(0)]);
    assert!(function.verify(), "{function}");
}

#[test]
fn move_splice_and_inline() {
    let context = new_context();
    let module = parse(&context, LOOP);
    let root = module_op(&module);
    let outer = only(root, "scf.for");
    let iv = outer.body().arg(0);
    outer.body().terminator().unwrap().erase();
    let zero = outer.operand(0);
    assert!(iv.has_uses());
    outer.body().inline_before(outer, &[zero]);
    assert!(!iv.has_uses());
    outer.erase();
    assert!(root.verify(), "{root}");
    let load = only(root, "memref.load");
    assert_eq!(load.operand(1), zero);
    assert!(load.is_before(only(root, "memref.store")));
}

#[test]
fn uses_and_replacement() {
    let context = new_context();
    let module = parse(&context, LOOP);
    let root = module_op(&module);
    let load = only(root, "memref.load");
    let value = load.result(0);
    assert_eq!(value.uses().len(), 2);
    assert_eq!(value.users().len(), 1);
    let b = Builder::after(load);
    let other = b.arith("mulf", value, value);
    let multiply = other.defining_op().unwrap();
    value.replace_uses_if(other, |used| used.owner != multiply);
    assert_eq!(value.users(), vec![multiply]);
    assert!(root.verify(), "{root}");
}

#[test]
#[should_panic(expected = "erasing memref.load: result 0 still has uses")]
fn erasing_a_used_operation_is_refused() {
    let context = new_context();
    let module = parse(&context, LOOP);
    only(module_op(&module), "memref.load").erase();
}

#[test]
fn effects_and_purity() {
    let context = new_context();
    let module = parse(&context, LOOP);
    let root = module_op(&module);
    let kinds: Vec<_> = only(root, "scf.for").effects().unwrap().iter().map(|effect| effect.kind).collect();
    assert_eq!(kinds.len(), 2);
    assert!(kinds.contains(&EffectKind::Read) && kinds.contains(&EffectKind::Write));
    assert!(only(root, "arith.addf").is_pure());
    assert!(!only(root, "memref.store").is_memory_effect_free());
    assert!(only(root, "func.return").is_terminator());
}

#[test]
fn dominance() {
    let context = new_context();
    let module = parse(&context, LOOP);
    let root = module_op(&module);
    let info = Dominance::new(root);
    let (load, store) = (only(root, "memref.load"), only(root, "memref.store"));
    assert!(info.value_dominates(load.result(0), store));
    assert!(!info.value_dominates(load.result(0), only(root, "func.return")));
    assert!(info.op_dominates(load, store));
    assert_eq!(load.next().and_then(Op::prev), Some(load));
}

#[test]
fn attributes() {
    let context = new_context();
    let module = parse(&context, LOOP);
    let root = module_op(&module);
    let ctx = root.ctx();
    let outer = only(root, "scf.for");
    outer.set_attr("llvm.loop", ctx.dict_attr(&[("count", ctx.i32_attr(4))]));
    let count = outer.attr("llvm.loop").and_then(|attr| attr.get("count"));
    assert_eq!(count.and_then(|attr| attr.as_int()), Some(4));
    assert_eq!(outer.discardable_attrs().len(), 1);
    assert!(outer.remove_attr("llvm.loop"));
    assert!(!outer.has_attr("llvm.loop"));
    assert_eq!(only(root, "func.func").symbol_name(), Some("f"));
    assert_eq!(root.lookup_symbol("f"), Some(only(root, "func.func")));
    assert_eq!(ctx.parse_type("!llvm.ptr<3>").and_then(|ty| ty.ptr_space()), Some(3));
}

#[test]
fn walks_stop_and_skip() {
    let context = new_context();
    let module = parse(&context, LOOP);
    let root = module_op(&module);
    let mut seen = 0;
    root.walk_pre(|op| {
        seen += 1;
        if op.is("scf.for") { Walk::Skip } else { Walk::Advance }
    });
    assert_eq!(seen, 6);
    root.walk_post(|op| {
        assert!(!op.is("func.func"));
        if op.is("scf.for") { Walk::Stop } else { Walk::Advance }
    });
}

#[test]
fn locations() {
    let context = new_context();
    let module = parse(&context, LOOP);
    let load = only(module_op(&module), "memref.load");
    assert_eq!(load.loc().file_line(), Some(("test.mlir".to_owned(), 5, 10)));
    assert!(load.to_string_with_locations().contains("test.mlir"));
    assert!(!only(module_op(&module), "scf.for").to_line().contains("memref.load"));
}
