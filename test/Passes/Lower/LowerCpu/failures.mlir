// RUN: %regrain-opt %s --regrain-lower-cpu="register-bits=0" | FileCheck %s

// CHECK-LABEL: llvm.func @__regrain_block.k
// CHECK: llvm.call @__regrain_set_thread(%{{.*}}, %{{.*}}, %{{.*}}) : (i32, i32, i32) -> ()
// CHECK-NEXT: llvm.call @check(
// CHECK: llvm.call @__regrain_set_thread
// CHECK-NEXT: llvm.intr.trap
// CHECK-NOT: __regrain_set_thread
// CHECK: llvm.call @harmless
// CHECK: llvm.return
llvm.func @check(%v: i32) {
  "llvm.intr.trap"() : () -> ()
  llvm.return
}
llvm.func @harmless(%v: i32) attributes {no_inline} {
  llvm.return
}
llvm.func ptx_kernelcc @k(%p: !llvm.ptr)
llvm.func @__regrain_launch.k(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @k} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %g = arith.index_castui %gx : i32 to index
  %b = arith.index_castui %bx : i32 to index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %bad = arith.cmpi eq, %t, %bx : i32
        llvm.call @check(%t) : (i32) -> ()
        scf.if %bad {
          "llvm.intr.trap"() : () -> ()
        }
        llvm.call @harmless(%t) : (i32) -> ()
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}
