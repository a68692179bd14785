// RUN: %regrain-opt %s --regrain-keep-launches | FileCheck %s

// CHECK: llvm.func @__regrain_launch.plain
// CHECK: llvm.func @__regrain_dispatch.plain
// A kernel that synchronises the grid keeps its grain.
// CHECK-NOT: llvm.func @__regrain_dispatch.meets
llvm.func ptx_kernelcc @plain(%p: !llvm.ptr)
llvm.func @__regrain_launch.plain(%p: !llvm.ptr, %gx: i32, %bx: i32) attributes {regrain.launch = @plain} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %g = arith.index_castui %gx : i32 to index
  %b = arith.index_castui %bx : i32 to index
  %e = regrain.gpu_wrapper @plain grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        regrain.barrier(%x, %y, %z)
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

llvm.func ptx_kernelcc @meets(%p: !llvm.ptr)
llvm.func @__regrain_launch.meets(%p: !llvm.ptr, %gx: i32, %bx: i32) attributes {regrain.launch = @meets} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %g = arith.index_castui %gx : i32 to index
  %b = arith.index_castui %bx : i32 to index
  %e = regrain.gpu_wrapper @meets grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        regrain.barrier(%x, %y, %z) {grid}
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}
