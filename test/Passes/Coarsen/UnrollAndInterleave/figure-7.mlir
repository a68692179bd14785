// RUN: %regrain-opt %s --regrain-unroll-and-interleave='factor=2' | FileCheck %s
// RUN: %regrain-opt %s --regrain-unroll-and-interleave='factor=2 indexing=strided' | FileCheck %s --check-prefix=STRIDED

// Statements of the copies stand side by side, in their order.
// CHECK-LABEL: func.func @interleave
// CHECK-SAME: %[[A:.*]]: !llvm.ptr, %[[B:.*]]: !llvm.ptr
// CHECK-DAG: %[[C8:.*]] = arith.constant 8 : index
// CHECK: scf.parallel (%[[I:.*]]) = (%{{.*}}) to (%[[C8]])
// CHECK: %[[TWO:.*]] = arith.constant 2 : index
// CHECK: %[[I0:.*]] = arith.muli %[[I]], %[[TWO]]
// CHECK: %[[ONE:.*]] = arith.constant 1 : index
// CHECK: %[[I1:.*]] = arith.addi %[[I0]], %[[ONE]]
// CHECK: %[[V0:.*]] = arith.index_cast %[[I0]]
// CHECK: %[[V1:.*]] = arith.index_cast %[[I1]]
// CHECK: llvm.store %[[V0]], %[[A]]
// CHECK-NEXT: llvm.store %[[V1]], %[[A]]
// CHECK-NEXT: llvm.store %[[V0]], %[[B]]
// CHECK-NEXT: llvm.store %[[V1]], %[[B]]
// STRIDED: %[[C8:.*]] = arith.constant 8 : index
// STRIDED: scf.parallel (%[[I:.*]]) =
// STRIDED: arith.addi %[[I]], %[[C8]]
func.func @interleave(%a: !llvm.ptr, %b: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  scf.parallel (%i) = (%c0) to (%c16) step (%c1) {
    %v = arith.index_cast %i : index to i32
    llvm.store %v, %a : i32, !llvm.ptr
    llvm.store %v, %b : i32, !llvm.ptr
    scf.reduce
  }
  func.return
}

// Where a loop begins, and in what steps it goes, stays with the indices.
// CHECK-LABEL: func.func @from_three_in_steps_of_two
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK: %[[C4:.*]] = arith.constant 4 : index
// CHECK: scf.parallel (%[[I:.*]]) = (%{{.*}}) to (%[[C4]])
// CHECK: %[[FIRST:.*]] = arith.muli %[[I]]
// CHECK: %[[S0:.*]] = arith.muli %[[FIRST]], %[[C2]]
// CHECK: arith.addi %[[C3]], %[[S0]]
// CHECK: %[[SECOND:.*]] = arith.addi %[[FIRST]]
// CHECK: %[[S1:.*]] = arith.muli %[[SECOND]], %[[C2]]
// CHECK: arith.addi %[[C3]], %[[S1]]
func.func @from_three_in_steps_of_two(%a: !llvm.ptr) {
  %c3 = arith.constant 3 : index
  %c2 = arith.constant 2 : index
  %c18 = arith.constant 18 : index
  scf.parallel (%i) = (%c3) to (%c18) step (%c2) {
    %v = arith.index_cast %i : index to i32
    llvm.store %v, %a : i32, !llvm.ptr
    scf.reduce
  }
  func.return
}
