// RUN: %mlir-opt %s --lift-cf-to-scf | FileCheck %s

// Lifting drops what a branch says about its loop. When this fails, remove `LoopAnnotations`, `collectAnnotations` and `mark`
// (crates/mlir-bridge/cpp/lift.cpp).

// CHECK: scf.while
// CHECK-NOT: loop_annotation
#a = #llvm.loop_annotation<unroll = <disable = true>>
func.func @f(%n: i32, %p: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  cf.br ^head(%c0 : i32)
^head(%i: i32):
  %c = arith.cmpi slt, %i, %n : i32
  cf.cond_br %c, ^body, ^exit
^body:
  llvm.store %i, %p : i32, !llvm.ptr
  %next = arith.addi %i, %c1 : i32
  cf.br ^head(%next : i32) {loop_annotation = #a}
^exit:
  return
}
