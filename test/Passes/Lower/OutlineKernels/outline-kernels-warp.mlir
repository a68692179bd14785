// RUN: %regrain-opt %s --regrain-outline-kernels | FileCheck %s

// Every operation of the dialect has its intrinsic.

// CHECK-LABEL: llvm.func ptx_kernelcc @warp
// CHECK: nvvm.read.ptx.sreg.laneid
// CHECK: "llvm.nvvm.shfl.sync.down.f32"
// CHECK: "llvm.nvvm.shfl.sync.idx.i32p"
// CHECK: "llvm.nvvm.shfl.sync.bfly.i32p"
// CHECK: "llvm.nvvm.shfl.sync.bfly.i32p"
// CHECK: "llvm.nvvm.vote.ballot.sync"
// CHECK: "llvm.nvvm.match.any.sync.i32"
// CHECK: "llvm.nvvm.match.all.sync.i64p"
// CHECK: "llvm.nvvm.redux.sync.umax"
// CHECK: "llvm.nvvm.activemask"
// CHECK: "llvm.nvvm.bar.warp.sync"
// CHECK: "llvm.nvvm.barrier.cta.red.popc.aligned.all"
// CHECK: "llvm.nvvm.barrier.cta.red.or.aligned.all"
// CHECK: "llvm.nvvm.barrier.cta.sync.aligned.count"
// CHECK: "llvm.nvvm.barrier.cta.sync.all"
// CHECK-NOT: regrain.
llvm.func ptx_kernelcc @warp(!llvm.ptr)

llvm.func @__regrain_launch.warp(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %shmem: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @warp} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %gxi = arith.index_castui %gx : i32 to index
  %gyi = arith.index_castui %gy : i32 to index
  %gzi = arith.index_castui %gz : i32 to index
  %bxi = arith.index_castui %bx : i32 to index
  %byi = arith.index_castui %by : i32 to index
  %bzi = arith.index_castui %bz : i32 to index
  %slot0 = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot0 {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %m = llvm.mlir.constant(-1 : i32) : i32
  %c = llvm.mlir.constant(31 : i32) : i32
  %f = llvm.mlir.constant(1.0 : f32) : f32
  %d = llvm.mlir.constant(1.0 : f64) : f64
  %l = llvm.mlir.constant(7 : i64) : i64
  %t = llvm.mlir.constant(true) : i1
  %err = regrain.gpu_wrapper @warp grid(%gxi, %gyi, %gzi) block(%bxi, %byi, %bzi) shared(%shmem : i64) stream(%stream : !llvm.ptr) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%gxi, %gyi, %gzi) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%bxi, %byi, %bzi) step (%c1, %c1, %c1) {
        %lane = regrain.lane_id(%x, %y, %z)
        %s0, %i0 = regrain.shuffle down %f, %lane, %c mask %m (%x, %y, %z) : f32
        %s1, %i1 = regrain.shuffle idx %lane, %lane, %c mask %m (%x, %y, %z) : i32
        %s2, %i2 = regrain.shuffle bfly %d, %lane, %c mask %m (%x, %y, %z) : f64
        llvm.store %i1, %p : i1, !llvm.ptr
        llvm.store %s2, %p : f64, !llvm.ptr
        %b = regrain.vote ballot %t mask %m (%x, %y, %z) : i32
        %m0, %a0 = regrain.match any %lane mask %m (%x, %y, %z) : i32
        %m1, %a1 = regrain.match all %l mask %m (%x, %y, %z) : i64
        %r = regrain.warp_reduce umax %lane mask %m (%x, %y, %z)
        %active = regrain.active_mask(%x, %y, %z)
        regrain.warp_barrier %m (%x, %y, %z)
        %n = regrain.barrier_reduce popc %t (%x, %y, %z) : i32
        %o = regrain.barrier_reduce or %t (%x, %y, %z) : i1
        regrain.barrier(%x, %y, %z) id %lane count %c
        regrain.barrier(%x, %y, %z) {unaligned}
        %w = regrain.warp_id(%x, %y, %z)
        llvm.store %w, %p : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %err : i32
}
