// RUN: %regrain-opt %s --regrain-unroll-and-interleave='factor=2' | FileCheck %s

// Trip counts that may differ: each copy has the loop for itself, as one statement.
// CHECK-LABEL: func.func @variable_trip_count
// CHECK: scf.parallel
// CHECK: %[[N0:.*]] = llvm.load
// CHECK-NEXT: %[[N1:.*]] = llvm.load
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[N0]] step
// CHECK-NEXT: llvm.store
// CHECK-NEXT: }
// CHECK-NEXT: scf.for %{{.*}} = %{{.*}} to %[[N1]] step
// CHECK-NEXT: llvm.store
// CHECK-NEXT: }
func.func @variable_trip_count(%p: !llvm.ptr, %a: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.parallel (%i) = (%c0) to (%c16) step (%c1) {
    %t = arith.index_cast %i : index to i64
    %at = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %n = llvm.load %at : !llvm.ptr -> i32
    scf.for %j = %zero to %n step %one : i32 {
      llvm.store %j, %a : i32, !llvm.ptr
    }
    scf.reduce
  }
  func.return
}

// Memory may change between the copies' loads of one address.
// CHECK-LABEL: func.func @do_not_share_by_loaded_condition
// CHECK: scf.if
// CHECK: scf.if
func.func @do_not_share_by_loaded_condition(%p: !llvm.ptr, %a: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  scf.parallel (%i) = (%c0) to (%c16) step (%c1) {
    %c = llvm.load %p : !llvm.ptr -> i1
    scf.if %c {
      %s1 = arith.index_cast %i : index to i64
      llvm.store %s1, %a : i64, !llvm.ptr
    }
    scf.reduce
  }
  func.return
}
