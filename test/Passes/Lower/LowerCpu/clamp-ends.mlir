// RUN: %regrain-opt %s --regrain-lower-cpu="register-bits=0 runs=true" | FileCheck %s

// Blocks that go as one: those in the middle have no clamp, those at both ends go as they were, in a loop over the two sides.
// CHECK-LABEL: llvm.func @__regrain_block.held
// CHECK: llvm.store %[[AVAILABLE:.*]], %{{.*}} : i32, !llvm.ptr
// CHECK: %[[COUNT:.*]] = llvm.zext %[[AVAILABLE]] : i32 to i64
// CHECK: %[[UP:.*]] = llvm.sdiv
// CHECK: llvm.intr.smin(%[[UP]], %[[COUNT]])
// CHECK: llvm.sdiv
// CHECK: %[[BEGIN:.*]] = llvm.select %[[FITS:.*]], %{{.*}}, %[[COUNT]] : i1, i64
// CHECK: %[[END:.*]] = llvm.select %[[FITS]], %{{.*}}, %[[COUNT]] : i1, i64
// CHECK: %[[BEFORE:.*]] = llvm.mul %[[BEGIN]],
// CHECK: %[[SOME:.*]] = llvm.icmp "slt" %[[BEGIN]], %[[END]]
// CHECK: llvm.cond_br %[[SOME]]
// CHECK: %[[X:.*]] = llvm.add %{{.*}}, %[[BEFORE]] : i64
// CHECK: %[[SIMPLE:.*]] = llvm.add %[[X]], %{{.*}} : i64
// CHECK-NEXT: llvm.getelementptr %{{.*}}[%[[SIMPLE]]]
// CHECK: %[[FROM:.*]] = llvm.select %[[FIRST:.*]], %{{.*}}, %[[END]]
// CHECK: llvm.select %[[FIRST]], %[[BEGIN]], %[[COUNT]]
// CHECK: llvm.mul %[[FROM]],
// CHECK: %[[HELD:.*]] = llvm.intr.smin
// CHECK: %[[CLAMPED:.*]] = llvm.sext %[[HELD]]
// CHECK: llvm.getelementptr %{{.*}}[%[[CLAMPED]]]
// CHECK: llvm.return
llvm.func ptx_kernelcc @held(%p: !llvm.ptr, %n: i32)
llvm.func @__regrain_launch.held.b16x1x1(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.block_shape = array<i64: 16, 1, 1>, regrain.launch = @held} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %sixteen = arith.constant 16 : i32
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : i32
  %g = arith.index_castui %gx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %last = llvm.load %slot {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> i32
  %e = regrain.gpu_wrapper @held grid(%g, %c1, %c1) block(%c16, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %block = arith.index_cast %i : index to i32
      %first = llvm.mul %block, %sixteen : i32
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c16, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %at = llvm.add %first, %t : i32
        %less = llvm.sub %at, %one overflow<nsw> : i32
        %west = arith.maxsi %less, %zero : i32
        %held = arith.minsi %west, %last : i32
        %wide = llvm.sext %held : i32 to i64
        %a = llvm.getelementptr %p[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, i32
        llvm.store %at, %a : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}
