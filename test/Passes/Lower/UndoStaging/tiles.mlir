// RUN: %regrain-opt %s --regrain-undo-staging | FileCheck %s
// RUN: %regrain-opt %s --regrain-undo-staging --regrain-split-barriers | FileCheck %s --check-prefix=SPLIT

// Threads and one at each end fill a tile; each thread reads its neighbours. The block must lie within the line, and what it writes apart
// from what it reads, which is asked in either order. Without the tile nothing is left to wait for.
// CHECK-LABEL: llvm.func @line
// CHECK: %[[IN:.*]] = llvm.load %{{.*}} {regrain.kernel_arg = 0 : i64}
// CHECK: %[[OUT:.*]] = llvm.load %{{.*}} {regrain.kernel_arg = 1 : i64}
// CHECK: scf.parallel (%[[BX:[^,]*]], {{.*}}) =
// CHECK: %[[BLOCK:.*]] = arith.index_cast %[[BX]] : index to i64
// CHECK: %[[FIRST:.*]] = arith.muli %[[BLOCK]], %{{.*}}
// The first block has an element before it, the last one behind.
// CHECK: arith.cmpi sge
// CHECK: arith.cmpi sge
// CHECK: %[[FROM:.*]] = llvm.ptrtoint %[[IN]]
// CHECK: %[[TO:.*]] = llvm.ptrtoint %[[OUT]]
// CHECK: %[[BEHIND:.*]] = arith.cmpi sge
// CHECK: %[[BEFORE:.*]] = arith.cmpi sle
// CHECK: %[[ONE:.*]] = arith.andi %{{.*}}, %[[BEHIND]]
// CHECK: %[[OTHER:.*]] = arith.andi %{{.*}}, %[[BEFORE]]
// CHECK: %[[INSIDE:.*]] = arith.ori %[[ONE]], %[[OTHER]]
// CHECK: scf.if %[[INSIDE]] {
// CHECK: scf.parallel (%[[X:[^,]*]],
// CHECK-NOT: regrain.barrier
// CHECK-NOT: scf.if
// CHECK-COUNT-2: llvm.getelementptr %[[IN]][%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK: llvm.store
// CHECK-NOT: llvm.store
// CHECK: } else {
// CHECK: scf.parallel
// CHECK: regrain.barrier
// CHECK: } {regrain.convex}

// Both versions are split, the first into one loop.
// SPLIT-LABEL: llvm.func @line
// SPLIT: scf.if
// SPLIT-COUNT-1: scf.parallel
// SPLIT: } else {
// SPLIT-COUNT-2: scf.parallel
// SPLIT: } {regrain.convex}
llvm.func @line(%p: !llvm.ptr, %gx: i32, %n: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 64 : index
  %g = arith.index_castui %gx : i32 to index
  %in = llvm.load %p {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %out = llvm.load %p {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<66 x f32> -> !llvm.ptr<3>
      %block = arith.index_cast %i : index to i32
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %c0_i32 = llvm.mlir.constant(0 : i32) : i32
        %c1_i32 = llvm.mlir.constant(1 : i32) : i32
        %c63 = llvm.mlir.constant(63 : i32) : i32
        %c64 = llvm.mlir.constant(64 : i32) : i32
        %first = llvm.mul %block, %c64 overflow<nsw> : i32
        %at = llvm.add %first, %t overflow<nsw> : i32
        %last = llvm.sub %n, %c1_i32 overflow<nsw> : i32
        %slot = llvm.add %t, %c1_i32 overflow<nsw> : i32
        %own = llvm.getelementptr %tile[%slot] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
        %from = llvm.getelementptr %in[%at] : (!llvm.ptr, i32) -> !llvm.ptr, f32
        %v = llvm.load %from {alignment = 4 : i64} : !llvm.ptr -> f32
        llvm.store %v, %own : f32, !llvm.ptr<3>
        %is_first = llvm.icmp "eq" %t, %c0_i32 : i32
        scf.if %is_first {
          %west = llvm.sub %at, %c1_i32 overflow<nsw> : i32
          %held = arith.maxsi %west, %c0_i32 : i32
          %a = llvm.getelementptr %in[%held] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          %w = llvm.load %a {alignment = 4 : i64} : !llvm.ptr -> f32
          llvm.store %w, %tile : f32, !llvm.ptr<3>
        }
        %is_last = llvm.icmp "eq" %t, %c63 : i32
        scf.if %is_last {
          %east = llvm.add %at, %c1_i32 overflow<nsw> : i32
          %held = arith.minsi %east, %last : i32
          %a = llvm.getelementptr %in[%held] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          %w = llvm.load %a {alignment = 4 : i64} : !llvm.ptr -> f32
          %far = llvm.getelementptr %tile[65] : (!llvm.ptr<3>) -> !llvm.ptr<3>, f32
          llvm.store %w, %far : f32, !llvm.ptr<3>
        }
        regrain.barrier(%x, %y, %z)
        %here = llvm.icmp "slt" %at, %n : i32
        scf.if %here {
          %l = llvm.getelementptr %tile[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
          %left = llvm.load %l : !llvm.ptr<3> -> f32
          %behind = llvm.add %slot, %c1_i32 overflow<nsw> : i32
          %r = llvm.getelementptr %tile[%behind] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
          %right = llvm.load %r : !llvm.ptr<3> -> f32
          %sum = llvm.fadd %left, %right : f32
          %to = llvm.getelementptr %out[%at] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          llvm.store %sum, %to : f32, !llvm.ptr
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}
