//! Links C++ programs that call the profiler, on a fake device, as the driver links a user's program, and looks at what
//! they leave in the database.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use regrain_tuning::database::{Database, Shape};

mod common;

use common::build;

fn program() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| build("profiled.cpp", "program", &["-Wl,--wrap=cudaDeviceReset"]))
}

/// A database of its own for each test.
struct Run {
    folder: tempfile::TempDir,
}

impl Run {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("db")
    }

    fn with(&self, program: &Path, args: &[&str], env: &[(&str, &str)]) -> (String, String) {
        let mut command = Command::new(program);
        command.args(args).env("REGRAIN_TUNING_DB", self.path()).env_remove("REGRAIN_TUNING_SAMPLES");
        let Output { stdout, stderr, status } = command.envs(env.iter().copied()).output().expect("the program runs");
        assert!(status.success(), "{status}: {}", String::from_utf8_lossy(&stderr));
        (String::from_utf8_lossy(&stdout).trim_end().to_owned(), String::from_utf8_lossy(&stderr).into_owned())
    }

    /// Runs the program; it says nothing on standard error.
    fn run(&self, args: &[&str]) -> String {
        let (out, err) = self.with(program(), args, &[]);
        assert_eq!(err, "");
        out
    }

    fn database(&self) -> Database {
        Database::open(&self.path()).expect("a database")
    }

    fn only_shape(&self) -> Shape {
        let mut shapes = self.database().shapes();
        assert_eq!(shapes.len(), 1);
        shapes.remove(0)
    }
}

fn times(shape: &Shape) -> Vec<(Vec<u64>, usize, bool)> {
    shape.candidates.values().map(|times| (times.warm.clone(), times.cold.len(), times.failed)).collect()
}

#[test]
fn every_candidate_is_timed_and_the_best_runs() {
    let run = Run::new();
    let out = run.run(&["one", "30"]);
    assert_eq!(out, "001122012012012012111111111111");
    let shape = run.only_shape();
    assert_eq!((shape.key.grid, shape.key.block, shape.launches), ([8, 1, 1], [64, 1, 1], 30));
    assert_eq!((shape.kernel.as_str(), shape.key.target.as_str()), ("_Z1kPf", "sm_80"));
    let expected = [24_000_000, 8_000_000, 16_000_000].map(|time| (vec![time; 5], 1, false));
    assert_eq!(times(&shape), expected);
    // Nothing is left to measure.
    let before = std::fs::read(run.path()).unwrap();
    assert_eq!(run.run(&["one", "3"]), "111");
    assert_eq!(std::fs::read(run.path()).unwrap(), before);
}

#[test]
fn one_launch_in_a_run_converges_over_runs() {
    let run = Run::new();
    let outs: String = (0..15).map(|_| run.run(&["one", "1"])).collect();
    assert_eq!(outs, "012".repeat(5));
    assert_eq!(run.run(&["one", "1"]), "1");
    assert_eq!(run.only_shape().runs, 15);
}

#[test]
fn the_number_of_samples_is_the_users() {
    let run = Run::new();
    assert_eq!(
        run.with(program(), &["one", "12"], &[("REGRAIN_TUNING_SAMPLES", "2")]),
        ("001122012111".into(), String::new())
    );
    let (_, err) = Run::new().with(program(), &["one", "1"], &[("REGRAIN_TUNING_SAMPLES", "many")]);
    assert_eq!(
        err,
        "regrain profiler: warning: expected REGRAIN_TUNING_SAMPLES to be a number from 1 to 1000, got 'many'\n"
    );
}

#[test]
fn threads_and_streams_do_not_mix_up_times() {
    let run = Run::new();
    run.run(&["threads", "200"]);
    let shapes = run.database().shapes();
    assert_eq!(shapes.len(), 4);
    for shape in &shapes {
        let grid = u64::from(shape.key.grid[0]);
        for (times, cost) in shape.candidates.values().zip([3, 1, 2]) {
            assert!(
                !times.warm.is_empty()
                    && times.warm.iter().chain(&times.cold).all(|time| *time == cost * grid * 1_000_000),
                "{times:?}"
            );
        }
        assert_eq!(shape.launches, 400);
    }
}

#[test]
fn samples_of_a_device_that_is_behind_come_later() {
    let run = Run::new();
    // 18 samples are on their way, the other launches run the original.
    assert_eq!(run.run(&["late"]), "28 error 0 11");
    assert_eq!(times(&run.only_shape())[1], (vec![8_000_000; 5], 1, false));
}

#[test]
fn what_is_captured_runs_the_original_untimed() {
    let run = Run::new();
    assert_eq!(run.run(&["capture"]), "000000000000000 error 0 disturbed 0 mode 0");
    assert_eq!(times(&run.only_shape())[0], (vec![24_000_000; 5], 1, false));
}

#[test]
fn a_candidate_that_cannot_be_launched_is_dropped() {
    let run = Run::new();
    assert_eq!(run.run(&["broken"]), "1 third");
    assert_eq!(times(&run.only_shape())[1], (vec![], 0, true));
    assert!(!run.run(&["one", "30"]).contains('1'), "not in a later run either");
}

#[test]
fn errors_of_earlier_work_blame_no_candidate() {
    let run = Run::new();
    run.run(&["sick"]);
    assert!(!run.path().exists());
}

#[test]
fn without_events_the_original_runs() {
    let run = Run::new();
    assert_eq!(run.run(&["no-events"]), "00000 error 0");
    assert!(!run.path().exists());
}

#[test]
fn a_reset_of_the_device_loses_nothing() {
    let run = Run::new();
    run.run(&["reset"]);
    assert_eq!(run.only_shape().candidates.values().map(|times| times.samples()).sum::<usize>(), 6);
    // Without the linker's option it loses what was on its way, and no more.
    let run = Run::new();
    assert_eq!(run.with(&build("profiled.cpp", "unwrapped", &[]), &["reset"], &[]).1, "");
    assert!(run.only_shape().candidates.values().map(|times| times.samples()).sum::<usize>() <= 3);
}

#[test]
fn a_forked_child_leaves_writing_to_its_parent() {
    let run = Run::new();
    run.run(&["fork"]);
    let shape = run.only_shape();
    assert_eq!((shape.runs, shape.launches), (1, 2));
}

#[test]
fn a_kernel_with_ever_new_grids_fills_no_disk() {
    let run = Run::new();
    assert_eq!(run.run(&["grids"]), "EAGER");
    assert_eq!(run.database().shapes().len(), 1024);
}

#[test]
fn sites_without_a_choice_run_the_first() {
    let run = Run::new();
    assert_eq!(run.run(&["odd"]), "000");
    assert!(!run.path().exists());
}

#[test]
fn on_the_cpu_the_clock_tells() {
    let run = Run::new();
    let out = run.run(&["cpu", "30"]);
    assert!(out.starts_with("001122012012012012"), "{out}");
    let shape = run.only_shape();
    for (times, cost) in shape.candidates.values().zip([3_000_000, 1_000_000, 2_000_000]) {
        assert!(times.warm.len() == 5 && times.warm[0] >= cost, "{times:?}");
    }
    let run = Run::new();
    run.run(&["cpu-threads", "60"]);
    assert!(run.database().shapes().iter().all(|shape| shape.progress(2).0 == shape.progress(2).1));
}

#[test]
fn many_processes_share_a_database() {
    let run = Run::new();
    let start = |grid: i32| {
        let mut command = Command::new(program());
        command
            .args(["one", "3", &grid.to_string()])
            .env("REGRAIN_TUNING_DB", run.path())
            .stdout(Stdio::null())
            .spawn()
            .expect("the program runs")
    };
    let children: Vec<_> = (1..=20).map(start).collect();
    for mut child in children {
        assert!(child.wait().expect("it ends").success());
    }
    let left: Vec<_> = run.folder.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["db"]);
    let shapes = run.database().shapes();
    assert_eq!(
        shapes.iter().map(|shape| (shape.key.grid[0], shape.launches)).collect::<Vec<_>>(),
        (1..=20).map(|grid| (grid, 3)).collect::<Vec<_>>()
    );
}

#[test]
fn a_bad_database_is_one_warning_and_the_program_goes_on() {
    let run = Run::new();
    std::fs::write(run.path(), "a letter\n").unwrap();
    let (out, err) = run.with(program(), &["one", "3"], &[]);
    assert_eq!(out, "000");
    assert!(
        err.starts_with("regrain profiler: warning: ")
            && err.contains("db:1: not a tuning database")
            && err.lines().count() == 1,
        "{err}"
    );
    assert_eq!(std::fs::read(run.path()).unwrap(), b"a letter\n");
    let missing = run.folder.path().join("no/such/folder/db");
    let (out, err) = run.with(program(), &["one", "3"], &[("REGRAIN_TUNING_DB", missing.to_str().unwrap())]);
    assert_eq!(out, "001");
    assert!(err.contains("warning: cannot open tuning database") && err.lines().count() == 1, "{err}");
}

#[test]
fn the_database_is_beside_the_executable_if_nothing_else_is_said() {
    let run = Run::new();
    let program = run.folder.path().join("app");
    std::fs::copy(self::program(), &program).unwrap();
    run.with(&program, &["one", "3"], &[("REGRAIN_TUNING_DB", "")]);
    assert_eq!(Database::open(&run.folder.path().join("app.regrain-tuning")).unwrap().shapes().len(), 1);
}
