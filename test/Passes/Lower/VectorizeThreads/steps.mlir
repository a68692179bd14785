// RUN: %regrain-opt %s --regrain-vectorize-threads=register-bits=256 | FileCheck %s

// A step that is halved from round to round: versions for small ones, whose lanes are permuted, and for multiples of a row.
// CHECK-LABEL: llvm.func @network
// CHECK: scf.while
// CHECK: arith.cmpi eq, %[[STEP:.*]], %{{.*}} : i32
// CHECK: scf.if
// CHECK: llvm.shufflevector {{.*}} [1, 0, 3, 2, 5, 4, 7, 6
// CHECK: llvm.shufflevector {{.*}} [2, 3, 0, 1, 6, 7, 4, 5
// CHECK: llvm.shufflevector {{.*}} [4, 5, 6, 7, 0, 1, 2, 3
// CHECK: %[[MOST:.*]] = arith.constant 31 : i32
// CHECK: arith.andi %{{.*}}, %[[MOST]] : i32
// CHECK: %[[SIDE:.*]] = llvm.icmp "ugt" %{{.*}}, %{{.*}} : i32
// CHECK: scf.if %[[SIDE]]
// CHECK-NOT: gather
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> vector<
// CHECK: llvm.return
llvm.func @network() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 128 : index
  %count = arith.constant 1 : i32
  %tile = llvm.alloca %count x !llvm.array<128 x i32> {alignment = 64 : i64} : (i32) -> !llvm.ptr
  %half = llvm.mlir.constant(64 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %zero = llvm.mlir.constant(0 : i32) : i32
  %end = scf.while (%j = %half) : (i32) -> i32 {
    %more = llvm.icmp "ugt" %j, %zero : i32
    scf.condition(%more) %j : i32
  } do {
  ^bb0(%j: i32):
    scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%n, %c1, %c1) step (%c1, %c1, %c1) {
      %t = arith.index_cast %x : index to i32
      %other = llvm.xor %t, %j : i32
      %first = llvm.icmp "ugt" %other, %t : i32
      %wide = llvm.zext %t : i32 to i64
      %a = llvm.getelementptr %tile[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, i32
      scf.if %first {
        %far = llvm.zext %other : i32 to i64
        %b = llvm.getelementptr %tile[%far] : (!llvm.ptr, i64) -> !llvm.ptr, i32
        %v = llvm.load %a : !llvm.ptr -> i32
        %w = llvm.load %b : !llvm.ptr -> i32
        %swap = llvm.icmp "sgt" %v, %w : i32
        scf.if %swap {
          llvm.store %w, %a : i32, !llvm.ptr
          llvm.store %v, %b : i32, !llvm.ptr
        }
      }
      scf.reduce
    }
    %next = llvm.lshr %j, %one : i32
    scf.yield %next : i32
  }
  llvm.return
}

// A number that is only added is no step.
// CHECK-LABEL: llvm.func @do_not_ask_for_other_numbers
// CHECK-NOT: scf.if
// CHECK: llvm.return
llvm.func @do_not_ask_for_other_numbers(%p: !llvm.ptr, %j: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 128 : index
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%n, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i64
    %i = llvm.mul %t, %j : i64
    %a = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %v = llvm.load %a : !llvm.ptr -> i32
    %b = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    llvm.store %v, %b : i32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}
