// RUN: %regrain-opt %s --regrain-share-constant-tables | FileCheck %s

llvm.mlir.global private constant @weights(dense<[1.0, 2.0, 3.0]> : tensor<3xf32>) : !llvm.array<3 x f32>
llvm.mlir.global private @numbers(dense<[1.0, 2.0, 3.0]> : tensor<3xf32>) : !llvm.array<3 x f32>

// CHECK-LABEL: llvm.func @copied
// CHECK-NOT: llvm.alloca
// CHECK-NOT: memcpy
// CHECK-NOT: lifetime
// CHECK: %[[TABLE:.*]] = llvm.mlir.addressof @weights
// CHECK: llvm.getelementptr %[[TABLE]][0, %{{.*}}]
llvm.func @copied(%i: i64) -> f32 {
  %one = llvm.mlir.constant(1 : i32) : i32
  %size = llvm.mlir.constant(12 : i64) : i64
  %copy = llvm.alloca %one x !llvm.array<3 x f32> : (i32) -> !llvm.ptr
  %table = llvm.mlir.addressof @weights : !llvm.ptr
  llvm.intr.lifetime.start %copy : !llvm.ptr
  "llvm.intr.memcpy"(%copy, %table, %size) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
  %at = llvm.getelementptr %copy[0, %i] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<3 x f32>
  %v = llvm.load %at : !llvm.ptr -> f32
  llvm.intr.lifetime.end %copy : !llvm.ptr
  llvm.return %v : f32
}

// CHECK-LABEL: llvm.func @written
// CHECK: llvm.alloca
// CHECK: memcpy
llvm.func @written(%i: i64, %x: f32) -> f32 {
  %one = llvm.mlir.constant(1 : i32) : i32
  %size = llvm.mlir.constant(12 : i64) : i64
  %copy = llvm.alloca %one x !llvm.array<3 x f32> : (i32) -> !llvm.ptr
  %table = llvm.mlir.addressof @weights : !llvm.ptr
  "llvm.intr.memcpy"(%copy, %table, %size) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
  %at = llvm.getelementptr %copy[0, %i] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<3 x f32>
  llvm.store %x, %at : f32, !llvm.ptr
  %v = llvm.load %copy : !llvm.ptr -> f32
  llvm.return %v : f32
}

// Only a part is copied; the table may change; the copy is handed on.
// CHECK-LABEL: llvm.func @others
// CHECK-COUNT-3: memcpy
llvm.func @use(!llvm.ptr)
llvm.func @others(%i: i64) -> f32 {
  %one = llvm.mlir.constant(1 : i32) : i32
  %part = llvm.mlir.constant(8 : i64) : i64
  %size = llvm.mlir.constant(12 : i64) : i64
  %a = llvm.alloca %one x !llvm.array<3 x f32> : (i32) -> !llvm.ptr
  %b = llvm.alloca %one x !llvm.array<3 x f32> : (i32) -> !llvm.ptr
  %c = llvm.alloca %one x !llvm.array<3 x f32> : (i32) -> !llvm.ptr
  %table = llvm.mlir.addressof @weights : !llvm.ptr
  %numbers = llvm.mlir.addressof @numbers : !llvm.ptr
  "llvm.intr.memcpy"(%a, %table, %part) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
  "llvm.intr.memcpy"(%b, %numbers, %size) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
  "llvm.intr.memcpy"(%c, %table, %size) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
  llvm.call @use(%c) : (!llvm.ptr) -> ()
  %u = llvm.load %a : !llvm.ptr -> f32
  %v = llvm.load %b : !llvm.ptr -> f32
  %w = llvm.fadd %u, %v : f32
  llvm.return %w : f32
}
