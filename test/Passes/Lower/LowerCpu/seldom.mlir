// RUN: %regrain-opt %s --regrain-split-barriers --regrain-lower-cpu="register-bits=256" | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: sed 's/regrain.launch = @k}/regrain.launch = @k, regrain.doubtful}/' %s | %regrain-opt --regrain-split-barriers --regrain-lower-cpu="register-bits=256" | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: sed 's/regrain.launch = @k}/regrain.launch = @k, regrain.seldom}/' %s | %regrain-opt --regrain-split-barriers --regrain-lower-cpu="register-bits=256" | FileCheck %s --check-prefixes=CHECK,SELDOM

// Rows are made for the function of a shape, and for the one of all shapes unless that is seldom needed.
// CHECK-LABEL: llvm.func @__regrain_block.k(
// ALL: vector<
// SELDOM-NOT: vector<
// CHECK-LABEL: llvm.func @__regrain_block.k.b64x1x1(
// CHECK: vector<
llvm.func ptx_kernelcc @k(%p: !llvm.ptr)
llvm.func @__regrain_launch.k(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @k} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %two = arith.constant 2.0 : f32
  %g = arith.index_castui %gx : i32 to index
  %b = arith.index_castui %bx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %a = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %v = llvm.load %a : !llvm.ptr -> f32
        %w = arith.mulf %v, %two : f32
        llvm.store %w, %a : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}
llvm.func @__regrain_launch.k.b64x1x1(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @k, regrain.block_shape = array<i64: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %two = arith.constant 2.0 : f32
  %g = arith.index_castui %gx : i32 to index
  %b = arith.constant 64 : index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %a = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %v = llvm.load %a : !llvm.ptr -> f32
        %w = arith.mulf %v, %two : f32
        llvm.store %w, %a : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}
