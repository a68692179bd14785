// RUN: %regrain-opt %s -verify-diagnostics --regrain-vectorize-threads="register-bits=256 cost-model=false" | FileCheck %s

// What has no form on vectors runs for one lane after the other, through memory at the start of the function; updates of one place
// by integers are summed up first.
// CHECK-LABEL: llvm.func @atomics
// CHECK: llvm.alloca %{{.*}} x !llvm.ptr
// CHECK: %[[SUM:.*]] = "llvm.intr.vector.reduce.add"(%{{.*}}) : (vector<8xi32>) -> i32
// CHECK-NEXT: llvm.atomicrmw add %arg1, %[[SUM]]
// CHECK: llvm.store %{{.*}} : vector<8x!llvm.ptr>, !llvm.ptr
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} : i32 {
// CHECK: llvm.atomicrmw fadd {{.*}} f32
llvm.func @atomics(%a: !llvm.ptr, %total: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i64
    %p = llvm.getelementptr %a[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %v = llvm.load %p : !llvm.ptr -> i32
    %old = llvm.atomicrmw add %total, %v monotonic : !llvm.ptr, i32
    %bin = llvm.getelementptr %total[%v] : (!llvm.ptr, i32) -> !llvm.ptr, f32
    %before = llvm.atomicrmw fadd %bin, %one monotonic : !llvm.ptr, f32
    scf.reduce
  }
  llvm.return
}

// In memory of the block alone lanes that take no part add aside, each to a cell of its own, if nobody asks what was there.
// CHECK-LABEL: llvm.func @aside
// CHECK: %[[CELLS:.*]] = llvm.alloca %{{.*}} x f32
// CHECK: llvm.getelementptr %[[CELLS]][%{{.*}}] : (!llvm.ptr, vector<8xi64>)
// CHECK: llvm.select %{{.*}}, %{{.*}}, %{{.*}} : vector<8xi1>, vector<8x!llvm.ptr>
// CHECK-NOT: scf.while
// CHECK: scf.for %{{.*}} : i32 {
// CHECK: llvm.atomicrmw fadd {{.*}} syncscope("singlethread")
// CHECK: llvm.return
llvm.func @aside(%a: !llvm.ptr, %total: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  %zero = llvm.mlir.constant(0 : i32) : i32
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i64
    %p = llvm.getelementptr %a[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %v = llvm.load %p : !llvm.ptr -> i32
    %some = llvm.icmp "sgt" %v, %zero : i32
    scf.if %some {
      %bin = llvm.getelementptr %total[%v] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      %before = llvm.atomicrmw fadd %bin, %one syncscope("singlethread") monotonic : !llvm.ptr, f32
    }
    scf.reduce
  }
  llvm.return
}

// Others see memory of the device, and what was there is a result: the lanes that take part alone.
// CHECK-LABEL: llvm.func @do_not_add_aside
// CHECK: scf.while
// CHECK: llvm.atomicrmw fadd
// CHECK: scf.while
// CHECK: llvm.atomicrmw fadd {{.*}} syncscope("singlethread")
// CHECK: llvm.return
llvm.func @do_not_add_aside(%a: !llvm.ptr, %total: !llvm.ptr, %o: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  %zero = llvm.mlir.constant(0 : i32) : i32
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i64
    %p = llvm.getelementptr %a[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %v = llvm.load %p : !llvm.ptr -> i32
    %some = llvm.icmp "sgt" %v, %zero : i32
    scf.if %some {
      %bin = llvm.getelementptr %total[%v] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      %first = llvm.atomicrmw fadd %bin, %one monotonic : !llvm.ptr, f32
      %before = llvm.atomicrmw fadd %bin, %one syncscope("singlethread") monotonic : !llvm.ptr, f32
      %q = llvm.getelementptr %o[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      llvm.store %before, %q : f32, !llvm.ptr
    }
    scf.reduce
  }
  llvm.return
}

// Mathematical functions have vector forms with the same bits.
// CHECK-LABEL: llvm.func @functions
// CHECK: llvm.call @_ZGV_LLVM_N8v___nv_expf(%{{.*}}) : (vector<8xf32>) -> vector<8xf32>
llvm.func @__nv_expf(f32) -> f32
llvm.func @functions(%a: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i64
    %p = llvm.getelementptr %a[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v = llvm.load %p : !llvm.ptr -> f32
    %e = llvm.call @__nv_expf(%v) : (f32) -> f32
    llvm.store %e, %p : f32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// Memory that threads use one after the other has room for each lane, element beside element.
// CHECK-LABEL: llvm.func @arrays
// CHECK: llvm.alloca %{{.*}} x !llvm.array<8 x f32> {alignment = 64 : i64, regrain.reused} : (i64) -> !llvm.ptr
// CHECK: llvm.store %{{.*}} : vector<8xf32>, !llvm.ptr
// CHECK-NOT: scatter
llvm.func @arrays(%a: !llvm.ptr, %k: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %n = arith.constant 1 : i64
  %m = llvm.alloca %n x !llvm.array<8 x f32> {alignment = 64 : i64, regrain.reused} : (i64) -> !llvm.ptr
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i64
    %p = llvm.getelementptr %a[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v = llvm.load %p : !llvm.ptr -> f32
    %s = llvm.getelementptr %m[0, %k] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<8 x f32>
    llvm.store %v, %s : f32, !llvm.ptr
    %w = llvm.load %s : !llvm.ptr -> f32
    llvm.store %w, %p : f32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// Control flow that is not structured has no form for rows.
// CHECK-LABEL: llvm.func @unstructured
// CHECK: scf.parallel
// CHECK-NEXT: scf.execute_region
llvm.func @unstructured(%a: !llvm.ptr, %v: f32, %c: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  // expected-remark@+1 {{its threads run one by one: it holds scf.execute_region, which has no form for rows}}
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
    // expected-note @below {{it stands here}}
    scf.execute_region {
      cf.cond_br %c, ^bb1, ^bb2
    ^bb1:
      llvm.store %v, %a : f32, !llvm.ptr
      cf.br ^bb2
    ^bb2:
      scf.yield
    }
    scf.reduce
  }
  llvm.return
}
