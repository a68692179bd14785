// RUN: %regrain-opt %s --regrain-keep-launches --regrain-coarsen-threads='factor=2' --regrain-isolate-launches | FileCheck %s

// Where the launch decides whether the factor divides its block, the host does: the other branch launches the original kernel.
// The launch bounds speak of original threads, of which the coarse kernel has half as many; the block size that the kernel
// asks for is the original one.

// CHECK: llvm.func ptx_kernelcc @k$t2x1x1(!llvm.ptr, i32) attributes {passthrough = ["mustprogress"],
// CHECK-SAME: regrain.max_threads = array<i64: 128>, regrain.min_blocks = 2 : i64

// CHECK-LABEL: llvm.func @__regrain_dispatch.k(
// CHECK-SAME: %[[ARGS:[^:]*]]: !llvm.ptr, %[[GX:[^:]*]]: i32, %[[GY:[^:]*]]: i32, %[[GZ:[^:]*]]: i32, %[[BX:[^:]*]]: i32, %[[BY:[^:]*]]: i32, %[[BZ:[^:]*]]: i32, %[[SHMEM:[^:]*]]: i64, %[[STREAM:[^:]*]]: !llvm.ptr
// CHECK: %[[HALF:.*]] = arith.divui
// CHECK: arith.remui
// CHECK: scf.if
// CHECK: %[[WORD:.*]] = arith.index_cast %[[HALF]] : index to i32
// CHECK: llvm.store %[[BX]], %{{.*}} : i32, !llvm.ptr
// CHECK: %[[COARSE:.*]] = llvm.mlir.addressof @__regrain_handle.k$t2x1x1
// CHECK: llvm.call @__regrain_launch_kernel(%[[COARSE]], %[[GX]], %[[GY]], %[[GZ]], %[[WORD]], %[[BY]], %[[BZ]], %{{.*}}, %[[SHMEM]], %[[STREAM]], %{{.*}})
// CHECK: else
// CHECK: %[[ORIGINAL:.*]] = llvm.mlir.addressof @__regrain_handle.k : !llvm.ptr
// CHECK: llvm.call @__regrain_launch_kernel(%[[ORIGINAL]], %[[GX]], %[[GY]], %[[GZ]], %[[BX]], %[[BY]], %[[BZ]], %[[ARGS]], %[[SHMEM]], %[[STREAM]], %c-1_i64)

// CHECK-LABEL: llvm.func @__regrain_launch.k$t2x1x1(
// CHECK-SAME: %{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: i32, %{{[^:]*}}: i32, %{{[^:]*}}: i32, %[[BX:[^:]*]]: i32,
// CHECK: %[[EXTENT:.*]] = arith.index_castui %[[BX]]
// CHECK: %[[SIZE:.*]] = llvm.load %{{.*}} {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> i32
// CHECK: scf.parallel {{.*}} to (%[[EXTENT]],
// CHECK: arith.addi %{{.*}}, %[[EXTENT]]
// CHECK: llvm.store %[[SIZE]]
llvm.func ptx_kernelcc @k(!llvm.ptr) attributes {passthrough = ["mustprogress"], regrain.max_threads = array<i64: 256>, regrain.min_blocks = 2 : i64}
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
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%bxi, %byi, %bzi) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %q = llvm.getelementptr %p[%t] : (!llvm.ptr, i32) -> !llvm.ptr, i32
        llvm.store %bx, %q : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}
