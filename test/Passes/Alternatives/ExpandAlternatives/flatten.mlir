// RUN: %regrain-opt %s --regrain-expand-alternatives='space=none' | FileCheck %s

// Alternatives of an alternative become alternatives of the launch.
// CHECK-LABEL: func.func @nested
// CHECK: %[[E:.*]] = regrain.alternatives ["original", "b2x1x1", "b4x1x1", "t2x1x1"] -> i32 {
// CHECK-NEXT: regrain.yield %arg0
// CHECK-NEXT: }, {
// CHECK-NEXT: regrain.yield %arg1
// CHECK-NEXT: }, {
// CHECK-NEXT: regrain.yield %arg2
// CHECK-NEXT: }, {
// CHECK-NEXT: regrain.yield %arg3
// CHECK-NEXT: }
// CHECK-NEXT: return %[[E]]
func.func @nested(%a: i32, %b: i32, %c: i32, %d: i32) -> i32 {
  %e = regrain.alternatives ["original", "coarse blocks", "t2x1x1"] -> i32 {
    regrain.yield %a : i32
  }, {
    %f = regrain.alternatives ["b2x1x1", "b4x1x1"] -> i32 {
      regrain.yield %b : i32
    }, {
      regrain.yield %c : i32
    }
    regrain.yield %f : i32
  }, {
    regrain.yield %d : i32
  }
  return %e : i32
}
