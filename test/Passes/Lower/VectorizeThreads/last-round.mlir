// RUN: %regrain-opt %s --regrain-vectorize-threads="register-bits=256" | FileCheck %s

// Behind the rounds that all lanes make there is at most one of some, which goes by gathers: these lanes go one by one, with the sum in memory.
// CHECK-LABEL: llvm.func @gathered
// CHECK: %[[SUM:.*]]:2 = scf.for
// CHECK: llvm.intr.masked.gather
// CHECK: %[[MORE:.*]] = arith.cmpi slt, %[[SUM]]#1, %[[N:[^ ]*]]
// CHECK: scf.if %[[MORE]]
// CHECK: llvm.store %[[SUM]]#0, %[[SLOT:[^ ]*]] {{.*}} : vector<16xf32>
// CHECK: scf.for %{{.*}} = %[[SUM]]#1 to %[[N]] step %{{.*}} iter_args
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> f32
// CHECK: llvm.fadd {{.*}} : f32
// CHECK: llvm.load %[[SLOT]] {{.*}} -> vector<16xf32>
// CHECK-NOT: vector.reduce
// CHECK: llvm.return
llvm.func @gathered(%p: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i32
    %first = llvm.load %p : !llvm.ptr -> i32
    %last = llvm.getelementptr %p[1] : (!llvm.ptr) -> !llvm.ptr, i32
    %n = llvm.load %last : !llvm.ptr -> i32
    %low = llvm.add %first, %t overflow<nsw> : i32
    %step = llvm.mlir.constant(32 : i32) : i32
    %zero = llvm.mlir.constant(0.0 : f32) : f32
    %r = scf.for %q = %low to %n step %step iter_args(%s = %zero) -> (f32) : i32 {
      %w = llvm.sext %q : i32 to i64
      %ca = llvm.getelementptr %p[%w] : (!llvm.ptr, i64) -> !llvm.ptr, i32
      %c = llvm.load %ca : !llvm.ptr -> i32
      %cw = llvm.sext %c : i32 to i64
      %a = llvm.getelementptr %p[%cw] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %v = llvm.load %a : !llvm.ptr -> f32
      %sum = llvm.fadd %s, %v : f32
      scf.yield %sum : f32
    }
    %u = llvm.sext %t : i32 to i64
    %o = llvm.getelementptr %p[%u] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %r, %o : f32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// A round without gathers is cheaper for all lanes together.
// CHECK-LABEL: llvm.func @do_not_part
// CHECK: scf.while
// CHECK: llvm.intr.masked.load
// CHECK: llvm.return
llvm.func @do_not_part(%p: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i32
    %first = llvm.load %p : !llvm.ptr -> i32
    %last = llvm.getelementptr %p[1] : (!llvm.ptr) -> !llvm.ptr, i32
    %n = llvm.load %last : !llvm.ptr -> i32
    %low = llvm.add %first, %t overflow<nsw> : i32
    %step = llvm.mlir.constant(32 : i32) : i32
    %zero = llvm.mlir.constant(0.0 : f32) : f32
    %r = scf.for %q = %low to %n step %step iter_args(%s = %zero) -> (f32) : i32 {
      %w = llvm.sext %q : i32 to i64
      %ca = llvm.getelementptr %p[%w] : (!llvm.ptr, i64) -> !llvm.ptr, i32
      %c = llvm.load %ca : !llvm.ptr -> i32
      %v = llvm.sitofp %c : i32 to f32
      %sum = llvm.fadd %s, %v : f32
      scf.yield %sum : f32
    }
    %u = llvm.sext %t : i32 to i64
    %o = llvm.getelementptr %p[%u] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %r, %o : f32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// Lanes may make several rounds more where the step is less than a row, or not known.
// CHECK-LABEL: llvm.func @do_not_count_once
// CHECK: scf.while
// CHECK: llvm.intr.masked.gather
// CHECK: llvm.return
llvm.func @do_not_count_once(%p: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i32
    %first = llvm.load %p : !llvm.ptr -> i32
    %last = llvm.getelementptr %p[1] : (!llvm.ptr) -> !llvm.ptr, i32
    %n = llvm.load %last : !llvm.ptr -> i32
    %low = llvm.add %first, %t overflow<nsw> : i32
    %step = llvm.mlir.constant(4 : i32) : i32
    %zero = llvm.mlir.constant(0.0 : f32) : f32
    %r = scf.for %q = %low to %n step %step iter_args(%s = %zero) -> (f32) : i32 {
      %w = llvm.sext %q : i32 to i64
      %ca = llvm.getelementptr %p[%w] : (!llvm.ptr, i64) -> !llvm.ptr, i32
      %c = llvm.load %ca : !llvm.ptr -> i32
      %cw = llvm.sext %c : i32 to i64
      %a = llvm.getelementptr %p[%cw] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %v = llvm.load %a : !llvm.ptr -> f32
      %sum = llvm.fadd %s, %v : f32
      scf.yield %sum : f32
    }
    %u = llvm.sext %t : i32 to i64
    %o = llvm.getelementptr %p[%u] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %r, %o : f32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}
