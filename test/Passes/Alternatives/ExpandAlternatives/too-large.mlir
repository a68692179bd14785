// RUN: %regrain-opt %s --verify-diagnostics \
// RUN:   --regrain-expand-alternatives='space=blocks=1,2,8 operation-limit=60' | FileCheck %s

// What would be unrolled to more operations than are allowed.
// CHECK-LABEL: llvm.func @__regrain_launch.do_not_unroll_to_many_operations
// CHECK: regrain.alternatives ["original", "b2x1x1"] -> i32
// expected-remark-re@below {{grain b8x1x1 is left out: its body would have {{[0-9]+}} operations, over the limit of 60}}
llvm.func @__regrain_launch.do_not_unroll_to_many_operations(%p: !llvm.ptr, %gx: i32) -> i32 attributes {regrain.launch = @k} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %g = arith.index_castui %gx : i32 to index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%c32, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
        %l = arith.index_cast %x : index to i64
        %at = llvm.getelementptr %p[%l] : (!llvm.ptr, i64) -> !llvm.ptr, i64
        llvm.store %l, %at : i64, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}
