// RUN: %mlir-opt %s --int-range-optimizations | FileCheck %s

// The range analysis knows arith and nothing of the llvm dialect. When this fails, let it answer in place of
// passes/src/analysis/facts.rs.

// CHECK-LABEL: func.func @arith
// CHECK: %[[TRUE:.*]] = arith.constant true
// CHECK: return %[[TRUE]]
func.func @arith(%a: i32) -> i1 {
  %c7 = arith.constant 7 : i32
  %c8 = arith.constant 8 : i32
  %low = arith.andi %a, %c7 : i32
  %small = arith.cmpi ult, %low, %c8 : i32
  return %small : i1
}

// CHECK-LABEL: func.func @llvm
// CHECK: %[[SMALL:.*]] = arith.cmpi
// CHECK: return %[[SMALL]]
func.func @llvm(%a: i32) -> i1 {
  %c7 = arith.constant 7 : i32
  %c8 = arith.constant 8 : i32
  %low = llvm.and %a, %c7 : i32
  %small = arith.cmpi ult, %low, %c8 : i32
  return %small : i1
}
