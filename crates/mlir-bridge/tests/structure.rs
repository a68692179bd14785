//! Operations as bytes: the same for the same in every context, and different for each thing that is different.

use mlir_bridge::{module_op, new_context, parse_module};

/// The bytes of function `f` of a module of its own, in a context of its own.
fn structure(source: &str) -> Vec<u8> {
    let context = new_context();
    let module = parse_module(&context, source, "test.mlir").unwrap();
    let root = module_op(&module);
    let function = root.lookup_symbol("f").or_else(|| root.lookup_symbol("renamed")).expect("a function");
    root.structure(&[function], &["left.out"])
}

const SOURCE: &str = r##"
#scope = #llvm.alias_scope_domain<id = distinct[0]<>>
#one = #llvm.alias_scope<id = distinct[1]<>, domain = #scope>
#two = #llvm.alias_scope<id = distinct[2]<>, domain = #scope>
#root = #llvm.tbaa_root<id = "Simple C++ TBAA">
#char = #llvm.tbaa_type_desc<id = "omnipotent char", members = {<#root, 0>}>
#int = #llvm.tbaa_type_desc<id = "int", members = {<#char, 0>}>
#tag = #llvm.tbaa_tag<access_type = #int, base_type = #int, offset = 0>
#unroll = #llvm.loop_unroll<disable = false, count = 4 : i32>
#loop = #llvm.loop_annotation<unroll = #unroll, mustProgress = true>
module {
  llvm.mlir.global internal constant @text1("abc") : !llvm.array<3 x i8>
  llvm.func @sqrt(f32) -> f32 attributes {memory_effects = #llvm.memory_effects<other = none, argMem = none, inaccessibleMem = none, errnoMem = none, targetMem0 = none, targetMem1 = none>}
  llvm.func internal @callee(%x: f32) -> f32 {
    %y = llvm.call @sqrt(%x) : (f32) -> f32
    llvm.return %y : f32
  }
  llvm.func @f(%p: !llvm.ptr, %n: i32, %x: f32) -> f32 attributes {left.out = 1 : i32} {
    %c = llvm.mlir.constant(1 : i32) : i32
    %d = llvm.mlir.constant(2.5 : f32) : f32
    %s = llvm.mlir.addressof @text1 : !llvm.ptr
    %v = llvm.load %p {alias_scopes = [#one], noalias_scopes = [#two], tbaa = [#tag]} : !llvm.ptr -> i32
    %w = llvm.sub %v, %n overflow<nsw> : i32
    %a = llvm.fmul %x, %d {fastmathFlags = #llvm.fastmath<contract>} : f32
    %q = llvm.getelementptr %p[%w] : (!llvm.ptr, i32) -> !llvm.ptr, !llvm.struct<"S", (i32, f32)>
    llvm.br ^head(%c : i32)
  ^head(%i: i32):
    %more = llvm.icmp "slt" %i, %n : i32
    llvm.cond_br %more, ^body, ^end {loop_annotation = #loop}
  ^body:
    %next = llvm.add %i, %c : i32
    llvm.br ^head(%next : i32)
  ^end:
    %r = llvm.call @callee(%a) : (f32) -> f32
    llvm.return %r : f32
  }
}"##;

#[test]
fn the_same_in_every_context() {
    let bytes = structure(SOURCE);
    assert!(bytes.len() > 400, "{}", bytes.len());
    assert_eq!(bytes, structure(SOURCE));
}

#[test]
fn names_and_places_count_for_nothing() {
    let same = [
        // Values and blocks, the function itself, internal symbols, structures.
        ("%next", "%following"),
        ("^body", "^inside"),
        ("@f(", "@renamed("),
        ("@callee", "@other"),
        ("@text1", "@text7"),
        ("\"S\"", "\"S.0\""),
        // Locations, and what was left out.
        ("overflow<nsw> : i32", "overflow<nsw> : i32 loc(\"a.cu\":3:1)"),
        ("left.out = 1 : i32", "left.out = 2 : i32"),
        (
            "left.out = 1 : i32",
            "target_cpu = \"sm_90\", passthrough = [[\"target-cpu\", \"sm_90\"]], left.out = 1 : i32",
        ),
        ("mustProgress = true>", "startLoc = loc(fused<1 : i32>[\"a.cu\":1:1]), mustProgress = true>"),
    ];
    let original = structure(SOURCE);
    for (from, to) in same {
        assert!(SOURCE.contains(from), "{from}");
        let bytes = structure(&SOURCE.replace(from, to));
        assert!(bytes == original, "{from} -> {to}");
    }
}

#[test]
fn everything_else_counts() {
    let different = [
        ("constant(1 : i32)", "constant(2 : i32)"),
        ("constant(2.5 : f32)", "constant(2.25 : f32)"),
        ("\"abc\"", "\"abd\""),
        ("%v, %n overflow<nsw>", "%n, %v overflow<nsw>"),
        ("overflow<nsw>", "overflow<nuw>"),
        ("fastmath<contract>", "fastmath<nnan>"),
        ("llvm.icmp \"slt\"", "llvm.icmp \"sle\""),
        ("^body, ^end {", "^end, ^body {"),
        ("@sqrt", "@cbrt"),
        ("llvm.return %y", "llvm.return %x"),
        ("(i32, f32)>", "(i32, f64)>"),
        ("noalias_scopes = [#two]", "noalias_scopes = [#one]"),
        ("id = \"int\"", "id = \"long\""),
        ("offset = 0>", "offset = 4>"),
        ("count = 4", "count = 8"),
        ("disable = false", "disable = true"),
        ("mustProgress = true", "isVectorized = true"),
        ("<other = none", "<other = read"),
        ("{left.out = 1 : i32}", "{kept = 1 : i32}"),
        ("left.out = 1 : i32", "will_return"),
        ("llvm.func internal @callee(%x: f32)", "llvm.func internal @callee(%x: f32 {llvm.noundef})"),
    ];
    let original = structure(SOURCE);
    for (from, to) in different {
        assert!(SOURCE.contains(from), "{from}");
        let changed = if from == "@sqrt" { SOURCE.replace(from, to) } else { SOURCE.replacen(from, to, 1) };
        assert!(structure(&changed) != original, "{from} -> {to}");
    }
}

#[test]
fn roots_stand_for_one_another() {
    let source = |first: &str, second: &str, called: &str| {
        let context = new_context();
        let text = format!(
            "llvm.func @{first}(i32)\nllvm.func @{second}(%a: i32) {{ llvm.call @{called}(%a) : (i32) -> () llvm.return }}"
        );
        let module = parse_module(&context, &text, "test.mlir").unwrap();
        let root = module_op(&module);
        let roots = [first, second].map(|name| root.lookup_symbol(name).unwrap());
        root.structure(&roots, &[])
    };
    assert_eq!(source("k", "launch", "k"), source("k2", "launch2", "k2"));
    assert_ne!(source("k", "launch", "k"), source("k", "launch", "launch"));
}
