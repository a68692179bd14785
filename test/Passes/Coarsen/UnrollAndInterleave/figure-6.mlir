// RUN: %regrain-opt %s --regrain-unroll-and-interleave='factor=2 serial=true' --verify-diagnostics | FileCheck %s

// All statements of a round come before those of the next.
// CHECK-LABEL: func.func @serial
// CHECK-SAME: %[[A:.*]]: !llvm.ptr, %[[B:.*]]: !llvm.ptr
// CHECK: %[[C8:.*]] = arith.constant 8 : index
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[C8]]
// CHECK: %[[TWO:.*]] = arith.constant 2 : index
// CHECK: %[[I0:.*]] = arith.muli %[[I]], %[[TWO]]
// CHECK: %[[V0:.*]] = arith.index_cast %[[I0]]
// CHECK-NEXT: llvm.store %[[V0]], %[[A]]
// CHECK-NEXT: llvm.store %[[V0]], %[[B]]
// CHECK: %[[I1:.*]] = arith.addi %[[I0]]
// CHECK: %[[V1:.*]] = arith.index_cast %[[I1]]
// CHECK-NEXT: llvm.store %[[V1]], %[[A]]
// CHECK-NEXT: llvm.store %[[V1]], %[[B]]
func.func @serial(%a: !llvm.ptr, %b: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  scf.for %i = %c0 to %c16 step %c1 {
    %v = arith.index_cast %i : index to i32
    llvm.store %v, %a : i32, !llvm.ptr
    llvm.store %v, %b : i32, !llvm.ptr
  }
  func.return
}

// What the loop carries goes from round to round.
// CHECK-LABEL: func.func @a_sum
// CHECK: scf.for %[[I:.*]] = {{.*}} iter_args(%[[S:.*]] = %{{.*}}) -> (i32)
// CHECK: %[[S0:.*]] = arith.addi %[[S]], %{{.*}} : i32
// CHECK: %[[S1:.*]] = arith.addi %[[S0]], %{{.*}} : i32
// CHECK: scf.yield %[[S1]]
func.func @a_sum(%start: i32) -> i32 {
  %c3 = arith.constant 3 : i32
  %c2 = arith.constant 2 : i32
  %c11 = arith.constant 11 : i32
  %sum = scf.for %i = %c3 to %c11 step %c2 iter_args(%s = %start) -> i32 : i32 {
    %t = arith.addi %s, %i : i32
    scf.yield %t : i32
  }
  func.return %sum : i32
}

// CHECK-LABEL: func.func @do_not_unroll_an_odd_number_of_rounds
// CHECK: scf.for
// CHECK: llvm.store
// CHECK-NOT: llvm.store
func.func @do_not_unroll_an_odd_number_of_rounds(%a: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c15 = arith.constant 15 : index
  // expected-remark @+1 {{not unrolled and interleaved: the factor does not divide the number of iterations}}
  scf.for %i = %c0 to %c15 step %c1 {
    %v = arith.index_cast %i : index to i32
    llvm.store %v, %a : i32, !llvm.ptr
  }
  func.return
}
