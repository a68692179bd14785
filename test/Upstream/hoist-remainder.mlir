// RUN: %mlir-opt %s --loop-invariant-code-motion | FileCheck %s

// A remainder of the llvm dialect counts as an operation that never traps, and moves out of a loop that may have no round; a
// quotient stays. When this fails, remove `mayTrap` (crates/mlir-bridge/cpp/transforms.cpp).

// CHECK: llvm.srem
// CHECK: scf.for
// CHECK: llvm.sdiv
llvm.func @use(i32)
func.func @f(%n: i32, %d: i32, %lo: index, %hi: index, %st: index) {
  scf.for %i = %lo to %hi step %st {
    %a = llvm.srem %n, %d : i32
    %b = llvm.sdiv %n, %d : i32
    llvm.call @use(%a) : (i32) -> ()
    llvm.call @use(%b) : (i32) -> ()
  }
  return
}
