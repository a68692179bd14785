// RUN: %regrain-opt %s --regrain-print-statistics -o /dev/null 2>&1 | FileCheck %s

// Bounds are arguments: how often a loop runs is a formula of them.
// CHECK-LABEL: statistics of bounds
// CHECK: f32: 8 + arg2{{$}}
// CHECK: global load, uniform: arg2 of 4 bytes, 1 sectors
// CHECK: loop trip.0: arg2{{$}}
func.func @bounds(%p: !llvm.ptr, %g: index, %n: i32, %q: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %e = regrain.gpu_wrapper @bounds grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %z0 = arith.constant 0 : i32
        %o1 = arith.constant 1 : i32
        %f = arith.constant 1.0 : f32
        %c8_i32 = arith.constant 8 : i32
        %s = scf.for %t = %z0 to %n step %o1 iter_args(%a = %f) -> (f32) : i32 {
          %l = arith.extsi %t : i32 to i64
          %va = llvm.getelementptr %p[%l] : (!llvm.ptr, i64) -> !llvm.ptr, f32
          %v = llvm.load %va : !llvm.ptr -> f32
          %r = arith.addf %a, %v : f32
          scf.yield %r : f32
        }
        %w = scf.for %t = %z0 to %c8_i32 step %o1 iter_args(%a = %s) -> (f32) : i32 {
          %r = arith.mulf %a, %s : f32
          scf.yield %r : f32
        }
        llvm.store %w, %q : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return %e : i32
}

// Steps divide, and round up.
// CHECK-LABEL: statistics of steps
// CHECK: f32: 12 + ceil((-1 + arg2) / 16){{$}}
// CHECK: loop trip.0: ceil((-1 + arg2) / 16)
func.func @steps(%p: !llvm.ptr, %g: index, %n: i32, %q: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %e = regrain.gpu_wrapper @steps grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %o1 = arith.constant 1 : i32
        %s16 = arith.constant 16 : i32
        %c25_i32 = arith.constant 25 : i32
        %s2 = arith.constant 2 : i32
        %f = arith.constant 1.0 : f32
        %s = scf.for %t = %o1 to %n step %s16 iter_args(%a = %f) -> (f32) : i32 {
          %r = arith.addf %a, %f : f32
          scf.yield %r : f32
        }
        %w = scf.for %t = %o1 to %c25_i32 step %s2 iter_args(%a = %s) -> (f32) : i32 {
          %r = arith.addf %a, %s : f32
          scf.yield %r : f32
        }
        llvm.store %w, %q : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return %e : i32
}

// An inner bound that is the outer index stands for its mean: the sum is exact.
// CHECK-LABEL: statistics of triangle
// CHECK: f32: 120{{$}}
// CHECK: loop trip.0: 16
// CHECK: loop trip.1: 7.5
func.func @triangle(%p: !llvm.ptr, %g: index, %n: i32, %q: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %e = regrain.gpu_wrapper @triangle grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %z0 = arith.constant 0 : i32
        %o1 = arith.constant 1 : i32
        %s16 = arith.constant 16 : i32
        %f = arith.constant 1.0 : f32
        %s = scf.for %t = %z0 to %s16 step %o1 iter_args(%a = %f) -> (f32) : i32 {
          %w = scf.for %u = %z0 to %t step %o1 iter_args(%b = %a) -> (f32) : i32 {
            %r = arith.addf %b, %f : f32
            scf.yield %r : f32
          }
          scf.yield %w : f32
        }
        llvm.store %s, %q : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return %e : i32
}

// A loop that no formula counts has a symbol: compared once, and a call, in each iteration.
// CHECK-LABEL: statistics of unknown
// CHECK: f32: trip.0{{$}}
// CHECK: loop trip.0: trip.0
func.func @unknown(%p: !llvm.ptr, %g: index, %n: i32, %q: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %e = regrain.gpu_wrapper @unknown grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %f = arith.constant 1.0 : f32
        %lim = llvm.load %p : !llvm.ptr -> f32
        %s = scf.while (%a = %f) : (f32) -> f32 {
          %go = arith.cmpf olt, %a, %lim : f32
          scf.condition(%go) %a : f32
        } do {
        ^bb0(%b: f32):
          %r = llvm.call @twice(%b) : (f32) -> f32
          scf.yield %r : f32
        }
        llvm.store %s, %q : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return %e : i32
}

// What never changes in a loop counts before it, and what is computed twice once.
// CHECK-LABEL: statistics of invariant
// CHECK: f32: 2 + arg2{{$}}
func.func @invariant(%p: !llvm.ptr, %g: index, %n: i32, %q: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %e = regrain.gpu_wrapper @invariant grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %z0 = arith.constant 0 : i32
        %o1 = arith.constant 1 : i32
        %f = llvm.load %p : !llvm.ptr -> f32
        %s = scf.for %t = %z0 to %n step %o1 iter_args(%a = %f) -> (f32) : i32 {
          %m = arith.mulf %f, %f : f32
          %m1 = arith.mulf %f, %f : f32
          %m2 = arith.addf %m, %m1 : f32
          %r = arith.addf %a, %m2 : f32
          scf.yield %r : f32
        }
        llvm.store %s, %q : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return %e : i32
}
llvm.func @twice(f32) -> f32
