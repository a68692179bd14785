//! Links a C++ program that chooses among versions by itself, on a fake device, and looks at what it runs and remembers.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use regrain_tuning::Grain;
use regrain_tuning::choice::{Policy, Query};
use regrain_tuning::database::Database;

mod common;

use common::build;

fn program() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| build("adaptive.cpp", "adaptive", &["-Wl,--wrap=cudaDeviceReset"]))
}

/// Runs the program; gives what it says on standard output and standard error.
fn run(args: &[&str], env: &[(&str, &str)]) -> (String, String) {
    let mut command = Command::new(program());
    let unset = ["REGRAIN_TUNING_DB", "REGRAIN_ADAPTIVE", "CUDA_MODULE_LOADING"];
    unset.iter().for_each(|name| _ = command.env_remove(name));
    let Output { stdout, stderr, status } =
        command.args(args).envs(env.iter().copied()).output().expect("the program runs");
    assert!(status.success(), "{status}: {}", String::from_utf8_lossy(&stderr));
    [stdout, stderr].map(|bytes| String::from_utf8_lossy(&bytes).trim_end().to_owned()).into()
}

/// The same where nothing is said on standard error.
fn out(args: &[&str]) -> String {
    let (out, err) = run(args, &[]);
    assert_eq!(err, "");
    out
}

#[test]
fn the_fastest_version_is_found_by_events() {
    let ran = out(&["one", "100"]);
    // Where nothing is remembered, a version that nobody knows has to wait.
    assert!(ran.starts_with("20") && !ran[..20].contains('1'), "{ran}");
    assert!(ran.ends_with(&"1".repeat(40)), "{ran}");
    // The compiler's choice where the kernel is launched once; and no file is left behind.
    assert_eq!(out(&["one", "1"]), "2");
    assert!(!program().with_extension("regrain-tuning").exists());
}

#[test]
fn it_is_found_by_the_clock_on_the_cpu() {
    let ran = out(&["cpu", "200"]);
    assert!(ran.starts_with("20") && ran.ends_with(&"1".repeat(20)), "{ran}");
}

#[test]
fn each_device_settles_by_itself() {
    assert_eq!(out(&["devices", "200"]), "10");
}

#[test]
fn nobody_waits_for_a_device_that_is_behind() {
    let ran = out(&["late", "100"]);
    let [before, after] = ran.split(" error 0 ").collect::<Vec<_>>()[..] else { panic!("{ran}") };
    // Two first launches, and the compiler's choice while they are on their way.
    assert_eq!(before, format!("20{}", "2".repeat(98)));
    assert!(after.ends_with(&"1".repeat(15)), "{after}");
}

#[test]
fn what_is_captured_is_not_timed() {
    assert_eq!(out(&["capture"]), format!("{} error 0 1 disturbed 0 mode 0", "2".repeat(15)));
}

#[test]
fn what_cannot_be_launched_is_not_tried_again() {
    assert_eq!(out(&["broken"]), "1 then 2 then 2 then 0");
    assert_eq!(out(&["sick"]), "1");
    assert_eq!(out(&["no-events"]), "2 error 0");
}

#[test]
fn a_reset_of_the_device_is_survived() {
    assert_eq!(out(&["reset"]), "1");
}

#[test]
fn threads_settle_together() {
    assert_eq!(out(&["threads", "200"]), "1");
}

#[test]
fn what_was_settled_is_used_by_the_next_start_and_the_next_compilation() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("db");
    let named = [("REGRAIN_TUNING_DB", path.to_str().expect("a path"))];
    run(&["one", "60"], &named);
    assert_eq!(run(&["one", "9"], &named), ("1".repeat(9), String::new()));
    // Grids of about as many blocks, not others.
    assert_eq!(run(&["one", "3", "15"], &named).0, "111");
    assert_eq!(run(&["one", "3", "64"], &named).0, "201");
    let database = Database::open(&path).expect("a database");
    let first = database.shapes().into_iter().find(|shape| shape.key.grid == [8, 1, 1]).expect("its shape");
    assert_eq!(first.settled, Some("b2x1x1".parse().expect("a grain")));
    let query = Query {
        kernel: "_Z1kPf",
        hash: "hash-of-k",
        block: Some([64, 1, 1]),
        target: "sm_80",
        version: "1.0",
        candidates: &[],
    };
    let choice = database.choose(&query, &Policy::default()).expect("a choice");
    assert_eq!(choice.grain, "b2x1x1".parse::<Grain>().expect("a grain"));
    assert!((choice.gain() - 3.0).abs() < 1e-6, "{choice:?}");
}

#[test]
fn a_database_that_cannot_be_used_is_one_warning() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("db");
    std::fs::write(&path, "a letter\n").expect("a file");
    let (out, err) = run(&["one", "100"], &[("REGRAIN_TUNING_DB", path.to_str().expect("a path"))]);
    assert!(
        out.ends_with('1') && err.contains("not a tuning database") && err.ends_with("nothing is remembered"),
        "{err}"
    );
    assert_eq!(std::fs::read(&path).expect("the file"), b"a letter\n");
}

#[test]
fn the_user_may_look_and_switch_it_off() {
    let (_, err) = run(&["one", "100"], &[("REGRAIN_ADAPTIVE", "report")]);
    let says = "regrain adaptive: _Z1kPf on sm_80 0, grids like 8x1x1 of 64x1x1: b2x1x1 after ";
    assert!(err.starts_with(says) && err.lines().count() == 1, "{err}");
    assert!(err.contains("; 100 launches; original 24000.0 us +- 0.0 of "), "{err}");
    assert_eq!(run(&["one", "9"], &[("REGRAIN_ADAPTIVE", "off")]), ("2".repeat(9), String::new()));
    let (_, err) = run(&["one", "1"], &[("REGRAIN_ADAPTIVE", "on")]);
    assert_eq!(err, "regrain profiler: warning: expected REGRAIN_ADAPTIVE to be 'off' or 'report', got 'on'");
}
