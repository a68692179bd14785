// RUN: %regrain-opt %s --regrain-hash-kernels | FileCheck %s

// Two kernels that do the same have different names and so different hashes; what a kernel reaches counts, and where it
// stands does not.
// CHECK: llvm.func @helper(%{{.*}}: i32) -> i32 {
// CHECK: llvm.func @__regrain_launch.k(%{{.*}}) -> i32 attributes {regrain.content = "{{[0-9a-f]+}}"}
// CHECK: llvm.func @__regrain_launch.k.b16x16x1(%{{.*}}) -> i32 attributes {regrain.content = "{{[0-9a-f]+}}"}
llvm.func @helper(%a: i32) -> i32 {
  llvm.return %a : i32
}
llvm.func @__regrain_launch.k(%a: i32) -> i32 {
  %r = llvm.call @helper(%a) : (i32) -> i32
  llvm.return %r : i32
}
llvm.func @__regrain_launch.k.b16x16x1(%a: i32) -> i32 {
  llvm.return %a : i32
}
