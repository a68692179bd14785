// RUN: %regrain-opt %s --regrain-form-parallel | FileCheck %s
// RUN: %regrain-opt %s --regrain-form-parallel --regrain-outline-kernels | FileCheck %s --check-prefix=BACK

// Launch bounds are facts of the dialect while a kernel is in parallel form, and the target's own again behind it. What cannot be
// read stays as it is.

// CHECK: llvm.func ptx_kernelcc @bounded(!llvm.ptr) attributes {passthrough = ["mustprogress", ["target-cpu", "sm_80"]],
// CHECK-SAME: regrain.max_cluster = 4 : i64, regrain.max_threads = array<i64: 256>, regrain.min_blocks = 2 : i64}
// BACK: llvm.func ptx_kernelcc @bounded(%{{.*}}: !llvm.ptr) attributes {passthrough = ["mustprogress", ["target-cpu", "sm_80"],
// BACK-SAME: ["nvvm.minctasm", "2"], ["nvvm.maxntid", "256"], ["nvvm.maxclusterrank", "4"]]} {
llvm.func ptx_kernelcc @bounded(%p: !llvm.ptr) attributes {passthrough = ["mustprogress", ["nvvm.maxntid", "256"], ["nvvm.minctasm", "2"], ["nvvm.maxclusterrank", "4"], ["target-cpu", "sm_80"]]} {
  %x = nvvm.read.ptx.sreg.tid.x : i32
  llvm.store %x, %p : i32, !llvm.ptr
  llvm.return
}

// CHECK: llvm.func ptx_kernelcc @shaped(!llvm.ptr) attributes {
// CHECK-SAME: regrain.cluster_shape = array<i64: 2, 1, 1>, {{.*}}regrain.required_threads = array<i64: 16, 16, 1>}
// BACK: llvm.func ptx_kernelcc @shaped(%{{.*}}: !llvm.ptr) attributes {passthrough = {{\[\[}}"nvvm.reqntid", "16,16,1"], ["nvvm.cluster_dim", "2,1,1"]]} {
llvm.func ptx_kernelcc @shaped(%p: !llvm.ptr) attributes {passthrough = [["nvvm.reqntid", "16,16,1"], ["nvvm.cluster_dim", "2,1,1"]]} {
  %x = nvvm.read.ptx.sreg.tid.x : i32
  llvm.store %x, %p : i32, !llvm.ptr
  llvm.return
}

// CHECK: llvm.func ptx_kernelcc @odd(!llvm.ptr) attributes {passthrough = {{\[\[}}"nvvm.maxntid", "many"]]
// BACK: llvm.func ptx_kernelcc @odd(%{{.*}}: !llvm.ptr) attributes {passthrough = {{\[\[}}"nvvm.maxntid", "many"]]} {
llvm.func ptx_kernelcc @odd(%p: !llvm.ptr) attributes {passthrough = [["nvvm.maxntid", "many"]]} {
  %x = nvvm.read.ptx.sreg.tid.x : i32
  llvm.store %x, %p : i32, !llvm.ptr
  llvm.return
}
