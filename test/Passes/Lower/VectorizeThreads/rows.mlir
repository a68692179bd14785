// RUN: %regrain-opt %s --regrain-vectorize-threads="register-bits=256 cost-model=false" | FileCheck %s

// A serial loop stands inside of the row; what all threads have is a scalar, what counts up the lanes is one with a step.
// CHECK-LABEL: llvm.func @sums
// CHECK: scf.for %[[Z:.*]] =
// CHECK: scf.for %[[Y:.*]] =
// CHECK: scf.for %[[X:.*]] = %{{.*}} to %{{.*}} step %c8
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (vector<8xf32>)
// CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
// CHECK-NEXT: llvm.load %{{.*}} : !llvm.ptr -> f32
// CHECK: llvm.fmul %{{.*}}, %{{.*}} : vector<8xf32>
// CHECK: llvm.fadd %{{.*}}, %{{.*}} : vector<8xf32>
// CHECK: llvm.store %{{.*}} : vector<8xf32>, !llvm.ptr
// CHECK-NOT: scf.parallel
llvm.func @sums(%a: !llvm.ptr, %w: !llvm.ptr, %out: !llvm.ptr, %n: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %none = arith.constant 0.0 : f32
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i64
    %s = scf.for %k = %zero to %n step %one iter_args(%sum = %none) -> f32 : i64 {
      %row = llvm.mul %k, %n : i64
      %at = llvm.add %row, %t : i64
      %p = llvm.getelementptr %a[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %q = llvm.getelementptr %w[%k] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %v = llvm.load %p : !llvm.ptr -> f32
      %f = llvm.load %q : !llvm.ptr -> f32
      %m = llvm.fmul %v, %f : f32
      %next = llvm.fadd %sum, %m : f32
      scf.yield %next : f32
    }
    %o = llvm.getelementptr %out[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %s, %o : f32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// Threads that are in no whole row go on their own where their number is not known; a partial row that is known is masked.
// CHECK-LABEL: llvm.func @rest
// CHECK: %[[WHOLE:.*]] = arith.andi %{{.*}}, %c-8
// CHECK: scf.for {{.*}} to %[[WHOLE]] step %c8
// CHECK: llvm.store {{.*}} : vector<8xf32>
// CHECK: scf.parallel (%{{.*}}, %{{.*}}, %{{.*}}) = (%[[WHOLE]],
// CHECK: llvm.store {{.*}} : f32
// CHECK-LABEL: llvm.func @partial
// CHECK: llvm.store {{.*}} : vector<8xf32>
// CHECK: arith.constant dense<[true, true, false, false, false, false, false, false]> : vector<8xi1>
// CHECK: llvm.intr.masked.store {{.*}} : vector<8xf32>, vector<8xi1> into !llvm.ptr
// CHECK-NOT: scf.parallel
llvm.func @rest(%out: !llvm.ptr, %n: i64, %v: f32) {
  %width = arith.index_cast %n : i64 to index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%width, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i64
    %o = llvm.getelementptr %out[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %v, %o : f32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}
llvm.func @partial(%out: !llvm.ptr, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c18 = arith.constant 18 : index
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c18, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i64
    %o = llvm.getelementptr %out[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %v, %o : f32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// Rows of two threads do not pay: nothing changes.
// CHECK-LABEL: llvm.func @narrow
// CHECK: scf.parallel
// CHECK-NOT: vector<
llvm.func @narrow(%out: !llvm.ptr, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c2, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i64
    %o = llvm.getelementptr %out[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %v, %o : f32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}
