// RUN: %regrain-opt %s --regrain-vectorize-threads="register-bits=256" | FileCheck %s

// A row that does not cross a multiple of the divisor has one quotient and remainders that count up: what it reads lies side by side. The
// row is asked: the divisor is more than zero, no number wraps or is negative, and what is left up to the next multiple is more than the
// lanes are apart. Another row gathers.
// CHECK-LABEL: llvm.func @row_and_column
// CHECK: scf.for %[[X:.*]] = %c0{{.*}} step %c8
// CHECK: %[[LAST:.*]] = arith.addi %[[I:.*]], %c7_i64
// CHECK: %[[EXACT:.*]] = arith.cmpi sge, %[[LAST]], %[[I]] : i64
// CHECK: %[[SOME:.*]] = arith.cmpi sgt, %arg3, %c0_i64
// CHECK: %[[D:.*]] = arith.select %[[SOME]], %arg3, %c1_i64
// CHECK: %[[REST:.*]] = arith.remui %[[I]], %[[D]]
// CHECK: %[[ROOM:.*]] = arith.subi %[[D]], %[[REST]]
// CHECK: arith.cmpi ugt, %[[ROOM]], %c7_i64
// CHECK: arith.cmpi sge, %[[I]], %c0_i64
// CHECK: %[[QUOTIENT:.*]] = arith.divui
// CHECK: scf.if
// CHECK-NOT: llvm.sdiv
// CHECK-NOT: llvm.srem
// CHECK: llvm.load {{.*}} -> vector<8xf32>
// CHECK: } else {
// CHECK: llvm.intr.masked.gather
llvm.func @row_and_column(%a: !llvm.ptr, %out: !llvm.ptr, %base: i64, %n: i64, %pitch: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c24 = arith.constant 24 : index
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c24, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i64
    %i = llvm.add %base, %t : i64
    %row = llvm.sdiv %i, %n : i64
    %col = llvm.srem %i, %n : i64
    %start = llvm.mul %row, %pitch : i64
    %at = llvm.add %start, %col : i64
    %p = llvm.getelementptr %a[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v = llvm.load %p : !llvm.ptr -> f32
    %o = llvm.getelementptr %out[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %v, %o : f32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// A comparison that chooses between numbers: in a row that lies on one side they count up. What is known of such a row alone is asked of it
// too, that the narrow column does not wrap.
// CHECK-LABEL: llvm.func @one_side
// CHECK: scf.for
// CHECK: %[[FIRST:.*]] = llvm.icmp "uge" %{{.*}}, %arg3 : i32
// CHECK: %[[LAST:.*]] = llvm.icmp "uge" %{{.*}}, %arg3 : i32
// CHECK: arith.cmpi eq, %[[FIRST]], %[[LAST]] : i1
// CHECK: arith.extsi
// CHECK: arith.subi
// CHECK: scf.if
// CHECK: llvm.load {{.*}} -> vector<8xf32>
// CHECK: } else {
// CHECK: llvm.intr.masked.gather
llvm.func @one_side(%a: !llvm.ptr, %out: !llvm.ptr, %base: i32, %n: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c24 = arith.constant 24 : index
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c24, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i32
    %i = llvm.add %base, %t : i32
    %over = llvm.icmp "uge" %i, %n : i32
    %less = llvm.sub %i, %n : i32
    %col = llvm.select %over, %less, %i : i1, i32
    %wide = llvm.sext %col : i32 to i64
    %p = llvm.getelementptr %a[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v = llvm.load %p : !llvm.ptr -> f32
    %to = llvm.zext %t : i32 to i64
    %o = llvm.getelementptr %out[%to] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %v, %o : f32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// What is computed of a number in memory is not asked before, a small constant would be crossed by nearly every row, and a comparison that
// only decides who goes on is a guard.
// CHECK-LABEL: llvm.func @do_not_ask
// CHECK-NOT: arith.remui
// CHECK-NOT: llvm.icmp {{.*}} : i1
// CHECK: llvm.return
llvm.func @do_not_ask(%a: !llvm.ptr, %out: !llvm.ptr, %n: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c24 = arith.constant 24 : index
  %c20 = llvm.mlir.constant(20 : i64) : i64
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c24, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i64
    %small = llvm.srem %t, %c20 : i64
    %p = llvm.getelementptr %a[%small] : (!llvm.ptr, i64) -> !llvm.ptr, i64
    %m = llvm.load %p : !llvm.ptr -> i64
    %i = llvm.add %m, %t : i64
    %far = llvm.srem %i, %n : i64
    %mine = llvm.icmp "slt" %t, %n : i64
    scf.if %mine {
      %o = llvm.getelementptr %out[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i64
      llvm.store %far, %o : i64, !llvm.ptr
    }
    scf.reduce
  }
  llvm.return
}
