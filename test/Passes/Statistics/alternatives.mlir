// RUN: %regrain-opt %s --regrain-print-statistics -o /dev/null 2>&1 | FileCheck %s

// In the regions of alternatives, with dynamic shared memory, in a launch function: its arguments are sizes.
// CHECK-LABEL: statistics of k at grain original
// CHECK: grid: gridDim.x, gridDim.y, 1
// CHECK: block: blockDim.x, 1, 1
// CHECK: f32: arg2
// CHECK: dynamic shared memory: sharedBytes
// CHECK-LABEL: statistics of k at grain t2x1x1
// CHECK: block: (blockDim.x / 2), 1, 1
// CHECK: memory of a thread: 64
// CHECK: no statistics: the wrapper has no block loop
llvm.func @__regrain_launch.k(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %shmem: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @k} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %x = arith.index_castui %gx : i32 to index
  %y = arith.index_castui %gy : i32 to index
  %b = arith.index_castui %bx : i32 to index
  %h = arith.divui %b, %c2 : index
  %slot = llvm.getelementptr %args[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %at = llvm.load %slot : !llvm.ptr -> !llvm.ptr
  %n = llvm.load %at {regrain.kernel_arg = 2 : i64} : !llvm.ptr -> i32
  %e = regrain.alternatives ["original", "t2x1x1", "empty"] -> i32 {
    %r = regrain.gpu_wrapper @k grid(%x, %y, %c1) block(%b, %c1, %c1) shared(%shmem : i64) {
      scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%x, %y, %c1) step (%c1, %c1, %c1) {
        %s = regrain.dynamic_shared %shmem : i64 -> !llvm.ptr<3>
        scf.parallel (%tx, %ty, %tz) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
          %z0 = arith.constant 0 : i32
          %o1 = arith.constant 1 : i32
          %f = arith.constant 0.0 : f32
          %sum = scf.for %t = %z0 to %n step %o1 iter_args(%a = %f) -> (f32) : i32 {
            %v = arith.addf %a, %f : f32
            scf.yield %v : f32
          }
          llvm.store %sum, %s : f32, !llvm.ptr<3>
          scf.reduce
        }
        scf.reduce
      }
    }
    regrain.yield %r : i32
  }, {
    %r = regrain.gpu_wrapper @k grid(%x, %y, %c1) block(%h, %c1, %c1) attributes {regrain.thread_grain = array<i64: 2, 1, 1>} {
      scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%x, %y, %c1) step (%c1, %c1, %c1) {
        scf.parallel (%tx, %ty, %tz) = (%c0, %c0, %c0) to (%h, %c1, %c1) step (%c1, %c1, %c1) {
          %f = arith.constant 0.0 : f32
          %one = llvm.mlir.constant(1 : i32) : i32
          %own = llvm.alloca %one x !llvm.array<16 x f32> : (i32) -> !llvm.ptr
          llvm.store %f, %own : f32, !llvm.ptr
          scf.reduce
        }
        scf.reduce
      }
    }
    regrain.yield %r : i32
  }, {
    %r = regrain.gpu_wrapper @k grid(%x, %y, %c1) block(%h, %c1, %c1) {
    }
    regrain.yield %r : i32
  }
  llvm.return %e : i32
}
