// RUN: %mlir-opt %s --lift-cf-to-scf | FileCheck %s

// A function that returns and ends in `llvm.unreachable` elsewhere stays a graph. When this fails, remove
// `returnInsteadOfUnreachable` (crates/mlir-bridge/cpp/lift.cpp).

// CHECK: cf.switch
func.func @f(%c: i1, %d: i1, %p: !llvm.ptr) {
  cf.cond_br %c, ^a, ^b
^a:
  cf.cond_br %d, ^dead, ^b
^b:
  return
^dead:
  llvm.unreachable
}
