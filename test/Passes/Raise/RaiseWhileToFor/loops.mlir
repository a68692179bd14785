// RUN: %regrain-opt %s --regrain-raise-while-to-for | FileCheck %s

#loop = #llvm.loop_annotation<mustProgress = true>

// CHECK-LABEL: llvm.func @sum
// CHECK-SAME: (%[[N:.*]]: i32, %[[P:.*]]: !llvm.ptr)
// CHECK: %[[SUM:.*]] = scf.for %[[I:.*]] = %{{.*}} to %[[N]] step %{{.*}} iter_args(%[[S:.*]] = %{{.*}}) -> (f32){{ +}}: i32 {
// CHECK: llvm.getelementptr %[[P]][%[[I]]]
// CHECK: %[[NEXT:.*]] = llvm.fadd %[[S]], %{{.*}} : f32
// CHECK-NEXT: scf.yield %[[NEXT]] : f32
// CHECK-NEXT: } {llvm.loop_annotation = #{{.*}}}
// CHECK: llvm.return %[[SUM]] : f32
llvm.func @sum(%n: i32, %p: !llvm.ptr) -> f32 {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c4 = llvm.mlir.constant(4 : i32) : i32
  %zero = llvm.mlir.constant(0.0 : f32) : f32
  %r:2 = scf.while (%i = %c0, %s = %zero) : (i32, f32) -> (i32, f32) {
    %c = llvm.icmp "slt" %i, %n : i32
    scf.condition(%c) %i, %s : i32, f32
  } do {
  ^bb0(%i: i32, %s: f32):
    %at = llvm.getelementptr %p[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
    %v = llvm.load %at : !llvm.ptr -> f32
    %t = llvm.fadd %s, %v : f32
    %next = llvm.add %i, %c4 overflow<nsw> : i32
    scf.yield %next, %t : i32, f32
  } attributes {llvm.loop_annotation = #loop}
  llvm.return %r#1 : f32
}

// The induction variable behind a loop of step one is the larger of start and bound.
// CHECK-LABEL: llvm.func @value_after_the_loop
// CHECK-SAME: (%[[A:.*]]: i32, %[[N:.*]]: i32
// CHECK: scf.for %{{.*}} = %[[A]] to %[[N]]
// CHECK: %[[LAST:.*]] = llvm.intr.smax(%[[A]], %[[N]])
// CHECK: llvm.return %[[LAST]]
llvm.func @value_after_the_loop(%a: i32, %n: i32, %p: !llvm.ptr) -> i32 {
  %c1 = llvm.mlir.constant(1 : i32) : i32
  %r = scf.while (%i = %a) : (i32) -> i32 {
    %c = llvm.icmp "slt" %i, %n : i32
    scf.condition(%c) %i : i32
  } do {
  ^bb0(%i: i32):
    llvm.store %i, %p : i32, !llvm.ptr
    %next = llvm.add %i, %c1 : i32
    scf.yield %next : i32
  }
  llvm.return %r : i32
}

// With another step it is carried along.
// CHECK-LABEL: llvm.func @carried_value_after_the_loop
// CHECK: %[[R:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (i32)
// CHECK: %[[NEXT:.*]] = llvm.add
// CHECK-NEXT: scf.yield %[[NEXT]]
// CHECK: llvm.return %[[R]]
llvm.func @carried_value_after_the_loop(%n: i32, %p: !llvm.ptr) -> i32 {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c3 = llvm.mlir.constant(3 : i32) : i32
  %r = scf.while (%i = %c0) : (i32) -> i32 {
    %c = llvm.icmp "slt" %i, %n : i32
    scf.condition(%c) %i : i32
  } do {
  ^bb0(%i: i32):
    llvm.store %i, %p : i32, !llvm.ptr
    %next = llvm.add %i, %c3 overflow<nsw> : i32
    scf.yield %next : i32
  }
  llvm.return %r : i32
}

// blockDim.x is positive, and i < 4096 leaves room for it.
// CHECK-LABEL: llvm.func @step_of_the_block
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{[^ ]*}}{{ +}}: i32
llvm.func @step_of_the_block(%p: !llvm.ptr) {
  %n = llvm.mlir.constant(4096 : i32) : i32
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %step = nvvm.read.ptx.sreg.ntid.x : i32
  %r = scf.while (%i = %t) : (i32) -> i32 {
    %c = llvm.icmp "ult" %i, %n : i32
    scf.condition(%c) %i : i32
  } do {
  ^bb0(%i: i32):
    llvm.store %i, %p : i32, !llvm.ptr
    %next = llvm.add %i, %step : i32
    scf.yield %next : i32
  }
  llvm.return
}

// CHECK-LABEL: llvm.func @unsigned
// CHECK: scf.for unsigned
llvm.func @unsigned(%n: i32, %p: !llvm.ptr) {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c1 = llvm.mlir.constant(1 : i32) : i32
  %r = scf.while (%i = %c0) : (i32) -> i32 {
    %c = llvm.icmp "ult" %i, %n : i32
    scf.condition(%c) %i : i32
  } do {
  ^bb0(%i: i32):
    llvm.store %i, %p : i32, !llvm.ptr
    %next = llvm.add %i, %c1 : i32
    scf.yield %next : i32
  }
  llvm.return
}

// What the test computes goes to the start of the body; what does not change goes in front.
// CHECK-LABEL: llvm.func @inclusive
// CHECK-SAME: (%[[N:.*]]: i16
// CHECK: %[[BOUND:.*]] = llvm.sext %[[N]] : i16 to i32
// CHECK: %[[ONE:.*]] = llvm.mlir.constant(1 : i32)
// CHECK: %[[UP:.*]] = llvm.add %[[BOUND]], %[[ONE]]
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[UP]]
// CHECK-NEXT: %[[D:.*]] = llvm.shl %[[I]]
// CHECK-NEXT: llvm.store %[[D]]
llvm.func @inclusive(%n: i16, %p: !llvm.ptr) {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c1 = llvm.mlir.constant(1 : i32) : i32
  %r:2 = scf.while (%i = %c0) : (i32) -> (i32, i32) {
    %bound = llvm.sext %n : i16 to i32
    %double = llvm.shl %i, %c1 : i32
    %c = llvm.icmp "sge" %bound, %i : i32
    scf.condition(%c) %double, %i : i32, i32
  } do {
  ^bb0(%d: i32, %i: i32):
    llvm.store %d, %p : i32, !llvm.ptr
    %next = llvm.add %i, %c1 : i32
    scf.yield %next : i32
  }
  llvm.return
}

// Counting down: the loop counts the distance from the start.
// CHECK-LABEL: llvm.func @down
// CHECK-SAME: (%[[A:.*]]: i32, %[[P:.*]]: !llvm.ptr)
// CHECK: %[[D:.*]] = llvm.sub %[[A]], %{{.*}} : i32
// CHECK: scf.for %[[K:.*]] = %{{.*}} to %[[D]]
// CHECK-NEXT: %[[I:.*]] = llvm.sub %[[A]], %[[K]] : i32
// CHECK-NEXT: llvm.store %[[I]], %[[P]]
llvm.func @down(%a: i32, %p: !llvm.ptr) {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %minus = llvm.mlir.constant(-1 : i32) : i32
  %r = scf.while (%i = %a) : (i32) -> i32 {
    %c = llvm.icmp "sgt" %i, %c0 : i32
    scf.condition(%c) %i : i32
  } do {
  ^bb0(%i: i32):
    llvm.store %i, %p : i32, !llvm.ptr
    %next = llvm.add %i, %minus overflow<nsw> : i32
    scf.yield %next : i32
  }
  llvm.return
}

// CHECK-LABEL: llvm.func @down_by_subtraction
// CHECK: scf.for
llvm.func @down_by_subtraction(%p: !llvm.ptr) {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c2 = llvm.mlir.constant(2 : i32) : i32
  %c62 = llvm.mlir.constant(62 : i32) : i32
  %r = scf.while (%i = %c62) : (i32) -> i32 {
    %c = llvm.icmp "sge" %i, %c0 : i32
    scf.condition(%c) %i : i32
  } do {
  ^bb0(%i: i32):
    llvm.store %i, %p : i32, !llvm.ptr
    %next = llvm.sub %i, %c2 overflow<nsw> : i32
    scf.yield %next : i32
  }
  llvm.return
}

// The bound is in constant memory, which does not change.
llvm.mlir.global external constant @limit() {addr_space = 4 : i32} : i32
// CHECK-LABEL: llvm.func @bound_in_constant_memory
// CHECK: %[[N:.*]] = llvm.load
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[N]]
llvm.func @bound_in_constant_memory(%p: !llvm.ptr) {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c1 = llvm.mlir.constant(1 : i32) : i32
  %limit = llvm.mlir.addressof @limit : !llvm.ptr<4>
  %r = scf.while (%i = %c0) : (i32) -> i32 {
    %n = llvm.load %limit : !llvm.ptr<4> -> i32
    %c = llvm.icmp "slt" %i, %n : i32
    scf.condition(%c) %i : i32
  } do {
  ^bb0(%i: i32):
    llvm.store %i, %p : i32, !llvm.ptr
    %next = llvm.add %i, %c1 overflow<nsw> : i32
    scf.yield %next : i32
  }
  llvm.return
}

// The bound is a field of a structure passed by value, which nobody writes; the test passes its address on, in vain.
// CHECK-LABEL: llvm.func @bound_in_structure
// CHECK: %[[N:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i32
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[N]]
// CHECK-NOT: scf.while
// CHECK-LABEL: llvm.func @written_structure
// CHECK: scf.while
llvm.func @bound_in_structure(%size: !llvm.ptr {llvm.byval = !llvm.struct<(i32, i32)>}, %p: !llvm.ptr) {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c1 = llvm.mlir.constant(1 : i32) : i32
  %r:2 = scf.while (%i = %c0) : (i32) -> (i32, !llvm.ptr) {
    %field = llvm.getelementptr %size[0, 1] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(i32, i32)>
    %n = llvm.load %field : !llvm.ptr -> i32
    %c = llvm.icmp "slt" %i, %n : i32
    scf.condition(%c) %i, %field : i32, !llvm.ptr
  } do {
  ^bb0(%i: i32, %field: !llvm.ptr):
    %at = llvm.getelementptr %p[%i] : (!llvm.ptr, i32) -> !llvm.ptr, i32
    %n = llvm.load %field : !llvm.ptr -> i32
    llvm.store %n, %at : i32, !llvm.ptr
    %next = llvm.add %i, %c1 overflow<nsw> : i32
    scf.yield %next : i32
  }
  llvm.return
}

llvm.func @written_structure(%size: !llvm.ptr {llvm.byval = !llvm.struct<(i32, i32)>}) {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c1 = llvm.mlir.constant(1 : i32) : i32
  %r = scf.while (%i = %c0) : (i32) -> i32 {
    %n = llvm.load %size : !llvm.ptr -> i32
    %c = llvm.icmp "slt" %i, %n : i32
    scf.condition(%c) %i : i32
  } do {
  ^bb0(%i: i32):
    llvm.store %i, %size : i32, !llvm.ptr
    %next = llvm.add %i, %c1 overflow<nsw> : i32
    scf.yield %next : i32
  }
  llvm.return
}
