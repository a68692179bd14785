// RUN: %mlir-opt %s --test-scf-uplift-while-to-for | FileCheck %s

// MLIR's way from `scf.while` to `scf.for`. When all of this fails, use it in place of passes/src/raise/raise_while_to_for.rs.

#a = #llvm.loop_annotation<unroll = <disable = true>>
// The value after the loop is the last one in it, and the annotation is gone.
// CHECK-LABEL: func.func @after
// CHECK: scf.for
// CHECK-NOT: loop_annotation
// CHECK: %[[ROUNDS:.*]] = arith.divsi
// CHECK: %[[LESS:.*]] = arith.subi %[[ROUNDS]], %{{.*}}
// CHECK: %[[LAST:.*]] = arith.muli %[[LESS]]
// CHECK: return %[[LAST]]
func.func @after(%n: i32, %p: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : i32
  %c3 = arith.constant 3 : i32
  %r = scf.while (%i = %c0) : (i32) -> i32 {
    %c = arith.cmpi slt, %i, %n : i32
    scf.condition(%c) %i : i32
  } do {
  ^bb0(%i: i32):
    llvm.store %i, %p : i32, !llvm.ptr
    %next = arith.addi %i, %c3 : i32
    scf.yield %next : i32
  } attributes {llvm.loop_annotation = #a}
  return %r : i32
}

// A step that may be negative or zero is taken.
// CHECK-LABEL: func.func @step
// CHECK: scf.for
func.func @step(%n: i32, %s: i32, %p: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %r = scf.while (%i = %c0) : (i32) -> i32 {
    %c = arith.cmpi slt, %i, %n : i32
    scf.condition(%c) %i : i32
  } do {
  ^bb0(%i: i32):
    llvm.store %i, %p : i32, !llvm.ptr
    %next = arith.addi %i, %s : i32
    scf.yield %next : i32
  }
  return
}
