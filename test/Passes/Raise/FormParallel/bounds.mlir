// RUN: %regrain-opt %s --regrain-form-parallel='bounds=true' | FileCheck %s
// RUN: %regrain-opt %s --regrain-form-parallel='bounds=true shapes=bounded=64x1x1' | FileCheck %s --check-prefix=SEEN
// RUN: %regrain-opt %s --regrain-form-parallel='bounds=true shapes=bounded=256x1x1;asking=256x1x1' | FileCheck %s --check-prefix=WHOLE
// RUN: %regrain-opt %s --regrain-form-parallel='bounds=true widths=rows=64' | FileCheck %s --check-prefix=WIDE
// RUN: %regrain-opt %s --regrain-form-parallel='bounds=true budget=40' | FileCheck %s --check-prefix=FEW
// RUN: not %regrain-opt %s --regrain-form-parallel='bounds=true widths=rows=0' 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: %regrain-opt %s --regrain-form-parallel='shapes=bounded=64x1x1 only=bounded;without' | FileCheck %s --check-prefix=ONLY

// What launch bounds allow is a shape of its own where rows must be warps, and no other shape is known.
// The kernel never reads how many threads a block has, so it is for that many.
// CHECK-LABEL: llvm.func @__regrain_launch.bounded(
// CHECK-SAME: regrain.seldom
// CHECK-LABEL: llvm.func @__regrain_launch.bounded.b256x1x1(
// CHECK-NOT: regrain.seldom
// SEEN-LABEL: llvm.func @__regrain_launch.bounded(
// SEEN-NOT: regrain.seldom
// SEEN: llvm.func @__regrain_launch.bounded.b64x1x1(
// SEEN-NOT: @__regrain_launch.bounded.b256

// Where that is what launches are seen to have, no other shape is expected, unless the kernel asks for it.
// WHOLE-LABEL: llvm.func @__regrain_launch.bounded(
// WHOLE-SAME: regrain.seldom
// WHOLE-LABEL: llvm.func @__regrain_launch.bounded.b256x1x1(
// WHOLE-LABEL: llvm.func @__regrain_launch.asking(
// WHOLE-NOT: regrain.seldom
// WHOLE-LABEL: llvm.func @__regrain_launch.asking.b256x1x1(

// A kernel that is launched with known shapes only has no launch function for all; one of which no shape is known has.
// ONLY-NOT: @__regrain_launch.bounded(
// ONLY: llvm.func @__regrain_launch.bounded.b64x1x1(
// ONLY: llvm.func @__regrain_launch.without(
llvm.func ptx_kernelcc @bounded(%p: !llvm.ptr, %n: i32) attributes {passthrough = [["nvvm.maxntid", "256"]]} {
  %all = llvm.mlir.constant(-1 : i32) : i32
  %x = nvvm.read.ptx.sreg.tid.x : i32
  %odd = llvm.icmp "slt" %x, %n : i32
  %votes = llvm.call_intrinsic "llvm.nvvm.vote.ballot.sync"(%all, %odd) : (i32, i1) -> i32
  llvm.store %votes, %p : i32, !llvm.ptr
  llvm.return
}

// Where y of a thread is asked for too, x of the block is what is known of it, else that of a warp: by a guess, on which less is built.
// CHECK-LABEL: llvm.func @__regrain_launch.rows(
// CHECK-SAME: regrain.doubtful
// CHECK-LABEL: llvm.func @__regrain_launch.rows.b32x8x1(
// CHECK-NOT: regrain.doubtful
// WIDE-LABEL: llvm.func @__regrain_launch.rows(
// WIDE-SAME: regrain.seldom
// WIDE-LABEL: llvm.func @__regrain_launch.rows.b64x4x1(
// BAD: width 'rows=0', expected kernel=1..1024
llvm.func ptx_kernelcc @rows(%p: !llvm.ptr) attributes {passthrough = [["nvvm.maxntid", "256"]]} {
  %all = llvm.mlir.constant(-1 : i32) : i32
  %x = nvvm.read.ptx.sreg.tid.x : i32
  %y = nvvm.read.ptx.sreg.tid.y : i32
  %odd = llvm.icmp "slt" %x, %y : i32
  %votes = llvm.call_intrinsic "llvm.nvvm.vote.ballot.sync"(%all, %odd) : (i32, i1) -> i32
  llvm.store %votes, %p : i32, !llvm.ptr
  llvm.return
}

// A kernel that numbers its threads says itself how long its rows are.
// CHECK-LABEL: llvm.func @__regrain_launch.numbered(
// CHECK-SAME: regrain.seldom
// CHECK-LABEL: llvm.func @__regrain_launch.numbered.b64x4x1(
// CHECK-NOT: regrain.sole
// Where there is much to compile it has no other shape. Before it the budget was enough for @bounded; what is guessed does not count.
// FEW-LABEL: llvm.func @__regrain_launch.bounded(
// FEW-SAME: regrain.seldom
// FEW-LABEL: llvm.func @__regrain_launch.rows(
// FEW-SAME: regrain.doubtful
// FEW-NOT: @__regrain_launch.numbered(
// FEW: llvm.func @__regrain_launch.numbered.b64x4x1(
// FEW-SAME: regrain.sole
llvm.func ptx_kernelcc @numbered(%p: !llvm.ptr) attributes {passthrough = [["nvvm.maxntid", "256"]]} {
  %all = llvm.mlir.constant(-1 : i32) : i32
  %six = llvm.mlir.constant(6 : i32) : i32
  %x = nvvm.read.ptx.sreg.tid.x : i32
  %y = nvvm.read.ptx.sreg.tid.y : i32
  %row = llvm.shl %y, %six : i32
  %number = llvm.add %x, %row : i32
  %odd = llvm.icmp "slt" %x, %number : i32
  %votes = llvm.call_intrinsic "llvm.nvvm.vote.ballot.sync"(%all, %odd) : (i32, i1) -> i32
  llvm.store %votes, %p : i32, !llvm.ptr
  llvm.return
}

// What only makes addresses numbers no threads, and two numbers for one thread say nothing.
// CHECK-LABEL: llvm.func @__regrain_launch.pitched(
// CHECK-SAME: regrain.doubtful
// CHECK-LABEL: llvm.func @__regrain_launch.pitched.b32x8x1(
llvm.func ptx_kernelcc @pitched(%p: !llvm.ptr) attributes {passthrough = [["nvvm.maxntid", "256"]]} {
  %all = llvm.mlir.constant(-1 : i32) : i32
  %six = llvm.mlir.constant(6 : i32) : i32
  %x = nvvm.read.ptx.sreg.tid.x : i32
  %y = nvvm.read.ptx.sreg.tid.y : i32
  %row = llvm.shl %y, %six : i32
  %number = llvm.add %x, %row : i32
  %a = llvm.getelementptr %p[%number] : (!llvm.ptr, i32) -> !llvm.ptr, i32
  %odd = llvm.icmp "slt" %x, %y : i32
  %votes = llvm.call_intrinsic "llvm.nvvm.vote.ballot.sync"(%all, %odd) : (i32, i1) -> i32
  llvm.store %votes, %a : i32, !llvm.ptr
  llvm.return
}

// CHECK-LABEL: llvm.func @__regrain_launch.numbered_twice(
// CHECK-SAME: regrain.doubtful
// CHECK-LABEL: llvm.func @__regrain_launch.numbered_twice.b32x8x1(
llvm.func ptx_kernelcc @numbered_twice(%p: !llvm.ptr) attributes {passthrough = [["nvvm.maxntid", "256"]]} {
  %all = llvm.mlir.constant(-1 : i32) : i32
  %six = llvm.mlir.constant(6 : i32) : i32
  %factor = llvm.mlir.constant(33 : i64) : i64
  %x = nvvm.read.ptx.sreg.tid.x : i32
  %y = nvvm.read.ptx.sreg.tid.y : i32
  %row = llvm.shl %y, %six : i32
  %number = llvm.or disjoint %row, %x : i32
  %wide_x = llvm.zext %x : i32 to i64
  %wide_y = llvm.zext %y : i32 to i64
  %padded = llvm.mul %wide_y, %factor : i64
  %place = llvm.add %padded, %wide_x : i64
  %rest = llvm.urem %place, %factor : i64
  %a = llvm.getelementptr %p[%rest] : (!llvm.ptr, i64) -> !llvm.ptr, i32
  %odd = llvm.icmp "slt" %x, %number : i32
  %votes = llvm.call_intrinsic "llvm.nvvm.vote.ballot.sync"(%all, %odd) : (i32, i1) -> i32
  llvm.store %votes, %a : i32, !llvm.ptr
  llvm.return
}

// Nothing is guessed of a kernel that is written for any number of threads.
// CHECK-NOT: @__regrain_launch.asking_rows.b
llvm.func ptx_kernelcc @asking_rows(%p: !llvm.ptr) attributes {passthrough = [["nvvm.maxntid", "256"]]} {
  %all = llvm.mlir.constant(-1 : i32) : i32
  %y = nvvm.read.ptx.sreg.tid.y : i32
  %size = nvvm.read.ptx.sreg.ntid.x : i32
  %odd = llvm.icmp "slt" %y, %size : i32
  %votes = llvm.call_intrinsic "llvm.nvvm.vote.ballot.sync"(%all, %odd) : (i32, i1) -> i32
  llvm.store %votes, %p : i32, !llvm.ptr
  llvm.return
}

// CHECK-LABEL: llvm.func @__regrain_launch.asking(
// CHECK-NOT: regrain.seldom
// CHECK-LABEL: llvm.func @__regrain_launch.asking.b256x1x1(
llvm.func ptx_kernelcc @asking(%p: !llvm.ptr) attributes {passthrough = [["nvvm.maxntid", "256"]]} {
  %all = llvm.mlir.constant(-1 : i32) : i32
  %x = nvvm.read.ptx.sreg.tid.x : i32
  %size = nvvm.read.ptx.sreg.ntid.x : i32
  %odd = llvm.icmp "slt" %x, %size : i32
  %votes = llvm.call_intrinsic "llvm.nvvm.vote.ballot.sync"(%all, %odd) : (i32, i1) -> i32
  llvm.store %votes, %p : i32, !llvm.ptr
  llvm.return
}

// CHECK-LABEL: llvm.func @__regrain_launch.without(
// CHECK-NOT: @__regrain_launch.without.b
llvm.func ptx_kernelcc @without(%p: !llvm.ptr, %n: i32) attributes {passthrough = [["nvvm.maxntid", "256"]]} {
  %x = nvvm.read.ptx.sreg.tid.x : i32
  llvm.store %x, %p : i32, !llvm.ptr
  llvm.return
}
