// RUN: %regrain-opt --regrain-describe-affine="schedule=true steps=10" %s 2>&1 | FileCheck %s

// CHECK: not parallel: its dependences and schedule take too long to compute
llvm.func @do_not_go_on(%a: !llvm.ptr, %n: i64) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  scf.for %i = %zero to %n step %one : i64 {
    %p = llvm.getelementptr %a[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i64
    llvm.store %i, %p : i64, !llvm.ptr
  }
  llvm.return
}
