//! Links C++ programs with hand-written kernels and image tables against the static library, with clang as a user's
//! build does, and runs them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

mod common;

use common::build;

fn smoke() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| build("smoke"))
}

fn run(program: &Path, args: &[&str], env: &[(&str, &str)]) -> (String, String) {
    let mut command = Command::new(program);
    command
        .args(args)
        .env_remove("REGRAIN_CPU_MODE")
        .env_remove("REGRAIN_CPU_CHECK")
        .env_remove("REGRAIN_CPU_FAULTS")
        .env_remove("REGRAIN_CPU_THREADS")
        .env_remove("REGRAIN_DEVICE");
    let Output { stdout, stderr, .. } = command.envs(env.iter().copied()).output().expect("the program runs");
    (String::from_utf8_lossy(&stdout).into_owned(), String::from_utf8_lossy(&stderr).into_owned())
}

#[test]
fn kernels_run_right_in_every_mode_and_with_any_number_of_threads() {
    for env in [
        ("REGRAIN_CPU_MODE", "split"),
        ("REGRAIN_CPU_MODE", "coroutine"),
        ("REGRAIN_CPU_THREADS", "1"),
        ("REGRAIN_CPU_THREADS", "7"),
    ] {
        let (out, err) = run(smoke(), &[], &[env]);
        assert_eq!(out, "before\nthread 0 0.50\nthread 1 0.50\nafter\nall passed\n", "{env:?}");
        assert_eq!(err, "");
    }
}

#[test]
fn a_launch_hands_out_as_many_blocks_at_once_as_it_is_told() {
    let program = build("tasks");
    for mode in ["split", "coroutine"] {
        let (out, err) = run(&program, &[], &[("REGRAIN_CPU_MODE", mode), ("REGRAIN_CPU_THREADS", "2")]);
        assert_eq!((out.as_str(), err.as_str()), ("all passed\n", ""), "{mode}");
    }
}

#[test]
fn memory_streams_events_and_device_behave_like_cuda() {
    let program = build("memory");
    let (out, err) = run(&program, &[], &[]);
    assert_eq!(out, "all passed\n");
    assert_eq!(err, "regrain runtime: error: expected fat binary wrapper magic 0x466243b1, got 0x1\n");
}

/// The launch itself and `cudaGetLastError` succeed; synchronisation reports, and the error stays.
const FAILED: &str = "cudaSuccess cudaSuccess cudaErrorLaunchFailure cudaErrorLaunchFailure\n";
const FINE: &str = "cudaSuccess cudaSuccess cudaSuccess cudaSuccess\n";

#[test]
fn a_block_that_cannot_go_on_is_reported_with_its_lines() {
    let (out, err) = run(smoke(), &["stuck"], &[]);
    assert_eq!(out, FAILED);
    assert!(err.contains("deadlock in kernel 'stuck', block (0,0,0)"), "{err}");
    assert!(err.contains("kernel.cu:71: note: 10 of 64 threads wait at a warp operation"), "{err}");
    assert!(err.contains("kernel.cu:72: note: 54 of 64 threads wait at __syncthreads()"), "{err}");
}

#[test]
fn a_divergent_barrier_warns_and_fails_only_when_checked() {
    let (out, err) = run(smoke(), &["diverged"], &[]);
    assert_eq!(out, FINE);
    assert!(err.contains("warning: threads do not meet at one __syncthreads() in kernel 'diverged'"), "{err}");
    assert!(
        err.contains("kernel.cu:81: note: 10 threads wait here\nkernel.cu:82: note: 54 threads wait here"),
        "{err}"
    );
    let (out, err) = run(smoke(), &["diverged"], &[("REGRAIN_CPU_CHECK", "1")]);
    assert_eq!(out, FAILED);
    assert!(err.contains("error: threads do not meet"), "{err}");
}

#[test]
fn threads_that_returned_before_a_barrier_are_reported_only_when_checked() {
    assert_eq!(run(smoke(), &["early"], &[]), (FINE.into(), String::new()));
    let (out, err) = run(smoke(), &["early"], &[("REGRAIN_CPU_CHECK", "1")]);
    assert_eq!(out, FAILED);
    assert!(err.contains("kernel.cu:60: note: 40 threads wait here\n  24 threads have returned"), "{err}");
}

#[test]
fn memory_faults_and_stack_overflows_are_failures_of_the_kernel() {
    let (out, err) = run(smoke(), &["wild"], &[]);
    assert_eq!(out, "cudaSuccess cudaSuccess cudaErrorIllegalAddress cudaErrorIllegalAddress\n");
    let said =
        "regrain runtime: error: kernel 'wild', block (0,0,0), thread (3,0,0): illegal address 0x1230 is written\n";
    assert!(err.starts_with(said), "{err}");
    let (out, err) = run(smoke(), &["wild"], &[("REGRAIN_CPU_FAULTS", "off")]);
    assert_eq!((out.as_str(), err.as_str()), ("", ""));
    let (out, err) = run(smoke(), &["deep"], &[]);
    assert_eq!(out, "cudaSuccess cudaSuccess cudaErrorHardwareStackError cudaErrorHardwareStackError\n");
    assert!(
        err.starts_with("regrain runtime: error: kernel 'deep', block (0,0,0), thread (63,0,0): stack overflow"),
        "{err}"
    );
}

#[test]
fn trap_and_assert_fail_the_kernel() {
    let (out, err) = run(smoke(), &["trap"], &[]);
    assert_eq!(out, FAILED);
    assert!(err.contains("kernel 'trap': trap in block [0, 0, 0], thread [5, 0, 0]"), "{err}");
    let (out, err) = run(smoke(), &["fail_assert"], &[]);
    assert_eq!(out, "cudaSuccess cudaSuccess cudaErrorAssert cudaErrorAssert\n");
    assert!(err.contains("a.cu:7: f: block: [0,0,0], thread: [1,0,0] Assertion `x > 0` failed."), "{err}");
}
