// RUN: %regrain-opt %s --regrain-merge-common-values | FileCheck %s

// CHECK-LABEL: func.func @copies
func.func @copies(%n: index, %p: !llvm.ptr, %a: i32, %b: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%x) = (%c0) to (%n) step (%c1) {
    // CHECK: %[[M:.*]] = llvm.mul
    // CHECK-NOT: llvm.mul
    // CHECK: llvm.store %[[M]]
    // CHECK: llvm.store %[[M]]
    %m = llvm.mul %a, %b : i32
    llvm.store %m, %p : i32, !llvm.ptr
    %m1 = llvm.mul %a, %b : i32
    llvm.store %m1, %p : i32, !llvm.ptr
  }
  return
}

// A value before a condition serves in it, one in a condition does not serve after it.
// CHECK-LABEL: func.func @conditions
func.func @conditions(%n: index, %p: !llvm.ptr, %c: i1, %a: i32, %b: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%x) = (%c0) to (%n) step (%c1) {
    // CHECK: llvm.mul
    // CHECK: scf.if
    // CHECK-NOT: llvm.mul
    // CHECK: llvm.add
    // CHECK: }
    // CHECK: llvm.add
    %m = llvm.mul %a, %b : i32
    scf.if %c {
      %m1 = llvm.mul %a, %b : i32
      %s = llvm.add %a, %b : i32
      llvm.store %m1, %p : i32, !llvm.ptr
      llvm.store %s, %p : i32, !llvm.ptr
    }
    %s = llvm.add %a, %b : i32
    llvm.store %m, %p : i32, !llvm.ptr
    llvm.store %s, %p : i32, !llvm.ptr
  }
  return
}

// CHECK-LABEL: func.func @do_not_merge_loads_or_other_flags
func.func @do_not_merge_loads_or_other_flags(%n: index, %p: !llvm.ptr, %a: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%x) = (%c0) to (%n) step (%c1) {
    // CHECK-COUNT-2: llvm.fmul
    // CHECK-COUNT-2: llvm.load
    %m = llvm.fmul %a, %a : f32
    %m1 = llvm.fmul %a, %a {fastmathFlags = #llvm.fastmath<contract>} : f32
    %v = llvm.load %p : !llvm.ptr -> f32
    llvm.store %m, %p : f32, !llvm.ptr
    %w = llvm.load %p : !llvm.ptr -> f32
    llvm.store %m1, %p : f32, !llvm.ptr
    llvm.store %v, %p : f32, !llvm.ptr
    llvm.store %w, %p : f32, !llvm.ptr
  }
  return
}
