// RUN: %regrain-opt %s --canonicalize --cse --loop-invariant-code-motion | FileCheck %s

// Memory accesses and barriers keep their order; nothing is merged across a barrier.

// CHECK-LABEL: func.func @do_not_merge_loads_across_a_barrier
func.func @do_not_merge_loads_across_a_barrier(%n: index, %p: !llvm.ptr<3>, %q: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%x) = (%c0) to (%n) step (%c1) {
    // CHECK: llvm.load
    // CHECK-NEXT: regrain.barrier
    // CHECK-NEXT: llvm.load
    %a = llvm.load %p : !llvm.ptr<3> -> f32
    regrain.barrier(%x)
    %b = llvm.load %p : !llvm.ptr<3> -> f32
    %c = llvm.fadd %a, %b : f32
    llvm.store %c, %q : f32, !llvm.ptr
  }
  return
}

// CHECK-LABEL: func.func @do_not_remove_or_merge
func.func @do_not_remove_or_merge(%n: index, %v: i32, %p: i1, %q: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%x) = (%c0) to (%n) step (%c1) {
    scf.for %k = %c0 to %n step %c1 {
      // CHECK: scf.for
      // CHECK-COUNT-2: regrain.barrier(
      // CHECK-COUNT-2: regrain.vote
      // CHECK-COUNT-2: regrain.active_mask
      regrain.barrier(%x)
      regrain.barrier(%x)
      %a = regrain.vote ballot %p mask %v (%x) : i32
      %b = regrain.vote ballot %p mask %v (%x) : i32
      %c = regrain.active_mask(%x)
      %d = regrain.active_mask(%x)
    }
  }
  return
}

// CHECK-LABEL: func.func @lane_ids_are_values
func.func @lane_ids_are_values(%n: index, %q: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%x) = (%c0) to (%n) step (%c1) {
    // CHECK: regrain.lane_id
    // CHECK-NOT: regrain.lane_id
    %a = regrain.lane_id(%x)
    %b = regrain.lane_id(%x)
    %c = arith.addi %a, %b : i32
    llvm.store %c, %q : i32, !llvm.ptr
  }
  return
}

// CHECK-LABEL: func.func @unused_shared_memory_goes
func.func @unused_shared_memory_goes() {
  // CHECK-NOT: regrain.shared
  %0 = regrain.shared : f32 -> !llvm.ptr<3>
  return
}

// CHECK-LABEL: func.func @do_not_merge_shared_memory
func.func @do_not_merge_shared_memory(%q: !llvm.ptr, %v: f32) {
  // CHECK-COUNT-2: regrain.shared : f32
  %0 = regrain.shared : f32 -> !llvm.ptr<3>
  %1 = regrain.shared : f32 -> !llvm.ptr<3>
  llvm.store %v, %0 : f32, !llvm.ptr<3>
  %2 = llvm.load %1 : !llvm.ptr<3> -> f32
  llvm.store %2, %q : f32, !llvm.ptr
  return
}
