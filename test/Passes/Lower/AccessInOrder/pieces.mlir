// RUN: %regrain-opt %s --regrain-access-in-order | FileCheck %s

// A barrier before the second load, which goes on where the first one ended, and before the second store; the guards hold no barrier.
// CHECK-LABEL: llvm.func @pieces
// CHECK: llvm.load
// CHECK: regrain.barrier
// CHECK-NEXT: scf.if
// CHECK-NEXT: llvm.getelementptr
// CHECK-NEXT: llvm.load
// CHECK-NOT: regrain.barrier
// CHECK: llvm.store
// CHECK-NEXT: regrain.barrier
// CHECK-NEXT: llvm.store
// CHECK-NOT: regrain.barrier
// CHECK: llvm.return
llvm.func @pieces(%p: !llvm.ptr, %q: !llvm.ptr, %gx: i32, %n: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 128 : index
  %g = arith.index_castui %gx : i32 to index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %block = arith.index_cast %i : index to i32
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %zero = llvm.mlir.constant(0 : i32) : i32
        %size = llvm.mlir.constant(128 : i32) : i32
        %both = llvm.mlir.constant(256 : i32) : i32
        %low = llvm.mul %block, %both : i32
        %first = llvm.add %low, %t overflow<nsw> : i32
        %second = llvm.add %first, %size overflow<nsw> : i32
        %a = llvm.getelementptr %p[%first] : (!llvm.ptr, i32) -> !llvm.ptr, f32
        %v = llvm.load %a : !llvm.ptr -> i32
        %in = llvm.icmp "slt" %second, %n : i32
        %w = scf.if %in -> (i32) {
          %d = llvm.getelementptr %p[%second] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          %u = llvm.load %d : !llvm.ptr -> i32
          scf.yield %u : i32
        } else {
          scf.yield %zero : i32
        }
        %sum = llvm.add %v, %w : i32
        %to = llvm.getelementptr %q[%first] : (!llvm.ptr, i32) -> !llvm.ptr, i32
        %next = llvm.getelementptr %q[%second] : (!llvm.ptr, i32) -> !llvm.ptr, i32
        llvm.store %sum, %to : i32, !llvm.ptr
        llvm.store %v, %next : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// The size of a block that is known when it is launched; what lies elsewhere stays.
// CHECK-LABEL: llvm.func @sizes
// CHECK: llvm.load
// CHECK: regrain.barrier
// CHECK-NEXT: llvm.load
// CHECK-NOT: regrain.barrier
// CHECK: llvm.return
llvm.func @sizes(%p: !llvm.ptr, %gx: i32, %bx: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %g = arith.index_castui %gx : i32 to index
  %b = arith.index_castui %bx : i32 to index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %block = arith.index_cast %i : index to i32
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %low = llvm.mul %block, %bx : i32
        %first = llvm.add %low, %t overflow<nsw> : i32
        %second = llvm.add %first, %bx overflow<nsw> : i32
        %third = llvm.add %second, %low overflow<nsw> : i32
        %a = llvm.getelementptr %p[%first] : (!llvm.ptr, i32) -> !llvm.ptr, i32
        %d = llvm.getelementptr %p[%second] : (!llvm.ptr, i32) -> !llvm.ptr, i32
        %f = llvm.getelementptr %p[%third] : (!llvm.ptr, i32) -> !llvm.ptr, i32
        %v = llvm.load %a : !llvm.ptr -> i32
        %w = llvm.load %d : !llvm.ptr -> i32
        %u = llvm.load %f : !llvm.ptr -> i32
        %s = llvm.add %v, %w : i32
        %sum = llvm.add %s, %u : i32
        llvm.store %sum, %a : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// Neighbours in one row, loads that only some threads come to, other distances, and a piece of one warp.
// CHECK-LABEL: llvm.func @not_in_order
// CHECK-NOT: regrain.barrier
// CHECK: llvm.return
llvm.func @not_in_order(%p: !llvm.ptr, %gx: i32, %n: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 128 : index
  %warp = arith.constant 32 : index
  %g = arith.index_castui %gx : i32 to index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %a = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i32
        %near = llvm.getelementptr %a[1] : (!llvm.ptr) -> !llvm.ptr, i32
        %other = llvm.getelementptr %a[100] : (!llvm.ptr) -> !llvm.ptr, i32
        %far = llvm.getelementptr %a[200] : (!llvm.ptr) -> !llvm.ptr, i32
        %v = llvm.load %a : !llvm.ptr -> i32
        %w = llvm.load %near : !llvm.ptr -> i32
        %u = llvm.load %other : !llvm.ptr -> i32
        %go = llvm.icmp "slt" %v, %n : i32
        scf.if %go {
          %s = llvm.add %v, %w : i32
          llvm.store %s, %far : i32, !llvm.ptr
          %f = llvm.load %far : !llvm.ptr -> i32
          %farther = llvm.getelementptr %far[128] : (!llvm.ptr) -> !llvm.ptr, i32
          llvm.store %f, %farther : i32, !llvm.ptr
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  %h = regrain.gpu_wrapper @l grid(%g, %c1, %c1) block(%warp, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%warp, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %a = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i32
        %next = llvm.getelementptr %a[32] : (!llvm.ptr) -> !llvm.ptr, i32
        %v = llvm.load %a : !llvm.ptr -> i32
        %w = llvm.load %next : !llvm.ptr -> i32
        %s = llvm.add %v, %w : i32
        llvm.store %s, %a : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// What a thread keeps from piece to piece is the sum, not the pieces: each sum is computed before the next piece. So much as is not less to
// keep stays: two numbers made of one.
// CHECK-LABEL: llvm.func @sums
// CHECK: %[[A:.*]] = llvm.load
// CHECK: regrain.barrier
// CHECK-NEXT: %[[B:.*]] = llvm.load
// CHECK: %[[S:.*]] = llvm.add %[[A]], %[[B]]
// CHECK-NEXT: regrain.barrier
// CHECK: %[[C:.*]] = llvm.load
// CHECK-NOT: llvm.mul
// CHECK: regrain.barrier
// CHECK: %[[D:.*]] = llvm.load
// CHECK: llvm.add %[[S]], %[[C]]
// CHECK: llvm.mul %[[C]], %[[C]]
// CHECK: llvm.return
llvm.func @sums(%p: !llvm.ptr, %q: !llvm.ptr, %gx: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 256 : index
  %g = arith.index_castui %gx : i32 to index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %at = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i32
        %a = llvm.load %at : !llvm.ptr -> i32
        %at1 = llvm.getelementptr %at[256] : (!llvm.ptr) -> !llvm.ptr, i32
        %b1 = llvm.load %at1 : !llvm.ptr -> i32
        %at2 = llvm.getelementptr %at[512] : (!llvm.ptr) -> !llvm.ptr, i32
        %c2 = llvm.load %at2 : !llvm.ptr -> i32
        %at3 = llvm.getelementptr %at[768] : (!llvm.ptr) -> !llvm.ptr, i32
        %d3 = llvm.load %at3 : !llvm.ptr -> i32
        %s = llvm.add %a, %b1 : i32
        %s2 = llvm.add %s, %c2 : i32
        %m = llvm.mul %c2, %c2 : i32
        %to = llvm.getelementptr %q[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i32
        %s3 = llvm.add %s2, %d3 : i32
        %s4 = llvm.add %s3, %m : i32
        llvm.store %s4, %to : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}
