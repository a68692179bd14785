// RUN: %regrain-opt %s --regrain-vectorize-threads="register-bits=256 cost-model=false" | FileCheck %s

// A guard of all lanes and a comparison of each are one comparison, with a number that no lane is below where the guard does not hold.
// CHECK-LABEL: llvm.func @both
// CHECK-SAME: %[[N:[a-z0-9]+]]: i32, %[[GUARD:[a-z0-9]+]]: i1
// CHECK-DAG: %[[LEAST:.*]] = arith.constant -2147483648 : i32
// CHECK-DAG: %[[SURE:.*]] = llvm.freeze %[[GUARD]] : i1
// CHECK: %[[BOUND:.*]] = llvm.select %[[SURE]], %[[N]], %[[LEAST]] : i1, i32
// CHECK: %[[ALL:.*]] = vector.broadcast %[[BOUND]]
// CHECK: %[[MASK:.*]] = llvm.icmp "slt" %{{.*}}, %[[ALL]] : vector<[[W:[0-9]+]]xi32>
// CHECK-NOT: vector<[[W]]xi1>, vector<[[W]]xi1>
// CHECK: llvm.intr.masked.store %{{.*}}, %{{.*}}, %[[MASK]]
llvm.func @both(%out: !llvm.ptr, %n: i32, %guard: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %threads = arith.constant 64 : index
  %no = llvm.mlir.constant(false) : i1
  %zero = llvm.mlir.constant(0.0 : f32) : f32
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%threads, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i32
    %below = llvm.icmp "slt" %t, %n : i32
    %in = llvm.select %below, %guard, %no : i1, i1
    scf.if %in {
      %p = llvm.getelementptr %out[%t] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      llvm.store %zero, %p : f32, !llvm.ptr
    }
    scf.reduce
  }
  llvm.return
}

// One of both: with a number that all lanes are at most.
// CHECK-LABEL: llvm.func @either
// CHECK-SAME: %[[N:[a-z0-9]+]]: i32, %[[GUARD:[a-z0-9]+]]: i1
// CHECK-DAG: %[[GREATEST:.*]] = arith.constant 2147483647 : i32
// CHECK-DAG: %[[SURE:.*]] = llvm.freeze %[[GUARD]] : i1
// CHECK: llvm.select %[[SURE]], %[[GREATEST]], %[[N]] : i1, i32
// CHECK: llvm.icmp "sle"
llvm.func @either(%out: !llvm.ptr, %n: i32, %guard: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %threads = arith.constant 64 : index
  %yes = llvm.mlir.constant(true) : i1
  %zero = llvm.mlir.constant(0.0 : f32) : f32
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%threads, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i32
    %within = llvm.icmp "sle" %t, %n : i32
    %in = llvm.select %guard, %yes, %within : i1, i1
    scf.if %in {
      %p = llvm.getelementptr %out[%t] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      llvm.store %zero, %p : f32, !llvm.ptr
    }
    scf.reduce
  }
  llvm.return
}

// No number is above all that lanes may have: the masks are joined.
// CHECK-LABEL: llvm.func @at_most
// CHECK: %[[WITHIN:.*]] = llvm.icmp "sle"
// CHECK: %[[SURE:.*]] = llvm.freeze %[[WITHIN]]
// CHECK: arith.andi %{{.*}}, %[[SURE]] : vector
llvm.func @at_most(%out: !llvm.ptr, %n: i32, %guard: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %threads = arith.constant 64 : index
  %no = llvm.mlir.constant(false) : i1
  %zero = llvm.mlir.constant(0.0 : f32) : f32
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%threads, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i32
    %within = llvm.icmp "sle" %t, %n : i32
    %in = llvm.select %guard, %within, %no : i1, i1
    scf.if %in {
      %p = llvm.getelementptr %out[%t] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      llvm.store %zero, %p : f32, !llvm.ptr
    }
    scf.reduce
  }
  llvm.return
}
