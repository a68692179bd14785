// RUN: %mlir-opt %s --canonicalize | FileCheck %s

// Canonicalization makes one loop of the loop over blocks and that over threads, and drops dimensions of size 1, which barriers
// name. When this fails, `canonicalize` may run on the parallel form (passes/src/pipelines.rs says that it does not).

// CHECK: scf.parallel (%{{[^,]*}}, %{{[^,]*}}) =
// CHECK-NOT: scf.parallel
func.func @f(%n: index, %m: index, %p: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    scf.parallel (%x, %y) = (%c0, %c0) to (%m, %c1) step (%c1, %c1) {
      %v = arith.index_cast %y : index to i32
      llvm.store %v, %p : i32, !llvm.ptr
    }
  }
  return
}
