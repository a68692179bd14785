// RUN: %regrain-opt %s --regrain-vectorize-blocks | FileCheck %s
// Loops that go outside of the threads where blocks are lanes, by a barrier in each round.

// CHECK-LABEL: llvm.func @rows(
// CHECK: scf.parallel (%[[LANE:.*]], %[[X:.*]], %[[Y:.*]]) = (%{{.*}}, %{{.*}}, %{{.*}}) to (%c8, %c16, %c1
// CHECK: scf.for
// CHECK-NEXT: regrain.barrier(%[[LANE]], %[[X]], %[[Y]])
// CHECK: } else {
// CHECK: scf.for
// CHECK-NOT: regrain.barrier
// CHECK: llvm.load
llvm.func @rows(%p: !llvm.ptr, %gx: i32, %bytes: i64, %stream: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 16 : index
  %g = arith.index_castui %gx : i32 to index
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %rows = llvm.mlir.constant(6 : i32) : i32
  %width = llvm.mlir.constant(512 : i32) : i32
  %side = llvm.mlir.constant(16 : i32) : i32
  %in = llvm.load %p {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @rows grid(%g, %c1, %c1) block(%b, %c1, %c1) shared(%bytes : i64) stream(%stream : !llvm.ptr) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<256 x i32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %block = arith.index_cast %i : index to i32
        %t = arith.index_cast %x : index to i32
        %first = llvm.mul %block, %side overflow<nsw> : i32
        %column = llvm.add %first, %t overflow<nsw> : i32
        %own = llvm.getelementptr %tile[0, %t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<256 x i32>
        scf.for %s = %zero to %rows step %one : i32 {
          %before = llvm.mul %s, %width overflow<nsw> : i32
          %n = llvm.add %before, %column overflow<nsw> : i32
          %wide = llvm.sext %n : i32 to i64
          %from = llvm.getelementptr %in[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, i32
          %v = llvm.load %from : !llvm.ptr -> i32
          %at = llvm.getelementptr %own[%s] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
          llvm.store %v, %at : i32, !llvm.ptr<3>
        }
        regrain.barrier(%x, %y, %z)
        llvm.store %block, %own : i32, !llvm.ptr<3>
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// Threads lie a row apart.
// CHECK-LABEL: llvm.func @do_not_columns(
// CHECK: regrain.take_blocks 8
// CHECK: scf.for
// CHECK-NOT: regrain.barrier
// CHECK: }
// CHECK: llvm.return
llvm.func @do_not_columns(%p: !llvm.ptr, %gx: i32, %bytes: i64, %stream: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 16 : index
  %g = arith.index_castui %gx : i32 to index
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %rows = llvm.mlir.constant(6 : i32) : i32
  %width = llvm.mlir.constant(512 : i32) : i32
  %side = llvm.mlir.constant(16 : i32) : i32
  %in = llvm.load %p {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @do_not_columns grid(%g, %c1, %c1) block(%b, %c1, %c1) shared(%bytes : i64) stream(%stream : !llvm.ptr) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<256 x i32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %block = arith.index_cast %i : index to i32
        %t = arith.index_cast %x : index to i32
        %first = llvm.mul %block, %side overflow<nsw> : i32
        %column = llvm.add %first, %t overflow<nsw> : i32
        %own = llvm.getelementptr %tile[0, %t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<256 x i32>
        scf.for %s = %zero to %rows step %one : i32 {
          %before = llvm.mul %column, %width overflow<nsw> : i32
          %n = llvm.add %before, %s overflow<nsw> : i32
          %wide = llvm.sext %n : i32 to i64
          %from = llvm.getelementptr %in[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, i32
          %v = llvm.load %from : !llvm.ptr -> i32
          %at = llvm.getelementptr %own[%s] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
          llvm.store %v, %at : i32, !llvm.ptr<3>
        }
        regrain.barrier(%x, %y, %z)
        llvm.store %block, %own : i32, !llvm.ptr<3>
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// A sum is carried.
// CHECK-LABEL: llvm.func @do_not_carried(
// CHECK: regrain.take_blocks 8
// CHECK: scf.for
// CHECK-NOT: regrain.barrier
// CHECK: }
// CHECK: llvm.return
llvm.func @do_not_carried(%p: !llvm.ptr, %gx: i32, %bytes: i64, %stream: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 16 : index
  %g = arith.index_castui %gx : i32 to index
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %rows = llvm.mlir.constant(6 : i32) : i32
  %width = llvm.mlir.constant(512 : i32) : i32
  %side = llvm.mlir.constant(16 : i32) : i32
  %in = llvm.load %p {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @do_not_carried grid(%g, %c1, %c1) block(%b, %c1, %c1) shared(%bytes : i64) stream(%stream : !llvm.ptr) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<256 x i32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %block = arith.index_cast %i : index to i32
        %t = arith.index_cast %x : index to i32
        %first = llvm.mul %block, %side overflow<nsw> : i32
        %column = llvm.add %first, %t overflow<nsw> : i32
        %own = llvm.getelementptr %tile[0, %t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<256 x i32>
        %sum = scf.for %s = %zero to %rows step %one iter_args(%so = %zero) -> (i32) : i32 {
          %before = llvm.mul %s, %width overflow<nsw> : i32
          %n = llvm.add %before, %column overflow<nsw> : i32
          %wide = llvm.sext %n : i32 to i64
          %from = llvm.getelementptr %in[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, i32
          %v = llvm.load %from : !llvm.ptr -> i32
          %at = llvm.getelementptr %own[%s] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
          %more = llvm.add %so, %v : i32
          scf.yield %more : i32
        }
        llvm.store %sum, %own : i32, !llvm.ptr<3>
        regrain.barrier(%x, %y, %z)
        llvm.store %block, %own : i32, !llvm.ptr<3>
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// Each thread has an array of its own.
// CHECK-LABEL: llvm.func @do_not_private(
// CHECK: regrain.take_blocks 8
// CHECK: scf.for
// CHECK-NOT: regrain.barrier
// CHECK: }
// CHECK: llvm.return
llvm.func @do_not_private(%p: !llvm.ptr, %gx: i32, %bytes: i64, %stream: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 16 : index
  %g = arith.index_castui %gx : i32 to index
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %rows = llvm.mlir.constant(6 : i32) : i32
  %width = llvm.mlir.constant(512 : i32) : i32
  %side = llvm.mlir.constant(16 : i32) : i32
  %in = llvm.load %p {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @do_not_private grid(%g, %c1, %c1) block(%b, %c1, %c1) shared(%bytes : i64) stream(%stream : !llvm.ptr) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<256 x i32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %block = arith.index_cast %i : index to i32
        %t = arith.index_cast %x : index to i32
        %first = llvm.mul %block, %side overflow<nsw> : i32
        %column = llvm.add %first, %t overflow<nsw> : i32
        %own = llvm.getelementptr %tile[0, %t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<256 x i32>
        %kept = llvm.alloca %one x !llvm.array<6 x i32> : (i32) -> !llvm.ptr
        scf.for %s = %zero to %rows step %one : i32 {
          %before = llvm.mul %s, %width overflow<nsw> : i32
          %n = llvm.add %before, %column overflow<nsw> : i32
          %wide = llvm.sext %n : i32 to i64
          %from = llvm.getelementptr %in[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, i32
          %v = llvm.load %from : !llvm.ptr -> i32
          %at = llvm.getelementptr %kept[%s] : (!llvm.ptr, i32) -> !llvm.ptr, i32
          llvm.store %v, %at : i32, !llvm.ptr
        }
        regrain.barrier(%x, %y, %z)
        llvm.store %block, %own : i32, !llvm.ptr<3>
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// Each thread has rounds of its own.
// CHECK-LABEL: llvm.func @do_not_own_rounds(
// CHECK: regrain.take_blocks 8
// CHECK: scf.for
// CHECK-NOT: regrain.barrier
// CHECK: }
// CHECK: llvm.return
llvm.func @do_not_own_rounds(%p: !llvm.ptr, %gx: i32, %bytes: i64, %stream: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 16 : index
  %g = arith.index_castui %gx : i32 to index
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %rows = llvm.mlir.constant(6 : i32) : i32
  %width = llvm.mlir.constant(512 : i32) : i32
  %side = llvm.mlir.constant(16 : i32) : i32
  %in = llvm.load %p {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @do_not_own_rounds grid(%g, %c1, %c1) block(%b, %c1, %c1) shared(%bytes : i64) stream(%stream : !llvm.ptr) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<256 x i32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %block = arith.index_cast %i : index to i32
        %t = arith.index_cast %x : index to i32
        %first = llvm.mul %block, %side overflow<nsw> : i32
        %column = llvm.add %first, %t overflow<nsw> : i32
        %own = llvm.getelementptr %tile[0, %t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<256 x i32>
        scf.for %s = %zero to %t step %one : i32 {
          %before = llvm.mul %s, %width overflow<nsw> : i32
          %n = llvm.add %before, %column overflow<nsw> : i32
          %wide = llvm.sext %n : i32 to i64
          %from = llvm.getelementptr %in[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, i32
          %v = llvm.load %from : !llvm.ptr -> i32
          %at = llvm.getelementptr %own[%s] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
          llvm.store %v, %at : i32, !llvm.ptr<3>
        }
        regrain.barrier(%x, %y, %z)
        llvm.store %block, %own : i32, !llvm.ptr<3>
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// Not all threads come to it.
// CHECK-LABEL: llvm.func @do_not_guarded(
// CHECK: regrain.take_blocks 8
// CHECK: scf.for
// CHECK-NOT: regrain.barrier
// CHECK: }
// CHECK: llvm.return
llvm.func @do_not_guarded(%p: !llvm.ptr, %gx: i32, %bytes: i64, %stream: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 16 : index
  %g = arith.index_castui %gx : i32 to index
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %rows = llvm.mlir.constant(6 : i32) : i32
  %width = llvm.mlir.constant(512 : i32) : i32
  %side = llvm.mlir.constant(16 : i32) : i32
  %in = llvm.load %p {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @do_not_guarded grid(%g, %c1, %c1) block(%b, %c1, %c1) shared(%bytes : i64) stream(%stream : !llvm.ptr) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<256 x i32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %block = arith.index_cast %i : index to i32
        %t = arith.index_cast %x : index to i32
        %first = llvm.mul %block, %side overflow<nsw> : i32
        %column = llvm.add %first, %t overflow<nsw> : i32
        %own = llvm.getelementptr %tile[0, %t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<256 x i32>
        %some = llvm.icmp "slt" %t, %rows : i32
        scf.if %some {
        scf.for %s = %zero to %rows step %one : i32 {
          %before = llvm.mul %s, %width overflow<nsw> : i32
          %n = llvm.add %before, %column overflow<nsw> : i32
          %wide = llvm.sext %n : i32 to i64
          %from = llvm.getelementptr %in[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, i32
          %v = llvm.load %from : !llvm.ptr -> i32
          %at = llvm.getelementptr %own[%s] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
          llvm.store %v, %at : i32, !llvm.ptr<3>
        }
        }
        regrain.barrier(%x, %y, %z)
        llvm.store %block, %own : i32, !llvm.ptr<3>
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// It holds a loop.
// CHECK-LABEL: llvm.func @do_not_nested(
// CHECK: regrain.take_blocks 8
// CHECK: scf.for
// CHECK-NOT: regrain.barrier
// CHECK: }
// CHECK: llvm.return
llvm.func @do_not_nested(%p: !llvm.ptr, %gx: i32, %bytes: i64, %stream: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 16 : index
  %g = arith.index_castui %gx : i32 to index
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %rows = llvm.mlir.constant(6 : i32) : i32
  %width = llvm.mlir.constant(512 : i32) : i32
  %side = llvm.mlir.constant(16 : i32) : i32
  %in = llvm.load %p {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @do_not_nested grid(%g, %c1, %c1) block(%b, %c1, %c1) shared(%bytes : i64) stream(%stream : !llvm.ptr) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<256 x i32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %block = arith.index_cast %i : index to i32
        %t = arith.index_cast %x : index to i32
        %first = llvm.mul %block, %side overflow<nsw> : i32
        %column = llvm.add %first, %t overflow<nsw> : i32
        %own = llvm.getelementptr %tile[0, %t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<256 x i32>
        scf.for %s = %zero to %rows step %one : i32 {
          scf.for %u = %zero to %rows step %one : i32 {
            llvm.store %u, %own : i32, !llvm.ptr<3>
          }
          %before = llvm.mul %s, %width overflow<nsw> : i32
          %n = llvm.add %before, %column overflow<nsw> : i32
          %wide = llvm.sext %n : i32 to i64
          %from = llvm.getelementptr %in[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, i32
          %v = llvm.load %from : !llvm.ptr -> i32
          %at = llvm.getelementptr %own[%s] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
          llvm.store %v, %at : i32, !llvm.ptr<3>
        }
        regrain.barrier(%x, %y, %z)
        llvm.store %block, %own : i32, !llvm.ptr<3>
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// Threads are no multiple of the lanes.
// CHECK-LABEL: llvm.func @do_not_odd(
// CHECK: regrain.take_blocks 8
// CHECK: scf.for
// CHECK-NOT: regrain.barrier
// CHECK: }
// CHECK: llvm.return
llvm.func @do_not_odd(%p: !llvm.ptr, %gx: i32, %bytes: i64, %stream: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 12 : index
  %g = arith.index_castui %gx : i32 to index
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %rows = llvm.mlir.constant(6 : i32) : i32
  %width = llvm.mlir.constant(512 : i32) : i32
  %side = llvm.mlir.constant(12 : i32) : i32
  %in = llvm.load %p {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @do_not_odd grid(%g, %c1, %c1) block(%b, %c1, %c1) shared(%bytes : i64) stream(%stream : !llvm.ptr) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<256 x i32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %block = arith.index_cast %i : index to i32
        %t = arith.index_cast %x : index to i32
        %first = llvm.mul %block, %side overflow<nsw> : i32
        %column = llvm.add %first, %t overflow<nsw> : i32
        %own = llvm.getelementptr %tile[0, %t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<256 x i32>
        scf.for %s = %zero to %rows step %one : i32 {
          %before = llvm.mul %s, %width overflow<nsw> : i32
          %n = llvm.add %before, %column overflow<nsw> : i32
          %wide = llvm.sext %n : i32 to i64
          %from = llvm.getelementptr %in[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, i32
          %v = llvm.load %from : !llvm.ptr -> i32
          %at = llvm.getelementptr %own[%s] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
          llvm.store %v, %at : i32, !llvm.ptr<3>
        }
        regrain.barrier(%x, %y, %z)
        llvm.store %block, %own : i32, !llvm.ptr<3>
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}
