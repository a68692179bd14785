// RUN: %regrain-opt %s --regrain-coarsen-threads='factors=2,1,1' | FileCheck %s

// Each copy has its own warp operations; they name the new loop. The warp's number is that of the original block.
// CHECK-LABEL: func.func @whole_warps
// CHECK: scf.parallel
// CHECK: scf.parallel (%[[X:.*]], %[[Y:.*]], %[[Z:.*]]) =
// CHECK: regrain.shuffle down %{{.*}}(%[[X]], %[[Y]], %[[Z]])
// CHECK: regrain.shuffle down %{{.*}}(%[[X]], %[[Y]], %[[Z]])
// CHECK-NOT: regrain.shuffle
func.func @whole_warps(%p: !llvm.ptr, %g: index, %b: index, %n: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %all = arith.constant -1 : i32
        %r, %ok = regrain.shuffle down %t, %n, %n mask %all (%x, %y, %z) : i32
        llvm.store %r, %p : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return %e : i32
}

// CHECK-LABEL: func.func @numbers
// CHECK: scf.parallel
// CHECK: scf.parallel (%[[X:.*]], %[[Y:.*]], %[[Z:.*]]) =
// CHECK: regrain.lane_id(%[[X]], %[[Y]], %[[Z]])
// CHECK: arith.shrui
// CHECK-NOT: regrain.warp_id
func.func @numbers(%p: !llvm.ptr, %g: index, %b: index, %n: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %lane = regrain.lane_id(%x, %y, %z)
        %warp = regrain.warp_id(%x, %y, %z)
        llvm.store %lane, %p : i32, !llvm.ptr
        llvm.store %warp, %p : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return %e : i32
}
