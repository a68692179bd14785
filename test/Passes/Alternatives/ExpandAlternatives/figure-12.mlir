// RUN: %regrain-opt %s --regrain-expand-alternatives='space=blocks=1,2:threads=1,2' | FileCheck %s
// RUN: %regrain-opt %s --regrain-expand-alternatives='space=blocks=1,2:threads=1,2' \
// RUN:   --regrain-select-alternative='grain=t2x1x1' | FileCheck %s --check-prefix=SELECTED

// The paper's figure 12: the same computation at several grains, each transformed on its own, until one is chosen.
// CHECK-LABEL: llvm.func @__regrain_launch.k
// CHECK: %[[E:.*]] = regrain.alternatives ["original", "b2x1x1", "t2x1x1", "b2x1x1t2x1x1"] -> i32 {
// CHECK: %[[A:.*]] = regrain.gpu_wrapper @k grid(%{{.*}}) block(%c32, %c1, %c1) {
// CHECK: regrain.yield %[[A]] : i32
// CHECK-NEXT: }, {
// CHECK: scf.if
// CHECK: regrain.gpu_wrapper @k {{.*}} block(%c32, %c1, %c1) attributes {regrain.grain = array<i64: 2, 1, 1>} {
// CHECK: regrain.epilogue
// CHECK: regrain.yield %{{.*}} : i32
// CHECK-NEXT: }, {
// CHECK: %[[C16:.*]] = arith.constant 16 : index
// CHECK: regrain.gpu_wrapper @k {{.*}} block(%[[C16]], %c1, %c1) attributes {regrain.thread_grain = array<i64: 2, 1, 1>} {
// CHECK: regrain.yield
// CHECK-NEXT: }, {
// CHECK: regrain.gpu_wrapper @k {{.*}} attributes {regrain.grain = array<i64: 2, 1, 1>, regrain.thread_grain = array<i64: 2, 1, 1>} {
// CHECK: regrain.epilogue
// CHECK: regrain.yield
// CHECK-NEXT: }
// CHECK-NEXT: llvm.return %[[E]]

// SELECTED-LABEL: llvm.func @__regrain_launch.k
// SELECTED-NOT: regrain.alternatives
// SELECTED: %[[E:.*]] = regrain.gpu_wrapper @k grid(%{{.*}}) block(%{{.*}}16{{.*}}, %c1, %c1) attributes {regrain.thread_grain = array<i64: 2, 1, 1>} {
// SELECTED-NOT: regrain.yield
// SELECTED: llvm.return %[[E]]
llvm.func @__regrain_launch.k(%p: !llvm.ptr, %gx: i32) -> i32 attributes {regrain.launch = @k} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %g = arith.index_castui %gx : i32 to index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%c32, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
        %base = arith.muli %i, %c32 : index
        %at0 = arith.addi %base, %x : index
        %l = arith.index_cast %at0 : index to i64
        %at = llvm.getelementptr %p[%l] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %v = llvm.load %at : !llvm.ptr -> f32
        %w = llvm.fadd %v, %v : f32
        llvm.store %w, %at : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}
