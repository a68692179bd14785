//! Passes written in Rust: options, nested pipelines, failures, panics.

use mlir_bridge::{
    ir::{Builder, Op},
    melior::Context,
    module_op, parse_module,
    pass::{self, Anchor, PassInfo, PassOption, PassResult, PassRun},
    run_on_module,
};

const fn test_pass(name: &'static str, run: fn(&PassRun<'_>, Op<'_>) -> PassResult) -> PassInfo {
    PassInfo { name, summary: "a pass of the tests", anchor: Anchor::Any, options: &[], dialects: &[], run }
}

static PASSES: &[PassInfo] = &[
    PassInfo {
        options: &[
            PassOption { name: "text", default: "none", description: "what to say" },
            PassOption { name: "count", default: "1", description: "how often" },
            PassOption { name: "loud", default: "false", description: "say it loudly" },
        ],
        ..test_pass("test-say", |run, op| {
            let text = run.option("text");
            for _ in 0..run.option_int("count")? {
                op.remark(if run.option_bool("loud")? { text.to_uppercase() } else { text.to_owned() });
            }
            Ok(())
        })
    },
    test_pass("test-panic", |_, _| panic!("a mistake in the pass")),
    test_pass("test-panic-in-walk", |_, op| {
        op.walk_pre(|_| panic!("a mistake in the walk"));
        Ok(())
    }),
    test_pass("test-message", |_, _| Err("this cannot be done".into())),
    test_pass("test-reported", |_, op| {
        let add = op.find_named("arith.addi")[0];
        Err(add.error("no additions here"))
    }),
    PassInfo {
        dialects: &["llvm"],
        ..test_pass("test-make-llvm", |_, op| {
            let add = op.find_named("arith.addi")[0];
            let b = Builder::before(add);
            let sum = b.value("llvm.add", &add.operands(), add.result(0).ty());
            add.replace_with(&[sum]);
            Ok(())
        })
    },
    PassInfo {
        anchor: Anchor::Module,
        ..test_pass("test-nested", |run, op| {
            run.run_pipeline(op, "canonicalize,func.func(cse)")?;
            run.run_pipeline(op, "no-such-pass")
        })
    },
    PassInfo {
        anchor: Anchor::Op("func.func"),
        ..test_pass("test-on-function", |_, op| {
            op.remark(format!("on {}", op.symbol_name().unwrap_or("?")));
            Ok(())
        })
    },
];

const SOURCE: &str = "func.func @f(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  return %0 : i32
}";

fn context() -> Context {
    mlir_bridge::register_upstream_passes();
    pass::register(PASSES);
    pass::register(PASSES); // twice is harmless
    pass::register_pipeline("test-pipeline", "two passes", "test-say{text=a},test-say{text=b}");
    mlir_bridge::new_context()
}

/// The diagnostics of a run that may fail.
fn run(passes: &str) -> Result<String, String> {
    let context = context();
    let module = parse_module(&context, SOURCE, "f.mlir").unwrap();
    run_on_module(&module, passes).map_err(|error| error.to_string())
}

#[test]
fn options_have_defaults_and_values() {
    assert!(run("test-say").unwrap().contains("remark: none"));
    let text = run("test-say{text=hello count=2 loud=true}").unwrap();
    assert_eq!(text.matches("remark: HELLO").count(), 2, "{text}");
    let error = run("test-say{count=x}").unwrap_err();
    assert!(error.contains("option 'count' of test-say is 'x', expected an integer"), "{error}");
    assert!(run("test-say{speed=1}").unwrap_err().contains("no such option speed"));
}

#[test]
fn a_panic_is_an_error_at_the_operation() {
    let error = run("func.func(test-panic)").unwrap_err();
    assert!(error.contains("f.mlir:1:1: error: internal error in pass test-panic"), "{error}");
    assert!(error.contains("a mistake in the pass (crates/mlir-bridge/tests/passes.rs:"), "{error}");
    assert!(run("test-panic-in-walk").unwrap_err().contains("a mistake in the walk"));
}

#[test]
fn failures_are_located() {
    let error = run("func.func(test-message)").unwrap_err();
    assert!(error.contains("f.mlir:1:1: error: this cannot be done"), "{error}");
    let error = run("test-reported").unwrap_err();
    assert!(error.contains("f.mlir:2:8: error: no additions here"), "{error}");
}

#[test]
fn dependent_dialects_are_loaded() {
    assert_eq!(run("test-make-llvm").unwrap(), "");
}

#[test]
fn passes_run_pipelines() {
    let error = run("test-nested").unwrap_err();
    assert!(error.contains("'no-such-pass' does not refer to a registered pass"), "{error}");
}

#[test]
fn anchors_choose_operations() {
    assert!(run("func.func(test-on-function)").unwrap().contains("remark: on f"));
    assert!(run("func.func(test-nested)").is_err());
}

#[test]
fn named_pipelines() {
    let text = run("test-pipeline").unwrap();
    assert!(text.find("remark: a") < text.find("remark: b"), "{text}");
}

#[test]
fn clones_of_passes_keep_options() {
    let context = context();
    context.enable_multi_threading(true);
    let two = SOURCE.to_owned() + &SOURCE.replace("@f", "@g");
    let module = parse_module(&context, &two, "f.mlir").unwrap();
    let text = run_on_module(&module, "func.func(test-say{text=here})").unwrap();
    assert_eq!(text.matches("remark: here").count(), 2, "{text}");
    assert!(module_op(&module).verify());
}
