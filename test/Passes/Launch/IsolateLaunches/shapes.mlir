// RUN: %regrain-opt %s --regrain-keep-launches --regrain-coarsen-threads='factor=2' --regrain-isolate-launches | FileCheck %s
// RUN: %regrain-opt %s --regrain-keep-launches --regrain-coarsen-threads='factor=2' --regrain-isolate-launches \
// RUN:   --regrain-outline-kernels | FileCheck %s --check-prefix=GPU

// A version for a constant block shape is a kernel of its own, and its block has constant sizes.

// CHECK: llvm.func ptx_kernelcc @k$t2x1x1$s64x2x1(!llvm.ptr) attributes {regrain.block_shape = array<i64: 64, 2, 1>,
// CHECK-SAME: regrain.required_threads = array<i64: 32, 2, 1>
// CHECK-SAME: regrain.thread_grain = array<i64: 2, 1, 1>, regrain.version_of = @k}
// CHECK-LABEL: llvm.func @__regrain_launch.k.b64x2x1(
// CHECK: regrain.kept
// CHECK-LABEL: llvm.func @__regrain_dispatch.k.b64x2x1(
// CHECK-NOT: scf.if
// CHECK: llvm.mlir.addressof @__regrain_handle.k$t2x1x1$s64x2x1
// CHECK-LABEL: llvm.func @__regrain_launch.k$t2x1x1$s64x2x1(
// CHECK: arith.constant 32 : index
// CHECK: %[[Y:.*]] = arith.constant 2 : index
// CHECK: block(%c32{{[_0-9]*}}, %[[Y]],

// GPU: llvm.func ptx_kernelcc @k$t2x1x1$s64x2x1(%{{.*}}) attributes {passthrough = {{\[\[}}"nvvm.reqntid", "32,2,1"]]} {
// GPU-LABEL: llvm.func @__regrain_dispatch.k.b64x2x1(
llvm.func ptx_kernelcc @k(!llvm.ptr)
llvm.func @__regrain_launch.k.b64x2x1(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @k, regrain.block_shape = array<i64: 64, 2, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %gxi = arith.index_castui %gx : i32 to index
  %gyi = arith.index_castui %gy : i32 to index
  %gzi = arith.index_castui %gz : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @k grid(%gxi, %gyi, %gzi) block(%c64, %c2, %c1) shared(%bytes : i64) stream(%stream : !llvm.ptr) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%gxi, %gyi, %gzi) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c2, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %q = llvm.getelementptr %p[%t] : (!llvm.ptr, i32) -> !llvm.ptr, i32
        llvm.store %t, %q : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}
