// RUN: %regrain-opt %s --regrain-unroll-and-interleave='factor=2' | FileCheck %s

// A loop with the same trip count for all copies is shared.
// CHECK-LABEL: func.func @constant_trip_count
// CHECK: scf.parallel
// CHECK: scf.for %[[J:.*]] = %{{.*}} to %{{.*}} step
// CHECK: %[[V0:.*]] = arith.addi %{{.*}}, %[[J]]
// CHECK: %[[V1:.*]] = arith.addi %{{.*}}, %[[J]]
// CHECK: %[[S0:.*]] = arith.index_cast %[[V0]]
// CHECK: %[[S1:.*]] = arith.index_cast %[[V1]]
// CHECK: llvm.store %[[S0]], %[[A:.*]] :
// CHECK-NEXT: llvm.store %[[S1]], %[[A]] :
// CHECK: llvm.store %{{.*}}, %[[B:.*]] :
// CHECK-NEXT: llvm.store %{{.*}}, %[[B]] :
// CHECK-NOT: scf.for
func.func @constant_trip_count(%a: !llvm.ptr, %b: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  scf.parallel (%i) = (%c0) to (%c16) step (%c1) {
    scf.for %j = %c0 to %c32 step %c1 {
      %v = arith.addi %i, %j : index
      %s1 = arith.index_cast %v : index to i64
      llvm.store %s1, %a : i64, !llvm.ptr
      %s2 = arith.index_cast %v : index to i64
      llvm.store %s2, %b : i64, !llvm.ptr
    }
    scf.reduce
  }
  func.return
}

// What the loop carries is carried for each copy; what all copies agree on, once.
// CHECK-LABEL: func.func @carried
// CHECK: %[[R:.*]]:3 = scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (i32, i32, i32)
// CHECK: scf.yield %{{.*}}, %{{.*}}, %{{.*}} : i32, i32, i32
// CHECK: llvm.store %[[R]]#0,
// CHECK-NEXT: llvm.store %[[R]]#1,
// CHECK-NEXT: llvm.store %[[R]]#2,
// CHECK-NEXT: llvm.store %[[R]]#2,
func.func @carried(%a: !llvm.ptr, %n: index, %one: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  scf.parallel (%i) = (%c0) to (%c16) step (%c1) {
    %t = arith.index_cast %i : index to i32
    %r:2 = scf.for %j = %c0 to %n step %c1 iter_args(%own = %t, %all = %one) -> (i32, i32) {
      %o = arith.addi %own, %all : i32
      %d = arith.muli %all, %one : i32
      scf.yield %o, %d : i32, i32
    }
    llvm.store %r#0, %a : i32, !llvm.ptr
    llvm.store %r#1, %a : i32, !llvm.ptr
    scf.reduce
  }
  func.return
}

// Loops are shared at any depth, and so is a nested parallel loop.
// CHECK-LABEL: func.func @nested
// CHECK: scf.parallel
// CHECK: scf.parallel (%[[J:.*]]) =
// CHECK: scf.while (%{{.*}} = %{{.*}}) : (i32) -> i32
// CHECK: scf.condition
// CHECK: llvm.store
// CHECK-NEXT: llvm.store
// CHECK: scf.yield
// CHECK-NOT: scf.while
func.func @nested(%a: !llvm.ptr, %n: index, %m: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  scf.parallel (%i) = (%c0) to (%c16) step (%c1) {
    scf.parallel (%j) = (%c0) to (%n) step (%c1) {
      %r = scf.while (%x = %m) : (i32) -> i32 {
        %more = arith.cmpi sgt, %x, %m : i32
        scf.condition(%more) %x : i32
      } do {
      ^bb0(%y: i32):
        %v = arith.addi %i, %j : index
        %s3 = arith.index_cast %v : index to i64
        llvm.store %s3, %a : i64, !llvm.ptr
        %less = arith.subi %y, %m : i32
        scf.yield %less : i32
      }
      scf.reduce
    }
    scf.reduce
  }
  func.return
}

// So are branches, with their results.
// CHECK-LABEL: func.func @branches
// CHECK: %[[R:.*]]:2 = scf.if %{{.*}} -> (i32, i32)
// CHECK: scf.yield %{{.*}}, %{{.*}} : i32, i32
// CHECK: else
// CHECK: scf.yield %{{.*}}, %{{.*}} : i32, i32
// CHECK: %[[S:.*]]:2 = scf.index_switch %{{.*}} -> i32, i32
// CHECK: case 3
// CHECK: default
// CHECK: llvm.store %[[R]]#0
// CHECK-NEXT: llvm.store %[[R]]#1
// CHECK-NEXT: llvm.store %[[S]]#0
// CHECK-NEXT: llvm.store %[[S]]#1
func.func @branches(%a: !llvm.ptr, %c: i1, %n: index, %zero: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  scf.parallel (%i) = (%c0) to (%c16) step (%c1) {
    %t = arith.index_cast %i : index to i32
    %r = scf.if %c -> i32 {
      scf.yield %t : i32
    } else {
      scf.yield %zero : i32
    }
    %s = scf.index_switch %n -> i32
    case 3 {
      scf.yield %t : i32
    }
    default {
      scf.yield %zero : i32
    }
    llvm.store %r, %a : i32, !llvm.ptr
    llvm.store %s, %a : i32, !llvm.ptr
    scf.reduce
  }
  func.return
}
