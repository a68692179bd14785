//! LLVM IR through MLIR and back.

use mlir_bridge::{export_inkwell, export_llvm, import_inkwell, import_llvm, module_op, new_context};

const SOURCE: &str = r#"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
%struct.P = type { double, i8 }
@c = addrspace(4) externally_initialized global [4 x float] zeroinitializer, align 4
define ptx_kernel void @k(ptr byval(%struct.P) align 8 "nvvm.grid_constant" %p, ptr noalias %q) {
  %x = call i32 asm "mov.u32 $0, %laneid;", "=r"() #1
  call void asm sideeffect "membar.gl;", "~{memory}"() #2
  store i32 %x, ptr %q, align 4, !tbaa !0
  ret void
}
attributes #1 = { convergent nounwind memory(none) }
attributes #2 = { convergent nounwind }
!0 = !{!1, !1, i64 0}
!1 = !{!"int", !2, i64 0}
!2 = !{!"Simple C++ TBAA"}
"#;

/// The text after a round trip.
fn round_trip(source: &str) -> String {
    let context = new_context();
    let module = import_llvm(&context, source.as_bytes(), "k.ll").unwrap();
    let llvm = inkwell::context::Context::create();
    let back = export_inkwell(&module, "k", &llvm).unwrap();
    // A second import sees the bitcode through LLVM's C API.
    assert!(import_inkwell(&context, &back).is_ok());
    back.print_to_string().to_string()
}

#[test]
fn what_must_survive() {
    let text = round_trip(SOURCE);
    for wanted in [
        "target datalayout = \"e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64\"",
        "target triple = \"nvptx64-nvidia-cuda\"",
        "@c = addrspace(4) externally_initialized global",
        "ptx_kernel void @k",
        "\"nvvm.grid_constant\"",
        "byval(%struct.P)",
        "ptr noalias",
        "asm \"mov.u32 $0, %laneid;\", \"=r\"()",
        "convergent nounwind memory(none)",
        "asm sideeffect \"membar.gl;\", \"~{memory}\"()",
        "!tbaa",
    ] {
        assert!(text.contains(wanted), "lost {wanted} in\n{text}");
    }
}

#[test]
fn exporting_leaves_the_module_as_it_was() {
    let context = new_context();
    let module = import_llvm(&context, SOURCE.as_bytes(), "k.ll").unwrap();
    let before = module_op(&module).to_string();
    export_llvm(&module, "k").unwrap();
    assert_eq!(before, module_op(&module).to_string());
}

#[test]
fn broken_ir_is_located() {
    let context = new_context();
    let error = import_llvm(&context, b"define void @f() {\n  rat\n}", "bad.ll").unwrap_err();
    let text = error.to_string();
    assert!(text.contains("bad.ll:2:3: error: expected instruction opcode"), "{text}");
    assert!(import_llvm(&context, b"BC\xc0\xde garbage", "bad.bc").is_err());
}

#[test]
fn what_is_not_llvm_is_not_exported() {
    let context = new_context();
    let source = "func.func @f() { return }";
    let module = mlir_bridge::parse_module(&context, source, "f.mlir").unwrap();
    let text = export_llvm(&module, "f").unwrap_err().to_string();
    assert!(text.contains("f.mlir:1:1: error: cannot be converted to LLVM IR"), "{text}");
}
