// RUN: %regrain-opt --regrain-describe-affine=schedule=true %s 2>&1 | FileCheck %s

// A product: rows of %b have as many elements as %m says, which its subscripts must be below.
// CHECK: remark: n0 is argument 0
// CHECK: remark: A0 is argument 2, strides 4
// CHECK: remark: A1 is argument 1, strides 4*n0, 4
// CHECK: remark: { S0[i0, i1] : 0 <= i0 < n0 and 0 <= i1 < n0 }
// CHECK: remark: { S0[i0, i1] -> [0, i0, 0, i1, 0] }
// CHECK: remark: S0 reads A0[o0] : o0 = i0 and 0 <= i0 < n0 and 0 <= i1 < n0
// CHECK: remark: S0 reads A1[o0, o1] : o0 = i0 and o1 = i1 and 0 <= i0 < n0 and 0 <= i1 < n0
// CHECK: remark: S0 writes A0[o0] : o0 = i0 and 0 <= i0 < n0 and 0 <= i1 < n0
// CHECK: remark: needs 0 <= i1 < 1*n0 where 0 <= i0 < n0 and 0 <= i1 < n0
// CHECK: remark: schedule: {{.*}}coincident: [ 1, 0 ]
llvm.func @rows(%n: i64, %b: !llvm.ptr, %a: !llvm.ptr) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  scf.for %i = %zero to %n step %one : i64 {
    scf.for %j = %zero to %n step %one : i64 {
      %pa = llvm.getelementptr %a[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %sum = llvm.load %pa : !llvm.ptr -> f32
      %row = llvm.mul %i, %n overflow<nsw> : i64
      %at = llvm.add %row, %j overflow<nsw> : i64
      %pb = llvm.getelementptr %b[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %one_more = llvm.load %pb : !llvm.ptr -> f32
      %new = llvm.fadd %sum, %one_more : f32
      llvm.store %new, %pa : f32, !llvm.ptr
    }
  }
  llvm.return
}
