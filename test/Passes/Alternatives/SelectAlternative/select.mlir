// RUN: %regrain-opt %s --regrain-select-alternative='grain=b2x1x1' | FileCheck %s

// CHECK-LABEL: func.func @chosen
// CHECK-NEXT: %[[B:.*]] = arith.addi %arg0, %arg0
// CHECK-NEXT: return %[[B]]
func.func @chosen(%a: i32) -> i32 {
  %e = regrain.alternatives ["original", "b2x1x1"] -> i32 {
    regrain.yield %a : i32
  }, {
    %b = arith.addi %a, %a : i32
    regrain.yield %b : i32
  }
  return %e : i32
}

// A launch that has no such alternative keeps the original.
// CHECK-LABEL: func.func @original
// CHECK-NEXT: return %arg0
func.func @original(%a: i32) -> i32 {
  %e = regrain.alternatives ["original", "b4x1x1"] -> i32 {
    regrain.yield %a : i32
  }, {
    %b = arith.addi %a, %a : i32
    regrain.yield %b : i32
  }
  return %e : i32
}

// What goes takes the alternatives in it along.
// CHECK-LABEL: func.func @nested
// CHECK-NEXT: return %arg0
func.func @nested(%a: i32, %b: i32) -> i32 {
  %e = regrain.alternatives ["original", "t2x1x1"] -> i32 {
    regrain.yield %a : i32
  }, {
    %f = regrain.alternatives ["b2x1x1", "b4x1x1"] -> i32 {
      regrain.yield %b : i32
    }, {
      regrain.yield %a : i32
    }
    regrain.yield %f : i32
  }
  return %e : i32
}
