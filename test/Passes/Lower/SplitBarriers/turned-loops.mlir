// RUN: %regrain-opt %s --regrain-split-barriers | FileCheck %s

// All threads make the same rounds: the sum of each thread lies in its cell, and the loop over the threads vectorises.
// CHECK-LABEL: func.func @turn_outside
// CHECK: scf.parallel
// CHECK: scf.parallel
// CHECK: scf.for
// CHECK: scf.parallel
// CHECK: llvm.fadd
// CHECK: scf.parallel
func.func @turn_outside(%p: !llvm.ptr, %g: index, %b: index, %n: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %a = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %z0 = arith.constant 0 : i32
        %z1 = arith.constant 1 : i32
        %z8 = arith.constant 8 : i32
        %f0 = arith.constant 0.0 : f32
        %r = scf.for %q = %z0 to %n step %z1 iter_args(%acc = %f0) -> (f32) : i32 {
          %v = llvm.load %a : !llvm.ptr -> f32
          %sum = llvm.fadd %acc, %v : f32
          scf.yield %sum : f32
        }
        llvm.store %r, %a : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// The optimiser unrolls so few rounds.
// CHECK-LABEL: func.func @do_not_turn_short_loop
// CHECK: scf.parallel
// CHECK: scf.parallel
// CHECK-NOT: scf.parallel
// CHECK: scf.for
// CHECK-NOT: scf.parallel
func.func @do_not_turn_short_loop(%p: !llvm.ptr, %g: index, %b: index, %n: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %a = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %z0 = arith.constant 0 : i32
        %z1 = arith.constant 1 : i32
        %z8 = arith.constant 8 : i32
        %f0 = arith.constant 0.0 : f32
        %r = scf.for %q = %z0 to %z8 step %z1 iter_args(%acc = %f0) -> (f32) : i32 {
          %v = llvm.load %a : !llvm.ptr -> f32
          %sum = llvm.fadd %acc, %v : f32
          scf.yield %sum : f32
        }
        llvm.store %r, %a : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// The rounds differ between threads.
// CHECK-LABEL: func.func @do_not_turn_varying_loop
// CHECK: scf.parallel
// CHECK: scf.parallel
// CHECK-NOT: scf.parallel
// CHECK: scf.for
// CHECK-NOT: scf.parallel
func.func @do_not_turn_varying_loop(%p: !llvm.ptr, %g: index, %b: index, %n: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %a = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %z0 = arith.constant 0 : i32
        %z1 = arith.constant 1 : i32
        %z8 = arith.constant 8 : i32
        %f0 = arith.constant 0.0 : f32
        %m = arith.index_cast %x : index to i32
        %r = scf.for %q = %z0 to %m step %z1 iter_args(%acc = %f0) -> (f32) : i32 {
          %v = llvm.load %a : !llvm.ptr -> f32
          %sum = llvm.fadd %acc, %v : f32
          scf.yield %sum : f32
        }
        llvm.store %r, %a : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}
