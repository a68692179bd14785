// RUN: %regrain-opt %s --regrain-split-barriers --regrain-lower-cpu="register-bits=0" | FileCheck %s

// CHECK-LABEL: llvm.func @__regrain_block.k(%arg0: !llvm.ptr)
// CHECK-DAG: nvvm.read.ptx.sreg.ntid.x
// CHECK-DAG: nvvm.read.ptx.sreg.ctaid.x
// CHECK-DAG: llvm.alloca %{{.*}} x !llvm.array<256 x f32> {alignment = 64 : i64}
// CHECK: llvm.load %{{.*}} {access_groups = [#{{.*}}]} : !llvm.ptr -> f32
// CHECK: llvm.store %{{.*}} {access_groups = [#{{.*}}]} : f32, !llvm.ptr
// CHECK: llvm.br {{.*}} {loop_annotation = #{{.*}}}
// CHECK-NOT: scf.
// CHECK-NOT: llvm.ptr<3>
// CHECK-NOT: __regrain_launch
// CHECK: llvm.mlir.global external thread_local @__regrain_dynamic_shared()
llvm.func ptx_kernelcc @k(%p: !llvm.ptr)
llvm.func @__regrain_launch.k(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @k} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %g = arith.index_castui %gx : i32 to index
  %b = arith.index_castui %bx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared : !llvm.array<256 x f32> -> !llvm.ptr<3>
      %dyn = regrain.dynamic_shared %bytes : i64 -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %n = arith.index_cast %i : index to i64
        %sum = llvm.add %t, %n : i64
        %a = llvm.getelementptr %p[%sum] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %v = llvm.load %a : !llvm.ptr -> f32
        %s = llvm.getelementptr %tile[%t] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
        llvm.store %v, %s : f32, !llvm.ptr<3>
        regrain.barrier(%x, %y, %z)
        %w = llvm.load %s : !llvm.ptr<3> -> f32
        llvm.store %w, %dyn : f32, !llvm.ptr<3>
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}

// Nothing says that iterations are independent where threads may communicate through an atomic access.
// CHECK-LABEL: llvm.func @__regrain_block.atomics
// CHECK-NOT: access_groups
llvm.func ptx_kernelcc @atomics(%p: !llvm.ptr)
llvm.func @__regrain_launch.atomics(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @atomics} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %g = arith.index_castui %gx : i32 to index
  %b = arith.index_castui %bx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @atomics grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %one = arith.constant 1 : i32
        %old = llvm.atomicrmw add %p, %one monotonic : !llvm.ptr, i32
        %v = llvm.load %p : !llvm.ptr -> i32
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}

// Blocks that take turns have each its own dynamic shared memory, which the runtime names.
// CHECK-LABEL: llvm.func @__regrain_block.meeting
// CHECK: %[[STATE:.*]] = llvm.mlir.addressof @__regrain_tls
// CHECK: %[[FIELD:.*]] = llvm.getelementptr %[[STATE]][64]
// CHECK: llvm.load %[[FIELD]] : !llvm.ptr -> !llvm.ptr
// CHECK-NOT: @__regrain_dynamic_shared
// CHECK: llvm.call @__regrain_grid_barrier()
llvm.func ptx_kernelcc @meeting(%p: !llvm.ptr)
llvm.func @__regrain_launch.meeting(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @meeting} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %g = arith.index_castui %gx : i32 to index
  %b = arith.index_castui %bx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @meeting grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %dyn = regrain.dynamic_shared %bytes : i64 -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %own = llvm.getelementptr %dyn[%t] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, i64
        llvm.store %t, %own : i64, !llvm.ptr<3>
        regrain.barrier(%x, %y, %z) {grid}
        %v = llvm.load %own : !llvm.ptr<3> -> i64
        %a = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i64
        llvm.store %v, %a : i64, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}
