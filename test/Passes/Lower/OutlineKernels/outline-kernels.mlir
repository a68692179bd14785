// RUN: %regrain-opt %s --regrain-outline-kernels | FileCheck %s
// RUN: %regrain-opt %s --regrain-outline-kernels='specialized=true' | FileCheck %s --check-prefix=SPECIAL

// A raised kernel is a declaration; its body stands in the launch function.

// CHECK-NOT: @__regrain_launch
// CHECK-DAG: llvm.mlir.global internal @tile() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<64 x f32>
// CHECK-DAG: llvm.mlir.global external @__regrain_dynamic_shared() {addr_space = 3 : i32, alignment = 32 : i64} : !llvm.array<0 x i8>

// CHECK-LABEL: llvm.func weak_odr ptx_kernelcc @copy
// CHECK-SAME: (%[[P:.*]]: !llvm.ptr {llvm.noalias}, %[[N:.*]]: i32)
// CHECK-DAG: %[[TID:.*]] = nvvm.read.ptx.sreg.tid.x
// CHECK-DAG: nvvm.read.ptx.sreg.ctaid.x
// CHECK-DAG: nvvm.read.ptx.sreg.ntid.x
// CHECK: llvm.mlir.addressof @tile : !llvm.ptr<3>
// CHECK: llvm.mlir.addressof @__regrain_dynamic_shared : !llvm.ptr<3>
// CHECK: llvm.icmp "slt"
// CHECK: llvm.cond_br
// CHECK: llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"
// CHECK: llvm.br ^{{.*}} {loop_annotation = #{{.*}}}
// CHECK: llvm.return
// CHECK-NOT: regrain.
// CHECK-NOT: @copy.b64x1x1

// SPECIAL: llvm.func weak_odr ptx_kernelcc @copy.b64x1x1
// SPECIAL-SAME: nvvm.reqntid = array<i32: 64, 1, 1>
llvm.func ptx_kernelcc @copy(!llvm.ptr {llvm.noalias}, i32) attributes {regrain.linkage = #llvm.linkage<weak_odr>}

llvm.func @__regrain_launch.copy(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %shmem: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @copy} {
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
  %at1 = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %slot1 = llvm.load %at1 : !llvm.ptr -> !llvm.ptr
  %n = llvm.load %slot1 {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %err = regrain.gpu_wrapper @copy grid(%gxi, %gyi, %gzi) block(%bxi, %byi, %bzi) shared(%shmem : i64) stream(%stream : !llvm.ptr) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%gxi, %gyi, %gzi) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" align 16 : !llvm.array<64 x f32> -> !llvm.ptr<3>
      %dyn = regrain.dynamic_shared %shmem align 32 : i64 -> !llvm.ptr<3>
      %block = arith.index_cast %i : index to i32
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%bxi, %byi, %bzi) step (%c1, %c1, %c1) {
        %tid = arith.index_cast %x : index to i32
        %start = arith.addi %tid, %block : i32
        %step = arith.addi %bx, %one : i32
        scf.for %v = %start to %n step %step : i32 {
          llvm.store %v, %tile : i32, !llvm.ptr<3>
          regrain.barrier(%x, %y, %z)
          llvm.store %v, %dyn : i32, !llvm.ptr<3>
          llvm.store %v, %p : i32, !llvm.ptr
        } {llvm.loop_annotation = #llvm.loop_annotation<unroll = <disable = true>>}
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %err : i32
}

llvm.func @__regrain_launch.copy.b64x1x1(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %shmem: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @copy, regrain.block_shape = array<i64: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %gxi = arith.index_castui %gx : i32 to index
  %gyi = arith.index_castui %gy : i32 to index
  %gzi = arith.index_castui %gz : i32 to index
  %err = regrain.gpu_wrapper @copy grid(%gxi, %gyi, %gzi) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%gxi, %gyi, %gzi) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        regrain.barrier(%x, %y, %z)
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %err : i32
}
