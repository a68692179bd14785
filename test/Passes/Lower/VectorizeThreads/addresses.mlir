// RUN: %regrain-opt %s --regrain-vectorize-threads="register-bits=256 cost-model=false" | FileCheck %s

// What lies evenly at a short distance is loaded with all that is between and permuted: no byte behind the last lane's. What lies
// further apart is gathered, what lies backwards is turned round.
// CHECK-LABEL: llvm.func @layouts
// CHECK: %[[A:.*]] = llvm.load %[[P:.*]] {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
// CHECK: %[[P8:.*]] = llvm.getelementptr %[[P]][32] : (!llvm.ptr) -> !llvm.ptr, i8
// CHECK: %[[B:.*]] = llvm.load %[[P8]]
// CHECK: %[[AB:.*]] = llvm.shufflevector %{{.*}}, %[[B]] [0, 1, 2, 9, 12, 15, 6, 7]
// CHECK: %[[P14:.*]] = llvm.getelementptr %[[P]][56] : (!llvm.ptr) -> !llvm.ptr, i8
// CHECK: %[[C:.*]] = llvm.load %[[P14]]
// CHECK: llvm.shufflevector %[[AB]], %[[C]] [0, 1, 2, 3, 4, 9, 12, 15]
// CHECK: %[[BACK:.*]] = llvm.load {{.*}} -> vector<8xf32>
// CHECK: llvm.shufflevector %[[BACK]], %[[BACK]] [7, 6, 5, 4, 3, 2, 1, 0]
// CHECK: llvm.intr.masked.scatter
llvm.func @layouts(%a: !llvm.ptr, %out: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %three = arith.constant 3 : i64
  %last = arith.constant 31 : i64
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i64
    %far = llvm.mul %t, %three : i64
    %back = llvm.sub %last, %t : i64
    %p = llvm.getelementptr %a[%far] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %q = llvm.getelementptr %a[%back] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v = llvm.load %p : !llvm.ptr -> f32
    %w = llvm.load %q : !llvm.ptr -> f32
    %s = llvm.fadd %v, %w : f32
    %o = llvm.getelementptr %out[%far] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %s, %o : f32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// A number of 32 bits may wrap along the row: that is asked before, and if so the threads go on their own.
// CHECK-LABEL: llvm.func @may_wrap
// CHECK: %[[FIRST:.*]] = arith.extsi %{{.*}} : i32 to i64
// CHECK: %[[LAST:.*]] = arith.extsi %{{.*}} : i32 to i64
// CHECK: arith.subi %[[LAST]], %[[FIRST]] : i64
// CHECK: %[[END:.*]] = arith.select
// CHECK: scf.for {{.*}} to %[[END]] step %c8
// CHECK: llvm.store {{.*}} : vector<8xf32>
// CHECK: scf.parallel (%{{.*}}, %{{.*}}, %{{.*}}) = (%[[END]],
// CHECK-LABEL: llvm.func @cannot_wrap
// CHECK-NOT: arith.select
// CHECK: llvm.store {{.*}} : vector<8xf32>
// CHECK-NOT: scf.parallel
llvm.func @may_wrap(%out: !llvm.ptr, %base: i32, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i32
    %i = llvm.add %base, %t : i32
    %wide = llvm.sext %i : i32 to i64
    %o = llvm.getelementptr %out[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %v, %o : f32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}
llvm.func @cannot_wrap(%out: !llvm.ptr, %block: i32, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %size = arith.constant 32 : i32
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i32
    %base = llvm.mul %block, %size : i32
    %i = llvm.add %base, %t : i32
    %wide = llvm.sext %i : i32 to i64
    %o = llvm.getelementptr %out[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %v, %o : f32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// A grid-stride loop counts if the step is positive and the bound plus the step does not wrap.
// CHECK-LABEL: llvm.func @grid_stride
// CHECK: arith.cmpi sgt, %arg3, %{{.*}} : i32
// CHECK: arith.cmpi sle, %arg2, %{{.*}} : i32
// CHECK: scf.for
// CHECK: llvm.store {{.*}} : vector<8xf32>
// CHECK: scf.parallel
// CHECK: scf.while
llvm.func @grid_stride(%out: !llvm.ptr, %v: f32, %n: i32, %step: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i32
    %e = scf.while (%i = %t) : (i32) -> i32 {
      %c = llvm.icmp "slt" %i, %n : i32
      scf.condition(%c) %i : i32
    } do {
    ^bb0(%i: i32):
      %wide = llvm.sext %i : i32 to i64
      %o = llvm.getelementptr %out[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      llvm.store %v, %o : f32, !llvm.ptr
      %next = llvm.add %i, %step : i32
      scf.yield %next : i32
    }
    scf.reduce
  }
  llvm.return
}

// A limit is taken not to be met along the row; where it is, the row gathers.
// CHECK-LABEL: llvm.func @clamped
// CHECK: %[[FIRST:.*]] = arith.minsi
// CHECK: %[[A:.*]] = arith.extsi %[[FIRST]]
// CHECK: %[[LAST:.*]] = arith.minsi
// CHECK: %[[B:.*]] = arith.extsi %[[LAST]]
// CHECK: arith.subi %[[B]], %[[A]]
// CHECK: %[[END:.*]] = arith.select
// CHECK: scf.for {{.*}} to %[[END]] step %c8
// CHECK: llvm.load {{.*}} -> vector<8xf32>
// CHECK: scf.for {{.*}} = %[[END]] to
// CHECK: llvm.intr.masked.gather
llvm.func @clamped(%a: !llvm.ptr, %out: !llvm.ptr, %n: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i32
    %i = arith.minsi %t, %n : i32
    %wide = llvm.sext %i : i32 to i64
    %p = llvm.getelementptr %a[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v = llvm.load %p : !llvm.ptr -> f32
    %to = llvm.sext %t : i32 to i64
    %o = llvm.getelementptr %out[%to] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %v, %o : f32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// A number is not negative in the lanes that take part. The first lane's is, and the others' are counted from it.
// CHECK-LABEL: llvm.func @not_negative_where_used
// CHECK-NOT: zext nneg
// CHECK: %[[WIDE:.*]] = llvm.sext %{{.*}} : i32 to i64
// CHECK-NOT: zext nneg
// CHECK: llvm.return
llvm.func @not_negative_where_used(%p: !llvm.ptr, %q: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  %two = arith.constant 2 : i32
  %zero = arith.constant 0 : i32
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%n, %c1, %c1) step (%c1, %c1, %c1) {
    %i = arith.index_cast %x : index to i32
    %j = llvm.sub %i, %two overflow<nsw> : i32
    %c = llvm.icmp "sge" %j, %zero : i32
    scf.if %c {
      %k = llvm.zext nneg %j : i32 to i64
      %a = llvm.getelementptr %p[%k] : (!llvm.ptr, i64) -> !llvm.ptr, i32
      %b = llvm.getelementptr %q[%i] : (!llvm.ptr, i32) -> !llvm.ptr, i32
      %v = llvm.load %a : !llvm.ptr -> i32
      llvm.store %v, %b : i32, !llvm.ptr
    }
    scf.reduce
  }
  llvm.return
}
