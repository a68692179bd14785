// RUN: %regrain-opt %s --regrain-mark-optimized | FileCheck %s
// RUN: %regrain-opt %s --regrain-mark-optimized --regrain-optimize-parallel | FileCheck %s --check-prefix=AGAIN

// A launch that was optimised is marked, and is not optimised again; one that stays as the program wrote it is not marked.

// CHECK-LABEL: func.func @launches
// CHECK: regrain.gpu_wrapper @changed {{.*}} attributes {regrain.optimised} {
// CHECK: regrain.gpu_wrapper @original {{.*}} attributes {regrain.original} {
// CHECK: regrain.gpu_wrapper @kept {{.*}} attributes {regrain.kept} {
// AGAIN-LABEL: func.func @launches
// AGAIN: regrain.barrier
// AGAIN: return
func.func @launches(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = regrain.gpu_wrapper @changed grid(%n, %n, %n) block(%n, %n, %n) {
    scf.parallel (%g) = (%c0) to (%n) step (%c1) {
      scf.parallel (%t) = (%c0) to (%n) step (%c1) {
        regrain.barrier(%t)
      }
    }
  }
  %b = regrain.gpu_wrapper @original grid(%n, %n, %n) block(%n, %n, %n) attributes {regrain.original} {
  }
  %c = regrain.gpu_wrapper @kept grid(%n, %n, %n) block(%n, %n, %n) attributes {regrain.kept} {
  }
  return
}

// Without the mark the barrier goes: nothing needs its order.
// RUN: %regrain-opt %s --regrain-optimize-parallel | FileCheck %s --check-prefix=ONCE
// ONCE-LABEL: func.func @launches
// ONCE-NOT: regrain.barrier
// ONCE: return
