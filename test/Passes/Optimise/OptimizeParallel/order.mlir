// RUN: %regrain-opt %s --regrain-optimize-parallel | FileCheck %s
// RUN: %regrain-opt %s --regrain-forward-stores | FileCheck %s --check-prefix=FORWARD
// RUN: %regrain-opt %s --regrain-merge-common-values --regrain-eliminate-redundant-barriers | FileCheck %s --check-prefix=BARRIERS
// RUN: %regrain-opt %s --regrain-hoist-invariants | FileCheck %s --check-prefix=HOIST
// RUN: %regrain-opt %s --regrain-merge-common-values --regrain-forward-stores --regrain-hoist-invariants \
// RUN:   | FileCheck %s --check-prefix=ONCE
// RUN: %regrain-opt %s --regrain-hoist-to-host | FileCheck %s --check-prefix=HOST

// What each step of the order makes possible for the next, and that the next by itself does not do it.

// Equal values are merged before stores are forwarded: only then do two unknown places have one address.
// CHECK-LABEL: func.func @merged_values_address_alike
// CHECK: llvm.store
// CHECK-NOT: llvm.load
// CHECK: return
// FORWARD-LABEL: func.func @merged_values_address_alike
// FORWARD: llvm.load
// FORWARD: return
func.func @merged_values_address_alike(%n: index, %p: !llvm.ptr, %out: !llvm.ptr, %f: f32, %a: i64, %b: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%x) = (%c0) to (%n) step (%c1) {
    %i = arith.index_cast %x : index to i64
    %k = llvm.xor %i, %a : i64
    %same = llvm.xor %i, %a : i64
    %at = llvm.getelementptr %p[%k] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %again = llvm.getelementptr %p[%same] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %f, %at : f32, !llvm.ptr
    %v = llvm.load %again : !llvm.ptr -> f32
    %o = llvm.getelementptr %out[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %v, %o : f32, !llvm.ptr
  }
  return
}

// Stores are forwarded before barriers are looked at: what nobody reads any more is not stored, and needs no order.
// CHECK-LABEL: func.func @forwarded_stores_need_no_barrier
// CHECK-NOT: regrain.barrier
// CHECK: return
// BARRIERS-LABEL: func.func @forwarded_stores_need_no_barrier
// BARRIERS: regrain.barrier
// BARRIERS: return
func.func @forwarded_stores_need_no_barrier(%n: index, %out: !llvm.ptr, %f: f32, %g: f32, %a: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%block) = (%c0) to (%n) step (%c1) {
    %tile = regrain.shared : !llvm.array<64 x f32> -> !llvm.ptr<3>
    scf.parallel (%x) = (%c0) to (%c64) step (%c1) {
      %i = arith.index_cast %x : index to i64
      %k = llvm.xor %i, %a : i64
      %own = llvm.getelementptr %tile[0, %i] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<64 x f32>
      %other = llvm.getelementptr %tile[0, %k] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<64 x f32>
      llvm.store %f, %own : f32, !llvm.ptr<3>
      %v = llvm.load %own : !llvm.ptr<3> -> f32
      regrain.barrier(%x)
      llvm.store %g, %other : f32, !llvm.ptr<3>
      %w = llvm.load %other : !llvm.ptr<3> -> f32
      %s = llvm.fadd %v, %w : f32
      %o = llvm.getelementptr %out[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      llvm.store %s, %o : f32, !llvm.ptr
    }
  }
  return
}

// Barriers go before invariants move: without one in it the inner loop only computes, and leaves the outer one.
// CHECK-LABEL: func.func @loops_without_barriers_move
// CHECK: %[[SUM:.*]] = scf.for
// CHECK: llvm.fadd
// CHECK: }
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: llvm.store %[[SUM]]
// HOIST-LABEL: func.func @loops_without_barriers_move
// HOIST: scf.for
// HOIST: scf.for
// HOIST: regrain.barrier
func.func @loops_without_barriers_move(%n: index, %out: !llvm.ptr, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%x) = (%c0) to (%c64) step (%c1) {
    scf.for %k = %c0 to %n step %c1 {
      %sum = scf.for %j = %c0 to %c8 step %c1 iter_args(%s = %f) -> f32 {
        regrain.barrier(%x)
        %t = llvm.fadd %s, %f : f32
        scf.yield %t : f32
      }
      %i = arith.index_cast %x : index to i64
      %o = llvm.getelementptr %out[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      llvm.store %sum, %o : f32, !llvm.ptr
    }
  }
  return
}

// What moved out of two loops is merged again, and what was loaded in both is forwarded in a second round.
// CHECK-LABEL: func.func @moved_values_are_equal_again
// CHECK-COUNT-1: llvm.mul %{{.*}}, %{{.*}} : i32
// CHECK-COUNT-1: llvm.load
// CHECK-NOT: llvm.mul
// CHECK-NOT: llvm.load
// CHECK: return
// ONCE-LABEL: func.func @moved_values_are_equal_again
// ONCE-COUNT-2: llvm.mul %{{.*}}, %{{.*}} : i32
// ONCE: return
func.func @moved_values_are_equal_again(%n: index, %p: !llvm.ptr {llvm.noalias}, %a: i32, %b: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%block) = (%c0) to (%n) step (%c1) {
    %table = regrain.shared : !llvm.array<64 x i32> -> !llvm.ptr<3>
    %tile = regrain.shared : !llvm.array<64 x i32> -> !llvm.ptr<3>
    scf.parallel (%x) = (%c0) to (%c64) step (%c1) {
      %i = arith.index_cast %x : index to i64
      %entry = llvm.getelementptr %table[0, %i] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<64 x i32>
      scf.for %k = %c0 to %c8 step %c1 {
        %m = llvm.mul %a, %b : i32
        %v = llvm.load %entry : !llvm.ptr<3> -> i32
        %s = llvm.add %m, %v : i32
        %j = arith.index_cast %k : index to i64
        %o = llvm.getelementptr %p[%j] : (!llvm.ptr, i64) -> !llvm.ptr, i32
        llvm.store %s, %o : i32, !llvm.ptr
      }
      scf.for %k = %c0 to %c8 step %c1 {
        %m = llvm.mul %a, %b : i32
        %v = llvm.load %entry : !llvm.ptr<3> -> i32
        %s = llvm.sub %m, %v : i32
        %j = arith.index_cast %k : index to i64
        %o = llvm.getelementptr %p[%j] : (!llvm.ptr, i64) -> !llvm.ptr, i32
        llvm.store %s, %o : i32, !llvm.ptr
      }
    }
  }
  return
}

// Values for the host are chosen last: what is left of two equal divisions is one argument.
llvm.func ptx_kernelcc @k(!llvm.ptr, i32, i32)
// CHECK-LABEL: llvm.func @__regrain_launch.k
// CHECK-COUNT-1: llvm.udiv
// CHECK-NOT: llvm.udiv
// CHECK: regrain.gpu_wrapper
// HOST-LABEL: llvm.func @__regrain_launch.k
// HOST-COUNT-2: llvm.udiv
// HOST: regrain.gpu_wrapper
llvm.func @__regrain_launch.k(%args: !llvm.ptr, %gx: i32, %n: i32, %m: i32, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %g = arith.index_castui %gx : i32 to index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %at = arith.index_cast %x : index to i64
        %p = llvm.getelementptr %out[%at] : (!llvm.ptr, i64) -> !llvm.ptr, i32
        %q = llvm.udiv %n, %m : i32
        llvm.store %q, %p : i32, !llvm.ptr
        %far = llvm.getelementptr %p[64] : (!llvm.ptr) -> !llvm.ptr, i32
        %r = llvm.udiv %n, %m : i32
        llvm.store %r, %far : i32, !llvm.ptr
      }
    }
  }
  llvm.return %e : i32
}
