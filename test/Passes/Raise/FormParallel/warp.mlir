// RUN: %regrain-opt %s --regrain-form-parallel | FileCheck %s

// CHECK-LABEL: llvm.func @__regrain_launch.warp(
// CHECK: scf.parallel
// CHECK: scf.parallel (%[[X:.*]], %[[Y:.*]], %[[Z:.*]]) =
// CHECK: %[[V:.*]] = llvm.load
// CHECK: regrain.lane_id(%[[X]], %[[Y]], %[[Z]])
// CHECK: regrain.warp_id(%[[X]], %[[Y]], %[[Z]])
// CHECK: regrain.shuffle down %[[V]], %[[O:.*]], %[[CLAMP:.*]] mask %[[M:.*]](%[[X]], %[[Y]], %[[Z]]) : i32
// CHECK: %[[R:.*]], %[[IN:.*]] = regrain.shuffle idx
// CHECK: llvm.insertvalue %[[R]]
// CHECK: llvm.insertvalue %[[IN]]
// CHECK: regrain.shuffle up %[[V]], %[[O]], %[[CLAMP]] mask %[[M]]
// CHECK: %[[F:.*]], %[[OK:.*]] = regrain.shuffle down %{{.*}}, %[[O]], %[[CLAMP]] mask %[[M]]({{.*}}) : f32
// CHECK: %[[SUM:.*]] = llvm.fadd %[[F]], %{{.*}} : f32
// CHECK: llvm.select %[[OK]], %[[SUM]], %[[F]] : i1, f32
// CHECK: regrain.vote ballot
// CHECK: %[[SET:.*]] = arith.cmpi ne
// CHECK: %[[WITH:.*]] = regrain.vote ballot %[[SET]]
// CHECK: %[[WITHOUT:.*]] = llvm.xor %[[WITH]]
// CHECK: llvm.select %[[SET]], %[[WITH]], %[[WITHOUT]]
// CHECK: regrain.vote any
// CHECK: regrain.match any
// CHECK: regrain.warp_reduce max
// CHECK: regrain.warp_barrier %[[M]](
// CHECK: regrain.active_mask(
// CHECK: %[[T:.*]]:2 = regrain.warp_call @__regrain_warp.f(%[[V]]) lanes(%[[X]], %[[Y]], %[[Z]]) : (i32) -> (i32, i32)
// CHECK: llvm.store volatile %[[T]]#1
// CHECK-NOT: llvm.call_intrinsic
// CHECK-NOT: llvm.inline_asm
// CHECK-NOT: llvm.call @
llvm.func @__regrain_warp.f(i32) -> !llvm.struct<(i32, i32)>
llvm.func ptx_kernelcc @warp(%p: !llvm.ptr) {
  %m = llvm.mlir.constant(-1 : i32) : i32
  %c16 = llvm.mlir.constant(16 : i32) : i32
  %c31 = llvm.mlir.constant(31 : i32) : i32
  %v = llvm.load %p : !llvm.ptr -> i32
  %lane = llvm.inline_asm asm_dialect = att "mov.u32 $0, %laneid;", "=r" : () -> i32
  llvm.store volatile %lane, %p : i32, !llvm.ptr
  %warp = nvvm.read.ptx.sreg.warpid : i32
  llvm.store volatile %warp, %p : i32, !llvm.ptr
  %d = llvm.call_intrinsic "llvm.nvvm.shfl.sync.down.i32"(%m, %v, %c16, %c31) : (i32, i32, i32, i32) -> i32
  llvm.store volatile %d, %p : i32, !llvm.ptr
  %i = llvm.call_intrinsic "llvm.nvvm.shfl.sync.idx.i32p"(%m, %v, %c16, %c31) : (i32, i32, i32, i32) -> !llvm.struct<(i32, i1)>
  llvm.store volatile %i, %p : !llvm.struct<(i32, i1)>, !llvm.ptr
  %u = llvm.inline_asm has_side_effects asm_dialect = att "shfl.sync.up.b32 $0, $1, $2, $3, $4;", "=r,r,r,r,r" %v, %c16, %c31, %m : (i32, i32, i32, i32) -> i32
  llvm.store volatile %u, %p : i32, !llvm.ptr
  %f = llvm.load %p : !llvm.ptr -> f32
  %sum = llvm.inline_asm has_side_effects asm_dialect = att "{  .reg .f32 r0;  .reg .pred p;  shfl.sync.down.b32 r0|p, $1, $2, $3, $5;  @p add.f32 r0, r0, $4;  mov.f32 $0, r0;}", "=f,f,r,r,f,r" %f, %c16, %c31, %f, %m : (f32, i32, i32, f32, i32) -> f32
  llvm.store volatile %sum, %p : f32, !llvm.ptr
  %c = llvm.icmp "eq" %v, %m : i32
  %b = llvm.call_intrinsic "llvm.nvvm.vote.ballot.sync"(%m, %c) : (i32, i1) -> i32
  llvm.store volatile %b, %p : i32, !llvm.ptr
  %peers = llvm.inline_asm asm_dialect = att "{\0A    .reg .pred p;\0A    and.b32 $0, $1, $2;    setp.ne.u32 p, $0, 0;\0A    vote.ballot.sync.b32 $0, p, 0xffffffff;\0A    @!p not.b32 $0, $0;\0A}\0A", "=r,r,r" %v, %c16 : (i32, i32) -> i32
  llvm.store volatile %peers, %p : i32, !llvm.ptr
  %any = llvm.call_intrinsic "llvm.nvvm.vote.any.sync"(%m, %c) : (i32, i1) -> i1
  llvm.store volatile %any, %p : i1, !llvm.ptr
  %match = llvm.call_intrinsic "llvm.nvvm.match.any.sync.i32"(%m, %v) : (i32, i32) -> i32
  llvm.store volatile %match, %p : i32, !llvm.ptr
  %max = llvm.call_intrinsic "llvm.nvvm.redux.sync.max"(%v, %m) : (i32, i32) -> i32
  llvm.store volatile %max, %p : i32, !llvm.ptr
  llvm.call_intrinsic "llvm.nvvm.bar.warp.sync"(%m) : (i32) -> ()
  %active = llvm.call_intrinsic "llvm.nvvm.activemask"() : () -> i32
  llvm.store volatile %active, %p : i32, !llvm.ptr
  %both = llvm.call @__regrain_warp.f(%v) : (i32) -> !llvm.struct<(i32, i32)>
  %second = llvm.extractvalue %both[1] : !llvm.struct<(i32, i32)>
  llvm.store volatile %second, %p : i32, !llvm.ptr
  llvm.return
}
