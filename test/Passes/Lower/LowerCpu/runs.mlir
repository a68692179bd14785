// RUN: %regrain-opt %s --regrain-split-barriers --regrain-lower-cpu="register-bits=128 cost-model=false runs=true" | FileCheck %s
// RUN: %regrain-opt %s --regrain-split-barriers --regrain-lower-cpu="register-bits=128 cost-model=false" | FileCheck %s --check-prefix=SINGLE

// SINGLE-NOT: __regrain_tls

// A thread asks for its place in the grid alone: as many blocks go as one as there are.
// CHECK-LABEL: llvm.func @__regrain_block.place(
// CHECK: %[[STATE:.*]] = llvm.mlir.addressof @__regrain_tls
// CHECK: %[[FIELD:.*]] = llvm.getelementptr %[[STATE]][88]
// CHECK: %[[ALL:.*]] = llvm.load %[[FIELD]] : !llvm.ptr -> i32
// CHECK: %[[AVAILABLE:.*]] = llvm.intr.umin(%[[ALL]], %{{.*}})
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

// A place in 64 bits: the numbers of the block and of the thread keep what they are in any width, as no more blocks go as one than have such threads.
// CHECK-LABEL: llvm.func @__regrain_block.wide(
// CHECK: %[[STATE:.*]] = llvm.mlir.addressof @__regrain_tls
// CHECK: %[[FIELD:.*]] = llvm.getelementptr %[[STATE]][88]
// CHECK: %[[AVAILABLE:.*]] = llvm.load %[[FIELD]] : !llvm.ptr -> i32
// CHECK: %[[COUNT:.*]] = llvm.intr.umin(%[[AVAILABLE]], %{{.*}})
// CHECK: llvm.getelementptr %{{.*}}[92]
// CHECK: llvm.store %[[COUNT]], %{{.*}} : i32, !llvm.ptr
llvm.func ptx_kernelcc @wide(%p: !llvm.ptr)
llvm.func @__regrain_launch.wide(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @wide} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %size = llvm.mlir.constant(64 : i32) : i32
  %g = arith.index_castui %gx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @wide grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %block = arith.index_cast %i : index to i32
      %wide = llvm.zext %block : i32 to i64
      %threads = llvm.zext %size : i32 to i64
      %first = llvm.mul %wide, %threads overflow<nsw> : i64
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %own = llvm.zext %t : i32 to i64
        %n = llvm.add %first, %own overflow<nsw> : i64
        %a = llvm.getelementptr %p[%n] : (!llvm.ptr, i64) -> !llvm.ptr, i64
        llvm.store %n, %a : i64, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}

// Rows of a block that update one element of each thread do not go as one with those of other blocks; where they read another one, too, they do.
// CHECK-LABEL: llvm.func @__regrain_block.update(
// CHECK-NOT: addressof @__regrain_tls
// CHECK-LABEL: llvm.func @__regrain_block.copy(
// CHECK: addressof @__regrain_tls
llvm.func ptx_kernelcc @update(%p: !llvm.ptr)
llvm.func @__regrain_launch.update(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @update} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %width = llvm.mlir.constant(2000 : i32) : i32
  %columns = llvm.mlir.constant(32 : i32) : i32
  %rows = llvm.mlir.constant(8 : i32) : i32
  %g = arith.index_castui %gx : i32 to index
  %h = arith.index_castui %gy : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @update grid(%g, %h, %c1) block(%c32, %c8, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %h, %c1) step (%c1, %c1, %c1) {
      %block_x = arith.index_cast %i : index to i32
      %block_y = arith.index_cast %j : index to i32
      %first_x = llvm.mul %block_x, %columns : i32
      %first_y = llvm.mul %block_y, %rows : i32
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c8, %c1) step (%c1, %c1, %c1) {
        %tx = arith.index_cast %x : index to i32
        %ty = arith.index_cast %y : index to i32
        %column = llvm.add %first_x, %tx : i32
        %row = llvm.add %first_y, %ty : i32
        %start = llvm.mul %row, %width : i32
        %n = llvm.add %start, %column : i32
        %shared = llvm.getelementptr %p[%column] : (!llvm.ptr, i32) -> !llvm.ptr, i32
        %pivot = llvm.load %shared : !llvm.ptr -> i32
        %a = llvm.getelementptr %p[%n] : (!llvm.ptr, i32) -> !llvm.ptr, i32
        %old = llvm.load %a : !llvm.ptr -> i32
        %new = llvm.sub %old, %pivot : i32
        llvm.store %new, %a : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}
llvm.func ptx_kernelcc @copy(%p: !llvm.ptr, %q: !llvm.ptr)
llvm.func @__regrain_launch.copy(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @copy} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %width = llvm.mlir.constant(2000 : i32) : i32
  %columns = llvm.mlir.constant(32 : i32) : i32
  %rows = llvm.mlir.constant(8 : i32) : i32
  %g = arith.index_castui %gx : i32 to index
  %h = arith.index_castui %gy : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %second = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %slot_q = llvm.load %second : !llvm.ptr -> !llvm.ptr
  %q = llvm.load %slot_q {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @copy grid(%g, %h, %c1) block(%c32, %c8, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %h, %c1) step (%c1, %c1, %c1) {
      %block_x = arith.index_cast %i : index to i32
      %block_y = arith.index_cast %j : index to i32
      %first_x = llvm.mul %block_x, %columns : i32
      %first_y = llvm.mul %block_y, %rows : i32
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c8, %c1) step (%c1, %c1, %c1) {
        %tx = arith.index_cast %x : index to i32
        %ty = arith.index_cast %y : index to i32
        %column = llvm.add %first_x, %tx : i32
        %row = llvm.add %first_y, %ty : i32
        %start = llvm.mul %row, %width : i32
        %n = llvm.add %start, %column : i32
        %a = llvm.getelementptr %p[%n] : (!llvm.ptr, i32) -> !llvm.ptr, i32
        %old = llvm.load %a : !llvm.ptr -> i32
        %b = llvm.getelementptr %q[%n] : (!llvm.ptr, i32) -> !llvm.ptr, i32
        llvm.store %old, %b : i32, !llvm.ptr
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

// Blocks that follow one another, from this one on, go as one as far as a condition holds that holds for all between two for which it
// holds. How far is searched for bit by bit: the condition is asked of the last block that would go along.
// CHECK-LABEL: llvm.func @__regrain_block.choice(
// CHECK: %[[BLOCK:.*]] = nvvm.read.ptx.sreg.ctaid.x
// CHECK: %[[SIZE:.*]] = nvvm.read.ptx.sreg.ntid.x
// CHECK: %[[THREADS:.*]] = llvm.zext %[[SIZE]] : i32 to i64
// CHECK: %[[INSIDE:.*]] = llvm.icmp "slt" %{{.*}}, %[[LIMIT:.*]] : i32
// CHECK: llvm.cond_br %[[INSIDE]], ^{{.*}}, ^[[TILES:.*]]
// CHECK: %[[ALL:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i32
// CHECK: %[[AVAILABLE:.*]] = llvm.intr.umin(%[[ALL]], %{{.*}})
// CHECK: ^{{.*}}(%{{.*}}: i32, %[[COUNT:.*]]: i32):
// CHECK: %[[WANTED:.*]] = llvm.add %[[COUNT]], %{{.*}} : i32
// CHECK: %[[THERE:.*]] = llvm.icmp "ule" %[[WANTED]], %[[AVAILABLE]] : i32
// CHECK: llvm.cond_br %[[THERE]]
// CHECK: %[[BEFORE:.*]] = llvm.sub %[[WANTED]], %{{.*}} : i32
// CHECK: llvm.add %[[BLOCK]], %[[BEFORE]] : i32
// CHECK: %[[FIRST:.*]] = llvm.mul %{{.*}}, %[[SIZE]] overflow<nsw> : i32
// CHECK: %[[HOLDS:.*]] = llvm.icmp "slt" %[[FIRST]], %[[LIMIT]] : i32
// CHECK: llvm.select %{{.*}}, %[[WANTED]], %[[COUNT]] : i1, i32
// CHECK: llvm.store %[[COUNT]], %{{.*}} : i32, !llvm.ptr
// CHECK: %[[TAKEN:.*]] = llvm.zext %[[COUNT]] : i32 to i64
// CHECK: llvm.mul %[[THREADS]], %[[TAKEN]] : i64
// CHECK: ^[[TILES]]:
// CHECK-NOT: llvm.getelementptr %{{.*}}[92]
// CHECK: llvm.return

// Without the word that it holds in between, nothing goes as one.
// CHECK-LABEL: llvm.func @__regrain_block.scattered(
// CHECK-NOT: addressof @__regrain_tls
llvm.func ptx_kernelcc @choice(%p: !llvm.ptr, %n: i32)
llvm.func @__regrain_launch.choice(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @choice} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %limit = llvm.mlir.constant(1000 : i32) : i32
  %g = arith.index_castui %gx : i32 to index
  %b = arith.index_castui %bx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @choice grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %block = arith.index_cast %i : index to i32
      %first = llvm.mul %block, %bx overflow<nsw> : i32
      %inside = llvm.icmp "slt" %first, %limit : i32
      scf.if %inside {
        scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
          %t = arith.index_cast %x : index to i32
          %m = llvm.add %first, %t : i32
          %a = llvm.getelementptr %p[%m] : (!llvm.ptr, i32) -> !llvm.ptr, i32
          llvm.store %m, %a : i32, !llvm.ptr
          scf.reduce
        }
      } else {
        scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
          %t = arith.index_cast %x : index to i32
          %m = llvm.add %first, %t : i32
          %a = llvm.getelementptr %p[%m] : (!llvm.ptr, i32) -> !llvm.ptr, i32
          llvm.store %limit, %a : i32, !llvm.ptr
          scf.reduce
        }
      } {regrain.convex}
      scf.reduce
    }
  }
  llvm.return %e : i32
}

llvm.func ptx_kernelcc @scattered(%p: !llvm.ptr, %n: i32)
llvm.func @__regrain_launch.scattered(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @scattered} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %limit = llvm.mlir.constant(1000 : i32) : i32
  %g = arith.index_castui %gx : i32 to index
  %b = arith.index_castui %bx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @scattered grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %block = arith.index_cast %i : index to i32
      %first = llvm.mul %block, %bx overflow<nsw> : i32
      %inside = llvm.icmp "slt" %first, %limit : i32
      scf.if %inside {
        scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
          %t = arith.index_cast %x : index to i32
          %m = llvm.add %first, %t : i32
          %a = llvm.getelementptr %p[%m] : (!llvm.ptr, i32) -> !llvm.ptr, i32
          llvm.store %m, %a : i32, !llvm.ptr
          scf.reduce
        }
      } else {
        scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
          %t = arith.index_cast %x : index to i32
          %m = llvm.add %first, %t : i32
          %a = llvm.getelementptr %p[%m] : (!llvm.ptr, i32) -> !llvm.ptr, i32
          llvm.store %limit, %a : i32, !llvm.ptr
          scf.reduce
        }
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}

// Threads go through rounds together: each round goes along the row, of as many blocks as have room in a cache. A structure that was passed by
// value is the same for all blocks.
// CHECK-LABEL: llvm.func @__regrain_block.rounds.b32x1x1(
// CHECK-DAG: %[[MOST:.*]] = llvm.mlir.constant(4096 : i32) : i32
// CHECK: %[[STATE:.*]] = llvm.mlir.addressof @__regrain_tls
// CHECK: %[[FIELD:.*]] = llvm.getelementptr %[[STATE]][88]
// CHECK: %[[AVAILABLE:.*]] = llvm.load %[[FIELD]] : !llvm.ptr -> i32
// CHECK: %[[COUNT:.*]] = llvm.intr.umin(%[[AVAILABLE]], %[[MOST]])
// CHECK: llvm.getelementptr %{{.*}}[92]
// CHECK: llvm.store %[[COUNT]], %{{.*}} : i32, !llvm.ptr
llvm.func ptx_kernelcc @rounds(%p: !llvm.ptr, %s: !llvm.ptr {llvm.byval = !llvm.struct<(i32, i32)>})
llvm.func @__regrain_launch.rounds.b32x1x1(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @rounds, regrain.block_shape = array<i64: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %g = arith.index_castui %gx : i32 to index
  %b = arith.constant 32 : index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %slot1 = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %s = llvm.load %slot1 {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @rounds grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %block = arith.index_cast %i : index to i32
      %n = llvm.load %s : !llvm.ptr -> i32
      %zero = llvm.mlir.constant(0 : i32) : i32
      %one = llvm.mlir.constant(1 : i32) : i32
      %c32 = llvm.mlir.constant(32 : i32) : i32
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %first = llvm.mul %block, %c32 : i32
        %at = llvm.add %first, %t : i32
        scf.for %round = %zero to %n step %one : i32 {
          %a = llvm.getelementptr %p[%at] : (!llvm.ptr, i32) -> !llvm.ptr, i32
          llvm.store %round, %a : i32, !llvm.ptr
          regrain.barrier(%x, %y, %z)
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}
