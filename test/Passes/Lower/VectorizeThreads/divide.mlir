// RUN: %regrain-opt %s --regrain-vectorize-threads="register-bits=512" | FileCheck %s

// Each lane has a divisor of its own: doubles hold all numbers of 32 bits, and nothing traps.
// CHECK-LABEL: llvm.func @own
// CHECK: %[[A:.*]] = llvm.load {{.*}} -> vector<16xi32>
// CHECK: %[[B:.*]] = llvm.load {{.*}} -> vector<16xi32>
// CHECK-DAG: %[[X:.*]] = llvm.sitofp %[[A]] : vector<16xi32> to vector<16xf64>
// CHECK-DAG: %[[Y:.*]] = llvm.sitofp %[[B]] : vector<16xi32> to vector<16xf64>
// CHECK: %[[Q:.*]] = llvm.fdiv %[[X]], %[[Y]] : vector<16xf64>
// CHECK: %[[I:.*]] = llvm.fptosi %[[Q]] : vector<16xf64> to vector<16xi32>
// CHECK: %[[M:.*]] = llvm.mul %[[I]], %[[B]]
// CHECK: llvm.sub %[[A]], %[[M]]
llvm.func @own(%a: !llvm.ptr, %b: !llvm.ptr, %out: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i64
    %p = llvm.getelementptr %a[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %q = llvm.getelementptr %b[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %v = llvm.load %p : !llvm.ptr -> i32
    %w = llvm.load %q : !llvm.ptr -> i32
    %d = llvm.srem %v, %w : i32
    %o = llvm.getelementptr %out[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    llvm.store %d, %o : i32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// By a number that all lanes have: its reciprocal, and a half more than the number, so that rounding crosses no integer.
// CHECK-LABEL: llvm.func @common
// CHECK: %[[A:.*]] = llvm.load {{.*}} -> vector<16xi32>
// CHECK: %[[X:.*]] = llvm.uitofp %[[A]] : vector<16xi32> to vector<16xf64>
// CHECK: %[[B:.*]] = llvm.uitofp %{{.*}} : i32 to f64
// CHECK: %[[R:.*]] = llvm.fdiv %{{.*}}, %[[B]] : f64
// CHECK: %[[F:.*]] = vector.broadcast %[[R]] : f64 to vector<16xf64>
// CHECK: %[[H:.*]] = llvm.fadd %[[X]], %{{.*}} : vector<16xf64>
// CHECK: %[[Q:.*]] = llvm.fmul %[[H]], %[[F]] : vector<16xf64>
// CHECK: llvm.fptoui %[[Q]] : vector<16xf64> to vector<16xi32>
llvm.func @common(%a: !llvm.ptr, %out: !llvm.ptr, %by: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i64
    %p = llvm.getelementptr %a[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %v = llvm.load %p : !llvm.ptr -> i32
    %d = llvm.udiv %v, %by : i32
    %o = llvm.getelementptr %out[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    llvm.store %d, %o : i32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// Small numbers need single precision only, of either sign a half towards their own.
// CHECK-LABEL: llvm.func @small
// CHECK: %[[A:.*]] = llvm.load {{.*}} -> vector<[[LANES:[0-9]+]]xi16>
// CHECK: %[[X:.*]] = llvm.sitofp %[[A]] : vector<[[LANES]]xi16> to vector<[[LANES]]xf32>
// CHECK: %[[H:.*]] = llvm.intr.copysign(%{{.*}}, %[[X]]) : (vector<[[LANES]]xf32>, vector<[[LANES]]xf32>) -> vector<[[LANES]]xf32>
// CHECK: llvm.fadd %[[X]], %[[H]] : vector<[[LANES]]xf32>
// CHECK: llvm.fptosi %{{.*}} : vector<[[LANES]]xf32> to vector<[[LANES]]xi16>
llvm.func @small(%a: !llvm.ptr, %out: !llvm.ptr, %by: i16) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i64
    %p = llvm.getelementptr %a[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i16
    %v = llvm.load %p : !llvm.ptr -> i16
    %d = llvm.sdiv %v, %by : i16
    %o = llvm.getelementptr %out[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i16
    llvm.store %d, %o : i16, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// Wide numbers are asked for their size; constants are left to LLVM.
// CHECK-LABEL: llvm.func @wide
// CHECK: %[[A:.*]] = llvm.load {{.*}} -> vector<[[LANES:[0-9]+]]xi64>
// CHECK: %[[M:.*]] = llvm.add %[[A]], %{{.*}} : vector<[[LANES]]xi64>
// CHECK: %[[C:.*]] = arith.cmpi ult, %[[M]], %{{.*}} : vector<[[LANES]]xi64>
// CHECK: "llvm.intr.vector.reduce.and"(%[[C]])
// CHECK: arith.cmpi ult, %{{.*}}, %{{.*}} : i64
// CHECK: scf.if %{{.*}} -> (vector<[[LANES]]xi32>) {
// CHECK: llvm.fdiv %{{.*}}, %{{.*}} : f64
// CHECK: llvm.fmul %{{.*}}, %{{.*}} : vector<[[LANES]]xf64>
// CHECK: llvm.intr.trunc
// CHECK: %[[LOW:.*]] = llvm.trunc %{{.*}} : vector<[[LANES]]xi64> to vector<[[LANES]]xi32>
// CHECK: scf.yield %[[LOW]]
// CHECK: } else {
// CHECK: llvm.sdiv %[[A]], %{{.*}} : vector<[[LANES]]xi64>
// CHECK: llvm.sdiv %{{.*}}, %{{.*}} : vector<[[LANES]]xi32>
llvm.func @wide(%a: !llvm.ptr, %out: !llvm.ptr, %by: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : i32
  %c64 = arith.constant 64 : index
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i64
    %p = llvm.getelementptr %a[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i64
    %v = llvm.load %p : !llvm.ptr -> i64
    %d = llvm.sdiv %v, %by : i64
    %n = llvm.trunc %d : i64 to i32
    %e = llvm.sdiv %n, %c7 : i32
    %o = llvm.getelementptr %out[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    llvm.store %e, %o : i32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// A product of a narrow number and one that all lanes have is not asked as a whole: the factor is, once, and the number for its sign, as a negative one would
// be large. None of them is negative then, and the nearest integer is taken.
// CHECK-LABEL: llvm.func @product
// CHECK: %[[A:.*]] = llvm.load {{.*}} -> vector<[[LANES:[0-9]+]]xi32>
// CHECK: %[[M:.*]] = arith.addi %arg2, %c0_i64
// CHECK: %[[SMALL:.*]] = arith.cmpi ule, %[[M]], %c524287_i64
// CHECK: %[[SIGN:.*]] = arith.cmpi sge, %[[A]], %{{.*}} : vector<[[LANES]]xi32>
// CHECK: %[[ALL:.*]] = "llvm.intr.vector.reduce.and"(%[[SIGN]])
// CHECK: arith.andi %[[SMALL]], %[[ALL]]
// CHECK-NOT: vector<{{[0-9]+}}xi64>
// CHECK: scf.if %{{.*}} -> (vector<[[LANES]]xi32>) {
// CHECK-DAG: %[[HALF:.*]] = llvm.fadd %{{.*}}, %{{.*}} : f64
// CHECK-DAG: %[[MOVED:.*]] = vector.broadcast %[[HALF]]
// CHECK-DAG: %[[X:.*]] = llvm.sitofp %[[A]] : vector<[[LANES]]xi32> to vector<[[LANES]]xf64>
// CHECK: %[[D:.*]] = llvm.intr.fmuladd(%[[X]], %{{.*}}, %[[MOVED]])
// CHECK: llvm.intr.fmuladd(%[[D]], %{{.*}}, %{{.*}})
// CHECK-NOT: llvm.intr.trunc
// CHECK: } else {
// CHECK: llvm.udiv
// CHECK: llvm.return
llvm.func @product(%a: !llvm.ptr, %out: !llvm.ptr, %scale: i64, %by: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i64
    %p = llvm.getelementptr %a[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %v = llvm.load %p : !llvm.ptr -> i32
    %w = llvm.sext %v : i32 to i64
    %m = llvm.mul %w, %scale : i64
    %d = llvm.udiv %m, %by : i64
    %n = llvm.trunc %d : i64 to i32
    %o = llvm.getelementptr %out[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    llvm.store %n, %o : i32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}
