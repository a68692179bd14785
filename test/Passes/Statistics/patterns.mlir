// RUN: %regrain-opt %s --regrain-print-statistics -o /dev/null 2>&1 | FileCheck %s

// A warp is two rows of sixteen.
// CHECK-LABEL: statistics of rows
// CHECK: global load, coalesced: 1 of 4 bytes, 4 sectors
func.func @rows(%p: !llvm.ptr, %g: index, %n: i32, %q: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %e = regrain.gpu_wrapper @rows grid(%g, %c1, %c1) block(%c16, %c16, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c16, %c16, %c1) step (%c1, %c1, %c1) {
        %l = arith.index_cast %x : index to i64
        %r = arith.index_cast %y : index to i32
        %m = arith.muli %r, %n : i32
        %m1 = arith.extsi %m : i32 to i64
        %at = arith.addi %m1, %l : i64
        %va = llvm.getelementptr %p[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %v = llvm.load %va : !llvm.ptr -> f32
        llvm.store %v, %q : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return %e : i32
}

// Each thread has a row of its own.
// CHECK-LABEL: statistics of columns
// CHECK: global load, strided by a variable: 1 of 4 bytes, 32 sectors
func.func @columns(%p: !llvm.ptr, %g: index, %n: i32, %q: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %e = regrain.gpu_wrapper @columns grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %r = arith.index_cast %x : index to i32
        %m = arith.muli %r, %n : i32
        %m1 = arith.extsi %m : i32 to i64
        %va = llvm.getelementptr %p[%m1] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %v = llvm.load %va : !llvm.ptr -> f32
        llvm.store %v, %q : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return %e : i32
}

// Every second element, and then those between: the same sectors again.
// CHECK-LABEL: statistics of pairs
// CHECK: global load, strided by 8 bytes: 2 of 4 bytes, 8 sectors, 1 cached
func.func @pairs(%p: !llvm.ptr, %g: index, %n: i32, %q: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %e = regrain.gpu_wrapper @pairs grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %l = arith.index_cast %x : index to i64
        %two = arith.constant 2 : i64
        %one = arith.constant 1 : i64
        %d = arith.muli %l, %two : i64
        %d1 = arith.addi %d, %one : i64
        %va = llvm.getelementptr %p[%d] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %v = llvm.load %va : !llvm.ptr -> f32
        %wa = llvm.getelementptr %p[%d1] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %w = llvm.load %wa : !llvm.ptr -> f32
        %s = arith.addf %v, %w : f32
        llvm.store %s, %q : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return %e : i32
}

// Addresses that are read from memory.
// CHECK-LABEL: statistics of gather
// CHECK: global load, coalesced: 1 of 4 bytes, 4 sectors
// CHECK: global load, gather: 1 of 4 bytes, 32 sectors
func.func @gather(%p: !llvm.ptr, %g: index, %n: i32, %q: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %e = regrain.gpu_wrapper @gather grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %l = arith.index_cast %x : index to i64
        %ha = llvm.getelementptr %p[%l] : (!llvm.ptr, i64) -> !llvm.ptr, i32
        %h = llvm.load %ha : !llvm.ptr -> i32
        %t = arith.extsi %h : i32 to i64
        %va = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %v = llvm.load %va : !llvm.ptr -> f32
        llvm.store %v, %q : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return %e : i32
}

// A pointer that a loop moves on by the same for all threads.
// CHECK-LABEL: statistics of walk
// CHECK: global load, coalesced: arg2 of 4 bytes, 4 sectors
func.func @walk(%p: !llvm.ptr, %g: index, %n: i32, %q: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %e = regrain.gpu_wrapper @walk grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %l = arith.index_cast %x : index to i64
        %z0 = arith.constant 0 : i32
        %o1 = arith.constant 1 : i32
        %f = arith.constant 0.0 : f32
        %pa = llvm.getelementptr %p[%l] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %s:2 = scf.for %t = %z0 to %n step %o1 iter_args(%a = %f, %at = %pa) -> (f32, !llvm.ptr) : i32 {
          %v = llvm.load %at : !llvm.ptr -> f32
          %r = arith.addf %a, %v : f32
          %next = llvm.getelementptr %at[64] : (!llvm.ptr) -> !llvm.ptr, f32
          scf.yield %r, %next : f32, !llvm.ptr
        }
        llvm.store %s#0, %q : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return %e : i32
}

// A pointer that is read anew in each iteration: nothing may be concluded from where it began.
// CHECK-LABEL: statistics of chase
// CHECK: global load, gather: arg2 of 8 bytes, 32 sectors
func.func @chase(%p: !llvm.ptr, %g: index, %n: i32, %q: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %e = regrain.gpu_wrapper @chase grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %l = arith.index_cast %x : index to i64
        %z0 = arith.constant 0 : i32
        %o1 = arith.constant 1 : i32
        %pa = llvm.getelementptr %p[%l] : (!llvm.ptr, i64) -> !llvm.ptr, i64
        %s = scf.for %t = %z0 to %n step %o1 iter_args(%at = %pa) -> (!llvm.ptr) : i32 {
          %next = llvm.load %at : !llvm.ptr -> !llvm.ptr
          scf.yield %next : !llvm.ptr
        }
        llvm.store %s, %q : !llvm.ptr, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return %e : i32
}

// An index that is clamped at a border is what it is inside.
// CHECK-LABEL: statistics of clamped
// CHECK: global load, coalesced: 1 of 4 bytes, 4 sectors
func.func @clamped(%p: !llvm.ptr, %g: index, %n: i32, %q: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %e = regrain.gpu_wrapper @clamped grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %h = arith.index_cast %x : index to i32
        %c = llvm.intr.smin(%h, %n) : (i32, i32) -> i32
        %l = arith.extsi %c : i32 to i64
        %va = llvm.getelementptr %p[%l] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %v = llvm.load %va : !llvm.ptr -> f32
        llvm.store %v, %q : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return %e : i32
}

// The lane and the warp, as kernels compute them.
// CHECK-LABEL: statistics of lane
// CHECK: global load, coalesced: 1 of 4 bytes, 4 sectors
// CHECK: global store, uniform: 1 of 4 bytes
func.func @lane(%p: !llvm.ptr, %g: index, %n: i32, %q: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %e = regrain.gpu_wrapper @lane grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %h = arith.index_cast %x : index to i32
        %m = arith.constant 31 : i32
        %a = arith.andi %h, %m : i32
        %five = arith.constant 5 : i32
        %b = arith.shrui %h, %five : i32
        %al = arith.extsi %a : i32 to i64
        %bl = arith.extsi %b : i32 to i64
        %va = llvm.getelementptr %p[%al] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %v = llvm.load %va : !llvm.ptr -> f32
        %qa = llvm.getelementptr %q[%bl] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        llvm.store %v, %qa : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return %e : i32
}
