//! Whether the library defines what it should, with the right types, and rounds as asked.

use std::process::Command;

use inkwell::context::Context;

use super::device_library;
use crate::from_nvvm::library_checks::{check_intrinsics, check_libdevice, llvm_prefix};

#[test]
fn every_nvvm_intrinsic_is_defined_or_left_out_with_a_reason() {
    check_intrinsics(device_library(), &[]);
}

#[test]
fn libdevice_is_complete() {
    check_libdevice(device_library());
}

#[test]
fn no_function_is_bound_to_a_processor() {
    let context = Context::create();
    let library = device_library().load(&context).expect("the bitcode parses");
    assert!(!library.print_to_string().to_string().contains("target-features"));
}

/// Compiles a C program together with the library and runs it; it prints what is wrong.
fn run_with_library(program: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("library.bc"), device_library().bitcode()).expect("written");
    std::fs::write(path("main.c"), program).expect("written");
    let tool = |name: &str| Command::new(llvm_prefix().join("bin").join(name));
    let check = |mut command: Command| {
        let output = command.output().expect("LLVM's tools run");
        let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{text}");
    };
    let mut clang = tool("clang");
    clang
        .args(["-O1", "-frounding-math", "-ffp-contract=off", "-emit-llvm", "-c"])
        .arg(path("main.c"))
        .arg("-o")
        .arg(path("main.bc"));
    check(clang);
    let mut link = tool("llvm-link");
    link.arg(path("main.bc")).arg(path("library.bc")).arg("-o").arg(path("all.bc"));
    check(link);
    let mut build = tool("clang");
    build.args(["-O1", "-w"]).arg(path("all.bc")).arg("-o").arg(path("run")).arg("-lm");
    check(build);
    check(Command::new(path("run")));
}

#[test]
fn directed_rounding_agrees_with_the_hardware() {
    run_with_library(include_str!("device_library_rounding.c"));
}

#[test]
fn special_functions_agree_with_known_values() {
    run_with_library(include_str!("device_library_special.c"));
}
