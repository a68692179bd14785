// RUN: %regrain-opt %s --regrain-raise-while-to-for | FileCheck %s

// CHECK-NOT: scf.for

// The variable may wrap around: no nsw, and nothing known of the bound.
// CHECK-LABEL: llvm.func @do_not_raise_what_may_wrap
// CHECK: scf.while
llvm.func @do_not_raise_what_may_wrap(%n: i32, %p: !llvm.ptr) {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c2 = llvm.mlir.constant(2 : i32) : i32
  %r = scf.while (%i = %c0) : (i32) -> i32 {
    %c = llvm.icmp "slt" %i, %n : i32
    scf.condition(%c) %i : i32
  } do {
  ^bb0(%i: i32):
    llvm.store %i, %p : i32, !llvm.ptr
    %next = llvm.add %i, %c2 : i32
    scf.yield %next : i32
  }
  llvm.return
}

// CHECK-LABEL: llvm.func @do_not_raise_an_unknown_step
// CHECK: scf.while
llvm.func @do_not_raise_an_unknown_step(%n: i32, %step: i32, %p: !llvm.ptr) {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %r = scf.while (%i = %c0) : (i32) -> i32 {
    %c = llvm.icmp "slt" %i, %n : i32
    scf.condition(%c) %i : i32
  } do {
  ^bb0(%i: i32):
    llvm.store %i, %p : i32, !llvm.ptr
    %next = llvm.add %i, %step overflow<nsw> : i32
    scf.yield %next : i32
  }
  llvm.return
}

// The bound may be the largest number, and the loop may be left by a trap.
// CHECK-LABEL: llvm.func @do_not_raise_an_inclusive_bound
// CHECK: scf.while
llvm.func @do_not_raise_an_inclusive_bound(%n: i32, %p: !llvm.ptr) {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c1 = llvm.mlir.constant(1 : i32) : i32
  %r = scf.while (%i = %c0) : (i32) -> i32 {
    %c = llvm.icmp "sle" %i, %n : i32
    scf.condition(%c) %i : i32
  } do {
  ^bb0(%i: i32):
    "llvm.intr.trap"() : () -> ()
    %next = llvm.add %i, %c1 overflow<nsw> : i32
    scf.yield %next : i32
  }
  llvm.return
}

// i != n is missed when i starts behind n.
// CHECK-LABEL: llvm.func @do_not_raise_a_missed_bound
// CHECK: scf.while
llvm.func @do_not_raise_a_missed_bound(%a: i32, %n: i32, %p: !llvm.ptr) {
  %c1 = llvm.mlir.constant(1 : i32) : i32
  %r = scf.while (%i = %a) : (i32) -> i32 {
    %c = llvm.icmp "ne" %i, %n : i32
    scf.condition(%c) %i : i32
  } do {
  ^bb0(%i: i32):
    llvm.store %i, %p : i32, !llvm.ptr
    %next = llvm.add %i, %c1 overflow<nsw> : i32
    scf.yield %next : i32
  }
  llvm.return
}

// The bound is read from memory that the body writes.
// CHECK-LABEL: llvm.func @do_not_raise_a_changing_bound
// CHECK: scf.while
llvm.func @do_not_raise_a_changing_bound(%p: !llvm.ptr) {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c1 = llvm.mlir.constant(1 : i32) : i32
  %r = scf.while (%i = %c0) : (i32) -> i32 {
    %n = llvm.load %p : !llvm.ptr -> i32
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

// A barrier in the test would be doubled.
// CHECK-LABEL: llvm.func @do_not_raise_a_barrier_in_the_test
// CHECK: scf.while
// CHECK-COUNT-1: barrier.cta.sync
// CHECK-NOT: barrier.cta.sync
llvm.func @do_not_raise_a_barrier_in_the_test(%n: i32, %p: !llvm.ptr) {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c1 = llvm.mlir.constant(1 : i32) : i32
  %r = scf.while (%i = %c0) : (i32) -> i32 {
    llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"(%c0) : (i32) -> ()
    %c = llvm.icmp "slt" %i, %n : i32
    scf.condition(%c) %i : i32
  } do {
  ^bb0(%i: i32):
    %next = llvm.add %i, %c1 overflow<nsw> : i32
    scf.yield %next : i32
  }
  llvm.return
}

// Down to the smallest number: the distance does not fit.
// CHECK-LABEL: llvm.func @do_not_raise_a_distance_that_wraps
// CHECK: scf.while
llvm.func @do_not_raise_a_distance_that_wraps(%a: i32, %n: i32, %p: !llvm.ptr) {
  %minus = llvm.mlir.constant(-1 : i32) : i32
  %r = scf.while (%i = %a) : (i32) -> i32 {
    %c = llvm.icmp "sgt" %i, %n : i32
    scf.condition(%c) %i : i32
  } do {
  ^bb0(%i: i32):
    llvm.store %i, %p : i32, !llvm.ptr
    %next = llvm.add %i, %minus overflow<nsw> : i32
    scf.yield %next : i32
  }
  llvm.return
}
