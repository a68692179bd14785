// RUN: %regrain-opt %s --regrain-split-barriers --regrain-lower-cpu="register-bits=128 cost-model=false runs=true" | FileCheck %s
// RUN: %regrain-opt %s --regrain-split-barriers --regrain-lower-cpu="register-bits=128 cost-model=false" | FileCheck %s --check-prefix=SINGLE

// SINGLE-NOT: __regrain_tls

// A thread asks for its place in the grid alone: as many blocks go as one as there are.
// CHECK-LABEL: llvm.func @__regrain_block.place(
// CHECK: %[[STATE:.*]] = llvm.mlir.addressof @__regrain_tls
// CHECK: %[[FIELD:.*]] = llvm.getelementptr %[[STATE]][88]
// CHECK: %[[AVAILABLE:.*]] = llvm.load %[[FIELD]] : !llvm.ptr -> i32
// CHECK: llvm.getelementptr %{{.*}}[92]
// CHECK: llvm.store %[[AVAILABLE]], %{{.*}} : i32, !llvm.ptr
// CHECK: llvm.mul
llvm.func ptx_kernelcc @place(%p: !llvm.ptr)
llvm.func @__regrain_launch.place(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @place} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %g = arith.index_castui %gx : i32 to index
  %b = arith.index_castui %bx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @place grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %block = arith.index_cast %i : index to i32
      %first = llvm.mul %block, %bx overflow<nsw> : i32
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %n = llvm.add %first, %t : i32
        %a = llvm.getelementptr %p[%n] : (!llvm.ptr, i32) -> !llvm.ptr, i32
        llvm.store %n, %a : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}

// The number of the thread in its block is stored; the places of two blocks overlap; a block has phases; others may look on.
// CHECK-LABEL: llvm.func @__regrain_block.thread(
// CHECK-NOT: __regrain_tls
// CHECK-LABEL: llvm.func @__regrain_block.overlap(
// CHECK-NOT: __regrain_tls
// CHECK-LABEL: llvm.func @__regrain_block.phases(
// CHECK-NOT: __regrain_tls
// CHECK-LABEL: llvm.func @__regrain_block.atomic(
// CHECK-NOT: addressof @__regrain_tls
llvm.func ptx_kernelcc @thread(%p: !llvm.ptr)
llvm.func @__regrain_launch.thread(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @thread} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %g = arith.index_castui %gx : i32 to index
  %b = arith.index_castui %bx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @thread grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %block = arith.index_cast %i : index to i32
      %first = llvm.mul %block, %bx : i32
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %n = llvm.add %first, %t : i32
        %a = llvm.getelementptr %p[%n] : (!llvm.ptr, i32) -> !llvm.ptr, i32
        llvm.store %t, %a : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}


llvm.func ptx_kernelcc @overlap(%p: !llvm.ptr)
llvm.func @__regrain_launch.overlap(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @overlap} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %g = arith.index_castui %gx : i32 to index
  %b = arith.index_castui %bx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @overlap grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %block = arith.index_cast %i : index to i32
      %c24 = llvm.mlir.constant(24 : i32) : i32
      %first = llvm.mul %block, %c24 : i32
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %n = llvm.add %first, %t : i32
        %a = llvm.getelementptr %p[%n] : (!llvm.ptr, i32) -> !llvm.ptr, i32
        llvm.store %n, %a : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}


llvm.func ptx_kernelcc @phases(%p: !llvm.ptr)
llvm.func @__regrain_launch.phases(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @phases} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %g = arith.index_castui %gx : i32 to index
  %b = arith.index_castui %bx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @phases grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %block = arith.index_cast %i : index to i32
      %first = llvm.mul %block, %bx : i32
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %n = llvm.add %first, %t : i32
        %a = llvm.getelementptr %p[%n] : (!llvm.ptr, i32) -> !llvm.ptr, i32
        llvm.store %n, %a : i32, !llvm.ptr
        regrain.barrier(%x, %y, %z)
        %v = llvm.load %a : !llvm.ptr -> i32
        %w = llvm.add %v, %n : i32
        llvm.store %w, %a : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}


llvm.func ptx_kernelcc @atomic(%p: !llvm.ptr)
llvm.func @__regrain_launch.atomic(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @atomic} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %g = arith.index_castui %gx : i32 to index
  %b = arith.index_castui %bx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @atomic grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %block = arith.index_cast %i : index to i32
      %first = llvm.mul %block, %bx : i32
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %n = llvm.add %first, %t : i32
        %old = llvm.atomicrmw add %p, %n monotonic : !llvm.ptr, i32
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}
