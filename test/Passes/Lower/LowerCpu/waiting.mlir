// RUN: %regrain-opt %s --regrain-split-barriers --regrain-lower-cpu="register-bits=0" | FileCheck %s

// A thread loop that may wait becomes a function that the runtime runs; the one after the barrier stays.
// CHECK-LABEL: llvm.func @__regrain_block.waits(
// CHECK: %[[BODY:.*]] = llvm.mlir.addressof @__regrain_block.waits.waits0
// CHECK: llvm.call @__regrain_wait_loop(%[[BODY]], %{{.*}}, %{{.*}}) : (!llvm.ptr, !llvm.ptr, i32) -> ()
// CHECK-NOT: llvm.call
// CHECK: llvm.return
// CHECK-LABEL: llvm.func @__regrain_block.waits.waits0(%arg0: !llvm.ptr)
// CHECK: llvm.call @__regrain_next_thread() : () -> i64
// CHECK: llvm.load volatile
// CHECK: llvm.call @__regrain_wait()
llvm.func @waits(%p: !llvm.ptr)
llvm.func @__regrain_launch.waits(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @waits} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %g0 = arith.index_castui %gx : i32 to index
  %g1 = arith.index_castui %gy : i32 to index
  %g2 = arith.index_castui %gz : i32 to index
  %b0 = arith.index_castui %bx : i32 to index
  %b1 = arith.index_castui %by : i32 to index
  %b2 = arith.index_castui %bz : i32 to index
  %slot = llvm.getelementptr %args[0] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %at = llvm.load %slot : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %at {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @waits grid(%g0, %g1, %g2) block(%b0, %b1, %b2) shared(%bytes : i64) stream(%stream : !llvm.ptr) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g0, %g1, %g2) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b0, %b1, %b2) step (%c1, %c1, %c1) {
        %zero = arith.constant 0 : i32
        scf.while : () -> () {
          %v = llvm.load volatile %p : !llvm.ptr -> i32
          %more = arith.cmpi eq, %v, %zero : i32
          scf.condition(%more)
        } do {
          scf.yield
        }
        regrain.barrier(%x, %y, %z)
        %i32 = arith.index_cast %x : index to i32
        %q = llvm.getelementptr %p[%i32] : (!llvm.ptr, i32) -> !llvm.ptr, i32
        llvm.store %i32, %q : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}
