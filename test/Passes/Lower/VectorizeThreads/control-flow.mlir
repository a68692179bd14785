// RUN: %regrain-opt %s --regrain-vectorize-threads="register-bits=256 cost-model=false" | FileCheck %s

// A guard is asked for the whole row first, by the last lane's number; lanes that take no part divide by one.
// CHECK-LABEL: llvm.func @guard
// CHECK: %[[C:.*]] = llvm.icmp "slt" %{{.*}}, %{{.*}} : vector<8xi32>
// CHECK: %[[LAST:.*]] = arith.addi %{{.*}}, %c7_i32 : i32
// CHECK: %[[ALL:.*]] = arith.cmpi slt, %[[LAST]], %{{.*}} : i32
// CHECK: scf.if %[[ALL]] {
// CHECK: llvm.sdiv %{{.*}}, %{{.*}} : vector<8xi64>
// CHECK: llvm.store {{.*}} : vector<8xi64>
// CHECK: } else {
// CHECK: %[[ANY:.*]] = "llvm.intr.vector.reduce.or"(%[[C]]) : (vector<8xi1>) -> i1
// CHECK: scf.if %[[ANY]] {
// CHECK: llvm.intr.masked.load
// CHECK: %[[SAFE:.*]] = llvm.select %[[C]], %{{.*}}, %{{.*}} : vector<8xi1>, vector<8xi64>
// CHECK: llvm.sdiv %{{.*}}, %[[SAFE]] : vector<8xi64>
// CHECK: llvm.intr.masked.store {{.*}}, %[[C]]
llvm.func @guard(%a: !llvm.ptr, %out: !llvm.ptr, %n: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %million = arith.constant 1000000 : i64
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i32
    %c = llvm.icmp "slt" %t, %n : i32
    scf.if %c {
      %i = llvm.sext %t : i32 to i64
      %p = llvm.getelementptr %a[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i64
      %v = llvm.load %p : !llvm.ptr -> i64
      %d = llvm.sdiv %million, %v : i64
      %d1 = llvm.add %d, %v : i64
      %d2 = llvm.mul %d1, %v : i64
      %o = llvm.getelementptr %out[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i64
      llvm.store %d2, %o : i64, !llvm.ptr
    }
    scf.reduce
  }
  llvm.return
}

// Of guards on a linear number and on others all must hold; where one number is not to be met, it is not among the lanes'.
// CHECK-LABEL: llvm.func @guards
// CHECK: %[[LAST:.*]] = arith.addi %[[T:.*]], %c7_i32 : i32
// CHECK: %[[BELOW:.*]] = arith.cmpi slt, %[[LAST]], %arg1 : i32
// CHECK: %[[BOTH:.*]] = arith.select %{{.*}}, %[[BELOW]], %{{.*}} : i1
// CHECK: scf.if %[[BOTH]] {
// CHECK: %[[DISTANCE:.*]] = arith.subi %arg1, %[[T]] : i32
// CHECK: %[[APART:.*]] = arith.cmpi ugt, %[[DISTANCE]], %c7_i32{{.*}} : i32
// CHECK: scf.if %[[APART]] {
// CHECK: llvm.store %{{.*}} : vector<8xf32>
// CHECK: } else {
// CHECK: llvm.intr.masked.store
llvm.func @guards(%out: !llvm.ptr, %n: i32, %m: i32, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i32
    %row = arith.index_cast %y : index to i32
    %inside = llvm.icmp "slt" %row, %m : i32
    %below = llvm.icmp "slt" %t, %n : i32
    %both = llvm.and %inside, %below : i1
    scf.if %both {
      %other = llvm.icmp "ne" %n, %t : i32
      scf.if %other {
        %i = llvm.sext %t : i32 to i64
        %o = llvm.getelementptr %out[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        llvm.store %v, %o : f32, !llvm.ptr
      }
    }
    scf.reduce
  }
  llvm.return
}

// A loop whose lanes begin one after the other runs without a mask while the last lane is within the bound.
// CHECK-LABEL: llvm.func @stride
// CHECK: %[[END:.*]] = llvm.intr.ssub.sat(%arg1, %{{.*}}) : (i32, i32) -> i32
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[END]] step
// CHECK: llvm.load %{{.*}} -> vector<8xf32>
// CHECK: scf.while
// CHECK: "llvm.intr.vector.reduce.or"
// CHECK: scf.condition
// CHECK: llvm.intr.masked.load
// CHECK: llvm.select
llvm.func @stride(%a: !llvm.ptr, %n: i32, %out: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %step = arith.constant 32 : i32
  %none = arith.constant 0.0 : f32
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i32
    %s = scf.for %i = %t to %n step %step iter_args(%sum = %none) -> f32 : i32 {
      %wide = llvm.sext %i : i32 to i64
      %p = llvm.getelementptr %a[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %v = llvm.load %p : !llvm.ptr -> f32
      %next = llvm.fadd %sum, %v : f32
      scf.yield %next : f32
    }
    %i = llvm.sext %t : i32 to i64
    %o = llvm.getelementptr %out[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %s, %o : f32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// Lanes leave a loop each in its own round, and keep what they had then.
// CHECK-LABEL: llvm.func @collatz
// CHECK: scf.while
// CHECK: %[[STAY:.*]] = llvm.select %{{.*}}, %{{.*}}, %{{.*}} : vector<8xi1>, vector<8xi1>
// CHECK: "llvm.intr.vector.reduce.or"(%[[STAY]])
// CHECK: llvm.store {{.*}} : vector<8xi32>
llvm.func @collatz(%out: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1 : i32
  %three = arith.constant 3 : i32
  %zero = arith.constant 0 : i32
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i32
    %first = llvm.add %t, %one : i32
    %r:2 = scf.while (%v = %first, %rounds = %zero) : (i32, i32) -> (i32, i32) {
      %go = llvm.icmp "sgt" %v, %one : i32
      scf.condition(%go) %v, %rounds : i32, i32
    } do {
    ^bb0(%v: i32, %rounds: i32):
      %bit = llvm.and %v, %one : i32
      %odd = llvm.icmp "eq" %bit, %one : i32
      %half = llvm.lshr %v, %one : i32
      %triple = llvm.mul %v, %three : i32
      %more = llvm.add %triple, %one : i32
      %next = llvm.select %odd, %more, %half : i1, i32
      %count = llvm.add %rounds, %one : i32
      scf.yield %next, %count : i32, i32
    }
    %i = llvm.sext %t : i32 to i64
    %o = llvm.getelementptr %out[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    llvm.store %r#1, %o : i32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// Lanes that begin with the same number leave one after the other: while all are in there is no mask, and then the number says who is left.
// CHECK-LABEL: llvm.func @triangle
// CHECK: %[[ALL:.*]]:2 = scf.for %{{.*}} to %[[LEAST:[^ ]*]] step {{.*}} -> (vector<8xf32>, i32)
// CHECK-NOT: select
// CHECK: scf.yield
// CHECK: %[[BOUNDS:.*]] = vector.broadcast %[[LEAST]]
// CHECK-NEXT: %[[BOUND:.*]] = arith.addi %[[BOUNDS]]
// CHECK: scf.while (%{{.*}} = %[[ALL]]#1, %{{.*}} = %[[ALL]]#0
// CHECK: %[[INSIDE:.*]] = arith.cmpi slt, %{{.*}}, %[[BOUND]] : vector<8xi32>
// CHECK-NEXT: %[[ANY:.*]] = "llvm.intr.vector.reduce.or"(%[[INSIDE]])
// CHECK-NEXT: scf.condition(%[[ANY]]) {{.*}}, %[[INSIDE]] :
// CHECK: llvm.return
llvm.func @triangle(%p: !llvm.ptr, %q: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %none = llvm.mlir.constant(0.0 : f32) : f32
    %own = llvm.sitofp %t : i32 to f32
    %r = scf.for %i = %zero to %t step %one iter_args(%s = %none) -> (f32) : i32 {
      %a = llvm.getelementptr %p[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      %v = llvm.load %a : !llvm.ptr -> f32
      %part = llvm.fmul %v, %own : f32
      %sum = llvm.fadd %s, %part : f32
      scf.yield %sum : f32
    }
    %u = llvm.sext %t : i32 to i64
    %o = llvm.getelementptr %q[%u] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %r, %o : f32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}
