// RUN: %regrain-opt %s --regrain-vectorize-threads="register-bits=256 cost-model=false" | FileCheck %s

// A barrier of warps that no access comes before, or after, orders nothing: rows need not be warps.
// CHECK-LABEL: llvm.func @outer_barriers
// CHECK-NOT: warp_barrier
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> vector<8xf32>
// CHECK-NOT: warp_barrier
// CHECK: llvm.return
llvm.func @outer_barriers(%a: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %all = arith.constant -1 : i32
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i64
    regrain.warp_barrier %all(%x, %y, %z)
    %p = llvm.getelementptr %a[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v = llvm.load %p : !llvm.ptr -> f32
    %w = llvm.fadd %v, %v : f32
    llvm.store %w, %p : f32, !llvm.ptr
    regrain.warp_barrier %all(%x, %y, %z)
    scf.reduce
  }
  llvm.return
}

// Between accesses it stands for rows that are warps.
// CHECK-LABEL: llvm.func @inner_barrier
// CHECK: llvm.store %{{.*}} : vector<32xf32>, !llvm.ptr
llvm.func @inner_barrier(%a: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %all = arith.constant -1 : i32
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i64
    %p = llvm.getelementptr %a[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v = llvm.load %p : !llvm.ptr -> f32
    regrain.warp_barrier %all(%x, %y, %z)
    llvm.store %v, %p : f32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}
