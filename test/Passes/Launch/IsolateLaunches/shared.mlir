// RUN: %regrain-opt %s --regrain-keep-launches --regrain-coarsen-blocks='factor=2 dynamic-shared-limit=49152' \
// RUN:   --regrain-isolate-launches='shared-limit=49152' | FileCheck %s

// A coarse block has the dynamic shared memory of two, and must know where the second region begins: the original size is a
// parameter. A struct that is passed by value stays one.

// CHECK: llvm.func ptx_kernelcc @k$b2x1x1(!llvm.ptr, !llvm.ptr {llvm.align = 4 : i64, llvm.byval = !llvm.struct<(i32, i32)>}, i64)
// CHECK-LABEL: llvm.func @__regrain_dispatch.k(
// CHECK-SAME: i32, %[[BYTES:[^:]*]]: i64, %{{[^:]*}}: !llvm.ptr)
// CHECK: %[[TWICE:.*]] = arith.muli %{{.*}}, %c2_i64
// CHECK: llvm.store %[[BYTES]], %{{.*}} : i64, !llvm.ptr
// CHECK: llvm.mlir.addressof @__regrain_handle.k$b2x1x1
// CHECK: llvm.call @__regrain_launch_kernel({{.*}}, %[[TWICE]], %{{.*}}, %c49152_i64
// CHECK: llvm.mlir.addressof @__regrain_handle.k$original$rest0
// CHECK: llvm.call @__regrain_launch_kernel({{.*}}, %[[BYTES]], %

// CHECK-LABEL: llvm.func @__regrain_launch.k$b2x1x1(
// CHECK-SAME: i32, %[[ALL:[^:]*]]: i64, %{{[^:]*}}: !llvm.ptr)
// CHECK: %[[STRUCT:.*]] = llvm.load %{{.*}} {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> !llvm.ptr
// CHECK: %[[ONE:.*]] = llvm.load %{{.*}} {regrain.kernel_arg = 2 : i64} : !llvm.ptr -> i64
// CHECK: arith.addi %[[ONE]]
// CHECK: regrain.dynamic_shared
// CHECK: llvm.load %[[STRUCT]]
llvm.func ptx_kernelcc @k(!llvm.ptr, !llvm.ptr {llvm.align = 4 : i64, llvm.byval = !llvm.struct<(i32, i32)>})
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
  %at1 = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %s = llvm.load %at1 {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @k grid(%gxi, %gyi, %gzi) block(%bxi, %byi, %bzi) shared(%bytes : i64) stream(%stream : !llvm.ptr) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%gxi, %gyi, %gzi) step (%c1, %c1, %c1) {
      %memory = regrain.dynamic_shared %bytes align 16 : i64 -> !llvm.ptr<3>
      %b = arith.index_cast %i : index to i32
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%bxi, %byi, %bzi) step (%c1, %c1, %c1) {
        llvm.store %b, %memory : i32, !llvm.ptr<3>
        regrain.barrier(%x, %y, %z)
        %v = llvm.load %memory : !llvm.ptr<3> -> i32
        %w = llvm.load %s : !llvm.ptr -> i32
        %sum = llvm.add %v, %w : i32
        %q = llvm.getelementptr %p[%b] : (!llvm.ptr, i32) -> !llvm.ptr, i32
        llvm.store %sum, %q : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}
