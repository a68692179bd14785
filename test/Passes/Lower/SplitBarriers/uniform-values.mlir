// RUN: %regrain-opt %s --regrain-split-barriers | FileCheck %s

// Perhaps no thread takes the branch without a barrier: the division, which may trap, stays with the threads that do.
// CHECK-LABEL: func.func @do_not_hoist_division
func.func @do_not_hoist_division(%p: !llvm.ptr, %b: index, %n: i32, %m: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: regrain.gpu_wrapper
  %e = regrain.gpu_wrapper @k grid(%c1, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%c1, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %c = arith.cmpi slt, %t, %n : i32
        %q = llvm.sdiv %m, %n : i32
        // CHECK-NOT: llvm.sdiv
        // CHECK: scf.parallel
        scf.if %c {
          llvm.store %t, %p : i32, !llvm.ptr
          regrain.barrier(%x, %y, %z)
        } else {
          // CHECK: scf.parallel
          // CHECK: scf.if
          // CHECK: llvm.sdiv
          llvm.store %q, %p : i32, !llvm.ptr
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// A barrier in each round: no thread spins alone, however the flag is read.
// CHECK-LABEL: func.func @meets_in_each_round
func.func @meets_in_each_round(%p: !llvm.ptr, %b: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = regrain.gpu_wrapper @k grid(%c1, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%c1, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %zero = arith.constant 0 : i32
        // CHECK: scf.while
        // CHECK-NOT: regrain.barrier
        scf.while : () -> () {
          %f = llvm.load volatile %p : !llvm.ptr -> i32
          %go = arith.cmpi eq, %f, %zero : i32
          scf.condition(%go)
        } do {
          regrain.barrier(%x, %y, %z)
          llvm.store volatile %zero, %p : i32, !llvm.ptr
          regrain.barrier(%x, %y, %z)
          scf.yield
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// A loop that only waits for another thread to write stays in its thread loop.
// CHECK-LABEL: func.func @split_spinning
// CHECK-NOT: regrain.not_split
// CHECK: scf.parallel
// CHECK: scf.parallel
// CHECK: scf.while
func.func @split_spinning(%p: !llvm.ptr, %b: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = regrain.gpu_wrapper @k grid(%c1, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%c1, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %zero = arith.constant 0 : i32
        scf.while : () -> () {
          %f = llvm.load volatile %p : !llvm.ptr -> i32
          %go = arith.cmpi eq, %f, %zero : i32
          scf.condition(%go)
        } do {
          scf.yield
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// All threads divide alike: the loop stays one loop of the block.
// CHECK-LABEL: func.func @loop_to_a_quotient
func.func @loop_to_a_quotient(%p: !llvm.ptr, %b: index, %n: i32, %m: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = regrain.gpu_wrapper @k grid(%c1, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%c1, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %zero = arith.constant 0 : i32
        %one = arith.constant 1 : i32
        // CHECK: %[[Q:.*]] = llvm.sdiv
        %q = llvm.sdiv %m, %n : i32
        // CHECK: scf.for %{{.*}} = %{{.*}} to %[[Q]]
        // CHECK: scf.parallel
        scf.for %l = %zero to %q step %one : i32 {
          llvm.store %l, %p : i32, !llvm.ptr
          regrain.barrier(%x, %y, %z)
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// A lock taken by an atomic `or`: who has it may be a thread that has not run yet.
// CHECK-LABEL: func.func @split_lock
// CHECK-NOT: regrain.not_split
// CHECK: scf.parallel
// CHECK: scf.parallel
// CHECK: scf.while
func.func @split_lock(%p: !llvm.ptr, %b: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = regrain.gpu_wrapper @k grid(%c1, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%c1, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %zero = arith.constant 0 : i32
        %one = arith.constant 1 : i32
        scf.while : () -> () {
          %old = llvm.atomicrmw _or %p, %one monotonic : !llvm.ptr, i32
          %taken = arith.cmpi ne, %old, %zero : i32
          scf.condition(%taken)
        } do {
          scf.yield
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// Behind a barrier all threads read the same at one place of shared memory: once, before their loop.
// CHECK-LABEL: func.func @settled
// CHECK: scf.parallel
// CHECK: scf.parallel
// CHECK: llvm.store
// CHECK: scf.reduce
// CHECK-NOT: scf.parallel
// CHECK: %[[TOTAL:.*]] = llvm.load
// CHECK: %[[GO:.*]] = arith.cmpi sgt, %[[TOTAL]]
// CHECK: scf.if %[[GO]]
// CHECK: scf.parallel
func.func @settled(%p: !llvm.ptr, %b: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = regrain.gpu_wrapper @k grid(%c1, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%c1, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<64 x i32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %first = llvm.getelementptr %tile[0] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i32
        %own = llvm.getelementptr %tile[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
        llvm.store %t, %own : i32, !llvm.ptr<3>
        regrain.barrier(%x, %y, %z)
        %total = llvm.load %first : !llvm.ptr<3> -> i32
        %c = arith.cmpi sgt, %total, %t : i32
        %some = arith.constant 7 : i32
        %go = arith.cmpi sgt, %total, %some : i32
        scf.if %go {
          regrain.barrier(%x, %y, %z)
          llvm.store %t, %p : i32, !llvm.ptr
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// What was written since the barrier may be what a thread reads.
// CHECK-LABEL: func.func @do_not_settle_what_is_written
// CHECK: scf.parallel
// CHECK: scf.parallel
// CHECK: scf.reduce
// CHECK: scf.parallel
// CHECK: llvm.load
func.func @do_not_settle_what_is_written(%p: !llvm.ptr, %b: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = regrain.gpu_wrapper @k grid(%c1, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%c1, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<64 x i32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %first = llvm.getelementptr %tile[0] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i32
        %own = llvm.getelementptr %tile[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
        llvm.store %t, %own : i32, !llvm.ptr<3>
        regrain.barrier(%x, %y, %z)
        llvm.store %t, %own : i32, !llvm.ptr<3>
        %total = llvm.load %first : !llvm.ptr<3> -> i32
        %c = arith.cmpi sgt, %total, %t : i32
        %some = arith.constant 7 : i32
        %go = arith.cmpi sgt, %total, %some : i32
        scf.if %go {
          regrain.barrier(%x, %y, %z)
          llvm.store %t, %p : i32, !llvm.ptr
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}
