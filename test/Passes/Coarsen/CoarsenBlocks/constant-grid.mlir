// RUN: %regrain-opt %s --regrain-coarsen-blocks='factor=3' | FileCheck %s

// Nothing is left over of 6 blocks; one block is left over of 7, and runs unless the coarse blocks could not be launched.
// CHECK-LABEL: func.func @no_epilogue
// CHECK-COUNT-1: regrain.gpu_wrapper
// CHECK-NOT: regrain.gpu_wrapper
func.func @no_epilogue(%p: !llvm.ptr, %g: index, %b: index, %n: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %e = regrain.gpu_wrapper @k grid(%c6, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%c6, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %i : index to i32
        llvm.store %t, %p : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return %e : i32
}

// CHECK-LABEL: func.func @epilogue
// CHECK-NOT: scf.if
// CHECK: %[[ERROR:.*]] = regrain.gpu_wrapper
// CHECK-SAME: regrain.grain = array<i64: 3, 1, 1>
// CHECK: %[[FINE:.*]] = arith.cmpi eq, %[[ERROR]], %{{.*}} : i32
// CHECK-NEXT: %[[REST:.*]] = scf.if %[[FINE]] -> (i32)
// CHECK: regrain.gpu_wrapper
// CHECK-SAME: regrain.epilogue
// CHECK: arith.select %[[FINE]], %[[REST]], %[[ERROR]]
// CHECK-NOT: scf.if
func.func @epilogue(%p: !llvm.ptr, %g: index, %b: index, %n: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %e = regrain.gpu_wrapper @k grid(%c7, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%c7, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %i : index to i32
        llvm.store %t, %p : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return %e : i32
}

// CHECK-LABEL: func.func @do_not_coarsen_small_grid
// CHECK-NOT: regrain.grain
func.func @do_not_coarsen_small_grid(%p: !llvm.ptr, %g: index, %b: index, %n: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %e = regrain.gpu_wrapper @k grid(%c2, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%c2, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %i : index to i32
        llvm.store %t, %p : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return %e : i32
}
