// RUN: %regrain-opt %s --split-input-file --regrain-lower-cpu="register-bits=0" | FileCheck %s

// The branch keeps out the first thread: the loop without the clamp is taken where the step is not negative.
// CHECK-LABEL: llvm.func @__regrain_block.guarded
// CHECK: llvm.freeze
// CHECK: llvm.cond_br
// CHECK: %[[SIMPLE:.*]] = llvm.add %{{.*}} : i64
// CHECK-NEXT: llvm.getelementptr %{{.*}}[%[[SIMPLE]]]
// CHECK: %[[WEST:.*]] = llvm.intr.smax
// CHECK: %[[CLAMPED:.*]] = llvm.sext %[[WEST]]
// CHECK: llvm.getelementptr %{{.*}}[%[[CLAMPED]]]
// CHECK: llvm.return
llvm.func ptx_kernelcc @guarded(%p: !llvm.ptr, %step: i32)
llvm.func @__regrain_launch.guarded(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @guarded} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : i32
  %g = arith.index_castui %gx : i32 to index
  %b = arith.index_castui %bx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %step = llvm.load %slot {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> i32
  %e = regrain.gpu_wrapper @guarded grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %less = llvm.sub %t, %one overflow<nsw> : i32
        %west = arith.maxsi %less, %zero : i32
        %behind = llvm.sub %t, %step overflow<nsw> : i32
        %in = llvm.icmp "sgt" %behind, %zero : i32
        scf.if %in {
          %wide = llvm.sext %west : i32 to i64
          %a = llvm.getelementptr %p[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, f32
          %v = llvm.load %a : !llvm.ptr -> f32
          llvm.store %v, %p : f32, !llvm.ptr
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}

// -----

// The bound is another in each thread: one loop.
// CHECK-LABEL: llvm.func @__regrain_block.varying
// CHECK-NOT: llvm.freeze
// CHECK: llvm.intr.smax
// CHECK-NOT: llvm.intr.smax
// CHECK: llvm.return
llvm.func ptx_kernelcc @varying(%p: !llvm.ptr)
llvm.func @__regrain_launch.varying(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @varying} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %g = arith.index_castui %gx : i32 to index
  %b = arith.index_castui %bx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @varying grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %bound = llvm.load %p : !llvm.ptr -> i32
        %less = llvm.sub %t, %one overflow<nsw> : i32
        %west = arith.maxsi %less, %bound : i32
        %wide = llvm.sext %west : i32 to i64
        %a = llvm.getelementptr %p[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, i32
        llvm.store %t, %a : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}

// -----

// A loop counts the neighbours: its first number decides at the left, its last one at the right.
// CHECK-LABEL: llvm.func @__regrain_block.counted
// CHECK-DAG: %[[FIRST:.*]] = llvm.mlir.constant(-2 : i64)
// CHECK-DAG: %[[LAST:.*]] = llvm.mlir.constant(2 : i64)
// CHECK: %[[RIGHT:.*]] = llvm.add %{{.*}}, %[[LAST]] : i64
// CHECK-NEXT: llvm.icmp "sle" %[[RIGHT]]
// CHECK: llvm.icmp "sle" %{{.*}}, %[[FIRST]] : i64
// CHECK: llvm.freeze
// CHECK: llvm.cond_br
// CHECK: %[[NUMBER:.*]] = llvm.sext %{{.*}} : i32 to i64
// CHECK-NEXT: %[[SIMPLE:.*]] = llvm.add %{{.*}}, %[[NUMBER]] : i64
// CHECK-NEXT: llvm.getelementptr %{{.*}}[%[[SIMPLE]]]
// CHECK: llvm.intr.smax
// CHECK: %[[HELD:.*]] = llvm.intr.smin
// CHECK: %[[CLAMPED:.*]] = llvm.sext %[[HELD]]
// CHECK: llvm.getelementptr %{{.*}}[%[[CLAMPED]]]
// CHECK: llvm.return
llvm.func ptx_kernelcc @counted(%p: !llvm.ptr, %n: i32)
llvm.func @__regrain_launch.counted(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @counted} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %lower = arith.constant -2 : i32
  %upper = arith.constant 3 : i32
  %one = arith.constant 1 : i32
  %g = arith.index_castui %gx : i32 to index
  %b = arith.index_castui %bx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %last = llvm.load %slot {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> i32
  %e = regrain.gpu_wrapper @counted grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        scf.for %number = %lower to %upper step %one : i32 {
          %at = llvm.add %t, %number overflow<nsw> : i32
          %west = arith.maxsi %at, %last : i32
          %held = arith.minsi %west, %last : i32
          %wide = llvm.sext %held : i32 to i64
          %a = llvm.getelementptr %p[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, i32
          llvm.store %t, %a : i32, !llvm.ptr
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}
