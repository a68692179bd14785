// RUN: %regrain-opt %s --split-input-file --verify-diagnostics \
// RUN:   --regrain-expand-alternatives='space=blocks=1,2,8:threads=1,3,64 shared-limit=1024' | FileCheck %s

// What a grain would need and there is not: threads in a block, shared memory, blocks in a constant grid.
// CHECK-LABEL: llvm.func @__regrain_launch.limits
// CHECK: regrain.alternatives ["original", "b2x1x1"] -> i32
// expected-remark@below {{grain b8x1x1 is left out: its 2048 bytes of static shared memory are over the limit of 1024}}
// expected-remark@below {{grain t3x1x1 is left out: the factor does not divide the number of iterations}}
// expected-remark@below {{grain b2x1x1t3x1x1 is left out: the factor does not divide the number of iterations}}
// expected-remark@below {{grain b8x1x1t3x1x1 is left out: its 2048 bytes of static shared memory are over the limit of 1024}}
// expected-remark@below {{grain t64x1x1 is left out: the block has 32 threads in dimension 0, fewer than the 64 of one coarse thread}}
// expected-remark@below {{grain b2x1x1t64x1x1 is left out: the block has 32 threads in dimension 0}}
// expected-remark@below {{grain b8x1x1t64x1x1 is left out: the block has 32 threads in dimension 0}}
llvm.func @__regrain_launch.limits(%p: !llvm.ptr, %gx: i32) -> i32 attributes {regrain.launch = @limits} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %g = arith.index_castui %gx : i32 to index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%c32, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared : !llvm.array<64 x f32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
        %v = llvm.load %p : !llvm.ptr -> f32
        %l = arith.index_cast %x : index to i64
        %at = llvm.getelementptr %tile[%l] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
        llvm.store %v, %at : f32, !llvm.ptr<3>
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}

// -----

// A constant grid of four blocks.
// CHECK-LABEL: llvm.func @__regrain_launch.few_blocks
// CHECK: regrain.alternatives ["original", "b2x1x1"] -> i32
// expected-remark@below {{grain b8x1x1 is left out: the grid has 4 blocks in dimension 0, fewer than the 8 of one coarse block}}
llvm.func @__regrain_launch.few_blocks(%p: !llvm.ptr) -> i32 attributes {regrain.launch = @few_blocks, regrain.space = "blocks=1,2,8"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %e = regrain.gpu_wrapper @k grid(%c4, %c1, %c1) block(%c32, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%c4, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
        %l = arith.index_cast %i : index to i64
        %at = llvm.getelementptr %p[%l] : (!llvm.ptr, i64) -> !llvm.ptr, i64
        llvm.store %l, %at : i64, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}
