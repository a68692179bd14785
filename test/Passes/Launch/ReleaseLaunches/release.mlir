// RUN: %regrain-opt %s --regrain-release-launches | FileCheck %s

// Launches that were kept as the program wrote them may change again. What else is known of a launch stays.

// CHECK-LABEL: func.func @launches
// CHECK: regrain.gpu_wrapper @original grid(%{{.*}}) block(%{{.*}}) {
// CHECK: regrain.gpu_wrapper @kept {{.*}} attributes {regrain.tasks = 16 : i32} {
// CHECK-NOT: regrain.kept
// CHECK-NOT: regrain.original
func.func @launches(%n: index) {
  %a = regrain.gpu_wrapper @original grid(%n, %n, %n) block(%n, %n, %n) attributes {regrain.original} {
  }
  %b = regrain.gpu_wrapper @kept grid(%n, %n, %n) block(%n, %n, %n) attributes {regrain.kept, regrain.tasks = 16 : i32} {
  }
  return
}
