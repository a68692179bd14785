//! Random kernels give the same results in every form: clang's device code as it is, split at barriers, taken to the
//! parallel form and back, and at random grains of blocks and threads.
//!
//! One test has a fixed seed, the other a fresh one that it prints, or that of `REGRAIN_PROPTEST_SEED`.
//! `REGRAIN_PROPTEST_CASES` sets how many kernels are tried, `REGRAIN_PROPTEST_SHRINKING` in how many steps a failure is made smaller, `REGRAIN_PROPTEST_KEEP_GOING=1` goes on after
//! one; `REGRAIN_PROPTEST_FORMS=original` tries the forms at the original grain alone, `=coarse` leaves them out, `=outlined` all but the kernels that a GPU
//! would get at other grains, which compile fastest; `=emulated` runs what is shipped for gfx90a, gfx1030 and sm_80, `=emulated=gfx90a` for that
//! chip; `REGRAIN_PROPTEST_WRITE=FOLDER` tries none, and writes the programs and their grains there (test/gpu/elsewhere.py);
//! `REGRAIN_PROPTEST_TILES=1` tries kernels above all that copy memory to tiles; `REGRAIN_TEST_DRIVER` is another driver.

mod common;

use std::hash::{BuildHasher, RandomState};
use std::io::Write as _;
use std::path::Path;

use common::ast::{Kernel, kernel};
use common::grains::{Grain, Refused, grains};
use common::harness::{program, run};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, RngSeed, TestRunner};

/// Kernels in one program.
const TOGETHER: usize = 12;
const SHRINKING: u64 = 400;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Why a kernel fails by itself.
fn failure(kernel: &Kernel, grains: &[Grain]) -> Option<String> {
    match run(&[kernel], grains) {
        Ok(outcome) => outcome.wrong.into_values().next(),
        Err(error) => Some(error),
    }
}

/// The first line of a failure without numbers: shrinking must not slip from one mistake to another.
fn kind(failure: &str) -> String {
    failure.lines().next().unwrap_or_default().split("'").next().unwrap_or_default().to_owned()
}

/// The smallest kernel that still fails as `tree` does.
fn shrink(mut tree: impl ValueTree<Value = Kernel>, grains: &[Grain], first: &str) -> String {
    let (mut smallest, mut reason) = (tree.current(), first.to_owned());
    let mut more = tree.simplify();
    for _ in 0..number("REGRAIN_PROPTEST_SHRINKING", SHRINKING) {
        if !more {
            break;
        }
        let candidate = tree.current();
        more = match failure(&candidate, grains).filter(|why| kind(why) == kind(first)) {
            Some(why) => {
                (smallest, reason) = (candidate, why);
                tree.simplify()
            }
            None => tree.complicate(),
        };
    }
    format!("{reason}\n{}", program(&[&smallest]))
}

/// What came of all kernels.
#[derive(Default)]
struct Tally {
    tried: usize,
    /// Wrappers that were to become coarser: those of blocks, those of threads.
    asked: [usize; 2],
    declined: Vec<String>,
    kept: Vec<String>,
    refused: Refused,
    failures: Vec<String>,
}

impl Tally {
    /// Writes some kernels as one program, and beside it the options of some grains, a line for each.
    fn write(&mut self, folder: &Path, trees: &[impl ValueTree<Value = Kernel>], grains: &[Grain]) {
        let kernels: Vec<Kernel> = trees.iter().map(ValueTree::current).collect();
        let stem = folder.join(format!("random{:04}", self.tried));
        let lines: Vec<String> = grains.iter().map(|grain| grain.options().join(" ") + "\n").collect();
        std::fs::create_dir_all(folder).expect("the folder can be made");
        std::fs::write(stem.with_extension("cu"), program(&kernels.iter().collect::<Vec<_>>()))
            .expect("can be written");
        std::fs::write(stem.with_extension("grains"), lines.concat()).expect("can be written");
        self.tried += kernels.len();
    }

    /// Tries some kernels at some grains.
    fn batch(&mut self, trees: Vec<impl ValueTree<Value = Kernel>>, grains: &[Grain]) {
        let kernels: Vec<Kernel> = trees.iter().map(ValueTree::current).collect();
        let mut wrong: Vec<(usize, String)> = Vec::new();
        match run(&kernels.iter().collect::<Vec<_>>(), grains) {
            Ok(outcome) => {
                self.declined.extend(outcome.declined);
                self.kept.extend(outcome.kept);
                self.asked.iter_mut().zip(outcome.asked).for_each(|(all, asked)| *all += asked);
                outcome.refused.0.into_iter().for_each(|(why, count)| *self.refused.0.entry(why).or_default() += count);
                wrong.extend(outcome.wrong);
            }
            Err(together) => {
                eprintln!("{together}");
                wrong.extend(kernels.iter().enumerate().filter_map(|(n, kernel)| Some((n, failure(kernel, grains)?))));
                assert!(!wrong.is_empty(), "fails only together: {together}");
            }
        }
        wrong.iter().for_each(|(number, why)| eprintln!("kernel {number}: {why}"));
        for (number, tree) in trees.into_iter().enumerate() {
            if let Some((_, why)) = wrong.iter().find(|(wrong, _)| *wrong == number) {
                self.failures.push(shrink(tree, grains, why));
            }
        }
        self.tried += kernels.len();
    }

    /// The shares of wrappers in percent, blocks and threads, of which nothing but the block's shape can refuse coarsening.
    fn coarsened(&self) -> [usize; 2] {
        let [blocks, threads] = self.asked.map(|asked| asked.max(1));
        [("blocks", blocks), ("threads", threads)]
            .map(|(what, asked)| 100usize.saturating_sub(100 * self.refused.for_the_kernel(what) / asked))
    }
}

/// Tries the kernels of a seed; `what` says how to try them again.
fn try_all(seed: u64, what: &str) -> Tally {
    let cases = number("REGRAIN_PROPTEST_CASES", TOGETHER as u64) as usize;
    let config = Config { rng_algorithm: RngAlgorithm::ChaCha, rng_seed: RngSeed::Fixed(seed), ..Config::default() };
    let mut runner = TestRunner::new(config);
    let (strategy, grains) = (kernel(), grains());
    let mut tally = Tally::default();
    while tally.tried < cases {
        let trees: Vec<_> =
            (0..TOGETHER).map(|_| strategy.new_tree(&mut runner).expect("nothing is filtered")).collect();
        let grains = grains.new_tree(&mut runner).expect("nothing is filtered").current();
        if let Some(folder) = std::env::var_os("REGRAIN_PROPTEST_WRITE") {
            tally.write(Path::new(&folder), &trees, &grains);
            continue;
        }
        tally.batch(trees, &grains);
        let names: Vec<_> = grains.iter().map(Grain::name).collect();
        eprintln!("{} kernels tried, {} differ; the last at {}", tally.tried, tally.failures.len(), names.join("; "));
        if number("REGRAIN_PROPTEST_KEEP_GOING", 0) == 0 && !tally.failures.is_empty() {
            break;
        }
    }
    let (tried, failures) = (tally.tried, &tally.failures);
    assert!(
        failures.is_empty(),
        "{} of {tried} kernels of {what} differ:\n{}",
        failures.len(),
        failures.join("\n---\n")
    );
    tally
}

#[test]
fn all_forms_of_a_kernel_agree() {
    let tally = try_all(2026, "the fixed seed");
    let tried = tally.tried;
    let share = 100usize.saturating_sub(100 * tally.declined.len() / (2 * tried));
    let back = 100usize.saturating_sub(100 * tally.kept.len() / tried);
    let [blocks, threads] = tally.coarsened();
    let refused = tally.refused.lines();
    eprintln!("{tried} kernels, {share}% split, {back}% taken through the parallel form and back");
    eprintln!(
        "{blocks}% of blocks and {threads}% of threads coarsened; of {:?} wrappers kept their grain:\n{refused}",
        tally.asked
    );
    assert!(share >= 50, "only {share}% are split:\n{}", tally.declined.join("\n"));
    assert!(back >= 50, "only {back}% came back from the parallel form:\n{}", tally.kept.join("\n"));
    // A barrier under a condition on the block, which random kernels have plenty of, keeps blocks from it.
    assert!(
        blocks >= 35 && threads >= 50,
        "too few are coarsened: {blocks}% of blocks, {threads}% of threads:\n{refused}"
    );
}

#[test]
fn all_forms_of_a_fresh_kernel_agree() {
    let seed = number("REGRAIN_PROPTEST_SEED", u64::from(RandomState::new().hash_one(0) as u32));
    let again = format!("REGRAIN_PROPTEST_SEED={seed} cargo test --release -p regrain --test random_kernels fresh");
    let what = format!("seed {seed} (to run it again: {again})");
    // Not by eprintln!, which is only heard of when the test fails.
    let _ = writeln!(std::io::stderr(), "random kernels of {what}");
    try_all(seed, &what);
}
