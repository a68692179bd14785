// RUN: %regrain-opt %s --regrain-coarsen-blocks='factor=2' --regrain-split-barriers --regrain-lower-cpu | FileCheck %s

// The runtime counts original blocks: of two that are one coarse block, the first does the work of both.
// CHECK-LABEL: llvm.func @__regrain_block.k(
// CHECK: %[[CTAID:.*]] = nvvm.read.ptx.sreg.ctaid.x
// CHECK: %[[BLOCK:.*]] = llvm.zext %[[CTAID]]
// CHECK: llvm.urem %[[BLOCK]]
// CHECK: llvm.udiv %[[BLOCK]]
// CHECK: llvm.cond_br
// CHECK: llvm.icmp "uge" %[[BLOCK]]
// CHECK-NOT: regrain.
llvm.func ptx_kernelcc @k(%p: !llvm.ptr)
llvm.func @__regrain_launch.k(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %g = arith.index_castui %gx : i32 to index
  %b = arith.index_castui %bx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %v = arith.index_cast %i : index to i32
        llvm.store %v, %p : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}
