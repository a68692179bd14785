// RUN: %regrain-opt %s -verify-diagnostics --regrain-vectorize-threads="register-bits=512" | FileCheck %s
// RUN: %regrain-opt %s --regrain-vectorize-threads="register-bits=512 cost-model=false" | FileCheck %s --check-prefix=ALWAYS

// Each lane goes its own number of rounds, and all it does is gather: the threads stay apart.
// CHECK-LABEL: llvm.func @own_ways
// CHECK: scf.parallel
// CHECK-NOT: vector<
// CHECK-LABEL: llvm.func @common_way
// ALWAYS-LABEL: llvm.func @own_ways
// ALWAYS: llvm.intr.masked.gather
// ALWAYS-LABEL: llvm.func @common_way
llvm.func @own_ways(%from: !llvm.ptr, %a: !llvm.ptr, %out: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  // expected-remark-re @below {{its threads run one by one: a row would cost {{[0-9]+}} slots, its threads one by one {{[0-9]+}}}}
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i64
    %p = llvm.getelementptr %from[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %q = llvm.getelementptr %p[1] : (!llvm.ptr) -> !llvm.ptr, i32
    %first = llvm.load %p : !llvm.ptr -> i32
    %last = llvm.load %q : !llvm.ptr -> i32
    %sum = scf.for %k = %first to %last step %one iter_args(%s = %zero) -> f32 : i32 {
      %w = llvm.sext %k : i32 to i64
      %e = llvm.getelementptr %a[%w] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %v = llvm.load %e : !llvm.ptr -> f32
      %f = llvm.getelementptr %e[%w] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %u = llvm.load %f : !llvm.ptr -> f32
      %m = llvm.fmul %u, %v : f32
      %n = llvm.fadd %s, %m : f32
      scf.yield %n : f32
    }
    %o = llvm.getelementptr %out[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %sum, %o : f32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// The same sum of what lies side by side, in as many rounds: rows of two registers, as each round waits for the sum of the one before.
// CHECK: llvm.load {{.*}} -> vector<32xf32>
// CHECK: llvm.fadd {{.*}} : vector<32xf32>
llvm.func @common_way(%a: !llvm.ptr, %out: !llvm.ptr, %n: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %none = arith.constant 0.0 : f32
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i64
    %p = llvm.getelementptr %a[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %sum = scf.for %k = %zero to %n step %one iter_args(%s = %none) -> f32 : i32 {
      %e = llvm.getelementptr %p[%k] : (!llvm.ptr, i32) -> !llvm.ptr, !llvm.array<64 x f32>
      %v = llvm.load %e : !llvm.ptr -> f32
      %m = llvm.fadd %s, %v : f32
      scf.yield %m : f32
    }
    %o = llvm.getelementptr %out[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %sum, %o : f32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}
