// RUN: %regrain-opt %s --regrain-keep-launches --regrain-coarsen-blocks='factor=2' --regrain-isolate-launches | FileCheck %s
// RUN: %regrain-opt %s --regrain-keep-launches --regrain-coarsen-blocks='factor=2' --regrain-isolate-launches \
// RUN:   --regrain-outline-kernels | FileCheck %s --check-prefix=GPU
// RUN: %regrain-opt %s --regrain-keep-launches --regrain-coarsen-blocks='factor=2' --regrain-isolate-launches \
// RUN:   --regrain-split-barriers --regrain-lower-cpu | FileCheck %s --check-prefix=CPU

// The coarse blocks and what they leave over become kernels with launch functions of their own. Beside the kernel's argument
// they take the size of the original grid, which the kernel asks for, and the number of the first block that is left over.

// CHECK: llvm.func ptx_kernelcc @k(!llvm.ptr {llvm.noalias})
// CHECK-DAG: llvm.func ptx_kernelcc @k$b2x1x1(!llvm.ptr {llvm.noalias}, i32) attributes {regrain.grain = array<i64: 2, 1, 1>, {{.*}}regrain.version_of = @k}
// CHECK-DAG: llvm.func ptx_kernelcc @k$original$rest0(!llvm.ptr {llvm.noalias}, i32, i32) attributes {{{.*}}regrain.rest = 0 : i64, {{.*}}regrain.version_of = @k}

// CHECK-LABEL: llvm.func @__regrain_launch.k(
// CHECK: regrain.gpu_wrapper @k {{.*}} attributes {regrain.kept, regrain.original}

// CHECK-LABEL: llvm.func @__regrain_dispatch.k(
// CHECK-SAME: %{{[^:]*}}: !llvm.ptr, %[[GX:[^:]*]]: i32, %[[GY:[^:]*]]: i32, %[[GZ:[^:]*]]: i32, %[[BX:[^:]*]]: i32, %[[BY:[^:]*]]: i32, %[[BZ:[^:]*]]: i32, %[[SHMEM:[^:]*]]: i64, %[[STREAM:[^:]*]]: !llvm.ptr
// CHECK-SAME: attributes {regrain.dispatch = @k, regrain.host
// CHECK-NOT: regrain.gpu_wrapper
// CHECK: %[[N:.*]] = arith.index_castui %[[GX]]
// CHECK: %[[Q:.*]] = arith.divui %[[N]]
// CHECK: %[[COVERED:.*]] = arith.select
// CHECK: scf.if
// CHECK: %[[QW:.*]] = arith.index_cast %[[Q]] : index to i32
// CHECK: llvm.store %[[GX]], %[[SLOT:.*]] : i32, !llvm.ptr
// CHECK: %[[AT:.*]] = llvm.getelementptr %[[ARRAY:.*]][1]
// CHECK: llvm.store %[[SLOT]], %[[AT]]
// CHECK: %[[HANDLE:.*]] = llvm.mlir.addressof @__regrain_handle.k$b2x1x1
// CHECK: llvm.call @__regrain_launch_kernel(%[[HANDLE]], %[[QW]], %[[GY]], %[[GZ]], %[[BX]], %[[BY]], %[[BZ]], %[[ARRAY]], %[[SHMEM]], %[[STREAM]], %{{.*}})
// CHECK: scf.if
// CHECK: arith.index_cast %[[COVERED]] : index to i32
// CHECK: llvm.mlir.addressof @__regrain_handle.k$original$rest0
// CHECK: llvm.call @__regrain_launch_kernel

// CHECK-LABEL: llvm.func @__regrain_launch.k$b2x1x1(
// CHECK-SAME: %{{[^:]*}}: !llvm.ptr, %[[GX:[^:]*]]: i32, %{{[^:]*}}: i32, %{{[^:]*}}: i32, %[[BX:[^:]*]]: i32,
// CHECK: %[[N:.*]] = arith.index_castui %[[GX]]
// CHECK: %[[ORIGINAL:.*]] = llvm.load %{{.*}} {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> i32
// CHECK: regrain.gpu_wrapper @k$b2x1x1 grid(%[[N]],
// CHECK: scf.parallel (%[[I:.*]], %{{.*}}, %{{.*}}) = {{.*}} to (%[[N]],
// CHECK: arith.muli %[[I]]
// CHECK: llvm.mul %{{.*}}, %[[BX]]
// CHECK: llvm.store %[[ORIGINAL]]

// What stands for a kernel in launches says which.
// CHECK-LABEL: llvm.mlir.global external @__regrain_handle.k$b2x1x1()
// CHECK-SAME: regrain.handle = @k$b2x1x1, regrain.host}

// CHECK-LABEL: llvm.func @__regrain_launch.k$original$rest0(
// CHECK: %[[FIRST:.*]] = llvm.load %{{.*}} {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> i32
// CHECK: %[[START:.*]] = arith.index_castui %[[FIRST]]
// CHECK: scf.parallel (%[[I:.*]], %{{.*}}, %{{.*}}) = (%c0, %c0, %c0)
// CHECK: arith.addi %[[I]], %[[START]]
// CHECK-LABEL: llvm.mlir.global external @__regrain_handle.k$original$rest0()
// CHECK-SAME: regrain.handle = @k$original$rest0, regrain.host, regrain.rest = 0 : i64}

// GPU-DAG: llvm.func ptx_kernelcc @k(%{{.*}}: !llvm.ptr {llvm.noalias}) {
// GPU-DAG: llvm.func ptx_kernelcc @k$b2x1x1(%{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: i32) {
// GPU-DAG: llvm.func ptx_kernelcc @k$original$rest0(%{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: i32, %{{.*}}: i32) {
// GPU-DAG: llvm.func @__regrain_dispatch.k(
// GPU-NOT: @__regrain_launch.

// CPU-DAG: llvm.func @__regrain_block.k(
// CPU-DAG: llvm.func @__regrain_block.k$b2x1x1(
// CPU-DAG: llvm.func @__regrain_block.k$original$rest0(
// CPU-NOT: @__regrain_launch.
llvm.func ptx_kernelcc @k(!llvm.ptr {llvm.noalias})
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
        %t = arith.index_cast %x : index to i32
        %row = llvm.mul %b, %bx : i32
        %at = llvm.add %row, %t : i32
        %q = llvm.getelementptr %p[%at] : (!llvm.ptr, i32) -> !llvm.ptr, i32
        llvm.store %gx, %q : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}
