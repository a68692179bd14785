// RUN: %regrain-opt %s --regrain-coarsen-threads='factor=2 indexing=adjacent' | FileCheck %s --check-prefixes=CHECK,NAIVE
// RUN: %regrain-opt %s --regrain-coarsen-threads='factor=2' | FileCheck %s --check-prefixes=CHECK,FRIENDLY

// Neighbouring threads read neighbouring elements with the indexing that is the default.
// CHECK-LABEL: func.func @loads
// CHECK: %[[C16:.*]] = arith.constant 16 : index
// CHECK: regrain.gpu_wrapper @k grid(%{{.*}}) block(%[[C16]],
// CHECK-COUNT-1: regrain.shared
// CHECK: scf.parallel (%[[T:.*]], %{{.*}}, %{{.*}}) = {{.*}} to (%[[C16]],
// NAIVE: %[[T0:.*]] = arith.muli %[[T]]
// NAIVE: %[[T1:.*]] = arith.addi %[[T0]]
// NAIVE: arith.index_cast %[[T0]]
// FRIENDLY: %[[T1:.*]] = arith.addi %[[T]], %[[C16]]
// FRIENDLY: arith.index_cast %[[T]]
// CHECK: arith.index_cast %[[T1]]
// CHECK: llvm.load
// CHECK-NEXT: llvm.load
// CHECK: llvm.store
// CHECK-NEXT: llvm.store
func.func @loads(%p: !llvm.ptr, %g: index, %b: index, %n: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%c32, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared : !llvm.array<32 x f32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
        %l = arith.index_cast %x : index to i64
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
