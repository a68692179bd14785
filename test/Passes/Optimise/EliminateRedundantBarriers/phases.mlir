// RUN: %regrain-opt %s --regrain-eliminate-redundant-barriers | FileCheck %s

// Accesses between barriers, by all ways through loops and conditions.

// CHECK-LABEL: func.func @nothing_before_and_nothing_after
func.func @nothing_before_and_nothing_after(%n: index, %p: !llvm.ptr<3>, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%x) = (%c0) to (%n) step (%c1) {
    // CHECK-NOT: regrain.barrier
    regrain.barrier(%x)
    llvm.store %f, %p : f32, !llvm.ptr<3>
    regrain.barrier(%x)
  }
  return
}

// CHECK-LABEL: func.func @only_reads
func.func @only_reads(%n: index, %p: !llvm.ptr<3>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%x) = (%c0) to (%n) step (%c1) {
    // CHECK-NOT: regrain.barrier
    scf.for %k = %c0 to %n step %c1 {
      regrain.barrier(%x)
      %v = llvm.load %p : !llvm.ptr<3> -> f32
      regrain.barrier(%x)
    }
  }
  return
}

// The barrier in the loop orders the first store too.
// CHECK-LABEL: func.func @another_barrier_comes_before_the_reads
func.func @another_barrier_comes_before_the_reads(%n: index, %p: !llvm.ptr<3>, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%x) = (%c0) to (%n) step (%c1) {
    // CHECK: llvm.store
    // CHECK-NEXT: scf.for
    // CHECK: regrain.barrier
    // CHECK-NEXT: llvm.load
    llvm.store %f, %p : f32, !llvm.ptr<3>
    regrain.barrier(%x)
    scf.for %k = %c0 to %n step %c1 {
      regrain.barrier(%x)
      %v = llvm.load %p : !llvm.ptr<3> -> f32
    }
  }
  return
}

// CHECK-LABEL: func.func @do_not_remove_between_write_and_read
func.func @do_not_remove_between_write_and_read(%n: index, %c: i1, %p: !llvm.ptr<3>, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%x) = (%c0) to (%n) step (%c1) {
    // CHECK: llvm.load
    // CHECK: regrain.barrier
    // CHECK: scf.if
    regrain.barrier(%x)
    %v = llvm.load %p : !llvm.ptr<3> -> f32
    regrain.barrier(%x)
    scf.if %c {
      llvm.store %f, %p : f32, !llvm.ptr<3>
    }
    regrain.barrier(%x)
  }
  return
}

// The store of a round and the load of the next.
// CHECK-LABEL: func.func @do_not_remove_what_the_next_round_needs
func.func @do_not_remove_what_the_next_round_needs(%n: index, %p: !llvm.ptr<3>, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%x) = (%c0) to (%n) step (%c1) {
    // CHECK: scf.for
    // CHECK: llvm.load
    // CHECK: regrain.barrier
    // CHECK: llvm.store
    // CHECK: regrain.barrier
    scf.for %k = %c0 to %n step %c1 {
      %v = llvm.load %p : !llvm.ptr<3> -> f32
      regrain.barrier(%x)
      llvm.store %f, %p : f32, !llvm.ptr<3>
      regrain.barrier(%x)
    }
  }
  return
}

// CHECK-LABEL: func.func @do_not_remove_in_the_test_of_a_loop
func.func @do_not_remove_in_the_test_of_a_loop(%n: index, %p: !llvm.ptr<3>, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%x) = (%c0) to (%n) step (%c1) {
    // CHECK: scf.while
    // CHECK: llvm.load
    // CHECK: regrain.barrier
    // CHECK: do
    // CHECK: llvm.store
    // CHECK-NOT: regrain.barrier
    %r = scf.while (%k = %c0) : (index) -> index {
      %v = llvm.load %p : !llvm.ptr<3> -> f32
      %more = arith.cmpi slt, %k, %n : index
      regrain.barrier(%x)
      scf.condition(%more) %k : index
    } do {
    ^bb0(%k: index):
      llvm.store %f, %p : f32, !llvm.ptr<3>
      %next = arith.addi %k, %c1 : index
      scf.yield %next : index
    }
  }
  return
}

// One way has a barrier of its own, the other has not.
// CHECK-LABEL: func.func @do_not_remove_before_a_branch_without_barrier
func.func @do_not_remove_before_a_branch_without_barrier(%n: index, %c: i1, %p: !llvm.ptr<3>, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%x) = (%c0) to (%n) step (%c1) {
    // CHECK: llvm.store
    // CHECK-NEXT: regrain.barrier
    // CHECK: scf.if
    // CHECK-NOT: regrain.barrier
    // CHECK: llvm.load
    llvm.store %f, %p : f32, !llvm.ptr<3>
    regrain.barrier(%x)
    scf.if %c {
      regrain.barrier(%x)
    }
    %v = llvm.load %p : !llvm.ptr<3> -> f32
  }
  return
}

// CHECK-LABEL: func.func @do_not_remove_where_threads_differ
func.func @do_not_remove_where_threads_differ(%n: index, %p: !llvm.ptr<3>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%x) = (%c0) to (%n) step (%c1) {
    // CHECK: scf.if
    // CHECK: regrain.barrier
    %some = arith.cmpi slt, %x, %c1 : index
    scf.if %some {
      %v = llvm.load %p : !llvm.ptr<3> -> f32
      regrain.barrier(%x)
    }
  }
  return
}

// CHECK-LABEL: func.func @do_not_remove_beside_what_is_not_known
func.func @do_not_remove_beside_what_is_not_known(%n: index, %p: !llvm.ptr<3>, %i: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%x) = (%c0) to (%n) step (%c1) {
    // CHECK: llvm.load volatile
    // CHECK: regrain.barrier
    // CHECK: llvm.load
    // CHECK: regrain.barrier
    // CHECK: llvm.atomicrmw
    %v = llvm.load volatile %p : !llvm.ptr<3> -> i32
    regrain.barrier(%x)
    %w = llvm.load %p : !llvm.ptr<3> -> i32
    regrain.barrier(%x)
    %a = llvm.atomicrmw add %p, %i monotonic : !llvm.ptr<3>, i32
  }
  return
}
