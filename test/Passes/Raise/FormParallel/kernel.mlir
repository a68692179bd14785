// RUN: %regrain-opt %s --regrain-form-parallel | FileCheck %s
// RUN: %regrain-opt %s --regrain-form-parallel='shapes=kernel=64x2x1' | FileCheck %s --check-prefix=SHAPE

// A shared variable that nobody names any more goes.
// CHECK-NOT: llvm.mlir.global internal @tile
// CHECK: llvm.mlir.global external @dynamic
llvm.mlir.global internal @tile() {addr_space = 3 : i32, alignment = 4 : i64} : !llvm.array<64 x f32> {
  %0 = llvm.mlir.undef : !llvm.array<64 x f32>
  llvm.return %0 : !llvm.array<64 x f32>
}
llvm.mlir.global external @dynamic() {addr_space = 3 : i32, alignment = 32 : i64} : !llvm.array<0 x f32>
llvm.mlir.global external @keep_dynamic() {addr_space = 0 : i32} : !llvm.ptr<3> {
  %0 = llvm.mlir.addressof @dynamic : !llvm.ptr<3>
  llvm.return %0 : !llvm.ptr<3>
}

// The kernel stays as a declaration.
// CHECK: llvm.func ptx_kernelcc @kernel(!llvm.ptr {llvm.noalias}, i32) attributes {regrain.linkage = #llvm.linkage<weak_odr>}
llvm.func weak_odr ptx_kernelcc @kernel(%p: !llvm.ptr {llvm.noalias}, %n: i32) {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
  %dynamic = llvm.mlir.addressof @dynamic : !llvm.ptr<3>
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %y = nvvm.read.ptx.sreg.tid.y : i32
  %b = nvvm.read.ptx.sreg.ctaid.z : i32
  %bs = nvvm.read.ptx.sreg.ntid.x : i32
  %gs = nvvm.read.ptx.sreg.nctaid.y : i32
  llvm.store %t, %tile : i32, !llvm.ptr<3>
  llvm.store %y, %dynamic : i32, !llvm.ptr<3>
  llvm.store %b, %p : i32, !llvm.ptr
  llvm.store %bs, %p : i32, !llvm.ptr
  llvm.store %gs, %p : i32, !llvm.ptr
  llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"(%c0) : (i32) -> ()
  %c = llvm.icmp "slt" %t, %n : i32
  %any = llvm.call_intrinsic "llvm.nvvm.barrier.cta.red.or.aligned.all"(%c0, %c) : (i32, i1) -> i1
  %count = llvm.call_intrinsic "llvm.nvvm.barrier.cta.red.popc.aligned.all"(%c0, %any) : (i32, i1) -> i32
  llvm.store %count, %p : i32, !llvm.ptr
  llvm.return
}

// CHECK-LABEL: llvm.func @__regrain_launch.kernel(
// CHECK-SAME: %[[ARGS:.*]]: !llvm.ptr, %{{.*}}: i32, %[[GY:.*]]: i32, %{{.*}}: i32, %[[BX:.*]]: i32, %{{.*}}: i32, %{{.*}}: i32, %[[SHMEM:.*]]: i64, %[[STREAM:.*]]: !llvm.ptr) -> i32
// CHECK: %[[P:.*]] = llvm.load %{{.*}} {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
// CHECK: %[[N:.*]] = llvm.load %{{.*}} {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> i32
// CHECK: %[[ERR:.*]] = regrain.gpu_wrapper @kernel grid({{.*}}) block({{.*}}) shared(%[[SHMEM]] : i64) stream(%[[STREAM]] : !llvm.ptr) {
// CHECK: scf.parallel (%{{.*}}, %{{.*}}, %[[K:.*]]) =
// CHECK-DAG: %[[TILE:.*]] = regrain.shared "tile" align 4 : !llvm.array<64 x f32> -> !llvm.ptr<3>
// CHECK-DAG: %[[DYN:.*]] = regrain.dynamic_shared %[[SHMEM]] align 32 : i64 -> !llvm.ptr<3>
// CHECK-DAG: %[[B:.*]] = arith.index_cast %[[K]] : index to i32
// CHECK: scf.parallel (%[[X:.*]], %[[Y:.*]], %[[Z:.*]]) =
// CHECK-DAG: %[[TX:.*]] = arith.index_cast %[[X]] : index to i32
// CHECK-DAG: %[[TY:.*]] = arith.index_cast %[[Y]] : index to i32
// CHECK: llvm.store %[[TX]], %[[TILE]]
// CHECK: llvm.store %[[TY]], %[[DYN]]
// CHECK: llvm.store %[[B]], %[[P]]
// CHECK: llvm.store %[[BX]], %[[P]]
// CHECK: llvm.store %[[GY]], %[[P]]
// CHECK: regrain.barrier(%[[X]], %[[Y]], %[[Z]])
// CHECK: llvm.icmp "slt" %[[TX]], %[[N]]
// CHECK: regrain.barrier_reduce or %{{.*}}(%[[X]], %[[Y]], %[[Z]]) : i1
// CHECK: regrain.barrier_reduce popc %{{.*}}(%[[X]], %[[Y]], %[[Z]]) : i32
// CHECK-NOT: nvvm
// CHECK: llvm.return %[[ERR]] : i32

// SHAPE: llvm.func @__regrain_launch.kernel(
// SHAPE: llvm.func @__regrain_launch.kernel.b64x2x1(
// SHAPE: %[[BX:.*]] = llvm.mlir.constant(64 : i32) : i32
// SHAPE: arith.constant 64 : index
// SHAPE: arith.constant 2 : index
// SHAPE: llvm.store %[[BX]]

// What waits for the grid is a barrier of the grid.
// CHECK-LABEL: llvm.func @__regrain_launch.meets_the_grid
// CHECK: scf.parallel
// CHECK: scf.parallel (%[[X:.*]], %[[Y:.*]], %[[Z:.*]]) =
// CHECK: regrain.barrier(%[[X]], %[[Y]], %[[Z]]) {grid}
// CHECK-NOT: llvm.call
llvm.func @__regrain_grid_barrier_wait(i32, !llvm.ptr)
llvm.func ptx_kernelcc @meets_the_grid(%p: !llvm.ptr, %n: i32) {
  llvm.call @__regrain_grid_barrier_wait(%n, %p) : (i32, !llvm.ptr) -> ()
  llvm.return
}
