// RUN: %mlir-opt %s --convert-scf-to-cf --convert-cf-to-llvm --convert-arith-to-llvm | mlir-translate --mlir-to-llvmir | FileCheck %s

// The lowering carries a loop's annotation to the branch under a name that the export does not know. When this fails, remove
// `restore_loop_annotations` (passes/src/lower/outline_kernels.rs) and its like in `finish` (passes/src/lower/lower_cpu.rs).

// CHECK: define void @f
// CHECK-NOT: llvm.loop
#a = #llvm.loop_annotation<unroll = <disable = true>>
llvm.func @f(%n: i32, %p: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    llvm.store %i, %p : i32, !llvm.ptr
  } {llvm.loop_annotation = #a}
  llvm.return
}
