// RUN: %regrain-opt %s --regrain-vectorize-blocks | FileCheck %s
// RUN: %regrain-opt %s --regrain-vectorize-blocks --debug-only=regrain-vectorize-blocks 2>&1 >/dev/null | FileCheck %s --check-prefix=WHY
// RUN: not %regrain-opt %s --regrain-vectorize-blocks=lanes=3 2>&1 | FileCheck %s --check-prefix=LANES
// Blocks on their own.

// CHECK-NOT: regrain.take_blocks
// LANES: option 'lanes' is no power of two from 2 on

// WHY: unknown: each block on its own: its shape is not known
// WHY: own_rounds: each block on its own: blocks may not come to a barrier together
// WHY: loaded_rounds: each block on its own: blocks may not come to a barrier together
// WHY: sizes: each block on its own: shared memory is accessed in elements of several sizes
// WHY: within: each block on its own: shared memory is addressed within its elements
// WHY: handed_on: each block on its own: {{.*}}llvm.ptrtoint {{.*}} is done with an address in shared memory
// WHY: atomic: each block on its own: {{.*}}llvm.atomicrmw {{.*}} is more than to access memory, to compute and to meet
// WHY: never: each block on its own: its threads never meet
// WHY: large: each block on its own: it has 65536 bytes of shared memory
// WHY: two_dynamic: each block on its own: dynamic shared memory is accessed in elements of several sizes

llvm.func @unknown(%p: !llvm.ptr, %gx: i32, %bx: i32, %bytes: i64, %stream: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.index_castui %bx : i32 to index
  %g = arith.index_castui %gx : i32 to index
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %most = llvm.mlir.constant(6 : i32) : i32
  %in = llvm.load %p {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @unknown grid(%g, %c1, %c1) block(%b, %c1, %c1) shared(%bytes : i64) stream(%stream : !llvm.ptr) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<128 x i32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %block = arith.index_cast %i : index to i32
        %t = arith.index_cast %x : index to i32
        %own = llvm.getelementptr %tile[0, %t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<128 x i32>
        llvm.store %block, %own {alignment = 8 : i64} : i32, !llvm.ptr<3>
        scf.for %s = %zero to %most step %one : i32 {
          regrain.barrier(%x, %y, %z)
          %other = llvm.getelementptr %own[%s] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
          %next = llvm.getelementptr %other[4] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
          %v = llvm.load %next : !llvm.ptr<3> -> i32
          regrain.barrier(%x, %y, %z)
          llvm.store %v, %own : i32, !llvm.ptr<3>
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}
llvm.func @own_rounds(%p: !llvm.ptr, %gx: i32, %bx: i32, %bytes: i64, %stream: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 64 : index
  %g = arith.index_castui %gx : i32 to index
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %most = llvm.mlir.constant(6 : i32) : i32
  %in = llvm.load %p {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @own_rounds grid(%g, %c1, %c1) block(%b, %c1, %c1) shared(%bytes : i64) stream(%stream : !llvm.ptr) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<128 x i32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %block = arith.index_cast %i : index to i32
        %t = arith.index_cast %x : index to i32
        %own = llvm.getelementptr %tile[0, %t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<128 x i32>
        llvm.store %block, %own {alignment = 8 : i64} : i32, !llvm.ptr<3>
        scf.for %s = %zero to %block step %one : i32 {
          regrain.barrier(%x, %y, %z)
          %other = llvm.getelementptr %own[%s] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
          %next = llvm.getelementptr %other[4] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
          %v = llvm.load %next : !llvm.ptr<3> -> i32
          regrain.barrier(%x, %y, %z)
          llvm.store %v, %own : i32, !llvm.ptr<3>
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}
llvm.func @loaded_rounds(%p: !llvm.ptr, %gx: i32, %bx: i32, %bytes: i64, %stream: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 64 : index
  %g = arith.index_castui %gx : i32 to index
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %most = llvm.mlir.constant(6 : i32) : i32
  %in = llvm.load %p {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @loaded_rounds grid(%g, %c1, %c1) block(%b, %c1, %c1) shared(%bytes : i64) stream(%stream : !llvm.ptr) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<128 x i32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %block = arith.index_cast %i : index to i32
        %t = arith.index_cast %x : index to i32
        %n = llvm.load %in : !llvm.ptr -> i32
        %own = llvm.getelementptr %tile[0, %t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<128 x i32>
        llvm.store %block, %own {alignment = 8 : i64} : i32, !llvm.ptr<3>
        scf.for %s = %zero to %n step %one : i32 {
          regrain.barrier(%x, %y, %z)
          %other = llvm.getelementptr %own[%s] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
          %next = llvm.getelementptr %other[4] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
          %v = llvm.load %next : !llvm.ptr<3> -> i32
          regrain.barrier(%x, %y, %z)
          llvm.store %v, %own : i32, !llvm.ptr<3>
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}
llvm.func @sizes(%p: !llvm.ptr, %gx: i32, %bx: i32, %bytes: i64, %stream: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 64 : index
  %g = arith.index_castui %gx : i32 to index
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %most = llvm.mlir.constant(6 : i32) : i32
  %in = llvm.load %p {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @sizes grid(%g, %c1, %c1) block(%b, %c1, %c1) shared(%bytes : i64) stream(%stream : !llvm.ptr) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<128 x i32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %block = arith.index_cast %i : index to i32
        %t = arith.index_cast %x : index to i32
        %own = llvm.getelementptr %tile[0, %t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<128 x i32>
        llvm.store %block, %own {alignment = 8 : i64} : i32, !llvm.ptr<3>
        scf.for %s = %zero to %most step %one : i32 {
          regrain.barrier(%x, %y, %z)
          %other = llvm.getelementptr %own[%s] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
          %next = llvm.getelementptr %other[4] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
          %v = llvm.load %next : !llvm.ptr<3> -> i32
          regrain.barrier(%x, %y, %z)
          llvm.store %v, %own : i32, !llvm.ptr<3>
        }
        %wide = llvm.zext %t : i32 to i64
        llvm.store %wide, %own : i64, !llvm.ptr<3>
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}
llvm.func @within(%p: !llvm.ptr, %gx: i32, %bx: i32, %bytes: i64, %stream: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 64 : index
  %g = arith.index_castui %gx : i32 to index
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %most = llvm.mlir.constant(6 : i32) : i32
  %in = llvm.load %p {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @within grid(%g, %c1, %c1) block(%b, %c1, %c1) shared(%bytes : i64) stream(%stream : !llvm.ptr) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<128 x i32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %block = arith.index_cast %i : index to i32
        %t = arith.index_cast %x : index to i32
        %own = llvm.getelementptr %tile[0, %t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<128 x i32>
        llvm.store %block, %own {alignment = 8 : i64} : i32, !llvm.ptr<3>
        scf.for %s = %zero to %most step %one : i32 {
          regrain.barrier(%x, %y, %z)
          %other = llvm.getelementptr %own[%s] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
          %next = llvm.getelementptr %other[4] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
          %v = llvm.load %next : !llvm.ptr<3> -> i32
          regrain.barrier(%x, %y, %z)
          llvm.store %v, %own : i32, !llvm.ptr<3>
        }
        %odd = llvm.getelementptr %tile[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
        llvm.store %t, %odd : i32, !llvm.ptr<3>
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}
llvm.func @handed_on(%p: !llvm.ptr, %gx: i32, %bx: i32, %bytes: i64, %stream: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 64 : index
  %g = arith.index_castui %gx : i32 to index
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %most = llvm.mlir.constant(6 : i32) : i32
  %in = llvm.load %p {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @handed_on grid(%g, %c1, %c1) block(%b, %c1, %c1) shared(%bytes : i64) stream(%stream : !llvm.ptr) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<128 x i32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %block = arith.index_cast %i : index to i32
        %t = arith.index_cast %x : index to i32
        %own = llvm.getelementptr %tile[0, %t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<128 x i32>
        llvm.store %block, %own {alignment = 8 : i64} : i32, !llvm.ptr<3>
        scf.for %s = %zero to %most step %one : i32 {
          regrain.barrier(%x, %y, %z)
          %other = llvm.getelementptr %own[%s] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
          %next = llvm.getelementptr %other[4] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
          %v = llvm.load %next : !llvm.ptr<3> -> i32
          regrain.barrier(%x, %y, %z)
          llvm.store %v, %own : i32, !llvm.ptr<3>
        }
        %n = llvm.ptrtoint %own : !llvm.ptr<3> to i64
        llvm.store %n, %in : i64, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}
llvm.func @atomic(%p: !llvm.ptr, %gx: i32, %bx: i32, %bytes: i64, %stream: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 64 : index
  %g = arith.index_castui %gx : i32 to index
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %most = llvm.mlir.constant(6 : i32) : i32
  %in = llvm.load %p {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @atomic grid(%g, %c1, %c1) block(%b, %c1, %c1) shared(%bytes : i64) stream(%stream : !llvm.ptr) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<128 x i32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %block = arith.index_cast %i : index to i32
        %t = arith.index_cast %x : index to i32
        %own = llvm.getelementptr %tile[0, %t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<128 x i32>
        llvm.store %block, %own {alignment = 8 : i64} : i32, !llvm.ptr<3>
        scf.for %s = %zero to %most step %one : i32 {
          regrain.barrier(%x, %y, %z)
          %other = llvm.getelementptr %own[%s] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
          %next = llvm.getelementptr %other[4] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
          %v = llvm.load %next : !llvm.ptr<3> -> i32
          regrain.barrier(%x, %y, %z)
          llvm.store %v, %own : i32, !llvm.ptr<3>
        }
        %a = llvm.atomicrmw add %own, %one monotonic : !llvm.ptr<3>, i32
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}
llvm.func @never(%p: !llvm.ptr, %gx: i32, %bx: i32, %bytes: i64, %stream: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 64 : index
  %g = arith.index_castui %gx : i32 to index
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %most = llvm.mlir.constant(6 : i32) : i32
  %in = llvm.load %p {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @never grid(%g, %c1, %c1) block(%b, %c1, %c1) shared(%bytes : i64) stream(%stream : !llvm.ptr) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<128 x i32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %block = arith.index_cast %i : index to i32
        %t = arith.index_cast %x : index to i32
        %own = llvm.getelementptr %tile[0, %t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<128 x i32>
        llvm.store %block, %own {alignment = 8 : i64} : i32, !llvm.ptr<3>
        scf.for %s = %zero to %most step %one : i32 {
          %other = llvm.getelementptr %own[%s] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
          %next = llvm.getelementptr %other[4] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
          %v = llvm.load %next : !llvm.ptr<3> -> i32
          llvm.store %v, %own : i32, !llvm.ptr<3>
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}
llvm.func @large(%p: !llvm.ptr, %gx: i32, %bx: i32, %bytes: i64, %stream: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 64 : index
  %g = arith.index_castui %gx : i32 to index
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %most = llvm.mlir.constant(6 : i32) : i32
  %in = llvm.load %p {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @large grid(%g, %c1, %c1) block(%b, %c1, %c1) shared(%bytes : i64) stream(%stream : !llvm.ptr) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<16384 x i32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %block = arith.index_cast %i : index to i32
        %t = arith.index_cast %x : index to i32
        %own = llvm.getelementptr %tile[0, %t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<128 x i32>
        llvm.store %block, %own {alignment = 8 : i64} : i32, !llvm.ptr<3>
        scf.for %s = %zero to %most step %one : i32 {
          regrain.barrier(%x, %y, %z)
          %other = llvm.getelementptr %own[%s] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
          %next = llvm.getelementptr %other[4] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
          %v = llvm.load %next : !llvm.ptr<3> -> i32
          regrain.barrier(%x, %y, %z)
          llvm.store %v, %own : i32, !llvm.ptr<3>
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}
llvm.func @two_dynamic(%p: !llvm.ptr, %gx: i32, %bx: i32, %bytes: i64, %stream: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 64 : index
  %g = arith.index_castui %gx : i32 to index
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %most = llvm.mlir.constant(6 : i32) : i32
  %in = llvm.load %p {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @two_dynamic grid(%g, %c1, %c1) block(%b, %c1, %c1) shared(%bytes : i64) stream(%stream : !llvm.ptr) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.dynamic_shared %bytes : i64 -> !llvm.ptr<3>
      %bytewise = regrain.dynamic_shared %bytes : i64 -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %block = arith.index_cast %i : index to i32
        %t = arith.index_cast %x : index to i32
        %own = llvm.getelementptr %tile[0, %t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<128 x i32>
        llvm.store %block, %own {alignment = 8 : i64} : i32, !llvm.ptr<3>
        scf.for %s = %zero to %most step %one : i32 {
          regrain.barrier(%x, %y, %z)
          %other = llvm.getelementptr %own[%s] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
          %next = llvm.getelementptr %other[4] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
          %v = llvm.load %next : !llvm.ptr<3> -> i32
          regrain.barrier(%x, %y, %z)
          llvm.store %v, %own : i32, !llvm.ptr<3>
        }
        %small = llvm.getelementptr %bytewise[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
        %c = llvm.trunc %t : i32 to i8
        llvm.store %c, %small : i8, !llvm.ptr<3>
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}
