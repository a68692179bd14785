// RUN: %regrain-opt --regrain-carry-sums %s | FileCheck %s

// CHECK-LABEL: @carry
// CHECK: %[[FIRST:.*]] = scf.if
// CHECK: %[[SUM:.*]] = scf.for {{.*}} iter_args(%[[S:.*]] = %[[FIRST]])
// CHECK: llvm.add %[[S]]
// CHECK-NOT: llvm.store
// CHECK: scf.yield
// CHECK: scf.if
// CHECK: llvm.store %[[SUM]]
llvm.func @carry(%a: !llvm.ptr, %b: !llvm.ptr, %n: i64) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  scf.for %i = %zero to %n step %one : i64 {
    %p = llvm.getelementptr %a[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i64
    %x = llvm.load %p : !llvm.ptr -> i64
    %s = llvm.load %b : !llvm.ptr -> i64
    %t = llvm.add %s, %x : i64
    llvm.store %t, %b : i64, !llvm.ptr
  }
  llvm.return
}

// Another access of the loop is to the same array.
// CHECK-LABEL: @do_not_carry_what_is_read
// CHECK-NOT: iter_args
llvm.func @do_not_carry_what_is_read(%a: !llvm.ptr, %n: i64) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  scf.for %i = %zero to %n step %one : i64 {
    %p = llvm.getelementptr %a[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i64
    %x = llvm.load %p : !llvm.ptr -> i64
    %s = llvm.load %a : !llvm.ptr -> i64
    %t = llvm.add %s, %x : i64
    llvm.store %t, %a : i64, !llvm.ptr
  }
  llvm.return
}

// The order of floating-point sums matters.
// CHECK-LABEL: @do_not_carry_in_another_order
// CHECK-NOT: iter_args
llvm.func @do_not_carry_in_another_order(%a: !llvm.ptr, %b: !llvm.ptr, %n: i64) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  scf.for %i = %zero to %n step %one : i64 {
    %p = llvm.getelementptr %a[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f64
    %x = llvm.load %p : !llvm.ptr -> f64
    %s = llvm.load %b : !llvm.ptr -> f64
    %t = llvm.fadd %s, %x : f64
    llvm.store %t, %b : f64, !llvm.ptr
  }
  llvm.return
}

// The place is another one in each round of the loop around.
// CHECK-LABEL: @do_not_carry_rows
// CHECK-NOT: iter_args
llvm.func @do_not_carry_rows(%a: !llvm.ptr, %b: !llvm.ptr, %n: i64) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  scf.for %i = %zero to %n step %one : i64 {
    %q = llvm.getelementptr %b[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i64
    scf.for %j = %zero to %n step %one : i64 {
      %p = llvm.getelementptr %a[%j] : (!llvm.ptr, i64) -> !llvm.ptr, i64
      %x = llvm.load %p : !llvm.ptr -> i64
      %s = llvm.load %q : !llvm.ptr -> i64
      %t = llvm.add %s, %x : i64
      llvm.store %t, %q : i64, !llvm.ptr
    }
  }
  llvm.return
}
