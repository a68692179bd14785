// RUN: %regrain-opt %s --regrain-lift-control-flow | FileCheck %s

// CHECK-DAG: #[[UNROLL:.*]] = #llvm.loop_unroll<disable = true>
// CHECK-DAG: #[[LOOP:.*]] = #llvm.loop_annotation<unroll = #[[UNROLL]]>
#unroll = #llvm.loop_unroll<disable = true>
#loop = #llvm.loop_annotation<unroll = #unroll>

// The exit is the true edge: it is inverted, and the loop tests first.
// CHECK-LABEL: llvm.func @tests_first
// CHECK: %[[R:.*]] = scf.while (%[[I:.*]] = %{{.*}}) : (i32) -> i32 {
// CHECK-NEXT: %[[C:.*]] = llvm.icmp "slt" %[[I]], %{{.*}} : i32
// CHECK-NEXT: scf.condition(%[[C]]) %[[I]] : i32
// CHECK: } attributes {llvm.loop_annotation = #[[LOOP]]}
// CHECK: llvm.return %[[R]]
llvm.func @tests_first(%n: i32, %p: !llvm.ptr) -> i32 {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c1 = llvm.mlir.constant(1 : i32) : i32
  llvm.br ^head(%c0 : i32)
^head(%i: i32):
  %done = llvm.icmp "sge" %i, %n : i32
  llvm.cond_br %done, ^exit, ^body
^body:
  llvm.store %i, %p : i32, !llvm.ptr
  %next = llvm.add %i, %c1 overflow<nsw> : i32
  llvm.br ^head(%next : i32) {loop_annotation = #loop}
^exit:
  llvm.return %i : i32
}

// CHECK-LABEL: llvm.func @tests_last
// CHECK: scf.while
// CHECK: llvm.store
// CHECK: scf.condition
// CHECK: } do {
// CHECK-NEXT: ^bb0
// CHECK-NEXT: scf.yield
llvm.func @tests_last(%n: i32, %p: !llvm.ptr) {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c1 = llvm.mlir.constant(1 : i32) : i32
  llvm.br ^body(%c0 : i32)
^body(%i: i32):
  llvm.store %i, %p : i32, !llvm.ptr
  %next = llvm.add %i, %c1 overflow<nsw> : i32
  %more = llvm.icmp "slt" %next, %n : i32
  llvm.cond_br %more, ^body(%next : i32), ^exit
^exit:
  llvm.return
}

// A loop with a second exit, behind which the function returns.
// CHECK-LABEL: llvm.func @leaves_in_the_middle
// CHECK: scf.while
// CHECK: scf.condition
// CHECK-NOT: llvm.cond_br
// CHECK: llvm.return
llvm.func @leaves_in_the_middle(%n: i32, %p: !llvm.ptr) -> i32 {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c1 = llvm.mlir.constant(1 : i32) : i32
  %none = llvm.mlir.constant(-1 : i32) : i32
  llvm.br ^head(%c0 : i32)
^head(%i: i32):
  %more = llvm.icmp "slt" %i, %n : i32
  llvm.cond_br %more, ^body, ^missed
^body:
  %at = llvm.getelementptr %p[%i] : (!llvm.ptr, i32) -> !llvm.ptr, i32
  %value = llvm.load %at : !llvm.ptr -> i32
  %hit = llvm.icmp "eq" %value, %c0 : i32
  llvm.cond_br %hit, ^found, ^latch
^latch:
  %next = llvm.add %i, %c1 overflow<nsw> : i32
  llvm.br ^head(%next : i32)
^found:
  llvm.return %i : i32
^missed:
  llvm.return %none : i32
}

// Two entries into one loop: one entry with a dispatch.
// CHECK-LABEL: llvm.func @irreducible
// CHECK: scf.while
// CHECK: scf.index_switch
// CHECK-NOT: llvm.br
// CHECK: llvm.return
llvm.func @irreducible(%c: i1, %n: i32, %p: !llvm.ptr) {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c1 = llvm.mlir.constant(1 : i32) : i32
  llvm.cond_br %c, ^a(%c0 : i32), ^b(%c1 : i32)
^a(%i: i32):
  llvm.store %i, %p : i32, !llvm.ptr
  %i1 = llvm.add %i, %c1 : i32
  llvm.br ^b(%i1 : i32)
^b(%j: i32):
  %j1 = llvm.mul %j, %j : i32
  llvm.store %j1, %p : i32, !llvm.ptr
  %more = llvm.icmp "slt" %j1, %n : i32
  llvm.cond_br %more, ^a(%j1 : i32), ^exit
^exit:
  llvm.return
}
