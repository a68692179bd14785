// RUN: %regrain-opt %s --regrain-lift-control-flow | FileCheck %s

// Both variables of the loop get the same value in each round.
// CHECK-LABEL: llvm.func @twice
// CHECK: scf.while
// CHECK: %[[V:.*]] = llvm.call @g
// CHECK: %[[NEXT:.*]] = llvm.add
// CHECK: scf.yield %[[V]], %[[NEXT]], %[[V]]
llvm.func @g(i32) -> i32
llvm.func @twice(%n: i32) -> i32 {
  %c3 = llvm.mlir.constant(3 : i32) : i32
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c1 = llvm.mlir.constant(1 : i32) : i32
  llvm.br ^head(%c3, %c0, %n : i32, i32, i32)
^head(%a: i32, %i: i32, %b: i32):
  %c = llvm.icmp "slt" %i, %n : i32
  llvm.cond_br %c, ^body, ^exit(%a, %b : i32, i32)
^body:
  %v = llvm.call @g(%i) : (i32) -> i32
  %next = llvm.add %i, %c1 : i32
  llvm.br ^head(%v, %next, %v : i32, i32, i32)
^exit(%x: i32, %y: i32):
  %r = llvm.mul %x, %y : i32
  llvm.return %r : i32
}
