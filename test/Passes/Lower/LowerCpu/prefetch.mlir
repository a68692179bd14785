// RUN: %regrain-opt %s --regrain-split-barriers --regrain-lower-cpu="register-bits=128 cost-model=false" | FileCheck %s

// The next round reads so many elements further on.
// CHECK-LABEL: llvm.func @__regrain_block.rounds(
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> vector<4xf32>
// CHECK-COUNT-2: "llvm.intr.prefetch"
// CHECK-NOT: "llvm.intr.prefetch"
// CHECK: llvm.return
llvm.func ptx_kernelcc @rounds(%p: !llvm.ptr)
llvm.func @__regrain_launch.rounds(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @rounds} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %g = arith.index_castui %gx : i32 to index
  %b = arith.index_castui %bx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @rounds grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %n = arith.constant 100 : index
        %zero = llvm.mlir.constant(0.0 : f32) : f32
        %t = arith.index_cast %x : index to i64
        scf.for %r = %c0 to %n step %c1 {
          %c4096 = arith.constant 4096 : index
          %at = arith.muli %r, %c4096 : index
          %far = arith.index_cast %at : index to i64
          %place = llvm.add %far, %t : i64
          %a = llvm.getelementptr %p[%place] : (!llvm.ptr, i64) -> !llvm.ptr, f32
          %v = llvm.load %a : !llvm.ptr -> f32
          regrain.barrier(%x, %y, %z)
          llvm.store %v, %p : f32, !llvm.ptr
          regrain.barrier(%x, %y, %z)
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}

// A round of few bytes is over before memory answers: what is fetched is four rounds ahead. The loop's number is handed on by a branch that
// else leaves the loop.
// CHECK-LABEL: llvm.func @__regrain_block.short_rounds(
// CHECK: %[[FOUR:.*]] = llvm.mlir.constant(4 : i32) : i32
// CHECK: llvm.add %{{.*}}, %[[FOUR]] : i32
// CHECK-COUNT-2: "llvm.intr.prefetch"
// CHECK-NOT: "llvm.intr.prefetch"
// CHECK: llvm.return
llvm.func ptx_kernelcc @short_rounds(%p: !llvm.ptr)
llvm.func @__regrain_launch.short_rounds(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @short_rounds} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %g = arith.index_castui %gx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @short_rounds grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %zero = arith.constant 0 : i32
        %last = arith.constant 20 : i32
        %t = arith.index_cast %x : index to i64
        %n = scf.while (%r = %zero) : (i32) -> i32 {
          %wide = arith.extsi %r : i32 to i64
          %columns = arith.constant 4096 : i64
          %far = arith.muli %wide, %columns : i64
          %place = llvm.add %far, %t : i64
          %a = llvm.getelementptr %p[%place] : (!llvm.ptr, i64) -> !llvm.ptr, f32
          %v = llvm.load %a : !llvm.ptr -> f32
          regrain.barrier(%x, %y, %z)
          llvm.store %v, %p : f32, !llvm.ptr
          regrain.barrier(%x, %y, %z)
          %more = llvm.icmp "ne" %r, %last : i32
          %next = scf.if %more -> (i32) {
            %one = arith.constant 1 : i32
            %sum = llvm.add %r, %one : i32
            regrain.barrier(%x, %y, %z)
            scf.yield %sum : i32
          } else {
            %none = ub.poison : i32
            scf.yield %none : i32
          }
          scf.condition(%more) %next : i32
        } do {
        ^bb0(%r: i32):
          scf.yield %r : i32
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}
