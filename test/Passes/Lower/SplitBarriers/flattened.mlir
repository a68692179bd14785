// RUN: %regrain-opt %s --regrain-split-barriers | FileCheck %s

// What a branch says of itself is a selection; its effects are done where both conditions hold.
// CHECK-LABEL: func.func @says
func.func @says(%p: !llvm.ptr, %g: index, %low: i32, %high: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 64 : index
  %no = arith.constant 0 : i8
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        // CHECK: %[[LEFT:.*]] = llvm.icmp "sgt"
        // CHECK: %[[RIGHT:.*]] = llvm.icmp "slt"
        // CHECK: %[[BOTH:.*]] = arith.select %[[LEFT]], %[[RIGHT]], %false{{.*}} : i1
        // CHECK: scf.if %[[BOTH]] {
        // CHECK-NEXT: llvm.store
        // CHECK-NEXT: }
        %t = arith.index_cast %x : index to i32
        %left = llvm.icmp "sgt" %t, %low : i32
        %done = scf.if %left -> (i8) {
          %right = llvm.icmp "slt" %t, %high : i32
          %wide = llvm.zext %right : i1 to i8
          scf.if %right {
            llvm.store %t, %p : i32, !llvm.ptr
          }
          scf.yield %wide : i8
        } else {
          scf.yield %no : i8
        }
        regrain.barrier(%x, %y, %z)
        // CHECK: scf.parallel
        // CHECK: %[[AGAIN:.*]] = arith.select %{{.*}} : i1
        // CHECK: scf.if %[[AGAIN]]
        %c = llvm.trunc %done : i8 to i1
        scf.if %c {
          llvm.store %t, %p : i32, !llvm.ptr
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// A condition that is loaded is known in its branch alone, and kept.
// CHECK-LABEL: func.func @loads
// CHECK: scf.if %{{.*}} -> (i1) {
// CHECK-NEXT: llvm.load
func.func @loads(%p: !llvm.ptr, %g: index, %low: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 64 : index
  %false = arith.constant false
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %left = llvm.icmp "sgt" %t, %low : i32
        %done = scf.if %left -> (i1) {
          %v = llvm.load %p : !llvm.ptr -> i32
          %right = llvm.icmp "slt" %t, %v : i32
          scf.yield %right : i1
        } else {
          scf.yield %false : i1
        }
        regrain.barrier(%x, %y, %z)
        scf.if %done {
          llvm.store %t, %p : i32, !llvm.ptr
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// The effect of a branch may be one store, which has no branches of its own to ask for.
// CHECK-LABEL: func.func @marks
func.func @marks(%p: !llvm.ptr, %g: index, %low: i32, %high: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 64 : index
  %false = arith.constant false
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        // CHECK: %[[LEFT:.*]] = llvm.icmp "sgt"
        // CHECK-NEXT: scf.if %[[LEFT]] {
        // CHECK-NEXT: llvm.store
        // CHECK-NEXT: }
        %t = arith.index_cast %x : index to i32
        %left = llvm.icmp "sgt" %t, %low : i32
        %marked = scf.if %left -> (i1) {
          %right = llvm.icmp "slt" %t, %high : i32
          llvm.store %t, %p : i32, !llvm.ptr
          scf.yield %right : i1
        } else {
          scf.yield %false : i1
        }
        regrain.barrier(%x, %y, %z)
        // CHECK: scf.parallel
        // CHECK: %[[AGAIN:.*]] = arith.select %{{.*}} : i1
        // CHECK: scf.if %[[AGAIN]]
        scf.if %marked {
          llvm.store %t, %p : i32, !llvm.ptr
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}
