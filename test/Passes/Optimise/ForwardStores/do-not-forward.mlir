// RUN: %regrain-opt %s --regrain-forward-stores | FileCheck %s

// CHECK-LABEL: func.func @do_not_forward_what_another_thread_writes
func.func @do_not_forward_what_another_thread_writes(%n: index, %out: !llvm.ptr, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%b) = (%c0) to (%n) step (%c1) {
    %tile = regrain.shared : !llvm.array<64 x f32> -> !llvm.ptr<3>
    scf.parallel (%x) = (%c0) to (%c64) step (%c1) {
      // CHECK: llvm.store
      // CHECK: regrain.barrier
      // CHECK: llvm.store
      // CHECK: regrain.barrier
      // CHECK: llvm.load
      %last = llvm.mlir.constant(63 : i64) : i64
      %i = arith.index_cast %x : index to i64
      %j = llvm.sub %last, %i : i64
      %own = llvm.getelementptr %tile[0, %i] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<64 x f32>
      %other = llvm.getelementptr %tile[0, %j] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<64 x f32>
      %t = llvm.load %out : !llvm.ptr -> f32
      llvm.store %f, %own : f32, !llvm.ptr<3>
      regrain.barrier(%x)
      llvm.store %t, %other : f32, !llvm.ptr<3>
      regrain.barrier(%x)
      %v = llvm.load %own : !llvm.ptr<3> -> f32
      %o = llvm.getelementptr %out[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      llvm.store %v, %o : f32, !llvm.ptr
    }
  }
  return
}

// The next round of the loop writes before it reads.
// CHECK-LABEL: func.func @do_not_forward_into_a_loop_that_writes
func.func @do_not_forward_into_a_loop_that_writes(%n: index, %p: !llvm.ptr, %q: !llvm.ptr, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%x) = (%c0) to (%n) step (%c1) {
    // CHECK: llvm.store
    // CHECK: scf.for
    // CHECK: llvm.load
    // CHECK: llvm.store
    llvm.store %f, %p : f32, !llvm.ptr
    scf.for %k = %c0 to %n step %c1 {
      %v = llvm.load %p : !llvm.ptr -> f32
      %w = llvm.fadd %v, %f : f32
      llvm.store %w, %p : f32, !llvm.ptr
    }
  }
  return
}

// CHECK-LABEL: func.func @do_not_forward_out_of_a_condition
func.func @do_not_forward_out_of_a_condition(%n: index, %c: i1, %p: !llvm.ptr, %f: f32, %g: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%x) = (%c0) to (%n) step (%c1) {
    // CHECK: llvm.store
    // CHECK: scf.if
    // CHECK: llvm.store
    // CHECK: llvm.load
    // CHECK: return
    llvm.store %f, %p : f32, !llvm.ptr
    scf.if %c {
      llvm.store %g, %p : f32, !llvm.ptr
    }
    %v = llvm.load %p : !llvm.ptr -> f32
    %s = llvm.fadd %v, %v : f32
    %q = llvm.getelementptr %p[1] : (!llvm.ptr) -> !llvm.ptr, f32
    llvm.store %s, %q : f32, !llvm.ptr
  }
  return
}

// CHECK-LABEL: func.func @do_not_forward_beyond_what_is_not_known
func.func @do_not_forward_beyond_what_is_not_known(%n: index, %p: !llvm.ptr, %q: !llvm.ptr, %i: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%x) = (%c0) to (%n) step (%c1) {
    // CHECK: llvm.store
    // CHECK: llvm.atomicrmw
    // CHECK: llvm.load %{{.*}} : !llvm.ptr -> i32
    // CHECK: llvm.load volatile
    // CHECK: llvm.load volatile
    llvm.store %i, %p : i32, !llvm.ptr
    %a = llvm.atomicrmw add %q, %i monotonic : !llvm.ptr, i32
    %v = llvm.load %p : !llvm.ptr -> i32
    llvm.store %v, %q : i32, !llvm.ptr
    %w = llvm.load volatile %q : !llvm.ptr -> i32
    %u = llvm.load volatile %q : !llvm.ptr -> i32
  }
  return
}

// Two arguments may be the same memory.
// CHECK-LABEL: func.func @do_not_forward_past_an_alias
func.func @do_not_forward_past_an_alias(%n: index, %p: !llvm.ptr, %q: !llvm.ptr, %f: f32, %g: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%x) = (%c0) to (%n) step (%c1) {
    // CHECK-COUNT-2: llvm.store
    // CHECK: llvm.load
    // CHECK: llvm.store
    llvm.store %f, %p : f32, !llvm.ptr
    llvm.store %g, %q : f32, !llvm.ptr
    %v = llvm.load %p : !llvm.ptr -> f32
    %s = llvm.fadd %v, %v : f32
    llvm.store %s, %q : f32, !llvm.ptr
  }
  return
}

// Others may read it between the barriers.
// CHECK-LABEL: func.func @do_not_erase_what_others_read
func.func @do_not_erase_what_others_read(%n: index, %out: !llvm.ptr, %f: f32, %g: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%b) = (%c0) to (%n) step (%c1) {
    %cell = regrain.shared : f32 -> !llvm.ptr<3>
    scf.parallel (%x) = (%c0) to (%n) step (%c1) {
      // CHECK: llvm.store
      // CHECK: regrain.barrier
      // CHECK: llvm.load
      // CHECK: llvm.store
      %first = arith.cmpi eq, %x, %c0 : index
      scf.if %first {
        llvm.store %f, %cell : f32, !llvm.ptr<3>
      }
      regrain.barrier(%x)
      %v = llvm.load %cell : !llvm.ptr<3> -> f32
      regrain.barrier(%x)
      llvm.store %g, %cell : f32, !llvm.ptr<3>
      %o = llvm.getelementptr %out[1] : (!llvm.ptr) -> !llvm.ptr, f32
      llvm.store %v, %o : f32, !llvm.ptr
    }
  }
  return
}

// Another block may write there while the grid meets.
// CHECK-LABEL: func.func @do_not_forward_over_a_barrier_of_the_grid
func.func @do_not_forward_over_a_barrier_of_the_grid(%n: index, %p: !llvm.ptr, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%b) = (%c0) to (%n) step (%c1) {
    scf.parallel (%x) = (%c0) to (%c64) step (%c1) {
      // CHECK: llvm.store
      // CHECK: regrain.barrier
      // CHECK: llvm.load
      %i = arith.index_cast %x : index to i64
      %own = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %other = llvm.getelementptr %p[1024] : (!llvm.ptr) -> !llvm.ptr, f32
      llvm.store %f, %own : f32, !llvm.ptr
      regrain.barrier(%x) {grid}
      %v = llvm.load %own : !llvm.ptr -> f32
      llvm.store %v, %other : f32, !llvm.ptr
    }
  }
  return
}
