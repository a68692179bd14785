//! Nothing that is put before our tools makes them panic, hang, fail in silence or leave files behind.
//!
//! Four kinds of cases: CUDA sources with pieces of others in them (`sources`), modules in the parallel form and on the
//! way there before each pass (`modules`), command lines of both drivers (`options`), tuning databases with bytes
//! exchanged (`databases`). A case follows from its seed alone. Each kind has a test with a fixed seed.
//!
//! `REGRAIN_FUZZ_CASES` sets how many cases of each kind are tried, `REGRAIN_FUZZ_MINUTES` that they go on for so long instead;
//! `REGRAIN_FUZZ_SEED` is the first seed, the following ones count up; `REGRAIN_FUZZ_KEEP` is a folder for cases that fail.
//! To try one again: `REGRAIN_FUZZ_SEED=123 REGRAIN_FUZZ_CASES=1 cargo test --release -p regrain --test fuzz sources`.

mod databases;
mod modules;
mod options;
#[path = "../common/place.rs"]
mod place;
mod random;
mod sources;
mod text;
#[path = "../common/tools.rs"]
mod tools;
mod trial;

use std::io::Write as _;
use std::time::{Duration, Instant};

use random::Random;
use trial::{Case, Trial};

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// Tries cases of one kind, and complains of all that failed.
fn try_all(kind: &str, usual: u64, mut case: impl FnMut(&mut Random, &Trial) -> Case) {
    let cases = number("REGRAIN_FUZZ_CASES").unwrap_or(usual);
    let end = number("REGRAIN_FUZZ_MINUTES").map(|minutes| Instant::now() + Duration::from_secs(60 * minutes));
    let first = number("REGRAIN_FUZZ_SEED").unwrap_or(2026);
    let (mut tried, mut accepted, mut failures) = (0, 0, Vec::new());
    while end.map_or(tried < cases, |end| Instant::now() < end) {
        let seed = first + tried;
        let trial = Trial::new();
        let case = case(&mut Random::new(seed), &trial);
        match trial.outcome(&case) {
            Ok(well) => accepted += usize::from(well),
            Err(why) => {
                let kept = trial.keep(&format!("{kind}-{seed}"), &case);
                let _ = writeln!(std::io::stderr(), "{kind}, seed {seed}: {why}\n  {}{kept}", case.shown());
                failures.push(format!("seed {seed}: {why}"));
            }
        }
        tried += 1;
        if tried % 500 == 0 {
            // Not by eprintln!, which is only heard of when the test fails.
            let _ =
                writeln!(std::io::stderr(), "{kind}: {tried} cases, {accepted} accepted, {} failed", failures.len());
        }
    }
    eprintln!("{kind}: {tried} cases, {accepted} accepted");
    assert!(failures.is_empty(), "{} of {tried} cases of {kind}:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn sources_of_any_content() {
    let corpus = sources::Corpus::read();
    try_all("sources", 12, |random, trial| corpus.case(random, trial));
}

#[test]
fn modules_before_any_pass() {
    let corpus = modules::Corpus::read();
    try_all("modules", 150, |random, trial| corpus.case(random, trial));
}

#[test]
fn command_lines_of_any_options() {
    let corpus = options::Corpus::read();
    try_all("options", 60, |random, trial| corpus.case(random, trial));
}

#[test]
fn tuning_databases_of_any_bytes() {
    let corpus = databases::Corpus::read();
    try_all("databases", 60, |random, trial| corpus.case(random, trial));
}
