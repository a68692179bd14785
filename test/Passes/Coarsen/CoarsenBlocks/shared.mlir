// RUN: %regrain-opt %s --regrain-coarsen-blocks='factor=2 dynamic-shared-limit=65536' | FileCheck %s

// One region for each original block, aligned; a launch that would take too much keeps its grain.
// CHECK-LABEL: func.func @regions
// CHECK-SAME: %[[BYTES:[a-z0-9]+]]: i64
// CHECK: %[[UP:.*]] = arith.addi %[[BYTES]], %c31
// CHECK: %[[REGION:.*]] = arith.andi %[[UP]], %c-32
// CHECK: %[[TOTAL:.*]] = arith.muli %[[REGION]]
// CHECK: %[[C32K:.*]] = arith.constant 32768 : i64
// CHECK: %[[FITS:.*]] = arith.cmpi ule, %[[BYTES]], %[[C32K]]
// CHECK: %[[MAIN:.*]] = arith.andi %[[FITS]]
// CHECK: scf.if %[[MAIN]]
// CHECK: regrain.gpu_wrapper {{.*}} shared(%[[TOTAL]] : i64)
// CHECK: %[[DYN:.*]] = regrain.dynamic_shared %{{.*}} align 32
// CHECK: %[[SECOND:.*]] = llvm.getelementptr %[[DYN]]
// CHECK: llvm.store %{{.*}}, %[[DYN]]
// CHECK-NEXT: llvm.store %{{.*}}, %[[SECOND]]
func.func @regions(%p: !llvm.ptr, %g: index, %b: index, %n: i32, %bytes: i64) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) shared(%bytes : i64) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %dyn = regrain.dynamic_shared %bytes align 32 : i64 -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        llvm.store %n, %dyn : i32, !llvm.ptr<3>
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return %e : i32
}
