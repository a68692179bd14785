//! Functions of a program with several processes and threads, in the order of their first calls.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::path::Path;
use std::process::Command;

const PROGRAM: &str = "
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#define FUNCTION __attribute__((noinline)) void
static volatile int calls;
FUNCTION first(void) { calls++; }
FUNCTION of_child(void) { calls++; }
FUNCTION of_thread(void) { calls++; }
FUNCTION of_both(void) { calls++; }
FUNCTION again(void) { calls++; }
FUNCTION never(void) { calls++; }
static void handler(int number) { calls += number; }
static void *run(void *argument) { of_thread(); of_both(); return argument; }
int main(int count, char **arguments) {
  if (count == 2) { again(); return arguments[1][0] == 'f'; }
  first();
  if (fork() == 0) { of_child(); of_both(); _exit(0); }
  int status;
  wait(&status);
  signal(SIGUSR1, handler);
  raise(SIGUSR1);
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  pthread_join(thread, 0);
  first();
  if (calls < 6) never();
  char *more[] = {arguments[0], \"ends well\", 0};
  execv(arguments[0], more);
  return 1;
}
";

fn compile(folder: &Path, options: &[&str]) -> std::path::PathBuf {
    let (source, program) = (folder.join("a.c"), folder.join("a.out"));
    std::fs::write(&source, PROGRAM).expect("a file");
    let compiled = Command::new("cc").args(options).arg(&source).arg("-o").arg(&program).arg("-lpthread").status();
    assert!(compiled.expect("cc runs").success());
    program
}

fn order(program: &Path, command: &[&str]) -> (Option<Vec<String>>, String) {
    let file = program.with_extension("txt");
    let mut tool = Command::new(env!("CARGO_BIN_EXE_regrain-order"));
    let output = tool.arg(program).arg(&file).arg("--").args(command).output().expect("the tool runs");
    let names = std::fs::read_to_string(file).ok().map(|text| text.lines().map(str::to_owned).collect());
    (names.filter(|_| output.status.success()), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn functions_are_in_the_order_of_their_first_calls() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = compile(folder.path(), &["-O1", "-no-pie"]);
    let (names, said) = order(&program, &["sh", "-c", &format!("cat /dev/null; {0}", program.display())]);
    let names = names.unwrap_or_else(|| panic!("{said}"));
    let ours = ["main", "first", "of_child", "of_both", "handler", "run", "of_thread", "again", "never"];
    let called: Vec<&str> = names.iter().map(String::as_str).filter(|name| ours.contains(name)).collect();
    assert_eq!(called, ["main", "first", "of_child", "of_both", "handler", "run", "of_thread", "again"]);
}

#[test]
fn what_cannot_be_traced_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = compile(folder.path(), &["-O1", "-no-pie"]);
    let text = program.display().to_string();
    assert_eq!(order(&program, &[&text, "fails"]), (None, "regrain-order: error: the command failed\n".into()));
    let program = compile(folder.path(), &["-O1", "-pie", "-fPIE"]);
    let expected = format!("regrain-order: error: cannot read '{text}': it is not at fixed addresses\n");
    assert_eq!(order(&program, &[&text]), (None, expected));
}
