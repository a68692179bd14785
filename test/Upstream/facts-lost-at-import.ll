; RUN: mlir-translate --import-llvm %s | mlir-translate --mlir-to-llvmir | FileCheck %s

; What the way through MLIR loses. When one of these fails, remove its part of crates/mlir-bridge/cpp/carry.cpp; for the order
; of the data layout's parts, see crates/mlir-bridge/cpp/llvm.cpp.

; The vectors' alignments are gone, others are stated that were not.
; CHECK: target datalayout
; CHECK-NOT: v16:16
; A constant that the host writes becomes zero for ever.
; CHECK: @table = addrspace(4) global [4 x i32] zeroinitializer
; Assembly loses `convergent`, and may be moved into branches.
; CHECK: call void asm sideeffect "bar.sync 0;", "~{memory}"(){{$}}
; CHECK: define ptx_kernel void @k(ptr byval(i32) %0)
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
@table = addrspace(4) externally_initialized global [4 x i32] zeroinitializer, align 4
define void @f(ptr %p) {
  call void asm sideeffect "bar.sync 0;", "~{memory}"() #0
  ret void
}
define ptx_kernel void @k(ptr byval(i32) "nvvm.grid_constant" %p) {
  ret void
}
attributes #0 = { convergent nounwind memory(none) }
