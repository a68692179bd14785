// RUN: %regrain-opt %s --regrain-vectorize-threads="register-bits=256 cost-model=false" | FileCheck %s

// A bit is flipped that all threads of the block have alike, which is asked before the rows: one vector. Otherwise rows gather.
// CHECK-LABEL: llvm.func @flips
// CHECK: %[[FIRST:.*]] = arith.index_cast %{{.*}} : index to i32
// CHECK: %[[LAST:.*]] = arith.index_cast %{{.*}} : index to i32
// CHECK: %[[NEGATED:.*]] = arith.subi %{{.*}}, %arg2 : i32
// CHECK: %[[LOWEST:.*]] = arith.andi %arg2, %[[NEGATED]] : i32
// CHECK: %[[BITS:.*]] = arith.subi %{{.*}}, %[[LOWEST]] : i32
// CHECK: %[[CHANGED:.*]] = arith.xori %[[FIRST]], %[[LAST]] : i32
// CHECK: %[[MET:.*]] = arith.andi %[[CHANGED]], %[[BITS]] : i32
// CHECK: arith.cmpi eq, %[[MET]]
// CHECK: scf.for
// CHECK: llvm.xor %{{.*}}, %arg2 : i32
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> vector<
// CHECK: scf.for
// CHECK: llvm.intr.masked.gather
// CHECK: llvm.return
llvm.func @flips(%p: !llvm.ptr, %q: !llvm.ptr, %j: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%n, %c1, %c1) step (%c1, %c1, %c1) {
    %i = arith.index_cast %x : index to i32
    %other = llvm.xor %i, %j : i32
    %wide = llvm.zext %other : i32 to i64
    %a = llvm.getelementptr %p[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v = llvm.load %a : !llvm.ptr -> f32
    %w = llvm.zext %i : i32 to i64
    %b = llvm.getelementptr %q[%w] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %v, %b : f32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}
