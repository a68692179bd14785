//! Random kernels give the same results in every form: clang's device code as it is, split at barriers, and taken to the
//! parallel form and back.
//!
//! The seed is fixed. `REGRAIN_PROPTEST_CASES` sets how many kernels are tried, `REGRAIN_PROPTEST_SEED` another seed,
//! `REGRAIN_PROPTEST_SHRINKING` in how many steps a failure is made smaller, `REGRAIN_PROPTEST_KEEP_GOING=1` goes on after
//! one; `REGRAIN_TEST_DRIVER` is another driver.

mod common;

use common::ast::{Kernel, kernel};
use common::harness::{program, run};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, RngSeed, TestRunner};

/// Kernels in one program.
const TOGETHER: usize = 24;
const SHRINKING: u64 = 400;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Why a kernel fails by itself.
fn failure(kernel: &Kernel) -> Option<String> {
    match run(&[kernel]) {
        Ok(outcome) => outcome.wrong.into_values().next(),
        Err(error) => Some(error),
    }
}

/// The first line of a failure without numbers: shrinking must not slip from one mistake to another.
fn kind(failure: &str) -> String {
    failure.lines().next().unwrap_or_default().split("'").next().unwrap_or_default().to_owned()
}

/// The smallest kernel that still fails as `tree` does.
fn shrink(mut tree: impl ValueTree<Value = Kernel>, first: &str) -> String {
    let (mut smallest, mut reason) = (tree.current(), first.to_owned());
    let mut more = tree.simplify();
    for _ in 0..number("REGRAIN_PROPTEST_SHRINKING", SHRINKING) {
        if !more {
            break;
        }
        let candidate = tree.current();
        more = match failure(&candidate).filter(|why| kind(why) == kind(first)) {
            Some(why) => {
                (smallest, reason) = (candidate, why);
                tree.simplify()
            }
            None => tree.complicate(),
        };
    }
    format!("{reason}\n{}", program(&[&smallest]))
}

#[test]
fn all_forms_of_a_kernel_agree() {
    let cases = number("REGRAIN_PROPTEST_CASES", 3 * TOGETHER as u64) as usize;
    let seed = number("REGRAIN_PROPTEST_SEED", 2026);
    let config = Config { rng_algorithm: RngAlgorithm::ChaCha, rng_seed: RngSeed::Fixed(seed), ..Config::default() };
    let mut runner = TestRunner::new(config);
    let strategy = kernel();
    let (mut tried, mut declined, mut kept, mut failures) = (0, Vec::new(), Vec::new(), Vec::new());
    while tried < cases {
        let trees: Vec<_> = (0..TOGETHER).map(|_| strategy.new_tree(&mut runner).expect("nothing is filtered")).collect();
        let kernels: Vec<Kernel> = trees.iter().map(|tree| tree.current()).collect();
        let mut wrong: Vec<(usize, String)> = Vec::new();
        match run(&kernels.iter().collect::<Vec<_>>()) {
            Ok(outcome) => {
                declined.extend(outcome.declined);
                kept.extend(outcome.kept);
                wrong.extend(outcome.wrong);
            }
            Err(together) => {
                eprintln!("{together}");
                wrong.extend(kernels.iter().enumerate().filter_map(|(n, kernel)| Some((n, failure(kernel)?))));
                assert!(!wrong.is_empty(), "fails only together: {together}");
            }
        }
        wrong.iter().for_each(|(number, why)| eprintln!("kernel {number}: {why}"));
        for (number, tree) in trees.into_iter().enumerate() {
            if let Some((_, why)) = wrong.iter().find(|(wrong, _)| *wrong == number) {
                failures.push(shrink(tree, why));
            }
        }
        tried += TOGETHER;
        if number("REGRAIN_PROPTEST_KEEP_GOING", 0) == 0 && !failures.is_empty() {
            break;
        }
    }
    // A kernel has two wrappers: for any shape, and for the one that a launch names.
    let share = 100usize.saturating_sub(100 * declined.len() / (2 * tried));
    let back = 100usize.saturating_sub(100 * kept.len() / tried);
    eprintln!("{tried} kernels, {share}% split, {back}% taken through the parallel form and back");
    assert!(failures.is_empty(), "{} of {tried} kernels differ:\n{}", failures.len(), failures.join("\n---\n"));
    assert!(share >= 50, "only {share}% are split:\n{}", declined.join("\n"));
    assert!(back >= 50, "only {back}% came back from the parallel form:\n{}", kept.join("\n"));
}
