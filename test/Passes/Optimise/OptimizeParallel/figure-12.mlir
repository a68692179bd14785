// RUN: %regrain-opt %s --regrain-keep-launches --regrain-expand-alternatives='space=blocks=1,2:threads=1' \
// RUN:   --regrain-optimize-parallel | FileCheck %s

// The paper's figure 12: each alternative is optimised on its own, before one is chosen; the original stays as it is.
llvm.func ptx_kernelcc @k(!llvm.ptr)
// CHECK-LABEL: llvm.func @__regrain_launch.k
// CHECK-COUNT-2: regrain.barrier
// CHECK-NOT: regrain.barrier
// CHECK-LABEL: llvm.func @__regrain_dispatch.k
// CHECK: regrain.alternatives ["original", "b2x1x1"]
// CHECK: regrain.gpu_wrapper @k {{.*}}regrain.original
// CHECK-COUNT-2: regrain.barrier
// CHECK: }, {
// CHECK: regrain.gpu_wrapper @k {{.*}}regrain.grain = array<i64: 2, 1, 1>
// One barrier is left, the read of a thread's own place is not.
// CHECK-COUNT-2: llvm.store %{{.*}}, %{{.*}} : f32, !llvm.ptr<3>
// CHECK: regrain.barrier
// CHECK-COUNT-2: llvm.load %{{.*}} : !llvm.ptr<3> -> f32
// CHECK-NOT: !llvm.ptr<3> -> f32
// CHECK-NOT: regrain.barrier
// CHECK: regrain.epilogue
llvm.func @__regrain_launch.k(%args: !llvm.ptr, %gx: i32) -> i32 attributes {regrain.launch = @k} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %g = arith.index_castui %gx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<64 x f32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %last = arith.constant 63 : index
        %back = arith.subi %last, %x : index
        %base = arith.muli %i, %c64 : index
        %at0 = arith.addi %base, %x : index
        %l = arith.index_cast %at0 : index to i64
        %lx = arith.index_cast %x : index to i64
        %lb = arith.index_cast %back : index to i64
        %at = llvm.getelementptr %p[%l] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %own = llvm.getelementptr %tile[0, %lx] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<64 x f32>
        %other = llvm.getelementptr %tile[0, %lb] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<64 x f32>
        %v = llvm.load %at : !llvm.ptr -> f32
        llvm.store %v, %own : f32, !llvm.ptr<3>
        regrain.barrier(%x, %y, %z)
        %w = llvm.load %own : !llvm.ptr<3> -> f32
        %u = llvm.load %other : !llvm.ptr<3> -> f32
        %s = llvm.fadd %w, %u : f32
        llvm.store %s, %at : f32, !llvm.ptr
        regrain.barrier(%x, %y, %z)
      }
    }
  }
  llvm.return %e : i32
}
