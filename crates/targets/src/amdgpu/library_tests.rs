//! Whether AMD's library defines what it should, and counts on nothing that AMD's own lacks.

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;

use super::{device_library, rocm};
use crate::Settings;
use crate::from_nvvm::library_checks::{check_intrinsics, check_libdevice, whole};

/// Intrinsics that this library leaves out, by prefix (after `llvm.nvvm.`), and why: calling them is a located error.
const LEFT_OUT: &[(&str, &str)] = &[
    ("barrier.cta.sync.aligned.count", "the hardware has no barrier of some of a block's threads"),
    ("barrier.cta.sync.count", "the hardware has no barrier of some of a block's threads"),
    ("barrier.cta.arrive", "the hardware has no barrier of some of a block's threads"),
    ("barrier.cta.red.popc.aligned.count", "the hardware has no barrier of some of a block's threads"),
    ("barrier.cta.red.popc.count", "the hardware has no barrier of some of a block's threads"),
    ("barrier.cta.red.and.aligned.count", "the hardware has no barrier of some of a block's threads"),
    ("barrier.cta.red.and.count", "the hardware has no barrier of some of a block's threads"),
    ("barrier.cta.red.or.aligned.count", "the hardware has no barrier of some of a block's threads"),
    ("barrier.cta.red.or.count", "the hardware has no barrier of some of a block's threads"),
    ("exit", "a wave ends as a whole"),
];

#[test]
fn every_nvvm_intrinsic_is_defined_or_left_out_with_a_reason() {
    check_intrinsics(device_library(), LEFT_OUT);
}

#[test]
fn libdevice_is_complete() {
    check_libdevice(device_library());
}

#[test]
fn what_it_takes_of_amds_library_is_there() {
    let Ok(path) = rocm::ocml(&Settings::default()) else { return };
    let context = Context::create();
    let library = device_library().load(&context).expect("the bitcode parses");
    let buffer = MemoryBuffer::create_from_file(&path).expect("ocml is readable");
    let theirs = Module::parse_bitcode_from_buffer(&buffer, &context).expect("ocml is bitcode");
    let wanted = library.get_functions().filter(|f| f.get_name().to_bytes().starts_with(b"__ocml_"));
    let mut count = 0;
    for function in wanted {
        count += 1;
        let name = function.get_name().to_string_lossy().into_owned();
        let found = theirs.get_function(&name).map(|f| f.get_type().print_to_string());
        assert_eq!(found, Some(function.get_type().print_to_string()), "{name}");
    }
    assert!(count > 100, "expected the library to take most of its functions from there, got {count}");
}

/// The same bitcode is for all chips, and what is emulated holds no assembly.
#[test]
fn nothing_is_bound_to_a_chip() {
    let context = Context::create();
    let text = whole(device_library(), &context).print_to_string().to_string();
    for gone in ["target-cpu", "target-features", "amdgpu-", "asm "] {
        assert!(!text.contains(gone), "{gone}");
    }
}
