//! Whether the library defines what it should, with the right types, and rounds as asked.

use std::collections::BTreeSet;
use std::process::Command;

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;

use super::device_library;
use crate::from_nvvm::library::intrinsic_symbol;
use crate::from_nvvm::library_checks::{check_intrinsics, check_libdevice, llvm_prefix, whole};
use crate::nvvm::library::{FORMS, LANES, vector_form};

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
    assert!(!whole(device_library(), &context).print_to_string().to_string().contains("target-features"));
}

/// Compiles a C program together with the library and other files, which it may include or which are bitcode or IR to be linked, and
/// runs it; it prints what is wrong.
fn run_with(program: &str, files: &[(&str, &[u8])], flags: &[&str]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name);
    let all = [files, &[("library.bc", device_library().bitcode()), ("main.c", program.as_bytes())]].concat();
    for (name, text) in &all {
        std::fs::write(path(name), text).expect("written");
    }
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
    // Of libraries only that comes in which what is before them wants.
    let linked =
        [".ll", ".bc"].iter().flat_map(|ending| all.iter().map(|(name, _)| *name).filter(move |n| n.ends_with(ending)));
    let mut link = tool("llvm-link");
    link.arg(path("main.bc")).args(linked.map(path)).arg("-o").arg(path("all.bc"));
    check(link);
    let mut build = tool("clang");
    build.args(["-O1", "-w"]).args(flags).arg(path("all.bc")).arg("-o").arg(path("run")).arg("-lm");
    check(build);
    check(Command::new(path("run")));
}

fn run_with_library(program: &str) {
    run_with(program, &[], &[]);
}

#[test]
fn directed_rounding_agrees_with_the_hardware() {
    run_with_library(include_str!("device_library_rounding.c"));
}

#[test]
fn special_functions_agree_with_known_values() {
    run_with_library(include_str!("device_library_special.c"));
}

#[test]
fn functions_of_our_own_are_as_exact_as_cuda_says() {
    run_with_library(include_str!("device_library_accuracy.c"));
}

/// A letter for each type of a signature such as `<8 x float> (<8 x float>, <8 x i32>)`.
fn letters(signature: &str) -> String {
    let letter = |word: &str| match word {
        "float" => Some('f'),
        "double" => Some('d'),
        "i32" => Some('i'),
        _ => None,
    };
    signature.split(|c: char| !c.is_alphanumeric()).filter_map(letter).collect()
}

/// A function in LLVM's text that applies `callee` to what lies in memory.
fn apply(name: &str, callee: &str, types: &[String]) -> String {
    let (result, arguments) = types.split_first().expect("a result");
    let places = ["%x", "%y", "%z"];
    let loads: String = arguments
        .iter()
        .zip(places)
        .map(|(ty, place)| format!("  {place}.v = load {ty}, ptr {place}, align 4\n"))
        .collect();
    let passed: Vec<String> = arguments.iter().zip(places).map(|(ty, place)| format!("{ty} {place}.v")).collect();
    let passed = passed.join(", ");
    format!(
        "define void @{name}(ptr %r, ptr %x, ptr %y, ptr %z) {{\n{loads}  %v = call {result} @{callee}({passed})\n  \
         store {result} %v, ptr %r, align 4\n  ret void\n}}\n"
    )
}

/// The type that a letter stands for.
fn named(letter: char) -> &'static str {
    match letter {
        'f' => "float",
        'd' => "double",
        _ => "i32",
    }
}

/// Each function in the table has a form of so many elements, with the same bits as the scalar one.
fn check_forms(lanes: u32) {
    let all = device_library().vectors();
    let (_, bitcode) = all.iter().find(|(number, _)| *number == lanes).expect("forms of each number of elements");
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(bitcode, "forms");
    let module = Module::parse_bitcode_from_buffer(&buffer, &context).expect("the bitcode parses");
    let (mut rows, mut text, mut declared) = (String::new(), String::new(), BTreeSet::new());
    for (number, (name, _)) in FORMS.iter().enumerate().filter(|(_, (name, _))| !name.starts_with("__regrain_")) {
        let symbol = vector_form(name, lanes).expect("a form of each number of elements");
        let scalar = if name.starts_with("llvm.") { intrinsic_symbol(name) } else { (*name).to_owned() };
        let form = module.get_function(&symbol).unwrap_or_else(|| panic!("expected a function '{symbol}'"));
        let types = letters(&form.get_type().print_to_string().to_string());
        let scalars: Vec<String> = types.chars().map(|letter| named(letter).to_owned()).collect();
        let vectors: Vec<String> = scalars.iter().map(|ty| format!("<{lanes} x {ty}>")).collect();
        for (function, types) in [(&scalar, &scalars), (&symbol, &vectors)] {
            declared.insert(format!("declare {} @{function}({})\n", types[0], types[1..].join(", ")));
        }
        text += &apply(&format!("scalar_{number}"), &scalar, &scalars);
        text += &apply(&format!("vector_{number}"), &symbol, &vectors);
        rows += &format!("FORM(\"{name}\", {lanes}, \"{types}\", scalar_{number}, vector_{number})\n");
    }
    text.extend(declared);
    let files = [("lanes.bc", *bitcode), ("forms.inc", rows.as_bytes()), ("forms.ll", text.as_bytes())];
    run_with(include_str!("device_library_forms.c"), &files, &["-march=native"]);
}

#[test]
fn forms_of_4_have_the_bits_of_scalars() {
    check_forms(4);
}

#[test]
fn forms_of_8_have_the_bits_of_scalars() {
    check_forms(8);
}

#[test]
fn forms_of_16_have_the_bits_of_scalars() {
    check_forms(16);
}

#[test]
fn forms_of_32_have_the_bits_of_scalars() {
    check_forms(32);
    assert_eq!(LANES, [4, 8, 16, 32]);
}
