// RUN: %regrain-opt %s --regrain-lift-control-flow | FileCheck %s

// Threads that return early skip the rest, with its barrier; there is still one barrier.
// CHECK-LABEL: llvm.func @early_return
// CHECK: scf.if
// CHECK-COUNT-1: llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"
// CHECK-NOT: barrier
// CHECK: llvm.return
llvm.func @early_return(%c: i1, %p: !llvm.ptr) {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  llvm.cond_br %c, ^exit, ^rest
^rest:
  llvm.store %c0, %p : i32, !llvm.ptr
  llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"(%c0) : (i32) -> ()
  llvm.br ^exit
^exit:
  llvm.return
}

// CHECK-LABEL: llvm.func @switch
// CHECK: %[[INDEX:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK: scf.index_switch %[[INDEX]]
// CHECK: case -7
// CHECK: case 3
// CHECK: default
llvm.func @switch(%n: i32, %p: !llvm.ptr) {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c1 = llvm.mlir.constant(1 : i32) : i32
  llvm.switch %n : i32, ^exit [
    -7: ^first,
    3: ^second
  ]
^first:
  llvm.store %c0, %p : i32, !llvm.ptr
  llvm.br ^second
^second:
  llvm.store %c1, %p : i32, !llvm.ptr
  llvm.br ^exit
^exit:
  llvm.return
}

// What cannot be reached beside a return becomes a return: one way out is left.
// CHECK-LABEL: llvm.func @unreachable
// CHECK: scf.if
// CHECK: llvm.intr.trap
// CHECK-NOT: llvm.unreachable
// CHECK: llvm.return
llvm.func @unreachable(%c: i1, %p: !llvm.ptr) {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  llvm.cond_br %c, ^bad, ^good
^bad:
  "llvm.intr.trap"() : () -> ()
  llvm.unreachable
^good:
  llvm.store %c0, %p : i32, !llvm.ptr
  llvm.return
}

// The end of a thread is a return of the kernel; what stands behind it never runs.
// CHECK-LABEL: llvm.func ptx_kernelcc @exits
// CHECK: scf.if
// CHECK-NOT: exit
// CHECK: llvm.return
llvm.func ptx_kernelcc @exits(%c: i1, %p: !llvm.ptr) {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  llvm.cond_br %c, ^gone, ^rest
^gone:
  llvm.inline_asm has_side_effects "exit;", "" : () -> ()
  llvm.br ^rest
^rest:
  llvm.store %c0, %p : i32, !llvm.ptr
  llvm.return
}

// A function cannot end its caller's thread by returning.
// CHECK-LABEL: llvm.func @exits_for_others
// CHECK: exit
llvm.func @exits_for_others() {
  llvm.inline_asm has_side_effects "exit;", "" : () -> ()
  llvm.return
}
