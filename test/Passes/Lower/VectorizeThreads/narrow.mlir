// RUN: %regrain-opt %s --regrain-vectorize-threads="register-bits=512 cost-model=false" | FileCheck %s

// Letters are compared as such, though C makes them wider: with one that all threads have, and with a constant, which is as narrow.
// CHECK-LABEL: llvm.func @letters
// CHECK: %[[A:.*]] = llvm.load {{.*}} -> vector<16xi8>
// CHECK: %[[B:.*]] = llvm.load %{{.*}} -> i8
// CHECK: %[[BS:.*]] = vector.broadcast %[[B]] : i8 to vector<16xi8>
// CHECK: llvm.icmp "eq" %[[A]], %[[BS]] : vector<16xi8>
// CHECK: %[[C:.*]] = arith.constant -56 : i8
// CHECK: %[[CS:.*]] = vector.broadcast %[[C]] : i8 to vector<16xi8>
// CHECK: llvm.icmp "ugt" %[[A]], %[[CS]] : vector<16xi8>
// A signed order of numbers without a sign is another one, and a large constant is none of them.
// CHECK: llvm.icmp "slt" {{.*}} : vector<16xi32>
// CHECK: llvm.icmp "ult" {{.*}} : vector<16xi32>
llvm.func @letters(%a: !llvm.ptr, %b: !llvm.ptr, %out: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c200 = arith.constant 200 : i32
  %c300 = arith.constant 300 : i32
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c16, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i64
    %p = llvm.getelementptr %a[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %v = llvm.load %p : !llvm.ptr -> i8
    %u = llvm.load %b : !llvm.ptr -> i8
    %vs = llvm.sext %v : i8 to i32
    %us = llvm.sext %u : i8 to i32
    %eq = llvm.icmp "eq" %vs, %us : i32
    %vz = llvm.zext %v : i8 to i32
    %gt = llvm.icmp "ugt" %vz, %c200 : i32
    %lt = llvm.icmp "slt" %vz, %c200 : i32
    %lu = llvm.icmp "ult" %vz, %c300 : i32
    %m = llvm.and %eq, %gt : i1
    %n = llvm.and %lt, %lu : i1
    %all = llvm.xor %m, %n : i1
    %s = llvm.zext %all : i1 to i8
    %o = llvm.getelementptr %out[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    llvm.store %s, %o : i8, !llvm.ptr
    scf.reduce
  }
  llvm.return
}
