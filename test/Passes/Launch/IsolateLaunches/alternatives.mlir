// RUN: %regrain-opt %s --regrain-keep-launches --regrain-expand-alternatives='space=blocks=1,2,4:threads=1' \
// RUN:   --regrain-isolate-launches | FileCheck %s
// RUN: %regrain-opt %s --regrain-keep-launches --regrain-expand-alternatives='space=blocks=1,2,4:threads=1' \
// RUN:   --regrain-isolate-launches --regrain-select-alternative='grain=b4x1x1' --regrain-outline-kernels | FileCheck %s --check-prefix=CHOSEN

// Each alternative launches its own kernels; what blocks of either size leave over is one kernel.

// CHECK-COUNT-3: llvm.func ptx_kernelcc @k$
// CHECK-NOT: llvm.func ptx_kernelcc
// CHECK-LABEL: llvm.func @__regrain_dispatch.k(
// CHECK: regrain.alternatives ["original", "b2x1x1", "b4x1x1"] -> i32 {
// CHECK: llvm.mlir.addressof @__regrain_handle.k : !llvm.ptr
// CHECK: %[[E:.*]] = llvm.call @__regrain_launch_kernel(
// CHECK: regrain.yield %[[E]] : i32
// CHECK: llvm.mlir.addressof @__regrain_handle.k$b2x1x1
// CHECK: llvm.mlir.addressof @__regrain_handle.k$original$rest0
// CHECK: regrain.yield
// CHECK: llvm.mlir.addressof @__regrain_handle.k$b4x1x1
// CHECK: llvm.mlir.addressof @__regrain_handle.k$original$rest0
// CHECK: regrain.yield

// One of them can be chosen behind it.
// CHOSEN-LABEL: llvm.func @__regrain_dispatch.k(
// CHOSEN-NOT: regrain.alternatives
// CHOSEN-NOT: @__regrain_handle.k$b2x1x1
// CHOSEN: llvm.mlir.addressof @__regrain_handle.k$b4x1x1
// CHOSEN: llvm.mlir.addressof @__regrain_handle.k$original$rest0
llvm.func ptx_kernelcc @k(!llvm.ptr)
llvm.func @__regrain_launch.k(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @k} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %gxi = arith.index_castui %gx : i32 to index
  %gyi = arith.index_castui %gy : i32 to index
  %gzi = arith.index_castui %gz : i32 to index
  %bxi = arith.index_castui %bx : i32 to index
  %byi = arith.index_castui %by : i32 to index
  %bzi = arith.index_castui %bz : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @k grid(%gxi, %gyi, %gzi) block(%bxi, %byi, %bzi) shared(%bytes : i64) stream(%stream : !llvm.ptr) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%gxi, %gyi, %gzi) step (%c1, %c1, %c1) {
      %b = arith.index_cast %i : index to i32
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%bxi, %byi, %bzi) step (%c1, %c1, %c1) {
        %q = llvm.getelementptr %p[%b] : (!llvm.ptr, i32) -> !llvm.ptr, i32
        llvm.store %b, %q : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}
