// RUN: %regrain-opt %s --regrain-promote-to-registers | FileCheck %s

// CHECK-LABEL: func.func @do_not_promote_what_may_be_read_elsewhere
func.func @do_not_promote_what_may_be_read_elsewhere(%n: index, %p: !llvm.ptr, %q: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.parallel (%x) = (%c0) to (%n) step (%c1) {
    // CHECK: scf.for %{{[^ ]*}} = %{{[^ ]*}} to %{{[^ ]*}} step %{{[^ ]*}} {
    // CHECK: llvm.store
    scf.for %k = %c0 to %c8 step %c1 {
      %v = llvm.load %q : !llvm.ptr -> f32
      %s = llvm.load %p : !llvm.ptr -> f32
      %t = llvm.fadd %s, %v : f32
      llvm.store %t, %p : f32, !llvm.ptr
    }
  }
  return
}

// CHECK-LABEL: func.func @do_not_promote_under_a_condition
func.func @do_not_promote_under_a_condition(%n: index, %p: !llvm.ptr, %c: i1, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.parallel (%x) = (%c0) to (%n) step (%c1) {
    // CHECK: scf.for %{{[^ ]*}} = %{{[^ ]*}} to %{{[^ ]*}} step %{{[^ ]*}} {
    // CHECK: scf.if
    scf.for %k = %c0 to %c8 step %c1 {
      scf.if %c {
        %s = llvm.load %p : !llvm.ptr -> f32
        %t = llvm.fadd %s, %v : f32
        llvm.store %t, %p : f32, !llvm.ptr
      }
    }
  }
  return
}

// CHECK-LABEL: func.func @do_not_promote_across_barriers
func.func @do_not_promote_across_barriers(%n: index, %p: !llvm.ptr, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.parallel (%x) = (%c0) to (%n) step (%c1) {
    // CHECK: scf.for %{{[^ ]*}} = %{{[^ ]*}} to %{{[^ ]*}} step %{{[^ ]*}} {
    // CHECK: regrain.barrier
    scf.for %k = %c0 to %c8 step %c1 {
      %s = llvm.load %p : !llvm.ptr -> f32
      %t = llvm.fadd %s, %v : f32
      llvm.store %t, %p : f32, !llvm.ptr
      regrain.barrier(%x)
    }
  }
  return
}

// CHECK-LABEL: func.func @do_not_promote_volatile_or_atomic_accesses
func.func @do_not_promote_volatile_or_atomic_accesses(%n: index, %p: !llvm.ptr, %q: !llvm.ptr, %v: f32, %w: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.parallel (%x) = (%c0) to (%n) step (%c1) {
    // CHECK: scf.for %{{[^ ]*}} = %{{[^ ]*}} to %{{[^ ]*}} step %{{[^ ]*}} {
    // CHECK: llvm.load volatile
    scf.for %k = %c0 to %c8 step %c1 {
      %s = llvm.load volatile %p : !llvm.ptr -> f32
      %t = llvm.fadd %s, %v : f32
      llvm.store %t, %p : f32, !llvm.ptr
    }
    // CHECK: scf.for %{{[^ ]*}} = %{{[^ ]*}} to %{{[^ ]*}} step %{{[^ ]*}} {
    // CHECK: llvm.atomicrmw
    scf.for %k = %c0 to %c8 step %c1 {
      %s = llvm.load %p : !llvm.ptr -> f32
      %t = llvm.fadd %s, %v : f32
      llvm.store %t, %p : f32, !llvm.ptr
      %o = llvm.atomicrmw add %q, %w monotonic : !llvm.ptr, i32
    }
  }
  return
}
