// RUN: %regrain-opt %s --regrain-form-parallel | FileCheck %s

// A structure by value that nobody writes is used where it is.
// CHECK-LABEL: llvm.func @__regrain_launch.reads(
// CHECK: %[[ARG:.*]] = llvm.load %{{.*}} {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
// CHECK-NOT: llvm.alloca
// CHECK: llvm.load %[[ARG]] : !llvm.ptr -> i32
llvm.func ptx_kernelcc @reads(%s: !llvm.ptr {llvm.byval = !llvm.struct<(i32, f32)>}, %p: !llvm.ptr) {
  %v = llvm.load %s : !llvm.ptr -> i32
  llvm.store %v, %p : i32, !llvm.ptr
  llvm.return
}

// One that is written is copied for each thread.
// CHECK-LABEL: llvm.func @__regrain_launch.writes(
// CHECK: %[[ARG:.*]] = llvm.load %{{.*}} {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
// CHECK: scf.parallel
// CHECK: scf.parallel
// CHECK: %[[COPY:.*]] = llvm.alloca
// CHECK: "llvm.intr.memcpy"(%[[COPY]], %[[ARG]],
// CHECK: llvm.store %{{.*}}, %[[COPY]]
llvm.func ptx_kernelcc @writes(%s: !llvm.ptr {llvm.byval = !llvm.struct<(i32, f32)>}, %v: i32) {
  llvm.store %v, %s : i32, !llvm.ptr
  llvm.return
}
