// RUN: %regrain-opt %s --regrain-undo-staging | FileCheck %s
// Threads hand to each other what they read, and what they store.

// Both ways, with sums of the warps in between at the same place.
// CHECK-LABEL: llvm.func @both
// CHECK: scf.parallel
// CHECK: scf.parallel
// CHECK: scf.for
// CHECK: %[[AT:.*]] = llvm.getelementptr %[[IN:.*]][%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK: %[[V:.*]] = llvm.load %[[AT]] : !llvm.ptr -> i32
// CHECK: llvm.store %[[V]], %{{.*}} : i32, !llvm.ptr{{ *$}}
// CHECK: scf.for
// CHECK: %[[W:.*]] = llvm.load
// CHECK: %[[TO:.*]] = llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK: llvm.store %[[W]], %[[TO]] : i32, !llvm.ptr{{ *$}}
// CHECK-NOT: scf.for
// CHECK: llvm.return
llvm.func @both(%p: !llvm.ptr, %gx: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 64 : index
  %g = arith.index_castui %gx : i32 to index
  %in = llvm.load %p {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %out = llvm.load %p {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<256 x i32> -> !llvm.ptr<3>
      %block = arith.index_cast %i : index to i64
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %all = llvm.mlir.constant(-1 : i32) : i32
        %zero = llvm.mlir.constant(0 : i64) : i64
        %one = llvm.mlir.constant(1 : i64) : i64
        %four = llvm.mlir.constant(4 : i64) : i64
        %warp = llvm.mlir.constant(32 : i64) : i64
        %part = llvm.mlir.constant(128 : i64) : i64
        %many = llvm.mlir.constant(256 : i64) : i64
        %first = llvm.mul %block, %many : i64
        %tx = arith.index_cast %x : index to i64
        // As numbers of a dimension of one thread come.
        %none = llvm.add %zero, %zero : i64
        %t = llvm.add %none, %tx : i64
        %own = llvm.mul %t, %four : i64
        %w = llvm.udiv %t, %warp : i64
        %l = llvm.urem %t, %warp : i64
        %begin = llvm.mul %w, %part : i64
        %lane = llvm.add %begin, %l : i64
        %items = llvm.alloca %one x !llvm.array<4 x i32> : (i64) -> !llvm.ptr
        scf.for %r = %zero to %four step %one : i64 {
          %d = llvm.mul %r, %warp : i64
          %at = llvm.add %lane, %d : i64
          %to = llvm.add %first, %at : i64
          %f = llvm.getelementptr %in[%to] : (!llvm.ptr, i64) -> !llvm.ptr, i32
          %v = llvm.load %f : !llvm.ptr -> i32
          %q = llvm.getelementptr %tile[0, %at] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<256 x i32>
          llvm.store %v, %q : i32, !llvm.ptr<3>
        }
        regrain.warp_barrier %all(%x, %y, %z)
        scf.for %r = %zero to %four step %one : i64 {
          %at = llvm.add %own, %r : i64
          %q = llvm.getelementptr %tile[0, %at] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<256 x i32>
          %v = llvm.load %q : !llvm.ptr<3> -> i32
          %m = llvm.getelementptr %items[%r] : (!llvm.ptr, i64) -> !llvm.ptr, i32
          llvm.store %v, %m : i32, !llvm.ptr
        }
        regrain.barrier(%x, %y, %z)
        %last = llvm.icmp "eq" %l, %zero : i64
        %mine = llvm.getelementptr %tile[0, %w] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<256 x i32>
        %value = llvm.load %items : !llvm.ptr -> i32
        scf.if %last {
          llvm.store %value, %mine : i32, !llvm.ptr<3>
        }
        regrain.barrier(%x, %y, %z)
        %next = llvm.getelementptr %tile[0, 1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, !llvm.array<256 x i32>
        %other = llvm.load %next : !llvm.ptr<3> -> i32
        llvm.store %other, %items : i32, !llvm.ptr
        regrain.barrier(%x, %y, %z)
        scf.for %r = %zero to %four step %one : i64 {
          %at = llvm.add %own, %r : i64
          %m = llvm.getelementptr %items[%r] : (!llvm.ptr, i64) -> !llvm.ptr, i32
          %v = llvm.load %m : !llvm.ptr -> i32
          %q = llvm.getelementptr %tile[0, %at] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<256 x i32>
          llvm.store %v, %q : i32, !llvm.ptr<3>
        }
        regrain.warp_barrier %all(%x, %y, %z)
        scf.for %r = %zero to %four step %one : i64 {
          %d = llvm.mul %r, %warp : i64
          %at = llvm.add %lane, %d : i64
          %q = llvm.getelementptr %tile[0, %at] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<256 x i32>
          %v = llvm.load %q : !llvm.ptr<3> -> i32
          %to = llvm.add %first, %at : i64
          %f = llvm.getelementptr %out[%to] : (!llvm.ptr, i64) -> !llvm.ptr, i32
          llvm.store %v, %f : i32, !llvm.ptr
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// Only the first warp writes: what the second one's first thread is to read is what was put there.
// CHECK-LABEL: llvm.func @do_not_leave_sums_unwritten
// CHECK: scf.for
// CHECK: llvm.store %{{.*}}, %{{.*}} : i32, !llvm.ptr<3>
// CHECK: llvm.return
llvm.func @do_not_leave_sums_unwritten(%p: !llvm.ptr, %gx: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 64 : index
  %g = arith.index_castui %gx : i32 to index
  %in = llvm.load %p {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %out = llvm.load %p {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<256 x i32> -> !llvm.ptr<3>
      %block = arith.index_cast %i : index to i64
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %all = llvm.mlir.constant(-1 : i32) : i32
        %zero = llvm.mlir.constant(0 : i64) : i64
        %one = llvm.mlir.constant(1 : i64) : i64
        %four = llvm.mlir.constant(4 : i64) : i64
        %warp = llvm.mlir.constant(32 : i64) : i64
        %part = llvm.mlir.constant(128 : i64) : i64
        %many = llvm.mlir.constant(256 : i64) : i64
        %first = llvm.mul %block, %many : i64
        %t = arith.index_cast %x : index to i64
        %own = llvm.mul %t, %four : i64
        %w = llvm.udiv %t, %warp : i64
        %l = llvm.urem %t, %warp : i64
        %begin = llvm.mul %w, %part : i64
        %lane = llvm.add %begin, %l : i64
        %items = llvm.alloca %one x !llvm.array<4 x i32> : (i64) -> !llvm.ptr
        scf.for %r = %zero to %four step %one : i64 {
          %d = llvm.mul %r, %warp : i64
          %at = llvm.add %lane, %d : i64
          %to = llvm.add %first, %at : i64
          %f = llvm.getelementptr %in[%to] : (!llvm.ptr, i64) -> !llvm.ptr, i32
          %v = llvm.load %f : !llvm.ptr -> i32
          %q = llvm.getelementptr %tile[0, %at] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<256 x i32>
          llvm.store %v, %q : i32, !llvm.ptr<3>
        }
        regrain.warp_barrier %all(%x, %y, %z)
        scf.for %r = %zero to %four step %one : i64 {
          %at = llvm.add %own, %r : i64
          %q = llvm.getelementptr %tile[0, %at] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<256 x i32>
          %v = llvm.load %q : !llvm.ptr<3> -> i32
          %m = llvm.getelementptr %items[%r] : (!llvm.ptr, i64) -> !llvm.ptr, i32
          llvm.store %v, %m : i32, !llvm.ptr
        }
        regrain.barrier(%x, %y, %z)
        %last = llvm.icmp "eq" %t, %zero : i64
        %mine = llvm.getelementptr %tile[0, %w] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<256 x i32>
        %value = llvm.load %items : !llvm.ptr -> i32
        scf.if %last {
          llvm.store %value, %mine : i32, !llvm.ptr<3>
        }
        regrain.barrier(%x, %y, %z)
        %next = llvm.getelementptr %tile[0, 1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, !llvm.array<256 x i32>
        %other = llvm.load %next : !llvm.ptr<3> -> i32
        llvm.store %other, %items : i32, !llvm.ptr
        regrain.barrier(%x, %y, %z)
        scf.for %r = %zero to %four step %one : i64 {
          %at = llvm.add %own, %r : i64
          %m = llvm.getelementptr %items[%r] : (!llvm.ptr, i64) -> !llvm.ptr, i32
          %v = llvm.load %m : !llvm.ptr -> i32
          %to = llvm.add %first, %at : i64
          %f = llvm.getelementptr %out[%to] : (!llvm.ptr, i64) -> !llvm.ptr, i32
          llvm.store %v, %f : i32, !llvm.ptr
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// A thread takes what one of another warp has put, but waits for its own warp alone.
// CHECK-LABEL: llvm.func @do_not_wait_for_other_warps
// CHECK: scf.for
// CHECK: llvm.store %{{.*}}, %{{.*}} : i32, !llvm.ptr<3>
// CHECK: llvm.return
llvm.func @do_not_wait_for_other_warps(%p: !llvm.ptr, %gx: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 64 : index
  %g = arith.index_castui %gx : i32 to index
  %in = llvm.load %p {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %out = llvm.load %p {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<256 x i32> -> !llvm.ptr<3>
      %block = arith.index_cast %i : index to i64
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %all = llvm.mlir.constant(-1 : i32) : i32
        %zero = llvm.mlir.constant(0 : i64) : i64
        %one = llvm.mlir.constant(1 : i64) : i64
        %four = llvm.mlir.constant(4 : i64) : i64
        %warp = llvm.mlir.constant(32 : i64) : i64
        %part = llvm.mlir.constant(128 : i64) : i64
        %many = llvm.mlir.constant(256 : i64) : i64
        %first = llvm.mul %block, %many : i64
        %t = arith.index_cast %x : index to i64
        %own = llvm.mul %t, %four : i64
        %w = llvm.udiv %t, %warp : i64
        %l = llvm.urem %t, %warp : i64
        %begin = llvm.mul %w, %part : i64
        %lane = llvm.add %begin, %l : i64
        %items = llvm.alloca %one x !llvm.array<4 x i32> : (i64) -> !llvm.ptr
        scf.for %r = %zero to %four step %one : i64 {
          %two = llvm.add %warp, %warp : i64
          %d = llvm.mul %r, %two : i64
          %at = llvm.add %t, %d : i64
          %to = llvm.add %first, %at : i64
          %f = llvm.getelementptr %in[%to] : (!llvm.ptr, i64) -> !llvm.ptr, i32
          %v = llvm.load %f : !llvm.ptr -> i32
          %q = llvm.getelementptr %tile[0, %at] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<256 x i32>
          llvm.store %v, %q : i32, !llvm.ptr<3>
        }
        regrain.warp_barrier %all(%x, %y, %z)
        scf.for %r = %zero to %four step %one : i64 {
          %at = llvm.add %own, %r : i64
          %q = llvm.getelementptr %tile[0, %at] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<256 x i32>
          %v = llvm.load %q : !llvm.ptr<3> -> i32
          %m = llvm.getelementptr %items[%r] : (!llvm.ptr, i64) -> !llvm.ptr, i32
          llvm.store %v, %m : i32, !llvm.ptr
        }
        regrain.barrier(%x, %y, %z)
        scf.for %r = %zero to %four step %one : i64 {
          %at = llvm.add %own, %r : i64
          %m = llvm.getelementptr %items[%r] : (!llvm.ptr, i64) -> !llvm.ptr, i32
          %v = llvm.load %m : !llvm.ptr -> i32
          %to = llvm.add %first, %at : i64
          %f = llvm.getelementptr %out[%to] : (!llvm.ptr, i64) -> !llvm.ptr, i32
          llvm.store %v, %f : i32, !llvm.ptr
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// Other threads may write the input before a thread would read it.
// CHECK-LABEL: llvm.func @do_not_read_what_is_written
// CHECK: scf.for
// CHECK: llvm.store %{{.*}}, %{{.*}} : i32, !llvm.ptr<3>
// CHECK: llvm.return
llvm.func @do_not_read_what_is_written(%p: !llvm.ptr, %gx: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 64 : index
  %g = arith.index_castui %gx : i32 to index
  %in = llvm.load %p {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %out = llvm.load %p {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<256 x i32> -> !llvm.ptr<3>
      %block = arith.index_cast %i : index to i64
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %all = llvm.mlir.constant(-1 : i32) : i32
        %zero = llvm.mlir.constant(0 : i64) : i64
        %one = llvm.mlir.constant(1 : i64) : i64
        %four = llvm.mlir.constant(4 : i64) : i64
        %warp = llvm.mlir.constant(32 : i64) : i64
        %part = llvm.mlir.constant(128 : i64) : i64
        %many = llvm.mlir.constant(256 : i64) : i64
        %first = llvm.mul %block, %many : i64
        %t = arith.index_cast %x : index to i64
        %own = llvm.mul %t, %four : i64
        %w = llvm.udiv %t, %warp : i64
        %l = llvm.urem %t, %warp : i64
        %begin = llvm.mul %w, %part : i64
        %lane = llvm.add %begin, %l : i64
        %items = llvm.alloca %one x !llvm.array<4 x i32> : (i64) -> !llvm.ptr
        scf.for %r = %zero to %four step %one : i64 {
          %d = llvm.mul %r, %warp : i64
          %at = llvm.add %lane, %d : i64
          %to = llvm.add %first, %at : i64
          %f = llvm.getelementptr %in[%to] : (!llvm.ptr, i64) -> !llvm.ptr, i32
          %v = llvm.load %f : !llvm.ptr -> i32
          %q = llvm.getelementptr %tile[0, %at] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<256 x i32>
          llvm.store %v, %q : i32, !llvm.ptr<3>
        }
        regrain.warp_barrier %all(%x, %y, %z)
        scf.for %r = %zero to %four step %one : i64 {
          %at = llvm.add %own, %r : i64
          %q = llvm.getelementptr %tile[0, %at] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<256 x i32>
          %v = llvm.load %q : !llvm.ptr<3> -> i32
          %m = llvm.getelementptr %items[%r] : (!llvm.ptr, i64) -> !llvm.ptr, i32
          llvm.store %v, %m : i32, !llvm.ptr
        }
        scf.for %r = %zero to %four step %one : i64 {
          %at = llvm.add %own, %r : i64
          %m = llvm.getelementptr %items[%r] : (!llvm.ptr, i64) -> !llvm.ptr, i32
          %v = llvm.load %m : !llvm.ptr -> i32
          %to = llvm.add %first, %at : i64
          %f = llvm.getelementptr %out[%to] : (!llvm.ptr, i64) -> !llvm.ptr, i32
          llvm.store %v, %f : i32, !llvm.ptr
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// A thread may read the output before another one stores there.
// CHECK-LABEL: llvm.func @do_not_store_early
// CHECK: scf.for
// CHECK: scf.for
// CHECK: llvm.store %{{.*}}, %{{.*}} : i32, !llvm.ptr<3>
// CHECK: llvm.return
llvm.func @do_not_store_early(%p: !llvm.ptr, %gx: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 64 : index
  %g = arith.index_castui %gx : i32 to index
  %in = llvm.load %p {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %out = llvm.load %p {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<256 x i32> -> !llvm.ptr<3>
      %block = arith.index_cast %i : index to i64
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %all = llvm.mlir.constant(-1 : i32) : i32
        %zero = llvm.mlir.constant(0 : i64) : i64
        %one = llvm.mlir.constant(1 : i64) : i64
        %four = llvm.mlir.constant(4 : i64) : i64
        %warp = llvm.mlir.constant(32 : i64) : i64
        %part = llvm.mlir.constant(128 : i64) : i64
        %many = llvm.mlir.constant(256 : i64) : i64
        %first = llvm.mul %block, %many : i64
        %t = arith.index_cast %x : index to i64
        %own = llvm.mul %t, %four : i64
        %w = llvm.udiv %t, %warp : i64
        %l = llvm.urem %t, %warp : i64
        %begin = llvm.mul %w, %part : i64
        %lane = llvm.add %begin, %l : i64
        %items = llvm.alloca %one x !llvm.array<4 x i32> : (i64) -> !llvm.ptr
        scf.for %r = %zero to %four step %one : i64 {
          %d = llvm.mul %r, %warp : i64
          %at = llvm.add %lane, %d : i64
          %to = llvm.add %first, %at : i64
          %f = llvm.getelementptr %in[%to] : (!llvm.ptr, i64) -> !llvm.ptr, i32
          %v = llvm.load %f : !llvm.ptr -> i32
          %m = llvm.getelementptr %items[%r] : (!llvm.ptr, i64) -> !llvm.ptr, i32
          llvm.store %v, %m : i32, !llvm.ptr
        }
        scf.for %r = %zero to %four step %one : i64 {
          %at = llvm.add %own, %r : i64
          %m = llvm.getelementptr %items[%r] : (!llvm.ptr, i64) -> !llvm.ptr, i32
          %v = llvm.load %m : !llvm.ptr -> i32
          %q = llvm.getelementptr %tile[0, %at] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<256 x i32>
          llvm.store %v, %q : i32, !llvm.ptr<3>
        }
        regrain.barrier(%x, %y, %z)
        scf.for %r = %zero to %four step %one : i64 {
          %d = llvm.mul %r, %warp : i64
          %at = llvm.add %lane, %d : i64
          %q = llvm.getelementptr %tile[0, %at] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<256 x i32>
          %v = llvm.load %q : !llvm.ptr<3> -> i32
          %to = llvm.add %first, %at : i64
          %f = llvm.getelementptr %out[%to] : (!llvm.ptr, i64) -> !llvm.ptr, i32
          llvm.store %v, %f : i32, !llvm.ptr
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// Only some threads come.
// CHECK-LABEL: llvm.func @do_not_store_for_some
// CHECK: scf.for
// CHECK: llvm.store %{{.*}}, %{{.*}} : i32, !llvm.ptr<3>
// CHECK: llvm.return
llvm.func @do_not_store_for_some(%p: !llvm.ptr, %gx: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 64 : index
  %g = arith.index_castui %gx : i32 to index
  %in = llvm.load %p {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %out = llvm.load %p {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<256 x i32> -> !llvm.ptr<3>
      %block = arith.index_cast %i : index to i64
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %all = llvm.mlir.constant(-1 : i32) : i32
        %zero = llvm.mlir.constant(0 : i64) : i64
        %one = llvm.mlir.constant(1 : i64) : i64
        %four = llvm.mlir.constant(4 : i64) : i64
        %warp = llvm.mlir.constant(32 : i64) : i64
        %part = llvm.mlir.constant(128 : i64) : i64
        %many = llvm.mlir.constant(256 : i64) : i64
        %first = llvm.mul %block, %many : i64
        %t = arith.index_cast %x : index to i64
        %own = llvm.mul %t, %four : i64
        %w = llvm.udiv %t, %warp : i64
        %l = llvm.urem %t, %warp : i64
        %begin = llvm.mul %w, %part : i64
        %lane = llvm.add %begin, %l : i64
        %items = llvm.alloca %one x !llvm.array<4 x i32> : (i64) -> !llvm.ptr
        %some = llvm.icmp "ult" %t, %warp : i64
        scf.if %some {
        scf.for %r = %zero to %four step %one : i64 {
          %at = llvm.add %own, %r : i64
          %m = llvm.getelementptr %items[%r] : (!llvm.ptr, i64) -> !llvm.ptr, i32
          %v = llvm.load %m : !llvm.ptr -> i32
          %q = llvm.getelementptr %tile[0, %at] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<256 x i32>
          llvm.store %v, %q : i32, !llvm.ptr<3>
        }
        regrain.warp_barrier %all(%x, %y, %z)
        scf.for %r = %zero to %four step %one : i64 {
          %d = llvm.mul %r, %warp : i64
          %at = llvm.add %lane, %d : i64
          %q = llvm.getelementptr %tile[0, %at] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<256 x i32>
          %v = llvm.load %q : !llvm.ptr<3> -> i32
          %to = llvm.add %first, %at : i64
          %f = llvm.getelementptr %out[%to] : (!llvm.ptr, i64) -> !llvm.ptr, i32
          llvm.store %v, %f : i32, !llvm.ptr
        }
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}
