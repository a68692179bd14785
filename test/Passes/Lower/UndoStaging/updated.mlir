// RUN: %regrain-opt %s --regrain-undo-staging | FileCheck %s

// What is written is read in the same phase, as `a[i] += ...` does: no barrier is between, so that it may be gone. It is not asked whether
// the array is apart from itself.
// CHECK-LABEL: llvm.func @same_phase
// CHECK: %[[IN:.*]] = llvm.load %{{.*}} {regrain.kernel_arg = 0 : i64}
// CHECK: %[[OUT:.*]] = llvm.load %{{.*}} {regrain.kernel_arg = 1 : i64}
// CHECK-COUNT-2: llvm.ptrtoint
// CHECK-NOT: llvm.ptrtoint
// CHECK: scf.if
// CHECK: scf.parallel
// CHECK-NOT: regrain.barrier
// CHECK: } else {
// CHECK: regrain.barrier
llvm.func @same_phase(%p: !llvm.ptr, %gx: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 64 : index
  %g = arith.index_castui %gx : i32 to index
  %in = llvm.load %p {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %out = llvm.load %p {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<64 x f32> -> !llvm.ptr<3>
      %block = arith.index_cast %i : index to i32
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %c63 = llvm.mlir.constant(63 : i32) : i32
        %c64 = llvm.mlir.constant(64 : i32) : i32
        %first = llvm.mul %block, %c64 overflow<nsw> : i32
        %at = llvm.add %first, %t overflow<nsw> : i32
        %own = llvm.getelementptr %tile[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
        %from = llvm.getelementptr %in[%at] : (!llvm.ptr, i32) -> !llvm.ptr, f32
        %v = llvm.load %from {alignment = 4 : i64} : !llvm.ptr -> f32
        llvm.store %v, %own : f32, !llvm.ptr<3>
        regrain.barrier(%x, %y, %z)
        %mirror = llvm.sub %c63, %t overflow<nsw> : i32
        %other = llvm.getelementptr %tile[%mirror] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
        %w = llvm.load %other : !llvm.ptr<3> -> f32
        %to = llvm.getelementptr %out[%at] : (!llvm.ptr, i32) -> !llvm.ptr, f32
        %old = llvm.load %to {alignment = 4 : i64} : !llvm.ptr -> f32
        %new = llvm.fadd %old, %w : f32
        llvm.store %new, %to {alignment = 4 : i64} : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// What is written was read by other threads before the barrier: it would have to be apart from itself, which it never is, so that the
// version is asked for both arrays.
// CHECK-LABEL: llvm.func @phase_before
// CHECK: %[[IN:.*]] = llvm.load %{{.*}} {regrain.kernel_arg = 0 : i64}
// CHECK: %[[OUT:.*]] = llvm.load %{{.*}} {regrain.kernel_arg = 1 : i64}
// CHECK-COUNT-3: llvm.ptrtoint
llvm.func @phase_before(%p: !llvm.ptr, %gx: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 64 : index
  %g = arith.index_castui %gx : i32 to index
  %in = llvm.load %p {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %out = llvm.load %p {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<64 x f32> -> !llvm.ptr<3>
      %block = arith.index_cast %i : index to i32
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %c63 = llvm.mlir.constant(63 : i32) : i32
        %c64 = llvm.mlir.constant(64 : i32) : i32
        %first = llvm.mul %block, %c64 overflow<nsw> : i32
        %at = llvm.add %first, %t overflow<nsw> : i32
        %mirror = llvm.sub %c63, %t overflow<nsw> : i32
        %there = llvm.add %first, %mirror overflow<nsw> : i32
        %own = llvm.getelementptr %tile[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
        %from = llvm.getelementptr %in[%at] : (!llvm.ptr, i32) -> !llvm.ptr, f32
        %v = llvm.load %from {alignment = 4 : i64} : !llvm.ptr -> f32
        llvm.store %v, %own : f32, !llvm.ptr<3>
        %across = llvm.getelementptr %out[%there] : (!llvm.ptr, i32) -> !llvm.ptr, f32
        %old = llvm.load %across {alignment = 4 : i64} : !llvm.ptr -> f32
        regrain.barrier(%x, %y, %z)
        %other = llvm.getelementptr %tile[%mirror] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
        %w = llvm.load %other : !llvm.ptr<3> -> f32
        %to = llvm.getelementptr %out[%at] : (!llvm.ptr, i32) -> !llvm.ptr, f32
        %new = llvm.fadd %old, %w : f32
        llvm.store %new, %to {alignment = 4 : i64} : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}
