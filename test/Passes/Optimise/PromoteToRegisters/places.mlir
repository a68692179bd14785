// RUN: %regrain-opt %s --regrain-promote-to-registers | FileCheck %s

// CHECK-LABEL: func.func @a_sum_in_memory
// CHECK-SAME: %[[P:[^:]*]]: !llvm.ptr, %[[V:[^:]*]]: f32
func.func @a_sum_in_memory(%n: index, %p: !llvm.ptr, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.parallel (%x) = (%c0) to (%n) step (%c1) {
    // CHECK: %[[FIRST:.*]] = llvm.load %[[P]] {alignment = 4 : i64}
    // CHECK: %[[SUM:.*]] = scf.for {{.*}} iter_args(%[[S:.*]] = %[[FIRST]])
    // CHECK-NOT: llvm.load
    // CHECK: %[[T:.*]] = llvm.fadd %[[S]], %[[V]]
    // CHECK-NEXT: scf.yield %[[T]]
    // CHECK: llvm.store %[[SUM]], %[[P]]
    scf.for %k = %c0 to %c8 step %c1 {
      %s = llvm.load %p {alignment = 4 : i64} : !llvm.ptr -> f32
      %t = llvm.fadd %s, %v : f32
      llvm.store %t, %p : f32, !llvm.ptr
    }
  }
  return
}

// Nothing is loaded or stored where the loop has no round.
// CHECK-LABEL: func.func @a_loop_that_may_have_no_round
// CHECK-SAME: %[[N:[^:]*]]: index, %[[P:[^:]*]]: !llvm.ptr
func.func @a_loop_that_may_have_no_round(%n: index, %p: !llvm.ptr, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%x) = (%c0) to (%n) step (%c1) {
    // CHECK: %[[SOME:.*]] = arith.cmpi slt, %{{.*}}, %[[N]]
    // CHECK: %[[FIRST:.*]] = scf.if %[[SOME]] -> (f32) {
    // CHECK-NEXT: llvm.load %[[P]]
    // CHECK: } else {
    // CHECK-NEXT: ub.poison
    // CHECK: %[[SUM:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[FIRST]])
    // CHECK: scf.if %[[SOME]] {
    // CHECK-NEXT: llvm.store %[[SUM]], %[[P]]
    scf.for %k = %c0 to %n step %c1 {
      %s = llvm.load %p : !llvm.ptr -> f32
      %t = llvm.fadd %s, %v : f32
      llvm.store %t, %p : f32, !llvm.ptr
    }
  }
  return
}

// What an inner loop adds up is added up by the outer one too, the last of several stores holds, and shared memory is apart from the
// device's.
// CHECK-LABEL: func.func @nests_and_several_stores
// CHECK-SAME: %[[P:[^:]*]]: !llvm.ptr
func.func @nests_and_several_stores(%p: !llvm.ptr, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.parallel (%b) = (%c0) to (%n) step (%c1) {
    %tile = regrain.shared : !llvm.array<8 x f32> -> !llvm.ptr<3>
    scf.parallel (%x) = (%c0) to (%c8) step (%c1) {
      // CHECK: %[[FIRST:.*]] = llvm.load %[[P]]
      // CHECK-NEXT: %[[ALL:.*]] = scf.for {{.*}} iter_args(%[[O:.*]] = %[[FIRST]])
      // CHECK-NEXT: %[[SUM:.*]] = scf.for {{.*}} iter_args(%[[S:.*]] = %[[O]])
      // CHECK: llvm.load %{{.*}} : !llvm.ptr<3>
      // CHECK: %[[T:.*]] = llvm.fadd %[[S]]
      // CHECK: %[[U:.*]] = llvm.fadd %[[T]]
      // CHECK-NEXT: scf.yield %[[U]]
      // CHECK: scf.yield %[[SUM]]
      // CHECK: llvm.store %[[ALL]], %[[P]]
      // CHECK-NOT: llvm.store
      scf.for %j = %c0 to %c8 step %c1 {
        scf.for %k = %c0 to %c8 step %c1 {
          %i = arith.index_cast %k : index to i64
          %at = llvm.getelementptr %tile[0, %i] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<8 x f32>
          %v = llvm.load %at : !llvm.ptr<3> -> f32
          %s = llvm.load %p : !llvm.ptr -> f32
          %t = llvm.fadd %s, %v : f32
          llvm.store %t, %p : f32, !llvm.ptr
          %r = llvm.load %p : !llvm.ptr -> f32
          %u = llvm.fadd %r, %v : f32
          llvm.store %u, %p : f32, !llvm.ptr
        }
      }
    }
  }
  return
}
