// RUN: %regrain-opt %s --regrain-unroll-and-interleave='factor=2' --verify-diagnostics | FileCheck %s

// The bounds differ between copies, the number of iterations does not.
// CHECK-LABEL: func.func @jam_loops_of_same_length
func.func @jam_loops_of_same_length(%a: !llvm.ptr, %n: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %one = arith.constant 1 : i32
  scf.parallel (%i) = (%c0) to (%c16) step (%c1) {
    scf.parallel (%t) = (%c0) to (%c8) step (%c1) {
      %w = arith.index_cast %i : index to i32
      // CHECK: %[[LOW0:.*]] = llvm.mul %[[W0:.*]], %[[N:.*]] : i32
      // CHECK: %[[LOW1:.*]] = llvm.mul %[[W1:.*]], %[[N]] : i32
      %low = llvm.mul %w, %n : i32
      %end = llvm.add %low, %n overflow<nsw> : i32
      %last = llvm.sub %end, %one overflow<nsw> : i32
      %high = llvm.add %last, %one : i32
      // CHECK: %[[D:.*]] = arith.subi %[[LOW1]], %[[LOW0]] : i32
      // CHECK: scf.for %[[J:.*]] = %[[LOW0]] to
      // CHECK-NEXT: %[[J1:.*]] = arith.addi %[[J]], %[[D]] : i32
      // CHECK-NEXT: llvm.store %[[J]],
      // CHECK-NEXT: llvm.store %[[J1]],
      // CHECK-NEXT: regrain.barrier
      scf.for %j = %low to %high step %one : i32 {
        llvm.store %j, %a : i32, !llvm.ptr
        regrain.barrier(%t)
      }
      scf.reduce
    }
    scf.reduce
  }
  func.return
}

// CHECK-LABEL: func.func @do_not_jam_loops_whose_end_may_wrap
// The sum may wrap, and the loop of one copy then ends before it begins.
func.func @do_not_jam_loops_whose_end_may_wrap(%a: !llvm.ptr, %n: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %one = arith.constant 1 : i32
  // expected-remark @+1 {{a barrier of another loop would be duplicated}}
  scf.parallel (%i) = (%c0) to (%c16) step (%c1) {
    scf.parallel (%t) = (%c0) to (%c8) step (%c1) {
      %low = arith.index_cast %i : index to i32
      %high = llvm.add %low, %n : i32
      scf.for %j = %low to %high step %one : i32 {
        llvm.store %j, %a : i32, !llvm.ptr
        regrain.barrier(%t)
      }
      scf.reduce
    }
    scf.reduce
  }
  func.return
}
