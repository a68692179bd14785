// RUN: mlir-translate --mlir-to-llvmir %s | FileCheck %s

// A function whose operations came out of another one is exported without a subprogram, so that its lines are lost. When this
// fails, remove `regrainScopeDebugInfo` (crates/mlir-bridge/cpp/debug_info.cpp) and regrain-scope-debug-info.

// CHECK: define void @made(ptr %{{.*}}) {
#file = #llvm.di_file<"a.cu" in "/">
#cu = #llvm.di_compile_unit<id = distinct[0]<>, sourceLanguage = DW_LANG_C_plus_plus, file = #file, isOptimized = false, emissionKind = Full>
#sp = #llvm.di_subprogram<id = distinct[1]<>, compileUnit = #cu, scope = #file, name = "k", file = #file, line = 2, subprogramFlags = Definition>
llvm.func @made(%p: !llvm.ptr) {
  %c = llvm.mlir.constant(1 : i32) : i32
  llvm.store %c, %p : i32, !llvm.ptr loc(fused<#sp>["a.cu":5:12])
  llvm.return loc(fused<#sp>["a.cu":6:1])
}
