//! Device modules of several units become one.

use super::*;

fn bitcode(text: &str) -> Vec<u8> {
    let context = Context::create();
    let text = format!("target triple = \"nvptx64-nvidia-cuda\"\n{text}\0");
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "unit.cu");
    let module = context.create_module_from_ir(buffer).expect("IR that parses");
    module.set_source_file_name("unit.cu");
    module.write_bitcode_to_memory().as_slice().into()
}

/// The program of two units as text, or what is wrong with it.
fn linked(a: &str, b: &str) -> Result<String, String> {
    let (a, b) = (bitcode(a), bitcode(b));
    let inputs = [Input { file: "a.o", bitcode: &a }, Input { file: "b.o", bitcode: &b }];
    let context = Context::create();
    link(&context, &inputs).map(|module| module.to_string()).map_err(|error| error.to_string())
}

#[test]
fn units_use_what_others_define() {
    let a = "declare i32 @theirs()\n\
             @x = external addrspace(1) global i32\n\
             @s = external addrspace(3) global [0 x i32], align 4\n\
             define internal i32 @own() { ret i32 1 }\n\
             define ptx_kernel void @k(ptr %p) { %v = call i32 @theirs() %w = call i32 @own() %u = add i32 %v, %w\n\
               store i32 %u, ptr addrspace(1) @x store i32 %u, ptr addrspace(3) @s ret void }";
    let b = "$t = comdat any\n\
             @x = addrspace(1) externally_initialized global i32 3\n\
             @s = external addrspace(3) global [0 x double], align 16\n\
             define internal i32 @own() { ret i32 2 }\n\
             define i32 @theirs() { store i32 1, ptr addrspace(3) @s %v = call i32 @own() ret i32 %v }\n\
             define weak_odr ptx_kernel void @t() comdat { ret void }";
    let text = linked(a, b).expect("linked");
    assert!(text.contains("@x = addrspace(1) externally_initialized global i32 3"), "{text}");
    assert!(text.contains("@s = external addrspace(3) global") && text.contains(", align 16"), "{text}");
    assert!(text.contains("define internal i32 @theirs()"), "{text}");
    assert!(text.contains("define ptx_kernel void @k(") && text.contains("define ptx_kernel void @t() {"), "{text}");
    assert_eq!(text.matches("define internal i32 @own").count(), 2, "{text}");
}

#[test]
fn two_definitions_are_an_error() {
    let function = "define void @f() { ret void }";
    let expected = "unit.cu: error: device function 'f' of b.o is defined in a.o too";
    assert_eq!(linked(function, function), Err(expected.into()));
    let variable = "@x = addrspace(1) global i32 1";
    let expected = "unit.cu: error: device variable 'x' of b.o is defined in a.o too";
    assert_eq!(linked(variable, variable), Err(expected.into()));
    let weak = "define weak void @f() { ret void }";
    assert!(linked(weak, function).is_ok() && linked(weak, weak).is_ok());
}

#[test]
fn memory_of_two_kinds_is_an_error() {
    let (a, b) = ("@x = external addrspace(1) global i32", "@x = addrspace(4) externally_initialized global i32 1");
    let expected = "unit.cu: error: device variable 'x' lies in another memory in b.o than in a.o";
    assert_eq!(linked(a, b), Err(expected.into()));
}

#[test]
fn what_nobody_defines_is_an_error() {
    let calls = |callee: &str| {
        format!("declare void @{callee}()\ndefine ptx_kernel void @k() {{ call void @{callee}() ret void }}")
    };
    let expected = "b.o: error: undefined device function 'f' in 'k', which b.o wants";
    assert_eq!(linked("", &calls("f")), Err(expected.into()));
    let reads = "@x = external addrspace(1) global i32\n\
                 define i32 @f() { %v = load i32, ptr addrspacecast (ptr addrspace(1) @x to ptr) ret i32 %v }\n\
                 define ptx_kernel void @k(ptr %p) { %v = call i32 @f() store i32 %v, ptr %p ret void }";
    let expected = "a.o: error: undefined device variable 'x' in 'f', which a.o wants";
    assert_eq!(linked(reads, ""), Err(expected.into()));
    for provided in ["vprintf", "__nv_sinf", "cudaMalloc", "llvm.nvvm.barrier0"] {
        assert!(linked("", &calls(provided)).is_ok(), "{provided}");
    }
    let dead = "declare void @f()\n\
                define ptx_kernel void @k() { br i1 false, label %a, label %b\na: call void @f() br label %b\nb: ret void }";
    assert!(linked(dead, "").is_ok());
}

#[test]
fn symbols_say_what_a_unit_has_and_wants() {
    let unit = bitcode(
        "declare void @f()\ndeclare i32 @vprintf()\n@x = external addrspace(1) global i32\n\
         @y = addrspace(1) global ptr addrspace(1) @x\n\
         define internal void @i() { call void @f() %1 = call i32 @vprintf() ret void }\n\
         define linkonce_odr void @l() { call void @i() ret void }",
    );
    let Symbols { defined, wanted } = Symbols::of(Input { file: "a.o", bitcode: &unit }).expect("readable");
    assert_eq!(defined, HashSet::from(["y".to_owned(), "l".to_owned()]));
    assert_eq!(wanted, HashSet::from(["f".to_owned(), "x".to_owned()]));
}
