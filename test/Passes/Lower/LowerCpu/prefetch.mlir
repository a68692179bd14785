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

// A loop of a row by itself whose rounds are far apart and compute much. A round may leave the number as it is.
// CHECK-LABEL: llvm.func @__regrain_block.row(
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> vector<4xi32>
// CHECK-COUNT-2: "llvm.intr.prefetch"
// CHECK-NOT: "llvm.intr.prefetch"
// CHECK: llvm.return
llvm.func ptx_kernelcc @row(%p: !llvm.ptr, %n: i32)
llvm.func @__regrain_launch.row(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @row} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %g = arith.index_castui %gx : i32 to index
  %b = arith.index_castui %bx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %more = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %slots = llvm.load %more : !llvm.ptr -> !llvm.ptr
  %n = llvm.load %slots {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> i32
  %e = regrain.gpu_wrapper @row grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %zero = llvm.mlir.constant(0 : i32) : i32
        %last = llvm.mlir.constant(7 : i32) : i32
        %t = arith.index_cast %x : index to i64
        %r:2 = scf.while (%at = %zero, %sum = %zero) : (i32, i32) -> (i32, i32) {
          %go = llvm.icmp "slt" %at, %n : i32
          %next:2 = scf.if %go -> (i32, i32) {
            %rows = llvm.mlir.constant(64 : i32) : i32
            %stride = llvm.mul %n, %rows : i32
            %far = llvm.sext %at : i32 to i64
            %place = llvm.add %far, %t : i64
            %a = llvm.getelementptr %p[%place] : (!llvm.ptr, i64) -> !llvm.ptr, i32
            %v = llvm.load %a : !llvm.ptr -> i32
            %m0 = llvm.xor %v, %last : i32
            %m1 = llvm.add %m0, %v : i32
            %m2 = llvm.mul %m1, %v : i32
            %m3 = llvm.add %m2, %v : i32
            %m4 = llvm.mul %m3, %v : i32
            %m5 = llvm.add %m4, %v : i32
            %m6 = llvm.mul %m5, %v : i32
            %m7 = llvm.add %m6, %v : i32
            %m8 = llvm.mul %m7, %v : i32
            %m9 = llvm.add %m8, %v : i32
            %m10 = llvm.mul %m9, %v : i32
            %m11 = llvm.add %m10, %v : i32
            %m12 = llvm.mul %m11, %v : i32
            %m13 = llvm.add %m12, %v : i32
            %m14 = llvm.mul %m13, %v : i32
            %m15 = llvm.add %m14, %v : i32
            %m16 = llvm.mul %m15, %v : i32
            %m17 = llvm.add %m16, %v : i32
            %m18 = llvm.mul %m17, %v : i32
            %m19 = llvm.add %m18, %v : i32
            %m20 = llvm.mul %m19, %v : i32
            %m21 = llvm.add %m20, %v : i32
            %m22 = llvm.mul %m21, %v : i32
            %m23 = llvm.add %m22, %v : i32
            %m24 = llvm.mul %m23, %v : i32
            %m25 = llvm.add %m24, %v : i32
            %m26 = llvm.mul %m25, %v : i32
            %m27 = llvm.add %m26, %v : i32
            %m28 = llvm.mul %m27, %v : i32
            %m29 = llvm.add %m28, %v : i32
            %m30 = llvm.mul %m29, %v : i32
            %m31 = llvm.add %m30, %v : i32
            %m32 = llvm.mul %m31, %v : i32
            %m33 = llvm.add %m32, %v : i32
            %m34 = llvm.mul %m33, %v : i32
            %m35 = llvm.add %m34, %v : i32
            %m36 = llvm.mul %m35, %v : i32
            %m37 = llvm.add %m36, %v : i32
            %m38 = llvm.mul %m37, %v : i32
            %m39 = llvm.add %m38, %v : i32
            %m40 = llvm.mul %m39, %v : i32
            %then = llvm.add %at, %stride : i32
            %total = llvm.add %sum, %m40 : i32
            scf.yield %then, %total : i32, i32
          } else {
            scf.yield %at, %sum : i32, i32
          }
          scf.condition(%go) %next#0, %next#1 : i32, i32
        } do {
        ^bb0(%at: i32, %sum: i32):
          scf.yield %at, %sum : i32, i32
        }
        %o = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i32
        llvm.store %r#1, %o : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}

// The next round reads the page that this one does.
// CHECK-LABEL: llvm.func @__regrain_block.do_not_fetch_near(
// CHECK-NOT: "llvm.intr.prefetch"
// CHECK: llvm.return
llvm.func ptx_kernelcc @do_not_fetch_near(%p: !llvm.ptr, %n: i32)
llvm.func @__regrain_launch.do_not_fetch_near(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @do_not_fetch_near} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %g = arith.index_castui %gx : i32 to index
  %b = arith.index_castui %bx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %more = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %slots = llvm.load %more : !llvm.ptr -> !llvm.ptr
  %n = llvm.load %slots {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> i32
  %e = regrain.gpu_wrapper @do_not_fetch_near grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %zero = llvm.mlir.constant(0 : i32) : i32
        %last = llvm.mlir.constant(7 : i32) : i32
        %t = arith.index_cast %x : index to i64
        %r:2 = scf.while (%at = %zero, %sum = %zero) : (i32, i32) -> (i32, i32) {
          %go = llvm.icmp "slt" %at, %n : i32
          %next:2 = scf.if %go -> (i32, i32) {
            %stride = llvm.mlir.constant(64 : i32) : i32
            %far = llvm.sext %at : i32 to i64
            %place = llvm.add %far, %t : i64
            %a = llvm.getelementptr %p[%place] : (!llvm.ptr, i64) -> !llvm.ptr, i32
            %v = llvm.load %a : !llvm.ptr -> i32
            %m0 = llvm.xor %v, %last : i32
            %m1 = llvm.add %m0, %v : i32
            %m2 = llvm.mul %m1, %v : i32
            %m3 = llvm.add %m2, %v : i32
            %m4 = llvm.mul %m3, %v : i32
            %m5 = llvm.add %m4, %v : i32
            %m6 = llvm.mul %m5, %v : i32
            %m7 = llvm.add %m6, %v : i32
            %m8 = llvm.mul %m7, %v : i32
            %m9 = llvm.add %m8, %v : i32
            %m10 = llvm.mul %m9, %v : i32
            %m11 = llvm.add %m10, %v : i32
            %m12 = llvm.mul %m11, %v : i32
            %m13 = llvm.add %m12, %v : i32
            %m14 = llvm.mul %m13, %v : i32
            %m15 = llvm.add %m14, %v : i32
            %m16 = llvm.mul %m15, %v : i32
            %m17 = llvm.add %m16, %v : i32
            %m18 = llvm.mul %m17, %v : i32
            %m19 = llvm.add %m18, %v : i32
            %m20 = llvm.mul %m19, %v : i32
            %m21 = llvm.add %m20, %v : i32
            %m22 = llvm.mul %m21, %v : i32
            %m23 = llvm.add %m22, %v : i32
            %m24 = llvm.mul %m23, %v : i32
            %m25 = llvm.add %m24, %v : i32
            %m26 = llvm.mul %m25, %v : i32
            %m27 = llvm.add %m26, %v : i32
            %m28 = llvm.mul %m27, %v : i32
            %m29 = llvm.add %m28, %v : i32
            %m30 = llvm.mul %m29, %v : i32
            %m31 = llvm.add %m30, %v : i32
            %m32 = llvm.mul %m31, %v : i32
            %m33 = llvm.add %m32, %v : i32
            %m34 = llvm.mul %m33, %v : i32
            %m35 = llvm.add %m34, %v : i32
            %m36 = llvm.mul %m35, %v : i32
            %m37 = llvm.add %m36, %v : i32
            %m38 = llvm.mul %m37, %v : i32
            %m39 = llvm.add %m38, %v : i32
            %m40 = llvm.mul %m39, %v : i32
            %then = llvm.add %at, %stride : i32
            %total = llvm.add %sum, %m40 : i32
            scf.yield %then, %total : i32, i32
          } else {
            scf.yield %at, %sum : i32, i32
          }
          scf.condition(%go) %next#0, %next#1 : i32, i32
        } do {
        ^bb0(%at: i32, %sum: i32):
          scf.yield %at, %sum : i32, i32
        }
        %o = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i32
        llvm.store %r#1, %o : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}

// Rounds of a few operations: the fetching would be a large part of them.
// CHECK-LABEL: llvm.func @__regrain_block.do_not_fetch_for_little(
// CHECK-NOT: "llvm.intr.prefetch"
// CHECK: llvm.return
llvm.func ptx_kernelcc @do_not_fetch_for_little(%p: !llvm.ptr, %n: i32)
llvm.func @__regrain_launch.do_not_fetch_for_little(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @do_not_fetch_for_little} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %g = arith.index_castui %gx : i32 to index
  %b = arith.index_castui %bx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %more = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %slots = llvm.load %more : !llvm.ptr -> !llvm.ptr
  %n = llvm.load %slots {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> i32
  %e = regrain.gpu_wrapper @do_not_fetch_for_little grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %zero = llvm.mlir.constant(0 : i32) : i32
        %last = llvm.mlir.constant(7 : i32) : i32
        %t = arith.index_cast %x : index to i64
        %r:2 = scf.while (%at = %zero, %sum = %zero) : (i32, i32) -> (i32, i32) {
          %go = llvm.icmp "slt" %at, %n : i32
          %next:2 = scf.if %go -> (i32, i32) {
            %rows = llvm.mlir.constant(64 : i32) : i32
            %stride = llvm.mul %n, %rows : i32
            %far = llvm.sext %at : i32 to i64
            %place = llvm.add %far, %t : i64
            %a = llvm.getelementptr %p[%place] : (!llvm.ptr, i64) -> !llvm.ptr, i32
            %v = llvm.load %a : !llvm.ptr -> i32
            %m0 = llvm.xor %v, %last : i32
            %m1 = llvm.add %m0, %v : i32
            %m2 = llvm.mul %m1, %v : i32
            %then = llvm.add %at, %stride : i32
            %total = llvm.add %sum, %m2 : i32
            scf.yield %then, %total : i32, i32
          } else {
            scf.yield %at, %sum : i32, i32
          }
          scf.condition(%go) %next#0, %next#1 : i32, i32
        } do {
        ^bb0(%at: i32, %sum: i32):
          scf.yield %at, %sum : i32, i32
        }
        %o = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i32
        llvm.store %r#1, %o : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}

// A round that gathers fetches what the rows behind read, where the next round reads far from there.
// CHECK-LABEL: llvm.func @__regrain_block.beside(
// CHECK: llvm.intr.masked.load %[[AT:[^,]*]],
// CHECK: %[[BESIDE:.*]] = llvm.getelementptr %[[AT]][512] : (!llvm.ptr) -> !llvm.ptr, i8
// CHECK: "llvm.intr.prefetch"(%[[BESIDE]])
// CHECK-NOT: "llvm.intr.prefetch"
// CHECK: llvm.intr.masked.gather
// CHECK: llvm.return
llvm.func ptx_kernelcc @beside(%p: !llvm.ptr, %n: i32)
llvm.func @__regrain_launch.beside(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @beside} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %g = arith.index_castui %gx : i32 to index
  %b = arith.index_castui %bx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %more = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %slots = llvm.load %more : !llvm.ptr -> !llvm.ptr
  %n = llvm.load %slots {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> i32
  %e = regrain.gpu_wrapper @beside grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %zero = llvm.mlir.constant(0 : i32) : i32
        %one = llvm.mlir.constant(1 : i32) : i32
        %t = arith.index_cast %x : index to i32
        %w = llvm.sext %t : i32 to i64
        %la = llvm.getelementptr %p[%w] : (!llvm.ptr, i64) -> !llvm.ptr, i32
        %length = llvm.load %la : !llvm.ptr -> i32
        %r = scf.for %q = %zero to %length step %one iter_args(%sum = %zero) -> (i32) : i32 {
          %row = llvm.mul %q, %n : i32
          %place = llvm.add %row, %t overflow<nsw> : i32
          %wide = llvm.sext %place : i32 to i64
          %a = llvm.getelementptr %p[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, i32
          %v = llvm.load %a : !llvm.ptr -> i32
          %far = llvm.sext %v : i32 to i64
          %from = llvm.getelementptr %p[%far] : (!llvm.ptr, i64) -> !llvm.ptr, i32
          %f = llvm.load %from : !llvm.ptr -> i32
          %total = llvm.add %sum, %f : i32
          scf.yield %total : i32
        }
        %o = llvm.getelementptr %p[%w] : (!llvm.ptr, i64) -> !llvm.ptr, i32
        llvm.store %r, %o : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}

// Where it reads near it a processor looks ahead by itself.
// CHECK-LABEL: llvm.func @__regrain_block.do_not_fetch_beside(
// CHECK-NOT: "llvm.intr.prefetch"
// CHECK: llvm.return
llvm.func ptx_kernelcc @do_not_fetch_beside(%p: !llvm.ptr, %n: i32)
llvm.func @__regrain_launch.do_not_fetch_beside(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @do_not_fetch_beside} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %g = arith.index_castui %gx : i32 to index
  %b = arith.index_castui %bx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %more = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %slots = llvm.load %more : !llvm.ptr -> !llvm.ptr
  %n = llvm.load %slots {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> i32
  %e = regrain.gpu_wrapper @do_not_fetch_beside grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %zero = llvm.mlir.constant(0 : i32) : i32
        %one = llvm.mlir.constant(1 : i32) : i32
        %t = arith.index_cast %x : index to i32
        %w = llvm.sext %t : i32 to i64
        %la = llvm.getelementptr %p[%w] : (!llvm.ptr, i64) -> !llvm.ptr, i32
        %length = llvm.load %la : !llvm.ptr -> i32
        %r = scf.for %q = %zero to %length step %one iter_args(%sum = %zero) -> (i32) : i32 {
          %row = llvm.mul %q, %one : i32
          %place = llvm.add %row, %t overflow<nsw> : i32
          %wide = llvm.sext %place : i32 to i64
          %a = llvm.getelementptr %p[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, i32
          %v = llvm.load %a : !llvm.ptr -> i32
          %far = llvm.sext %v : i32 to i64
          %from = llvm.getelementptr %p[%far] : (!llvm.ptr, i64) -> !llvm.ptr, i32
          %f = llvm.load %from : !llvm.ptr -> i32
          %total = llvm.add %sum, %f : i32
          scf.yield %total : i32
        }
        %o = llvm.getelementptr %p[%w] : (!llvm.ptr, i64) -> !llvm.ptr, i32
        llvm.store %r, %o : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}
