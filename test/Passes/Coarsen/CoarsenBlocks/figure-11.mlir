// RUN: %regrain-opt %s --regrain-coarsen-blocks='factor=2' | FileCheck %s

// The threads of a block keep reading neighbouring elements; each original block keeps its shared memory.
// CHECK-LABEL: func.func @loads
// CHECK-SAME: %[[N:[a-z0-9]+]]: index
// CHECK: %[[HALF:.*]] = arith.divui %[[N]]
// CHECK: scf.if
// CHECK: regrain.gpu_wrapper @k grid(%[[HALF]],{{.*}} attributes {regrain.grain = array<i64: 2, 1, 1>}
// CHECK: scf.parallel (%[[B:.*]], %{{.*}}, %{{.*}}) = {{.*}} to (%[[HALF]],
// CHECK: %[[B0:.*]] = arith.muli %[[B]]
// CHECK: %[[B1:.*]] = arith.addi %[[B0]]
// CHECK: regrain.shared
// CHECK-NEXT: regrain.shared
// CHECK: scf.parallel (%[[T:.*]], %{{.*}}, %{{.*}}) =
// CHECK: %[[M0:.*]] = arith.muli %[[B0]]
// CHECK: %[[M1:.*]] = arith.muli %[[B1]]
// CHECK: arith.addi %[[M0]], %[[T]]
// CHECK: arith.addi %[[M1]], %[[T]]
// CHECK: llvm.load
// CHECK-NEXT: llvm.load
// CHECK: llvm.store
// CHECK-NEXT: llvm.store
// CHECK: scf.if
// CHECK: regrain.gpu_wrapper
// CHECK-SAME: regrain.epilogue
func.func @loads(%p: !llvm.ptr, %g: index, %b: index, %n: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%c32, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared : !llvm.array<32 x f32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
        %base = arith.muli %i, %c32 : index
        %at0 = arith.addi %base, %x : index
        %l = arith.index_cast %at0 : index to i64
        %at = llvm.getelementptr %p[%l] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %v = llvm.load %at : !llvm.ptr -> f32
        %s = llvm.getelementptr %tile[%l] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
        llvm.store %v, %s : f32, !llvm.ptr<3>
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return %e : i32
}
