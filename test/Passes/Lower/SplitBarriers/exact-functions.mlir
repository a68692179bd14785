// RUN: %regrain-opt %s --regrain-split-barriers | FileCheck %s

// CHECK-LABEL: llvm.func @functions
// CHECK-NOT: llvm.call
// CHECK: %[[X:.*]] = llvm.load {{.*}} -> i32
// CHECK: %[[L:.*]] = llvm.load {{.*}} -> i64
// CHECK: "llvm.intr.abs"(%[[X]]) <{is_int_min_poison = false}>
// CHECK: %[[ONES:.*]] = llvm.intr.ctpop(%[[L]])
// CHECK: arith.trunci %[[ONES]] : i64 to i32
// CHECK: "llvm.intr.ctlz"(%[[X]]) <{is_zero_poison = false}>
// CHECK: %[[ZEROS:.*]] = "llvm.intr.cttz"(%[[X]]) <{is_zero_poison = false}>
// CHECK: %[[NONE:.*]] = arith.cmpi eq, %[[X]]
// CHECK: %[[PLACE:.*]] = arith.addi %[[ZEROS]]
// CHECK: arith.select %[[NONE]], %{{.*}}, %[[PLACE]]
// CHECK: arith.extui %[[X]] : i32 to i64
// CHECK: arith.muli
// CHECK: arith.shrui
// CHECK: arith.trunci
// CHECK: arith.bitcast %[[X]] : i32 to f32
// A function that takes more stays a call.
// CHECK: llvm.call @__nv_byte_perm
llvm.func @__nv_abs(i32) -> i32
llvm.func @__nv_popcll(i64) -> i32
llvm.func @__nv_clz(i32) -> i32
llvm.func @__nv_ffs(i32) -> i32
llvm.func @__nv_umulhi(i32, i32) -> i32
llvm.func @__nv_int_as_float(i32) -> f32
llvm.func @__nv_byte_perm(i32, i32, i32) -> i32
llvm.func @functions(%p: !llvm.ptr, %gx: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 64 : index
  %g = arith.index_castui %gx : i32 to index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%t, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %n = arith.index_cast %t : index to i64
        %at = llvm.getelementptr %p[%n] : (!llvm.ptr, i64) -> !llvm.ptr, i64
        %x = llvm.load %at : !llvm.ptr -> i32
        %l = llvm.load %at : !llvm.ptr -> i64
        %0 = llvm.call @__nv_abs(%x) : (i32) -> i32
        %1 = llvm.call @__nv_popcll(%l) : (i64) -> i32
        %2 = llvm.call @__nv_clz(%x) : (i32) -> i32
        %3 = llvm.call @__nv_ffs(%x) : (i32) -> i32
        %4 = llvm.call @__nv_umulhi(%x, %0) : (i32, i32) -> i32
        %5 = llvm.call @__nv_int_as_float(%x) : (i32) -> f32
        %6 = llvm.call @__nv_byte_perm(%1, %2, %3) : (i32, i32, i32) -> i32
        llvm.store %6, %at : i32, !llvm.ptr
        llvm.store %4, %at : i32, !llvm.ptr
        llvm.store %5, %at : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}
