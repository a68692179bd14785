// RUN: %regrain-opt %s --regrain-print-statistics -o /dev/null 2>&1 | FileCheck %s

// Who takes the branch depends on the thread: each side counts one half, the comparison once.
// CHECK-LABEL: statistics of divergent
// CHECK: f32: 1.5{{$}}
// CHECK: divergent branch: 1
func.func @divergent(%p: !llvm.ptr, %g: index, %n: i32, %q: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %e = regrain.gpu_wrapper @divergent grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %l = arith.index_cast %x : index to i64
        %va = llvm.getelementptr %p[%l] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %v = llvm.load %va : !llvm.ptr -> f32
        %f = arith.constant 1.0 : f32
        %c = arith.cmpf olt, %v, %f : f32
        %r = scf.if %c -> (f32) {
          %a = arith.addf %v, %v : f32
          scf.yield %a : f32
        } else {
          scf.yield %v : f32
        }
        llvm.store %r, %q : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return %e : i32
}

// An argument decides: all threads go one way.
// CHECK-LABEL: statistics of uniform
// CHECK: f32: 1.5{{$}}
// CHECK: uniform branch: 1
func.func @uniform(%p: !llvm.ptr, %g: index, %n: i32, %q: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %e = regrain.gpu_wrapper @uniform grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %l = arith.index_cast %x : index to i64
        %va = llvm.getelementptr %p[%l] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %v = llvm.load %va : !llvm.ptr -> f32
        %z0 = arith.constant 0 : i32
        %c = arith.cmpi sgt, %n, %z0 : i32
        %r = scf.if %c -> (f32) {
          %a = arith.addf %v, %v : f32
          %b = arith.mulf %a, %v : f32
          scf.yield %b : f32
        } else {
          %a = arith.addf %v, %v : f32
          scf.yield %a : f32
        }
        llvm.store %r, %q : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return %e : i32
}

// One warp in four goes in, and all of its threads do.
// CHECK-LABEL: statistics of first_warp
// CHECK: f32: 0.25{{$}}
// CHECK: uniform branch: 1
func.func @first_warp(%p: !llvm.ptr, %g: index, %n: i32, %q: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %e = regrain.gpu_wrapper @first_warp grid(%g, %c1, %c1) block(%c128, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c128, %c1, %c1) step (%c1, %c1, %c1) {
        %l = arith.index_cast %x : index to i64
        %va = llvm.getelementptr %p[%l] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %v = llvm.load %va : !llvm.ptr -> f32
        %c32i = arith.constant 32 : index
        %c = arith.cmpi ult, %x, %c32i : index
        %r = scf.if %c -> (f32) {
          %a = arith.addf %v, %v : f32
          scf.yield %a : f32
        } else {
          scf.yield %v : f32
        }
        llvm.store %r, %q : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return %e : i32
}

// One thread goes in, and its warp with it.
// CHECK-LABEL: statistics of first_thread
// CHECK: f32: 0.25{{$}}
// CHECK: divergent branch: 1
func.func @first_thread(%p: !llvm.ptr, %g: index, %n: i32, %q: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %e = regrain.gpu_wrapper @first_thread grid(%g, %c1, %c1) block(%c128, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c128, %c1, %c1) step (%c1, %c1, %c1) {
        %l = arith.index_cast %x : index to i64
        %va = llvm.getelementptr %p[%l] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %v = llvm.load %va : !llvm.ptr -> f32
        %c = arith.cmpi eq, %x, %c0 : index
        %r = scf.if %c -> (f32) {
          %a = arith.addf %v, %v : f32
          scf.yield %a : f32
        } else {
          scf.yield %v : f32
        }
        llvm.store %r, %q : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return %e : i32
}

// No thread of the block goes in.
// CHECK-LABEL: statistics of never
// CHECK-NOT: f32:
// CHECK-NOT: branch:
// CHECK: global load
func.func @never(%p: !llvm.ptr, %g: index, %n: i32, %q: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c500 = arith.constant 500 : index
  %e = regrain.gpu_wrapper @never grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %l = arith.index_cast %x : index to i64
        %va = llvm.getelementptr %p[%l] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %v = llvm.load %va : !llvm.ptr -> f32
        %c = arith.cmpi ugt, %x, %c500 : index
        %r = scf.if %c -> (f32) {
          %a = arith.addf %v, %v : f32
          scf.yield %a : f32
        } else {
          scf.yield %v : f32
        }
        llvm.store %r, %q : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return %e : i32
}

// Two copies enter together, and each asks again for itself: what they do counts one half, not a quarter.
// CHECK-LABEL: statistics of copies
// CHECK: f32: 4{{$}}
func.func @copies(%p: !llvm.ptr, %g: index, %n: i32, %q: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %e = regrain.gpu_wrapper @copies grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %l = arith.index_cast %x : index to i64
        %va = llvm.getelementptr %p[%l] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %v = llvm.load %va : !llvm.ptr -> f32
        %wa = llvm.getelementptr %p[%l] : (!llvm.ptr, i64) -> !llvm.ptr, f64
        %w = llvm.load %wa : !llvm.ptr -> f32
        %f = arith.constant 1.0 : f32
        %first = arith.cmpf olt, %v, %f : f32
        %second = arith.cmpf olt, %w, %f : f32
        %either = arith.ori %first, %second : i1
        scf.if %either {
          scf.if %first {
            %a = arith.addf %v, %v : f32
            %b = arith.mulf %a, %v : f32
            llvm.store %b, %q : f32, !llvm.ptr
          }
          scf.if %second {
            %a = arith.addf %w, %w : f32
            %b = arith.mulf %a, %w : f32
            llvm.store %b, %q : f32, !llvm.ptr
          }
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return %e : i32
}
