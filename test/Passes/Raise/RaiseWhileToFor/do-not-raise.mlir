// RUN: %regrain-opt %s --regrain-raise-while-to-for --verify-diagnostics | FileCheck %s

// CHECK-NOT: scf.for

// The variable may wrap around: no nsw, and nothing known of the bound.
// CHECK-LABEL: llvm.func @do_not_raise_what_may_wrap
// CHECK: scf.while
llvm.func @do_not_raise_what_may_wrap(%n: i32, %p: !llvm.ptr) {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c2 = llvm.mlir.constant(2 : i32) : i32
  // expected-remark @below {{stays a while loop: its induction variable may wrap}}
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
  // expected-remark @below {{stays a while loop: its step is not proven to be positive}}
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
  // expected-remark @below {{stays a while loop: its bound may be the largest number}}
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
  // expected-remark @below {{stays a while loop: its bound is not proven to be reached}}
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
  // expected-remark @below {{stays a while loop: its test does not compare an induction variable with an invariant bound}}
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
  // expected-remark @below {{stays a while loop: its test has unknown effects}}
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
  // expected-remark @below {{stays a while loop: its distance to the bound may wrap}}
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

// A store in the test would be doubled.
// CHECK-LABEL: llvm.func @do_not_raise_a_test_that_writes
// CHECK: scf.while
llvm.func @do_not_raise_a_test_that_writes(%n: i32, %p: !llvm.ptr) {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c1 = llvm.mlir.constant(1 : i32) : i32
  // expected-remark @below {{stays a while loop: its test writes memory}}
  %r = scf.while (%i = %c0) : (i32) -> i32 {
    llvm.store %i, %p : i32, !llvm.ptr
    %c = llvm.icmp "slt" %i, %n : i32
    scf.condition(%c) %i : i32
  } do {
  ^bb0(%i: i32):
    %next = llvm.add %i, %c1 overflow<nsw> : i32
    scf.yield %next : i32
  }
  llvm.return
}

// Somebody else says when it ends.
// CHECK-LABEL: llvm.func @do_not_raise_what_compares_nothing
// CHECK: scf.while
llvm.func @do_not_raise_what_compares_nothing(%p: !llvm.ptr) {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c1 = llvm.mlir.constant(1 : i32) : i32
  // expected-remark @below {{stays a while loop: its test is no integer comparison}}
  %r = scf.while (%i = %c0) : (i32) -> i32 {
    %c = llvm.load %p : !llvm.ptr -> i1
    scf.condition(%c) %i : i32
  } do {
  ^bb0(%i: i32):
    llvm.store %i, %p : i32, !llvm.ptr
    %next = llvm.add %i, %c1 overflow<nsw> : i32
    scf.yield %next : i32
  }
  llvm.return
}

// `scf.for` would take it, the proofs do not.
// CHECK-LABEL: llvm.func @do_not_raise_a_wide_variable
// CHECK: scf.while
llvm.func @do_not_raise_a_wide_variable(%n: i128, %p: !llvm.ptr) {
  %c0 = llvm.mlir.constant(0 : i128) : i128
  %c1 = llvm.mlir.constant(1 : i128) : i128
  // expected-remark @below {{stays a while loop: its induction variable has more than 64 bits}}
  %r = scf.while (%i = %c0) : (i128) -> i128 {
    %c = llvm.icmp "slt" %i, %n : i128
    scf.condition(%c) %i : i128
  } do {
  ^bb0(%i: i128):
    llvm.store %i, %p : i128, !llvm.ptr
    %next = llvm.add %i, %c1 overflow<nsw> : i128
    scf.yield %next : i128
  }
  llvm.return
}

// It doubles.
// CHECK-LABEL: llvm.func @do_not_raise_powers
// CHECK: scf.while
llvm.func @do_not_raise_powers(%n: i32, %p: !llvm.ptr) {
  %c1 = llvm.mlir.constant(1 : i32) : i32
  // expected-remark @below {{stays a while loop: its induction variable is not advanced by an addition}}
  %r = scf.while (%i = %c1) : (i32) -> i32 {
    %c = llvm.icmp "slt" %i, %n : i32
    scf.condition(%c) %i : i32
  } do {
  ^bb0(%i: i32):
    llvm.store %i, %p : i32, !llvm.ptr
    %next = llvm.shl %i, %c1 : i32
    scf.yield %next : i32
  }
  llvm.return
}

// The step is read anew in each round.
// CHECK-LABEL: llvm.func @do_not_raise_a_step_that_changes
// CHECK: scf.while
llvm.func @do_not_raise_a_step_that_changes(%n: i32, %p: !llvm.ptr) {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c1 = llvm.mlir.constant(1 : i32) : i32
  // expected-remark @below {{stays a while loop: its step changes in the loop}}
  %r = scf.while (%i = %c0) : (i32) -> i32 {
    %c = llvm.icmp "slt" %i, %n : i32
    scf.condition(%c) %i : i32
  } do {
  ^bb0(%i: i32):
    %step = llvm.load %p : !llvm.ptr -> i32
    %next = llvm.add %i, %step overflow<nsw> : i32
    scf.yield %next : i32
  }
  llvm.return
}

// It runs at most once.
// CHECK-LABEL: llvm.func @do_not_raise_while_equal
// CHECK: scf.while
llvm.func @do_not_raise_while_equal(%n: i32, %p: !llvm.ptr) {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c1 = llvm.mlir.constant(1 : i32) : i32
  // expected-remark @below {{stays a while loop: its comparison bounds no counted loop}}
  %r = scf.while (%i = %c0) : (i32) -> i32 {
    %c = llvm.icmp "eq" %i, %n : i32
    scf.condition(%c) %i : i32
  } do {
  ^bb0(%i: i32):
    llvm.store %i, %p : i32, !llvm.ptr
    %next = llvm.add %i, %c1 overflow<nsw> : i32
    scf.yield %next : i32
  }
  llvm.return
}

// It ends where the numbers do.
// CHECK-LABEL: llvm.func @do_not_raise_away_from_the_bound
// CHECK: scf.while
llvm.func @do_not_raise_away_from_the_bound(%n: i32, %p: !llvm.ptr) {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c1 = llvm.mlir.constant(1 : i32) : i32
  // expected-remark @below {{stays a while loop: it counts up from its bound}}
  %r = scf.while (%i = %c0) : (i32) -> i32 {
    %c = llvm.icmp "sgt" %i, %n : i32
    scf.condition(%c) %i : i32
  } do {
  ^bb0(%i: i32):
    llvm.store %i, %p : i32, !llvm.ptr
    %next = llvm.add %i, %c1 overflow<nsw> : i32
    scf.yield %next : i32
  }
  llvm.return
}
