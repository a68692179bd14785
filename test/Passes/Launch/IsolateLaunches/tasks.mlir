// RUN: %regrain-opt %s --regrain-keep-launches --regrain-expand-alternatives='space=blocks=1,2:tasks=auto,16' \
// RUN:   --regrain-isolate-launches | FileCheck %s
// RUN: %regrain-opt %s --regrain-keep-launches --regrain-expand-alternatives='space=tasks=16' \
// RUN:   --regrain-select-alternative='grain=p16' --regrain-isolate-launches | FileCheck %s --check-prefix=CHOSEN

// The host says how many blocks a task has before it launches; that makes no kernel of its own.

// CHECK-COUNT-2: llvm.func ptx_kernelcc @k$
// CHECK-NOT: llvm.func ptx_kernelcc
// CHECK-LABEL: llvm.func @__regrain_dispatch.k(
// CHECK: regrain.alternatives ["original", "b2x1x1", "p16", "b2x1x1p16"] -> i32 {
// CHECK-NOT: @__regrain_blocks_per_task
// CHECK: llvm.mlir.addressof @__regrain_handle.k : !llvm.ptr
// CHECK-NOT: @__regrain_blocks_per_task
// CHECK: llvm.mlir.addressof @__regrain_handle.k$b2x1x1
// CHECK-NOT: @__regrain_blocks_per_task
// CHECK: llvm.mlir.addressof @__regrain_handle.k$original$rest0
// CHECK: %[[N:.*]] = arith.constant 16 : i32
// CHECK-NEXT: llvm.call @__regrain_blocks_per_task(%[[N]])
// CHECK-NOT: llvm.call
// CHECK: llvm.mlir.addressof @__regrain_handle.k : !llvm.ptr
// CHECK-NEXT: llvm.call @__regrain_launch_kernel(
// CHECK: llvm.call @__regrain_blocks_per_task(
// CHECK-NOT: llvm.call
// CHECK: llvm.mlir.addressof @__regrain_handle.k$b2x1x1 : !llvm.ptr
// CHECK-NEXT: llvm.call @__regrain_launch_kernel(
// CHECK-NOT: @__regrain_blocks_per_task
// CHECK: llvm.mlir.addressof @__regrain_handle.k$original$rest0
// CHECK: llvm.func @__regrain_blocks_per_task(i32) attributes {regrain.host}

// Where it is all that is chosen there is host code, and the original kernel alone.
// CHOSEN-NOT: llvm.func ptx_kernelcc @k$
// CHOSEN-LABEL: llvm.func @__regrain_dispatch.k(
// CHOSEN-NOT: regrain.alternatives
// CHOSEN: llvm.call @__regrain_blocks_per_task(
// CHOSEN: llvm.mlir.addressof @__regrain_handle.k : !llvm.ptr
// CHOSEN-NOT: llvm.mlir.addressof @__regrain_handle
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
