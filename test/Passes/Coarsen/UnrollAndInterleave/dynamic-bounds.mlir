// RUN: %regrain-opt %s --regrain-unroll-and-interleave='factor=2 dimension=1' | FileCheck %s

// What is left over runs in a loop of its own.
// CHECK-LABEL: func.func @unknown_number_of_iterations
// CHECK-SAME: (%[[A:.*]]: !llvm.ptr, %[[LOW:.*]]: index, %[[HIGH:.*]]: index, %[[STEP:.*]]: index)
func.func @unknown_number_of_iterations(%a: !llvm.ptr, %low: index, %high: index, %step: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: %[[DISTANCE:.*]] = arith.subi %[[HIGH]], %[[LOW]] : index
  // CHECK: %[[LENGTH:.*]] = arith.maxsi %[[DISTANCE]],
  // CHECK: %[[COUNT:.*]] = arith.divui %{{.*}}, %[[STEP]] : index
  // CHECK: %[[EXTENT:.*]] = arith.divui %[[COUNT]], %{{.*}} : index
  // CHECK: %[[DONE:.*]] = arith.muli %{{.*}}, %[[STEP]] : index
  // CHECK: %[[FIRST:.*]] = arith.addi %[[LOW]], %[[DONE]] : index
  // CHECK: scf.parallel (%{{.*}}, %{{.*}}) = (%{{.*}}, %{{.*}}) to (%[[HIGH]], %[[EXTENT]])
  // CHECK: llvm.store
  // CHECK-NEXT: llvm.store
  // CHECK: scf.parallel (%{{.*}}, %{{.*}}) = (%{{.*}}, %[[FIRST]]) to (%[[HIGH]], %[[HIGH]]) step (%{{.*}}, %[[STEP]])
  // CHECK-COUNT-1: llvm.store
  // CHECK-NOT: llvm.store
  scf.parallel (%i, %j) = (%c0, %low) to (%high, %high) step (%c1, %step) {
    %w = arith.index_cast %j : index to i64
    llvm.store %w, %a : i64, !llvm.ptr
    scf.reduce
  }
  func.return
}

// CHECK-LABEL: func.func @remainder
// CHECK: scf.parallel
// CHECK: scf.parallel
func.func @remainder(%a: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c15 = arith.constant 15 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%c1, %c15) step (%c1, %c1) {
    %w = arith.index_cast %j : index to i64
    llvm.store %w, %a : i64, !llvm.ptr
    scf.reduce
  }
  func.return
}
