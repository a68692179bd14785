// RUN: %regrain-opt %s --regrain-eliminate-redundant-barriers | FileCheck %s
// RUN: %regrain-opt %s --pass-pipeline='builtin.module(func.func(regrain-eliminate-redundant-barriers))' | FileCheck %s

// CHECK-LABEL: func.func @two_in_a_row
func.func @two_in_a_row(%n: index, %p: !llvm.ptr<3>, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%x) = (%c0) to (%n) step (%c1) {
    // CHECK: llvm.store
    // CHECK-NEXT: regrain.barrier
    // CHECK-NEXT: arith.addi
    // CHECK-NEXT: llvm.load
    // CHECK-NOT: regrain.barrier
    llvm.store %f, %p : f32, !llvm.ptr<3>
    regrain.barrier(%x)
    %i = arith.addi %x, %c1 : index
    regrain.barrier(%x)
    regrain.barrier(%x)
    %v = llvm.load %p : !llvm.ptr<3> -> f32
  }
  return
}

// CHECK-LABEL: func.func @effect_free_control_flow_between
func.func @effect_free_control_flow_between(%n: index, %c: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%x) = (%c0) to (%n) step (%c1) {
    // CHECK-NOT: regrain.barrier
    regrain.barrier(%x)
    %i = scf.if %c -> index {
      scf.yield %x : index
    } else {
      scf.yield %c0 : index
    }
    regrain.barrier(%x)
  }
  return
}

// CHECK-LABEL: func.func @do_not_remove_of_another_loop
func.func @do_not_remove_of_another_loop(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    scf.parallel (%x) = (%c0) to (%n) step (%c1) {
      // CHECK-COUNT-2: regrain.barrier
      regrain.barrier(%x)
      regrain.barrier(%i)
    }
  }
  return
}

// CHECK-LABEL: func.func @do_not_remove_named
func.func @do_not_remove_named(%n: index, %id: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%x) = (%c0) to (%n) step (%c1) {
    // CHECK-COUNT-4: regrain.barrier
    regrain.barrier(%x)
    regrain.barrier(%x) id %id
    regrain.barrier(%x)
    regrain.barrier(%x) {unaligned}
  }
  return
}
