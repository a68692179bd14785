// RUN: %mlir-opt %s --canonicalize | FileCheck %s

// Simplifying an `scf.while` makes a new loop without the attributes of the old one. When this fails, remove the marker that
// carries the annotation, `kMarker` (crates/mlir-bridge/cpp/lift.cpp).

// CHECK: scf.while
// CHECK-NOT: loop_annotation
#a = #llvm.loop_annotation<unroll = <disable = true>>
func.func @f(%n: i32, %p: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.while (%i = %c0) : (i32) -> i32 {
    %c = arith.cmpi slt, %i, %n : i32
    %next = scf.if %c -> i32 {
      llvm.store %i, %p : i32, !llvm.ptr
      %a = arith.addi %i, %c1 : i32
      scf.yield %a : i32
    } else {
      scf.yield %c0 : i32
    }
    scf.condition(%c) %next : i32
  } do {
  ^bb0(%i: i32):
    scf.yield %i : i32
  } attributes {llvm.loop_annotation = #a}
  return
}
