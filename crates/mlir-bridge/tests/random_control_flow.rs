//! Lifting of random control flow keeps what a function computes, in what order it acts, and makes no second barrier of one.
//!
//! A case is a graph of blocks with branches, switches and returns. It is written as LLVM IR, lifted, lowered again, and
//! both are run. Every backward branch takes from a budget, so that every run ends. One test has a fixed seed, the other a
//! fresh one that it prints, or that of `REGRAIN_PROPTEST_SEED`; `REGRAIN_PROPTEST_CASES` sets how many graphs are tried.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::hash::{BuildHasher, RandomState};
use std::io::Write as _;

use inkwell::OptimizationLevel;
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::{CodeModel, InitializationConfig, RelocMode, Target, TargetMachine};
use mlir_bridge::{
    export_inkwell, import_inkwell, lift, module_op, new_context, register_upstream_passes, run_on_module,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, RngSeed, TestRunner};

/// How a block ends; targets are numbers of blocks, modulo how many there are.
#[derive(Clone, Debug)]
enum End {
    Return(u8),
    Go(u8),
    Branch(u8, u8, u8),
    Switch(u8, Vec<u8>),
}

/// A block: assignments `x[to] = x[a] op x[b]` or `x[to] = x[a]`, perhaps a barrier, and an end.
#[derive(Clone, Debug)]
struct Node {
    steps: Vec<(u8, u8, u8, u8)>,
    barrier: bool,
    end: End,
}

const LOWERING: &str = "convert-scf-to-cf,convert-cf-to-llvm,convert-arith-to-llvm,convert-index-to-llvm,convert-ub-to-llvm,reconcile-unrealized-casts";

fn node() -> impl Strategy<Value = Node> {
    let byte = any::<u8>;
    let end = prop_oneof![
        1 => byte().prop_map(End::Return),
        2 => byte().prop_map(End::Go),
        6 => (byte(), byte(), byte()).prop_map(|(c, a, b)| End::Branch(c, a, b)),
        2 => (byte(), vec(byte(), 1..5)).prop_map(|(c, targets)| End::Switch(c, targets)),
    ];
    (vec((byte(), byte(), byte(), byte()), 0..4), any::<bool>(), end).prop_map(|(steps, barrier, end)| Node {
        steps,
        barrier,
        end,
    })
}

impl End {
    fn targets(&self, count: usize) -> Vec<usize> {
        let all = match self {
            End::Return(_) => Vec::new(),
            End::Go(a) => vec![*a],
            End::Branch(_, a, b) => vec![*a, *b],
            End::Switch(_, targets) => targets.clone(),
        };
        all.into_iter().map(|target| usize::from(target) % count).collect()
    }
}

fn reachable(nodes: &[Node]) -> BTreeSet<usize> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![0]);
    while let Some(at) = open.pop() {
        if seen.insert(at) {
            open.extend(nodes[at].end.targets(nodes.len()));
        }
    }
    seen
}

/// The graph as a function; only blocks that can be reached, as clang's simplest clean-up leaves it.
fn source(nodes: &[Node]) -> String {
    let mut text = "define void @barrier(ptr %trace, i32 %id) noinline convergent {
  %old = load i32, ptr %trace
  %by = mul i32 %old, 31
  %new = add i32 %by, %id
  store i32 %new, ptr %trace
  ret void
}
define i32 @f(ptr %trace, i32 %a, i32 %b) {
  %x0 = alloca i32
  %x1 = alloca i32
  %x2 = alloca i32
  %fuel = alloca i32
  store i32 %a, ptr %x0
  store i32 %b, ptr %x1
  store i32 1, ptr %x2
  store i32 30, ptr %fuel
  br label %b0\n"
        .to_owned();
    for number in reachable(nodes) {
        let _ = write!(text, "{}", block(number, nodes));
    }
    text + "out:\n  %r0 = load i32, ptr %x0\n  %r1 = load i32, ptr %x1\n  %r = xor i32 %r0, %r1\n  ret i32 %r\n}\n"
}

fn block(number: usize, nodes: &[Node]) -> String {
    let node = &nodes[number];
    let mut text = format!("b{number}:\n");
    for (step, (to, a, b, op)) in node.steps.iter().enumerate() {
        let name = format!("s{number}.{step}");
        if op % 3 == 0 {
            // Two variables with one value.
            let _ = writeln!(text, "  %{name}.v = load i32, ptr %x{}\n  store i32 %{name}.v, ptr %x{}", a % 3, to % 3);
            continue;
        }
        let op = ["add", "xor", "mul", "sub", "and"][usize::from(op % 5)];
        let _ = writeln!(text, "  %{name}.a = load i32, ptr %x{}\n  %{name}.b = load i32, ptr %x{}", a % 3, b % 3);
        let _ =
            writeln!(text, "  %{name}.c = {op} i32 %{name}.a, %{name}.b\n  %{name}.d = add i32 %{name}.c, {}", a / 3);
        let _ = writeln!(text, "  store i32 %{name}.d, ptr %x{}", to % 3);
    }
    if node.barrier {
        let _ = writeln!(text, "  call void @barrier(ptr %trace, i32 {}) convergent", number + 1);
    }
    // A backward branch goes through a block of its own that ends the function when the budget is spent.
    let (mut guards, mut guarded) = (String::new(), BTreeSet::new());
    let mut label = |target: usize| {
        if target > number {
            return format!("%b{target}");
        }
        let name = format!("g{number}.{target}");
        if guarded.insert(target) {
            let _ = write!(
                guards,
                "{name}:\n  %{name}.f = load i32, ptr %fuel\n  %{name}.n = sub i32 %{name}.f, 1\n  store i32 %{name}.n, ptr %fuel
  %{name}.c = icmp ugt i32 %{name}.n, 0\n  br i1 %{name}.c, label %b{target}, label %out\n"
            );
        }
        format!("%{name}")
    };
    let targets: Vec<String> = node.end.targets(nodes.len()).into_iter().map(&mut label).collect();
    let read = |of: u8| format!("  %e{number} = load i32, ptr %x{}\n", of % 3);
    text += &match &node.end {
        End::Return(of) => format!("{}  ret i32 %e{number}\n", read(*of)),
        End::Go(_) => format!("  br label {}\n", targets[0]),
        End::Branch(of, ..) => format!(
            "{}  %m{number} = and i32 %e{number}, {}\n  %c{number} = icmp eq i32 %m{number}, 0\n  br i1 %c{number}, label {}, label {}\n",
            read(*of),
            1 << (of / 3 % 6),
            targets[0],
            targets[1]
        ),
        End::Switch(of, _) => {
            let cases: Vec<_> = targets
                .iter()
                .enumerate()
                .skip(1)
                .map(|(n, target)| format!("i32 {}, label {target}", n - 1))
                .collect();
            format!(
                "{}  %m{number} = and i32 %e{number}, 3\n  switch i32 %m{number}, label {} [ {} ]\n",
                read(*of),
                targets[0],
                cases.join(" ")
            )
        }
    };
    text + &guards
}

/// Calls of the barrier that a module holds.
fn barriers(text: &str) -> usize {
    text.lines().filter(|line| line.contains("call ") && line.contains("@barrier(")).count()
}

/// Results and traces for some inputs.
fn results(module: &Module<'_>) -> Vec<(u32, u32)> {
    let engine = module.create_jit_execution_engine(OptimizationLevel::None).expect("a JIT for this machine");
    // SAFETY: `f` has this type in every case; the module lives as long as the engine.
    let f = unsafe { engine.get_function::<unsafe extern "C" fn(*mut u32, u32, u32) -> u32>("f") }.expect("f is there");
    let inputs = (0..24u32).map(|n| (n.wrapping_mul(0x9e37_79b9), n.wrapping_mul(n) ^ 5));
    let run = |(a, b)| {
        let mut trace = 0;
        // SAFETY: `f` writes to its trace alone, and every loop of it spends a bounded budget.
        let result = unsafe { f.call(&raw mut trace, a, b) };
        (result, trace)
    };
    inputs.map(run).collect()
}

fn machine() -> TargetMachine {
    Target::initialize_native(&InitializationConfig::default()).expect("this machine is a target");
    let triple = TargetMachine::get_default_triple();
    let target = Target::from_triple(&triple).expect("this machine is a target");
    target
        .create_target_machine(&triple, "generic", "", OptimizationLevel::None, RelocMode::Default, CodeModel::Default)
        .expect("this machine is a target")
}

fn check(nodes: &[Node], machine: &TargetMachine) -> Result<(), TestCaseError> {
    let text = source(nodes);
    let fail = |what: &str| TestCaseError::fail(format!("{what}\n{text}"));
    let llvm = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "f.ll");
    let original = llvm.create_module_from_ir(buffer).map_err(|e| fail(&e.to_string()))?;
    // Values in registers, as the driver's clean-up makes them.
    original.run_passes("mem2reg", machine, PassBuilderOptions::create()).map_err(|e| fail(&e.to_string()))?;
    let before = barriers(&original.print_to_string().to_string());
    let mlir = new_context();
    let module = import_inkwell(&mlir, &original).map_err(|e| fail(&e.to_string()))?;
    for dialect in lift::DIALECTS {
        module_op(&module).ctx().load_dialect(dialect);
    }
    for function in module_op(&module).find_named("llvm.func") {
        lift::lift_control_flow(function).map_err(|reason| fail(&format!("not lifted: {reason}")))?;
    }
    let lifted = module_op(&module).to_string();
    prop_assert!(!lifted.contains("llvm.cond_br") && !lifted.contains("llvm.switch"), "branches are left:\n{}", lifted);
    // A barrier that no run reaches may go with its branch; the traces tell whether any other went.
    prop_assert!(barriers(&lifted) <= before, "barriers:\n{}\n{}", text, lifted);
    run_on_module(&module, LOWERING).map_err(|e| fail(&e.to_string()))?;
    let back = export_inkwell(&module, "back", &llvm).map_err(|e| fail(&e.to_string()))?;
    back.verify().map_err(|e| fail(&e.to_string()))?;
    prop_assert_eq!(results(&back), results(&original), "results:\n{}", text);
    Ok(())
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// Tries the graphs of a seed.
fn try_all(seed: u64) {
    let config = Config {
        cases: number("REGRAIN_PROPTEST_CASES").unwrap_or(150) as u32,
        rng_algorithm: RngAlgorithm::ChaCha,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        ..Config::default()
    };
    register_upstream_passes();
    let machine = machine();
    let outcome = TestRunner::new(config).run(&vec(node(), 1..10), |nodes| check(&nodes, &machine));
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

#[test]
fn lifted_control_flow_computes_the_same() {
    try_all(2026);
}

#[test]
fn fresh_control_flow_computes_the_same() {
    let fresh = || u64::from(RandomState::new().hash_one(0) as u32);
    let seed = number("REGRAIN_PROPTEST_SEED").unwrap_or_else(fresh);
    // Not by eprintln!, which is only heard of when the test fails.
    let _ = writeln!(
        std::io::stderr(),
        "random control flow of seed {seed}; to run it again: REGRAIN_PROPTEST_SEED={seed} \
         cargo test --release -p mlir-bridge --test random_control_flow fresh"
    );
    try_all(seed);
}
