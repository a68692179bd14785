// RUN: %mlir-opt %s --canonicalize | FileCheck %s

// A branch that moves down into the loop's second region (WhileMoveIfDown) replaces but the first of the arguments that pass
// its result on; the second becomes what the other side of the branch yields, here poison that is stored. When this fails,
// remove `PassOnOnce` (crates/mlir-bridge/cpp/lift.cpp).

// CHECK: %[[POISON:.*]] = ub.poison
// CHECK: scf.while
// CHECK: } do {
// CHECK: llvm.store %[[POISON]]
func.func @f(%n: i32, %p: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %u = ub.poison : i32
  %r:2 = scf.while (%i = %c0) : (i32) -> (i32, i32) {
    %c = arith.cmpi slt, %i, %n : i32
    %next = scf.if %c -> i32 {
      llvm.store %i, %p : i32, !llvm.ptr
      %a = arith.addi %i, %c1 : i32
      scf.yield %a : i32
    } else {
      scf.yield %u : i32
    }
    scf.condition(%c) %next, %next : i32, i32
  } do {
  ^bb0(%i: i32, %j: i32):
    llvm.store %j, %p : i32, !llvm.ptr
    scf.yield %i : i32
  }
  return
}
