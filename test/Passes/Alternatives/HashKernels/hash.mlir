// RUN: %regrain-opt %s --regrain-hash-kernels --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// Kernels that do the same have one hash, whatever their values, launch functions and internal helpers are called and wherever they
// stand; each change of what they do, or of what they reach, gives another one. All launch one kernel here, whose name counts.

// CHECK: @__regrain_launch.plain({{.*}}regrain.content = "[[PLAIN:[0-9a-f]+]]"
// CHECK: @__regrain_launch.renamed({{.*}}regrain.content = "[[PLAIN]]"
// CHECK: @__regrain_launch.other_chip({{.*}}regrain.content = "[[PLAIN]]"
// CHECK: @__regrain_launch.other_constant(
// CHECK-NOT: "[[PLAIN]]"
// CHECK-SAME: regrain.content = "[[CONSTANT:[0-9a-f]+]]"
// CHECK-NOT: "[[PLAIN]]"
// CHECK-NOT: "[[CONSTANT]]"
// CHECK: @__regrain_launch.other_flag({{.*}}regrain.content = "[[FLAG:[0-9a-f]+]]"
// CHECK-NOT: "[[PLAIN]]"
// CHECK-NOT: "[[FLAG]]"
// CHECK: @__regrain_launch.other_order({{.*}}regrain.content = "[[ORDER:[0-9a-f]+]]"
// CHECK-NOT: "[[PLAIN]]"
// CHECK-NOT: "[[ORDER]]"
// CHECK: @__regrain_launch.other_type({{.*}}regrain.content = "[[TYPE:[0-9a-f]+]]"
// CHECK-NOT: "[[PLAIN]]"
// CHECK-NOT: "[[TYPE]]"
// CHECK: @__regrain_launch.other_callee({{.*}}regrain.content = "[[CALLEE:[0-9a-f]+]]"
// CHECK-NOT: "[[PLAIN]]"
// CHECK-NOT: "[[CALLEE]]"
// CHECK: @__regrain_launch.other_global({{.*}}regrain.content = "{{[0-9a-f]+}}"
// CHECK-NOT: "[[PLAIN]]"
llvm.mlir.global internal constant @table(7 : i32) : i32
llvm.mlir.global internal constant @same_table(7 : i32) : i32
llvm.mlir.global internal constant @other_table(8 : i32) : i32
llvm.func internal @helper(%a: i32) -> i32 {
  %t = llvm.mlir.addressof @table : !llvm.ptr
  %v = llvm.load %t : !llvm.ptr -> i32
  %s = llvm.sub %a, %v : i32
  llvm.return %s : i32
}
llvm.func internal @same_helper(%b: i32) -> i32 {
  %at = llvm.mlir.addressof @same_table : !llvm.ptr
  %seven = llvm.load %at : !llvm.ptr -> i32
  %less = llvm.sub %b, %seven : i32
  llvm.return %less : i32
}
llvm.func internal @reversed_helper(%b: i32) -> i32 {
  %at = llvm.mlir.addressof @table : !llvm.ptr
  %seven = llvm.load %at : !llvm.ptr -> i32
  %less = llvm.sub %seven, %b : i32
  llvm.return %less : i32
}
llvm.func internal @other_global_helper(%b: i32) -> i32 {
  %at = llvm.mlir.addressof @other_table : !llvm.ptr
  %eight = llvm.load %at : !llvm.ptr -> i32
  %less = llvm.sub %b, %eight : i32
  llvm.return %less : i32
}
llvm.func @__regrain_launch.plain(%a: i32, %b: i32) -> i32 attributes {regrain.launch = @k} {
  %c = llvm.mlir.constant(3 : i32) : i32
  %d = llvm.mul %a, %c : i32
  %e = llvm.sub %d, %b overflow<nsw> : i32
  %r = llvm.call @helper(%e) : (i32) -> i32
  llvm.return %r : i32
}
llvm.func @__regrain_launch.renamed(%left: i32, %right: i32) -> i32 attributes {regrain.launch = @k, regrain.block_shape = array<i64: 8, 1, 1>, regrain.space = "none"} {
  %three = llvm.mlir.constant(3 : i32) : i32
  %product = llvm.mul %left, %three : i32 loc("elsewhere.cu":70:1)
  %difference = llvm.sub %product, %right overflow<nsw> : i32 loc("elsewhere.cu":71:1)
  %result = llvm.call @same_helper(%difference) : (i32) -> i32
  llvm.return %result : i32
}
llvm.func @__regrain_launch.other_chip(%a: i32, %b: i32) -> i32 attributes {
    regrain.launch = @k, passthrough = [["target-cpu", "sm_90"]], target_cpu = "sm_90",
    target_features = #llvm.target_features<["+ptx88", "+sm_90"]>} {
  %c = llvm.mlir.constant(3 : i32) : i32
  %d = llvm.mul %a, %c : i32
  %e = llvm.sub %d, %b overflow<nsw> : i32
  %r = llvm.call @helper(%e) : (i32) -> i32
  llvm.return %r : i32
}
llvm.func @__regrain_launch.other_constant(%a: i32, %b: i32) -> i32 attributes {regrain.launch = @k} {
  %c = llvm.mlir.constant(4 : i32) : i32
  %d = llvm.mul %a, %c : i32
  %e = llvm.sub %d, %b overflow<nsw> : i32
  %r = llvm.call @helper(%e) : (i32) -> i32
  llvm.return %r : i32
}
llvm.func @__regrain_launch.other_flag(%a: i32, %b: i32) -> i32 attributes {regrain.launch = @k} {
  %c = llvm.mlir.constant(3 : i32) : i32
  %d = llvm.mul %a, %c : i32
  %e = llvm.sub %d, %b : i32
  %r = llvm.call @helper(%e) : (i32) -> i32
  llvm.return %r : i32
}
llvm.func @__regrain_launch.other_order(%a: i32, %b: i32) -> i32 attributes {regrain.launch = @k} {
  %c = llvm.mlir.constant(3 : i32) : i32
  %d = llvm.mul %a, %c : i32
  %e = llvm.sub %b, %d overflow<nsw> : i32
  %r = llvm.call @helper(%e) : (i32) -> i32
  llvm.return %r : i32
}
llvm.func @__regrain_launch.other_type(%a: i32, %b: i32, %unused: f32) -> i32 attributes {regrain.launch = @k} {
  %c = llvm.mlir.constant(3 : i32) : i32
  %d = llvm.mul %a, %c : i32
  %e = llvm.sub %d, %b overflow<nsw> : i32
  %r = llvm.call @helper(%e) : (i32) -> i32
  llvm.return %r : i32
}
llvm.func @__regrain_launch.other_callee(%a: i32, %b: i32) -> i32 attributes {regrain.launch = @k} {
  %c = llvm.mlir.constant(3 : i32) : i32
  %d = llvm.mul %a, %c : i32
  %e = llvm.sub %d, %b overflow<nsw> : i32
  %r = llvm.call @reversed_helper(%e) : (i32) -> i32
  llvm.return %r : i32
}
llvm.func @__regrain_launch.other_global(%a: i32, %b: i32) -> i32 attributes {regrain.launch = @k} {
  %c = llvm.mlir.constant(3 : i32) : i32
  %d = llvm.mul %a, %c : i32
  %e = llvm.sub %d, %b overflow<nsw> : i32
  %r = llvm.call @other_global_helper(%e) : (i32) -> i32
  llvm.return %r : i32
}
