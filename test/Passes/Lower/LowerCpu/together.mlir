// RUN: %regrain-opt %s --regrain-vectorize-blocks=lanes=8 --regrain-split-barriers --regrain-lower-cpu="register-bits=256 registers=16" | FileCheck %s
// Blocks that go together, where that is cheaper, and what they access a block apart.

// The runtime says whether eight are left, and is told whether they were taken, and that they go by eight. Eight rows are loaded as they lie in each of eight blocks, and transposed; where their
// addresses do not follow one another each lane has its own.
// CHECK-LABEL: llvm.func @__regrain_block.tree.b64x1x1(
// CHECK: %[[AVAILABLE:.*]] = llvm.getelementptr %{{.*}}[88]
// CHECK: %[[LEFT:.*]] = llvm.load %[[AVAILABLE]]
// CHECK: %[[ENOUGH:.*]] = llvm.icmp "uge" %[[LEFT]], %[[EIGHT:.*]] : i32
// CHECK: %[[COUNT:.*]] = llvm.select %[[ENOUGH]], %[[EIGHT]], %{{.*}} : i1, i32
// CHECK: %[[TAKEN:.*]] = llvm.getelementptr %{{.*}}[92]
// CHECK: llvm.store %[[COUNT]], %[[TAKEN]]
// CHECK: llvm.store %{{.*}}, %[[AVAILABLE]]
// CHECK: llvm.cond_br %[[ENOUGH]]
// CHECK: llvm.icmp "eq" %{{.*}}, %{{.*}} : i64
// CHECK: llvm.cond_br
// CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<8xi32>
// CHECK: llvm.shufflevector %{{.*}}, %{{.*}} [0, 8, 2, 10, 4, 12, 6, 14]
// CHECK: llvm.shufflevector %{{.*}}, %{{.*}} [1, 9, 3, 11, 5, 13, 7, 15]
// CHECK: llvm.shufflevector %{{.*}}, %{{.*}} [0, 1, 8, 9, 4, 5, 12, 13]
// CHECK: llvm.shufflevector %{{.*}}, %{{.*}} [0, 1, 2, 3, 8, 9, 10, 11]
// CHECK-COUNT-8: llvm.store %{{.*}} : vector<8xi32>, !llvm.ptr
// CHECK: llvm.intr.masked.gather
// CHECK: %[[OWN:.*]] = llvm.extractelement %{{.*}} : vector<8xi32>
// CHECK: llvm.store %[[OWN]], %{{.*}} : i32, !llvm.ptr
// CHECK: llvm.return
llvm.func ptx_kernelcc @tree(%p: !llvm.ptr, %q: !llvm.ptr)
llvm.func @__regrain_launch.tree(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.block_shape = array<i64: 64, 1, 1>, regrain.launch = @tree} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 64 : index
  %g = arith.index_castui %gx : i32 to index
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %two = llvm.mlir.constant(2 : i32) : i32
  %six = llvm.mlir.constant(6 : i32) : i32
  %half = llvm.mlir.constant(32 : i32) : i32
  %size = llvm.mlir.constant(64 : i32) : i32
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %in = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %second = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %place = llvm.load %second : !llvm.ptr -> !llvm.ptr
  %out = llvm.load %place {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @tree grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<64 x i32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %block = arith.index_cast %i : index to i32
        %t = arith.index_cast %x : index to i32
        %base = llvm.mul %block, %size overflow<nsw> : i32
        %n = llvm.add %base, %t overflow<nsw> : i32
        %wide = llvm.sext %n : i32 to i64
        %from = llvm.getelementptr %in[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, i32
        %to = llvm.getelementptr %out[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, i32
        %own = llvm.getelementptr %tile[0, %t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<64 x i32>
        %v = llvm.load %from {alignment = 4 : i64} : !llvm.ptr -> i32
        llvm.store %v, %own {alignment = 4 : i64} : i32, !llvm.ptr<3>
        scf.for %s = %zero to %six step %one : i32 {
          regrain.barrier(%x, %y, %z)
          %active = llvm.lshr %half, %s : i32
          %does = llvm.icmp "slt" %t, %active : i32
          scf.if %does {
            %twice = llvm.mul %t, %two overflow<nsw> : i32
            %l1 = llvm.add %twice, %one overflow<nsw> : i32
            %r1 = llvm.add %twice, %two overflow<nsw> : i32
            %l2 = llvm.shl %l1, %s : i32
            %r2 = llvm.shl %r1, %s : i32
            %l = llvm.sub %l2, %one overflow<nsw> : i32
            %r = llvm.sub %r2, %one overflow<nsw> : i32
            %left = llvm.getelementptr %tile[0, %l] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<64 x i32>
            %right = llvm.getelementptr %tile[0, %r] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<64 x i32>
            %a = llvm.load %left {alignment = 4 : i64} : !llvm.ptr<3> -> i32
            %c = llvm.load %right {alignment = 4 : i64} : !llvm.ptr<3> -> i32
            %sum = llvm.add %a, %c : i32
            llvm.store %sum, %right {alignment = 4 : i64} : i32, !llvm.ptr<3>
          }
        }
        regrain.barrier(%x, %y, %z)
        %w = llvm.load %own {alignment = 4 : i64} : !llvm.ptr<3> -> i32
        llvm.store %w, %to {alignment = 4 : i64} : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}

// Rows of threads are as good.
// CHECK-LABEL: llvm.func @__regrain_block.rows.b64x1x1(
// CHECK-NOT: llvm.getelementptr %{{.*}}[92]
// CHECK-NOT: llvm.intr.masked.gather
// CHECK: llvm.return
llvm.func ptx_kernelcc @rows(%p: !llvm.ptr, %q: !llvm.ptr)
llvm.func @__regrain_launch.rows(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.block_shape = array<i64: 64, 1, 1>, regrain.launch = @rows} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 64 : index
  %g = arith.index_castui %gx : i32 to index
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %two = llvm.mlir.constant(2 : i32) : i32
  %six = llvm.mlir.constant(6 : i32) : i32
  %half = llvm.mlir.constant(32 : i32) : i32
  %size = llvm.mlir.constant(64 : i32) : i32
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %in = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %second = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %place = llvm.load %second : !llvm.ptr -> !llvm.ptr
  %out = llvm.load %place {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @rows grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<64 x i32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %block = arith.index_cast %i : index to i32
        %t = arith.index_cast %x : index to i32
        %base = llvm.mul %block, %size overflow<nsw> : i32
        %n = llvm.add %base, %t overflow<nsw> : i32
        %wide = llvm.sext %n : i32 to i64
        %from = llvm.getelementptr %in[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, i32
        %to = llvm.getelementptr %out[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, i32
        %own = llvm.getelementptr %tile[0, %t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<64 x i32>
        %v = llvm.load %from {alignment = 4 : i64} : !llvm.ptr -> i32
        llvm.store %v, %own {alignment = 4 : i64} : i32, !llvm.ptr<3>
        scf.for %s = %one to %six step %one : i32 {
          regrain.barrier(%x, %y, %z)
          %far = llvm.add %t, %s : i32
          %at = llvm.and %far, %half : i32
          %other = llvm.getelementptr %tile[0, %at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<64 x i32>
          %a = llvm.load %own {alignment = 4 : i64} : !llvm.ptr<3> -> i32
          %sum = llvm.add %a, %s : i32
          llvm.store %sum, %own {alignment = 4 : i64} : i32, !llvm.ptr<3>
        }
        regrain.barrier(%x, %y, %z)
        %w = llvm.load %own {alignment = 4 : i64} : !llvm.ptr<3> -> i32
        llvm.store %w, %to {alignment = 4 : i64} : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}
