// RUN: %regrain-opt %s --regrain-hoist-invariants | FileCheck %s

// CHECK-LABEL: func.func @do_not_hoist_what_the_loop_writes
func.func @do_not_hoist_what_the_loop_writes(%n: index, %p: !llvm.ptr, %q: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.parallel (%x) = (%c0) to (%n) step (%c1) {
    // CHECK: scf.for
    // CHECK: llvm.load
    scf.for %k = %c0 to %c8 step %c1 {
      %v = llvm.load %p : !llvm.ptr -> f32
      llvm.store %v, %q : f32, !llvm.ptr
    }
  }
  return
}

// The neighbour writes its place in the same loop.
// CHECK-LABEL: func.func @do_not_hoist_what_another_thread_writes
func.func @do_not_hoist_what_another_thread_writes(%n: index, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%b) = (%c0) to (%n) step (%c1) {
    %tile = regrain.shared : !llvm.array<65 x f32> -> !llvm.ptr<3>
    scf.parallel (%x) = (%c0) to (%c64) step (%c1) {
      // CHECK: scf.for
      // CHECK: llvm.load
      %i = arith.index_cast %x : index to i64
      %own = llvm.getelementptr %tile[0, %i] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<65 x f32>
      %next = llvm.getelementptr %own[1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, f32
      scf.for %k = %c0 to %c64 step %c1 {
        %v = llvm.load %next : !llvm.ptr<3> -> f32
        regrain.barrier(%x)
        llvm.store %f, %own : f32, !llvm.ptr<3>
        regrain.barrier(%x)
      }
    }
  }
  return
}

// What was written before the loop is seen only behind the barrier in it.
// CHECK-LABEL: func.func @do_not_hoist_past_a_barrier_that_the_load_needs
func.func @do_not_hoist_past_a_barrier_that_the_load_needs(%n: index, %f: f32, %out: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%b) = (%c0) to (%n) step (%c1) {
    %cell = regrain.shared : f32 -> !llvm.ptr<3>
    scf.parallel (%x) = (%c0) to (%c64) step (%c1) {
      // CHECK: llvm.store
      // CHECK: scf.for
      // CHECK: regrain.barrier
      // CHECK: llvm.load
      %first = arith.cmpi eq, %x, %c0 : index
      scf.if %first {
        llvm.store %f, %cell : f32, !llvm.ptr<3>
      }
      scf.for %k = %c0 to %c64 step %c1 {
        regrain.barrier(%x)
        %v = llvm.load %cell : !llvm.ptr<3> -> f32
        llvm.store %v, %out : f32, !llvm.ptr
      }
    }
  }
  return
}

// CHECK-LABEL: func.func @do_not_hoist_what_may_not_run
func.func @do_not_hoist_what_may_not_run(%n: index, %c: i1, %p: !llvm.ptr, %q: !llvm.ptr<3>, %a: i32, %b: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%x) = (%c0) to (%n) step (%c1) {
    // CHECK: scf.for
    // CHECK: llvm.sdiv
    // CHECK: scf.if
    // CHECK: llvm.load
    scf.for %k = %c0 to %n step %c1 {
      %d = llvm.sdiv %a, %b : i32
      llvm.store %d, %q : i32, !llvm.ptr<3>
      scf.if %c {
        %v = llvm.load %p : !llvm.ptr -> i32
        llvm.store %v, %q : i32, !llvm.ptr<3>
      }
    }
  }
  return
}

// CHECK-LABEL: func.func @do_not_hoist_volatile_or_beside_atomics
func.func @do_not_hoist_volatile_or_beside_atomics(%n: index, %p: !llvm.ptr, %q: !llvm.ptr, %a: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.parallel (%x) = (%c0) to (%n) step (%c1) {
    // CHECK: scf.for
    // CHECK: llvm.load volatile
    // CHECK: scf.for
    // CHECK: llvm.load
    // CHECK: llvm.atomicrmw
    scf.for %k = %c0 to %c8 step %c1 {
      %v = llvm.load volatile %p : !llvm.ptr -> i32
    }
    scf.for %k = %c0 to %c8 step %c1 {
      %v = llvm.load %p : !llvm.ptr -> i32
      %o = llvm.atomicrmw add %q, %v monotonic : !llvm.ptr, i32
    }
  }
  return
}

// The loop goes on where the branch is not taken: what is in it may run in a later round for the first time.
// CHECK-LABEL: func.func @do_not_hoist_from_a_branch_that_the_loop_does_not_end_by
// CHECK: scf.while
// CHECK: llvm.load
// CHECK: llvm.load
// CHECK: } do {
func.func @do_not_hoist_from_a_branch_that_the_loop_does_not_end_by(%p: !llvm.ptr, %n: i32, %q: !llvm.ptr) -> i32 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %true = arith.constant true
  %found = scf.while (%k = %zero) : (i32) -> (i32) {
    %inside = arith.cmpi slt, %k, %n : i32
    %go = scf.if %inside -> (i1) {
      %at = llvm.getelementptr %p[%k] : (!llvm.ptr, i32) -> !llvm.ptr, f64
      %v = llvm.load %at : !llvm.ptr -> f64
      %limit = llvm.load %q : !llvm.ptr -> f64
      %less = arith.cmpf olt, %v, %limit : f64
      scf.yield %less : i1
    } else {
      scf.yield %true : i1
    }
    scf.condition(%go) %k : i32
  } do {
  ^bb0(%k: i32):
    %next = arith.addi %k, %one : i32
    scf.yield %next : i32
  }
  return %found : i32
}

// The test is of what the loop computes from memory.
// CHECK-LABEL: func.func @do_not_hoist_what_a_loaded_test_guards
// CHECK-NOT: scf.if
// CHECK: scf.while
func.func @do_not_hoist_what_a_loaded_test_guards(%p: !llvm.ptr, %q: !llvm.ptr, %out: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%b) = (%c0) to (%c64) step (%c1) {
    scf.parallel (%x) = (%c0) to (%c64) step (%c1) {
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %false = arith.constant false
      %found = scf.while (%k = %zero) : (i32) -> (i32) {
        %at = llvm.getelementptr %p[%k] : (!llvm.ptr, i32) -> !llvm.ptr, i32
        %w = llvm.load %at : !llvm.ptr -> i32
        %inside = arith.cmpi slt, %k, %w : i32
        %go = scf.if %inside -> (i1) {
          %limit = llvm.load %q : !llvm.ptr -> i32
          %less = arith.cmpi slt, %w, %limit : i32
          scf.yield %less : i1
        } else {
          scf.yield %false : i1
        }
        scf.condition(%go) %k : i32
      } do {
      ^bb0(%k: i32):
        %next = arith.addi %k, %one : i32
        scf.yield %next : i32
      }
      llvm.store %found, %out : i32, !llvm.ptr
    }
  }
  return
}
