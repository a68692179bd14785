// RUN: %regrain-opt %s --regrain-vectorize-threads="register-bits=256 cost-model=false" | FileCheck %s

// A key and its value, side by side at a place of each thread's own: one store of both.
// CHECK-LABEL: llvm.func @pair
// CHECK: %[[BOTH:.*]] = llvm.shufflevector %{{.*}}, %{{.*}} [0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15] : vector<8xi32>
// CHECK: %[[WIDE:.*]] = llvm.bitcast %[[BOTH]] : vector<16xi32> to vector<8xi64>
// CHECK: llvm.intr.masked.scatter %[[WIDE]], %{{.*}}, %{{.*}} {alignment = 4 : i32} : vector<8xi64>
// CHECK-NOT: llvm.intr.masked.scatter
// CHECK: llvm.return
llvm.func @pair(%p: !llvm.ptr, %q: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  %zero = llvm.mlir.constant(0.0 : f32) : f32
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%n, %c1, %c1) step (%c1, %c1, %c1) {
    %i = arith.index_cast %x : index to i64
    %b = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %v = llvm.load %b : !llvm.ptr -> i32
    %f = llvm.sitofp %v : i32 to f32
    %a = llvm.getelementptr %q[%v] : (!llvm.ptr, i32) -> !llvm.ptr, !llvm.struct<(i32, f32)>
    llvm.store %v, %a : i32, !llvm.ptr
    %next = llvm.getelementptr %a[4] : (!llvm.ptr) -> !llvm.ptr, i8
    %sum = llvm.fadd %f, %zero : f32
    llvm.store %sum, %next : f32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// The second store lies below the first one.
// CHECK-LABEL: llvm.func @upside_down
// CHECK: %[[VALUES:.*]] = llvm.mul
// CHECK: llvm.shufflevector %[[VALUES]], %{{.*}} [0, 8
// CHECK: llvm.intr.masked.scatter
// CHECK-NOT: llvm.intr.masked.scatter
// CHECK: llvm.return
llvm.func @upside_down(%p: !llvm.ptr, %q: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%n, %c1, %c1) step (%c1, %c1, %c1) {
    %i = arith.index_cast %x : index to i64
    %b = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %v = llvm.load %b : !llvm.ptr -> i32
    %a = llvm.getelementptr %q[%v] : (!llvm.ptr, i32) -> !llvm.ptr, i64
    %next = llvm.getelementptr %a[4] : (!llvm.ptr) -> !llvm.ptr, i8
    llvm.store %v, %next : i32, !llvm.ptr
    %w = llvm.mul %v, %v : i32
    llvm.store %w, %a : i32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// What a thread has kept is read between the two stores, and lies elsewhere.
// CHECK-LABEL: llvm.func @kept_between
// CHECK: %[[BOTH:.*]] = llvm.shufflevector %{{.*}}, %{{.*}} [0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15] : vector<8xi32>
// CHECK: llvm.intr.masked.scatter
// CHECK-NOT: llvm.intr.masked.scatter
// CHECK: llvm.return
llvm.func @kept_between(%p: !llvm.ptr, %q: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  %count = llvm.mlir.constant(64 : i64) : i64
  %cells = llvm.alloca %count x i32 {alignment = 64 : i64} : (i64) -> !llvm.ptr
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%n, %c1, %c1) step (%c1, %c1, %c1) {
    %i = arith.index_cast %x : index to i64
    %b = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %v = llvm.load %b : !llvm.ptr -> i32
    %a = llvm.getelementptr %q[%v] : (!llvm.ptr, i32) -> !llvm.ptr, i64
    llvm.store %v, %a : i32, !llvm.ptr
    %next = llvm.getelementptr %a[4] : (!llvm.ptr) -> !llvm.ptr, i8
    %cell = llvm.getelementptr %cells[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %w = llvm.load %cell : !llvm.ptr -> i32
    llvm.store %w, %next : i32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// Not side by side, read between, wider than two halves of a word, or seen by others: each by itself.
// CHECK-LABEL: llvm.func @do_not_pair
// CHECK-NOT: llvm.bitcast
// CHECK: llvm.return
llvm.func @do_not_pair(%p: !llvm.ptr, %q: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%n, %c1, %c1) step (%c1, %c1, %c1) {
    %i = arith.index_cast %x : index to i64
    %b = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %v = llvm.load %b : !llvm.ptr -> i32
    %a = llvm.getelementptr %q[%v] : (!llvm.ptr, i32) -> !llvm.ptr, !llvm.array<16 x i32>
    llvm.store %v, %a : i32, !llvm.ptr
    %far = llvm.getelementptr %a[8] : (!llvm.ptr) -> !llvm.ptr, i8
    llvm.store %v, %far : i32, !llvm.ptr
    %read = llvm.load %b : !llvm.ptr -> i32
    %beside = llvm.getelementptr %a[12] : (!llvm.ptr) -> !llvm.ptr, i8
    llvm.store %read, %beside : i32, !llvm.ptr
    %again = llvm.load %b : !llvm.ptr -> i32
    %long = llvm.sext %v : i32 to i64
    %d = llvm.getelementptr %a[16] : (!llvm.ptr) -> !llvm.ptr, i8
    llvm.store %long, %d : i64, !llvm.ptr
    %e = llvm.getelementptr %a[24] : (!llvm.ptr) -> !llvm.ptr, i8
    llvm.store %long, %e : i64, !llvm.ptr
    %f = llvm.getelementptr %a[32] : (!llvm.ptr) -> !llvm.ptr, i8
    llvm.store volatile %again, %f : i32, !llvm.ptr
    %g = llvm.getelementptr %a[36] : (!llvm.ptr) -> !llvm.ptr, i8
    llvm.store %again, %g : i32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}
