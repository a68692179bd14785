// RUN: %regrain-opt --regrain-describe-affine=schedule=true %s 2>&1 | FileCheck %s

// Why affine functions stay sequential.
// CHECK: not parallel: its iterations depend on one another
llvm.func @do_not_sum(%a: !llvm.ptr, %n: i64) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  scf.for %i = %zero to %n step %one : i64 {
    %p = llvm.getelementptr %a[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i64
    %q = llvm.getelementptr %p[1] : (!llvm.ptr) -> !llvm.ptr, i64
    %x = llvm.load %p : !llvm.ptr -> i64
    llvm.store %x, %q : i64, !llvm.ptr
  }
  llvm.return
}

// The last row does not end where the next begins, for no size.
// CHECK: not parallel: what would have to hold of its sizes never does
llvm.func @do_not_go_over_rows(%a: !llvm.ptr) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %many = llvm.mlir.constant(9 : i64) : i64
  scf.for %i = %zero to %many step %one : i64 {
    scf.for %j = %zero to %many step %one : i64 {
      %row = llvm.getelementptr %a[%i] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<4 x i64>
      %p = llvm.getelementptr %row[%j] : (!llvm.ptr, i64) -> !llvm.ptr, i64
      llvm.store %j, %p : i64, !llvm.ptr
    }
  }
  llvm.return
}

// Where the last element is leaves 64 bits for the largest size.
// CHECK: not parallel: a number that it is scheduled by may leave 64 bits
llvm.func @do_not_go_far(%a: !llvm.ptr, %n: i64) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %far = llvm.mlir.constant(1073741824 : i64) : i64
  scf.for %i = %zero to %n step %one : i64 {
    %at = llvm.mul %i, %far overflow<nsw> : i64
    %p = llvm.getelementptr %a[%at] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %small = llvm.trunc %i : i64 to i8
    llvm.store %small, %p : i8, !llvm.ptr
  }
  llvm.return
}
