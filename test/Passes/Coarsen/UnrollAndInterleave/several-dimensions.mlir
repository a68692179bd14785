// RUN: %regrain-opt %s --regrain-unroll-and-interleave='factor=2 dimension=1' | FileCheck %s

// Only what depends on the unrolled dimension stands twice. Copies join their predicates before a barrier that reduces.
// CHECK-LABEL: func.func @second_dimension
// CHECK: %[[C4:.*]] = arith.constant 4 : index
// CHECK: scf.parallel (%[[I:.*]], %[[J:.*]]) = (%{{.*}}, %{{.*}}) to (%{{.*}}, %[[C4]])
// CHECK-COUNT-1: arith.index_cast %[[I]] : index to i32
// CHECK: %[[P0:.*]] = arith.cmpi slt
// CHECK: %[[P1:.*]] = arith.cmpi slt
// CHECK: %[[P:.*]] = arith.ori %[[P0]], %[[P1]] : i1
// CHECK: %[[R:.*]] = regrain.barrier_reduce or %[[P]](%[[I]], %[[J]]) : i1
// CHECK-NOT: regrain.barrier_reduce or
// CHECK: scf.if %[[R]]
// CHECK: llvm.store
// CHECK-NEXT: llvm.store
// CHECK-NEXT: }
// CHECK: %[[N0:.*]] = regrain.barrier_reduce popc
// CHECK: %[[N1:.*]] = regrain.barrier_reduce popc
// CHECK: arith.addi %[[N0]], %[[N1]] : i32
func.func @second_dimension(%a: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%c8, %c8) step (%c1, %c1) {
    %x = arith.index_cast %i : index to i32
    %y = arith.index_cast %j : index to i32
    %p = arith.cmpi slt, %x, %y : i32
    %any = regrain.barrier_reduce or %p(%i, %j) : i1
    scf.if %any {
      llvm.store %y, %a : i32, !llvm.ptr
    }
    %n = regrain.barrier_reduce popc %p(%i, %j) : i32
    llvm.store %n, %a : i32, !llvm.ptr
    scf.reduce
  }
  func.return
}
