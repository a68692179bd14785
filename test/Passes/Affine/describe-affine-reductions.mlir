// RUN: %regrain-opt --regrain-describe-affine=schedule=true %s 2>&1 | FileCheck %s

// Loops whose order is of no matter, and those that only look like them.

// CHECK: remark: S0 combines by Sum
// CHECK: remark: S0 combines by Greatest
// CHECK: remark: schedule: domain
llvm.func @sum_and_greatest(%n: i32, %a: !llvm.ptr, %out: !llvm.ptr) {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %r:2 = scf.for %i = %zero to %n step %one iter_args(%s = %zero, %m = %one) -> (i32, i32) : i32 {
    %at = llvm.sext %i : i32 to i64
    %p = llvm.getelementptr %a[%at] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %x = llvm.load %p : !llvm.ptr -> i32
    %more = llvm.sub %s, %x overflow<nsw> : i32
    %c = llvm.icmp "slt" %m, %x : i32
    %t = llvm.select %c, %x, %m : i1, i32
    scf.yield %more, %t : i32, i32
  }
  %both = llvm.add %r#0, %r#1 : i32
  llvm.store %both, %out : i32, !llvm.ptr
  llvm.return
}

// Through a condition, a choice and another loop.
// CHECK: remark: S0 combines by Xor
// CHECK: remark: schedule: domain
llvm.func @bits(%n: i32, %a: !llvm.ptr, %out: !llvm.ptr) {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %r = scf.for %i = %zero to %n step %one iter_args(%s = %zero) -> (i32) : i32 {
    %at = llvm.sext %i : i32 to i64
    %p = llvm.getelementptr %a[%at] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %x = llvm.load %p : !llvm.ptr -> i32
    %odd = llvm.trunc %x : i32 to i1
    %s1 = scf.if %odd -> (i32) {
      %u = scf.for %j = %zero to %i step %one iter_args(%v = %s) -> (i32) : i32 {
        %w = llvm.xor %j, %v : i32
        scf.yield %w : i32
      }
      scf.yield %u : i32
    } else {
      scf.yield %s : i32
    }
    %s2 = llvm.xor %s1, %x : i32
    %c = llvm.icmp "slt" %x, %one : i32
    %s3 = llvm.select %c, %s2, %s1 : i1, i32
    scf.yield %s3 : i32
  }
  llvm.store %r, %out : i32, !llvm.ptr
  llvm.return
}

// CHECK: remark: S0 combines by Sum
llvm.func @floats_in_any_order(%n: i32, %a: !llvm.ptr, %out: !llvm.ptr) {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %start = llvm.mlir.constant(0.0 : f32) : f32
  %r = scf.for %i = %zero to %n step %one iter_args(%s = %start) -> (f32) : i32 {
    %x = llvm.load %a : !llvm.ptr -> f32
    %more = llvm.fadd %s, %x {fastmathFlags = #llvm.fastmath<reassoc>} : f32
    scf.yield %more : f32
  }
  llvm.store %r, %out : f32, !llvm.ptr
  llvm.return
}

// CHECK-NOT: combines
// CHECK: not parallel: its iterations depend on one another
llvm.func @do_not_reorder_floats(%n: i32, %a: !llvm.ptr, %out: !llvm.ptr) {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %start = llvm.mlir.constant(0.0 : f32) : f32
  %r = scf.for %i = %zero to %n step %one iter_args(%s = %start) -> (f32) : i32 {
    %x = llvm.load %a : !llvm.ptr -> f32
    %more = llvm.fadd %s, %x {fastmathFlags = #llvm.fastmath<contract, nnan, nsz>} : f32
    scf.yield %more : f32
  }
  llvm.store %r, %out : f32, !llvm.ptr
  llvm.return
}

// A zero with a sign, or what is no number, comes out by the order.
// CHECK-NOT: combines
// CHECK: not parallel: its iterations depend on one another
llvm.func @do_not_reorder_signs(%n: i32, %a: !llvm.ptr, %out: !llvm.ptr) {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %start = llvm.mlir.constant(0.0 : f32) : f32
  %r = scf.for %i = %zero to %n step %one iter_args(%s = %start) -> (f32) : i32 {
    %x = llvm.load %a : !llvm.ptr -> f32
    %c = llvm.fcmp "olt" %s, %x {fastmathFlags = #llvm.fastmath<nnan>} : f32
    %more = llvm.select %c, %x, %s : i1, f32
    scf.yield %more : f32
  }
  llvm.store %r, %out : f32, !llvm.ptr
  llvm.return
}

// Twice the number, a condition that asks for it, and two operations.
// CHECK-NOT: combines
// CHECK: not parallel: its iterations depend on one another
llvm.func @do_not_double(%n: i32, %out: !llvm.ptr) {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %r = scf.for %i = %zero to %n step %one iter_args(%s = %one) -> (i32) : i32 {
    %t = llvm.add %s, %s : i32
    scf.yield %t : i32
  }
  llvm.store %r, %out : i32, !llvm.ptr
  llvm.return
}

// CHECK-NOT: combines
// CHECK: not parallel: its iterations depend on one another
llvm.func @do_not_ask(%n: i32, %out: !llvm.ptr) {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %r = scf.for %i = %zero to %n step %one iter_args(%s = %one) -> (i32) : i32 {
    %t = llvm.add %s, %i : i32
    %c = llvm.icmp "slt" %s, %n : i32
    %u = llvm.select %c, %t, %s : i1, i32
    scf.yield %u : i32
  }
  llvm.store %r, %out : i32, !llvm.ptr
  llvm.return
}

// CHECK-NOT: combines
// CHECK: not parallel: its iterations depend on one another
llvm.func @do_not_mix(%n: i32, %out: !llvm.ptr) {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %r = scf.for %i = %zero to %n step %one iter_args(%s = %one) -> (i32) : i32 {
    %t = llvm.add %s, %i : i32
    %u = llvm.mul %t, %n : i32
    scf.yield %u : i32
  }
  llvm.store %r, %out : i32, !llvm.ptr
  llvm.return
}

// What is subtracted from something else changes its sign each time.
// CHECK-NOT: combines
// CHECK: not parallel: its iterations depend on one another
llvm.func @do_not_alternate(%n: i32, %out: !llvm.ptr) {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %r = scf.for %i = %zero to %n step %one iter_args(%s = %one) -> (i32) : i32 {
    %t = llvm.sub %i, %s : i32
    scf.yield %t : i32
  }
  llvm.store %r, %out : i32, !llvm.ptr
  llvm.return
}
