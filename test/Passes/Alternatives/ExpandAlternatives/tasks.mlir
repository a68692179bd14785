// RUN: %regrain-opt %s --split-input-file --verify-diagnostics \
// RUN:   --regrain-expand-alternatives='space=blocks=1,2:tasks=auto,1,16+threads=2:tasks=64' | FileCheck %s

// How many blocks a task has stands on the launch; the body is that of the same grain without it. What coarse blocks leave
// over is handed out as usual.
// CHECK-LABEL: llvm.func @__regrain_launch.plain
// CHECK: regrain.alternatives ["original", "b2x1x1", "p1", "b2x1x1p1", "p16", "b2x1x1p16", "t2x1x1p64"] -> i32
// CHECK-NOT: regrain.tasks
// CHECK: regrain.grain = array<i64: 2, 1, 1>}
// CHECK-NOT: regrain.tasks
// CHECK: regrain.epilogue}
// CHECK: regrain.gpu_wrapper @k grid{{.*}} attributes {regrain.tasks = 1 : i32}
// CHECK: regrain.gpu_wrapper @k grid{{.*}} attributes {regrain.grain = array<i64: 2, 1, 1>, regrain.tasks = 1 : i32}
// CHECK: regrain.gpu_wrapper @k grid{{.*}} attributes {regrain.epilogue}
// CHECK: regrain.gpu_wrapper @k grid{{.*}} attributes {regrain.tasks = 16 : i32}
// CHECK: regrain.gpu_wrapper @k grid{{.*}} attributes {regrain.grain = array<i64: 2, 1, 1>, regrain.tasks = 16 : i32}
// CHECK: regrain.gpu_wrapper @k grid{{.*}} attributes {regrain.epilogue}
// CHECK: regrain.gpu_wrapper @k grid{{.*}} attributes {regrain.tasks = 64 : i32, regrain.thread_grain = array<i64: 2, 1, 1>}
// CHECK-NOT: regrain.gpu_wrapper
llvm.func @__regrain_launch.plain(%p: !llvm.ptr, %gx: i32) -> i32 attributes {regrain.launch = @plain} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %g = arith.index_castui %gx : i32 to index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%c32, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %b = arith.index_cast %i : index to i64
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %n = arith.addi %b, %t : i64
        %at = llvm.getelementptr %p[%n] : (!llvm.ptr, i64) -> !llvm.ptr, i64
        llvm.store %n, %at : i64, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}

// -----

// A block may count on others running beside it: it gets no larger tasks than the runtime makes.
// CHECK-LABEL: llvm.func @__regrain_launch.do_not_join_waiting_blocks
// CHECK: regrain.alternatives ["original", "p1"] -> i32
// expected-remark@below {{grain p16 is left out: its blocks may wait for one another}}
llvm.func @__regrain_launch.do_not_join_waiting_blocks(%p: !llvm.ptr, %gx: i32) -> i32 attributes {regrain.launch = @do_not_join_waiting_blocks, regrain.space = "tasks=1,16"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0 : i32
  %g = arith.index_castui %gx : i32 to index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%c32, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
        scf.while : () -> () {
          %flag = llvm.load volatile %p : !llvm.ptr -> i32
          %waits = arith.cmpi eq, %flag, %zero : i32
          scf.condition(%waits)
        } do {
          scf.yield
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}
