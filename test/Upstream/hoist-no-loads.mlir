// RUN: %mlir-opt %s --loop-invariant-code-motion | FileCheck %s

// Neither loads that nothing in the loop disturbs nor calls without effects move. When this fails, let MLIR's motion do serial
// loops too (passes/src/optimise/hoist_invariants.rs).

// CHECK: scf.for
// CHECK: llvm.load
// CHECK: llvm.call @pure
llvm.func @pure(i32) -> i32 attributes {memory_effects = #llvm.memory_effects<other = none, argMem = none, inaccessibleMem = none, errnoMem = none, targetMem0 = none, targetMem1 = none>, no_unwind, will_return}
func.func @f(%n: i32, %p: !llvm.ptr, %o: !llvm.ptr, %lo: index, %hi: index, %st: index) {
  scf.for %i = %lo to %hi step %st {
    %l = llvm.load %p invariant : !llvm.ptr -> i32
    %k = llvm.call @pure(%n) : (i32) -> i32
    %s = llvm.add %l, %k : i32
    llvm.store %s, %o : i32, !llvm.ptr
  }
  return
}
