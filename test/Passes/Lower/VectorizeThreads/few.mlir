// RUN: %regrain-opt %s --regrain-vectorize-threads="register-bits=256 cost-model=false" | FileCheck %s
// RUN: %regrain-opt %s --regrain-vectorize-threads="register-bits=512 cost-model=false" | FileCheck %s --check-prefix=MASKS

// A quarter of the lanes is gone through without a branch; more of them go as vectors do.
// CHECK-LABEL: llvm.func @few
// CHECK: %[[SLOTS:.*]] = llvm.alloca %c8_i64{{.*}} x i32
// CHECK: %[[ASIDES:.*]] = llvm.alloca %c8_i64{{.*}} x i32
// CHECK: %[[BITS:.*]] = llvm.bitcast %{{.*}} : vector<8xi1> to i8
// CHECK: %[[COUNT:.*]] = llvm.intr.ctpop(%[[BITS]])
// CHECK: %[[FEW:.*]] = arith.cmpi ule, %[[COUNT]], %c2_i8
// CHECK: scf.if %[[FEW]] {
// CHECK-NOT: reduce.or
// CHECK: scf.for %{{.*}} = %c0_i32{{.*}} to %c2_i32{{.*}} step %c1_i32{{.*}} iter_args(%[[REST:.*]] = %[[BITS]])
// CHECK: %[[LIVE:.*]] = arith.cmpi ne, %[[REST]], %c0_i8
// CHECK: %[[SOME:.*]] = arith.ori %[[REST]], %c-128_i8
// CHECK: "llvm.intr.cttz"(%[[SOME]])
// CHECK: %[[LANE:.*]] = arith.extui
// CHECK: llvm.getelementptr %[[SLOTS]][%[[LANE]]]
// CHECK: %[[ASIDE:.*]] = llvm.getelementptr %[[ASIDES]][%[[LANE]]]
// CHECK: %[[TO:.*]] = llvm.select %[[LIVE]], %{{.*}}, %[[ASIDE]] : i1, !llvm.ptr
// CHECK: llvm.store %{{.*}}, %[[TO]] {alignment = 4 : i64} : i32, !llvm.ptr
// CHECK: llvm.select %[[LIVE]]
// CHECK: llvm.store
// CHECK: arith.andi %[[REST]]
// CHECK: scf.yield
// CHECK: } else {
// CHECK: llvm.intr.vector.reduce.or
// CHECK: llvm.intr.masked.scatter
// CHECK: llvm.intr.masked.scatter
// CHECK: llvm.return
// MASKS-LABEL: llvm.func @few
// MASKS-NOT: ctpop
// MASKS: llvm.return
llvm.func @few(%p: !llvm.ptr, %q: !llvm.ptr, %r: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  %zero = llvm.mlir.constant(0 : i32) : i32
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%n, %c1, %c1) step (%c1, %c1, %c1) {
    %i = arith.index_cast %x : index to i64
    %b = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %v = llvm.load %b : !llvm.ptr -> i32
    %some = llvm.icmp "sgt" %v, %zero : i32
    scf.if %some {
      %to = llvm.getelementptr %q[%v] : (!llvm.ptr, i32) -> !llvm.ptr, i32
      llvm.store %v, %to : i32, !llvm.ptr
      %other = llvm.getelementptr %r[%v] : (!llvm.ptr, i32) -> !llvm.ptr, i32
      llvm.store %v, %other : i32, !llvm.ptr
    }
    scf.reduce
  }
  llvm.return
}

// What a lane loads on its way is loaded aside too.
// CHECK-LABEL: llvm.func @loads
// CHECK: scf.for
// CHECK: %[[FROM:.*]] = llvm.select %[[LIVE:.*]], %{{.*}}, %{{.*}} : i1, !llvm.ptr
// CHECK: %[[LOADED:.*]] = llvm.load %[[FROM]] {alignment = 4 : i64} : !llvm.ptr -> i32
// CHECK: %[[TO:.*]] = llvm.select %[[LIVE]]
// CHECK: llvm.store %[[LOADED]], %[[TO]]
// CHECK: scf.yield
// CHECK: } else {
// CHECK: llvm.return
llvm.func @loads(%p: !llvm.ptr, %q: !llvm.ptr, %r: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  %zero = llvm.mlir.constant(0 : i32) : i32
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%n, %c1, %c1) step (%c1, %c1, %c1) {
    %i = arith.index_cast %x : index to i64
    %b = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %v = llvm.load %b : !llvm.ptr -> i32
    %some = llvm.icmp "sgt" %v, %zero : i32
    scf.if %some {
      %from = llvm.getelementptr %q[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
      %w = llvm.load %from invariant : !llvm.ptr -> i32
      %to = llvm.getelementptr %r[%v] : (!llvm.ptr, i32) -> !llvm.ptr, i32
      llvm.store %w, %to : i32, !llvm.ptr
    }
    scf.reduce
  }
  llvm.return
}

// A division may trap, what a branch gives is a vector, lanes side by side go as one, and others may see in which order what is volatile comes.
// CHECK-LABEL: llvm.func @do_not_go_one_by_one
// CHECK-NOT: ctpop
// CHECK: llvm.return
llvm.func @do_not_go_one_by_one(%p: !llvm.ptr, %q: !llvm.ptr, %r: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  %zero = llvm.mlir.constant(0 : i32) : i32
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%n, %c1, %c1) step (%c1, %c1, %c1) {
    %i = arith.index_cast %x : index to i64
    %b = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %v = llvm.load %b : !llvm.ptr -> i32
    %some = llvm.icmp "sgt" %v, %zero : i32
    scf.if %some {
      %d = llvm.sdiv %zero, %v : i32
      %to = llvm.getelementptr %q[%v] : (!llvm.ptr, i32) -> !llvm.ptr, i32
      llvm.store %d, %to : i32, !llvm.ptr
    }
    %w = scf.if %some -> i32 {
      %to = llvm.getelementptr %q[%v] : (!llvm.ptr, i32) -> !llvm.ptr, i32
      llvm.store %v, %to : i32, !llvm.ptr
      scf.yield %v : i32
    } else {
      scf.yield %zero : i32
    }
    scf.if %some {
      %to = llvm.getelementptr %r[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
      llvm.store %w, %to : i32, !llvm.ptr
    }
    scf.if %some {
      %to = llvm.getelementptr %r[%v] : (!llvm.ptr, i32) -> !llvm.ptr, i32
      llvm.store volatile %v, %to : i32, !llvm.ptr
    }
    scf.reduce
  }
  llvm.return
}
