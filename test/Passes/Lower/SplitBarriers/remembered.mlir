// RUN: %regrain-opt %s --regrain-split-barriers | FileCheck %s

// A condition that C's && makes of a branch is a selection, and one that a loop carries is computed again of what it was computed of last:
// nothing is kept for each thread but the loop's own number at that time, for the block.
// CHECK-LABEL: func.func @carried
func.func @carried(%p: !llvm.ptr, %g: index, %n: i32, %last: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 64 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %false = arith.constant false
  %no = arith.constant 0 : i8
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    // CHECK: scf.parallel
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      // CHECK-NOT: x i8
      // CHECK: %[[LEAF:.*]] = llvm.alloca %c1_i64{{.*}} x i32
      // CHECK: %[[WHICH:.*]] = llvm.alloca %c1_i64{{.*}} x i32
      // CHECK: llvm.store %c0_i32{{.*}}, %[[WHICH]] : i32, !llvm.ptr
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        // CHECK: scf.for %[[STEP:.*]] = %{{.*}} to %{{.*}} step
        %r = scf.for %step = %zero to %n step %one iter_args(%before = %no) -> (i8) : i32 {
          %above = llvm.icmp "sgt" %t, %step : i32
          // CHECK: scf.parallel
          // CHECK: %[[ABOVE:.*]] = llvm.icmp "sgt" %{{.*}}, %[[STEP]]
          // CHECK: %[[BELOW:.*]] = llvm.icmp "slt"
          // CHECK: arith.select %[[ABOVE]], %[[BELOW]], %false : i1
          %inside = scf.if %above -> (i1) {
            %below = llvm.icmp "slt" %t, %last : i32
            scf.yield %below : i1
          } else {
            scf.yield %false : i1
          }
          %wide = llvm.zext %inside : i1 to i8
          scf.if %inside {
            llvm.store %step, %p : i32, !llvm.ptr
          }
          regrain.barrier(%x, %y, %z)
          // CHECK: llvm.store %c1_i32{{.*}}, %[[WHICH]] : i32, !llvm.ptr
          // CHECK: llvm.store %[[STEP]], %[[LEAF]] : i32, !llvm.ptr
          scf.yield %wide : i8
        }
        // CHECK: %[[THEN:.*]] = llvm.load %[[LEAF]] : !llvm.ptr -> i32
        // CHECK: %[[LAST:.*]] = llvm.load %[[WHICH]] : !llvm.ptr -> i32
        // CHECK: %[[ANY:.*]] = arith.cmpi eq, %[[LAST]], %c1_i32{{.*}} : i32
        // CHECK: scf.parallel
        // CHECK: llvm.icmp "sgt" %{{.*}}, %[[THEN]]
        // CHECK: %[[NOW:.*]] = arith.select %[[ANY]]
        // CHECK-NOT: llvm.trunc
        // CHECK: scf.if %[[NOW]]
        %c = llvm.trunc %r : i8 to i1
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

// What is loaded is kept for each thread, and copied from round to round.
// CHECK-LABEL: func.func @kept
// CHECK: llvm.alloca %{{.*}} x i8
func.func @kept(%p: !llvm.ptr, %g: index, %n: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 64 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %no = arith.constant 0 : i8
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %a = llvm.getelementptr %p[%t] : (!llvm.ptr, i32) -> !llvm.ptr, i8
        %r = scf.for %step = %zero to %n step %one iter_args(%before = %no) -> (i8) : i32 {
          %v = llvm.load %a : !llvm.ptr -> i8
          regrain.barrier(%x, %y, %z)
          llvm.store %before, %a : i8, !llvm.ptr
          scf.yield %v : i8
        }
        llvm.store %r, %a : i8, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}
