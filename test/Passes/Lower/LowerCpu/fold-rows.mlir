// RUN: %regrain-opt %s --regrain-lower-cpu="register-bits=256" | FileCheck %s

// Threads of one dimension that ask for a row and a column of 16: a loop over rows around one over columns, nothing is divided, and what is
// read in the columns' order is one vector.
// CHECK-LABEL: llvm.func @__regrain_block.k
// CHECK-NOT: llvm.udiv
// CHECK-NOT: llvm.urem
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> vector<16xf32>
// CHECK-NOT: masked.gather
// CHECK: llvm.return
llvm.func ptx_kernelcc @k(%p: !llvm.ptr, %q: !llvm.ptr, %n: i32)
llvm.func @__regrain_launch.k(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @k} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %sixteen = arith.constant 16 : i32
  %g = arith.index_castui %gx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %next = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %second = llvm.load %next : !llvm.ptr -> !llvm.ptr
  %q = llvm.load %second {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> !llvm.ptr
  %after = llvm.getelementptr %args[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %third = llvm.load %after : !llvm.ptr -> !llvm.ptr
  %n = llvm.load %third {regrain.kernel_arg = 2 : i64} : !llvm.ptr -> i32
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%c256, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c256, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %row = llvm.udiv %t, %sixteen : i32
        %column = llvm.urem %t, %sixteen : i32
        %first = llvm.mul %row, %n : i32
        %at = llvm.add %first, %column : i32
        %wide = llvm.sext %at : i32 to i64
        %a = llvm.getelementptr %p[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %v = llvm.load %a : !llvm.ptr -> f32
        %b = llvm.getelementptr %q[%t] : (!llvm.ptr, i32) -> !llvm.ptr, f32
        llvm.store %v, %b : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}
