// RUN: %regrain-opt %s -verify-diagnostics --regrain-vectorize-threads="register-bits=256 cost-model=false" | FileCheck %s

// Updates of the block's own memory go by the lanes' indices, of which two leave a register together; nothing is stored where lanes agree.
// CHECK-LABEL: llvm.func @counts
// CHECK-NOT: llvm.store
// CHECK: %[[PAIRS:.*]] = llvm.bitcast %{{.*}} : vector<8xi32> to vector<4xi64>
// CHECK: %[[BOTH:.*]] = llvm.extractelement %[[PAIRS]]
// CHECK: %[[LOW:.*]] = arith.andi %[[BOTH]], %{{.*}} : i64
// CHECK: %[[HIGH:.*]] = arith.shrui %[[BOTH]], %{{.*}} : i64
// CHECK: %[[P:.*]] = llvm.getelementptr %arg1[%[[LOW]]] : (!llvm.ptr, i64) -> !llvm.ptr, i32
// CHECK: llvm.atomicrmw add %[[P]], %{{.*}} syncscope("singlethread")
// CHECK: %[[Q:.*]] = llvm.getelementptr %arg1[%[[HIGH]]] : (!llvm.ptr, i64) -> !llvm.ptr, i32
// CHECK: llvm.atomicrmw add %[[Q]]
// CHECK-COUNT-6: llvm.atomicrmw add
// CHECK-NOT: llvm.atomicrmw
// CHECK: llvm.return
llvm.func @counts(%a: !llvm.ptr, %total: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1 : i32
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i64
    %p = llvm.getelementptr %a[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %v = llvm.load %p : !llvm.ptr -> i8
    %i = llvm.zext %v : i8 to i64
    %bin = llvm.getelementptr %total[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %old = llvm.atomicrmw add %bin, %one syncscope("singlethread") monotonic : !llvm.ptr, i32
    scf.reduce
  }
  llvm.return
}

// Lanes that take no part add nothing to the place of the first that does, and nothing runs if there is none. Signed indices stay so.
// CHECK-LABEL: llvm.func @some
// CHECK: scf.if
// CHECK: arith.shrsi
// CHECK-COUNT-8: llvm.atomicrmw add
// CHECK: } else {
// CHECK: %[[ANY:.*]] = "llvm.intr.vector.reduce.or"
// CHECK: scf.if %[[ANY]]
// CHECK: %[[FIRST:.*]] = "llvm.intr.cttz"
// CHECK: llvm.extractelement %[[IS:.*]][%
// CHECK: llvm.select %{{.*}}, %[[IS]], %{{.*}} : vector<8xi1>, vector<8xi32>
// CHECK: %[[VS:.*]] = llvm.select %{{.*}}, %{{.*}}, %{{.*}} : vector<8xi1>, vector<8xi32>
// CHECK: llvm.store %[[VS]], %[[CELLS:.*]] {alignment
// CHECK: llvm.getelementptr %[[CELLS]]
// CHECK: llvm.load volatile
// CHECK-COUNT-8: llvm.atomicrmw add
// CHECK: llvm.return
llvm.func @some(%a: !llvm.ptr, %total: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %zero = llvm.mlir.constant(0 : i32) : i32
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i64
    %p = llvm.getelementptr %a[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %v = llvm.load %p : !llvm.ptr -> i32
    %some = llvm.icmp "sgt" %v, %zero : i32
    scf.if %some {
      %i = llvm.sext %v : i32 to i64
      %bin = llvm.getelementptr %total[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
      %old = llvm.atomicrmw add %bin, %v syncscope("singlethread") monotonic : !llvm.ptr, i32
    }
    scf.reduce
  }
  llvm.return
}

// What is not changed by nothing, what others see, and indices that may need 64 bits: one lane after the other.
// CHECK-LABEL: llvm.func @others
// CHECK-NOT: vector<4xi64>
// CHECK: llvm.return
llvm.func @others(%a: !llvm.ptr, %total: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1 : i32
  %zero = llvm.mlir.constant(0 : i32) : i32
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i64
    %p = llvm.getelementptr %a[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %v = llvm.load %p : !llvm.ptr -> i32
    %some = llvm.icmp "sgt" %v, %zero : i32
    %bin = llvm.getelementptr %total[%v] : (!llvm.ptr, i32) -> !llvm.ptr, i32
    scf.if %some {
      %least = llvm.atomicrmw min %bin, %v syncscope("singlethread") monotonic : !llvm.ptr, i32
    }
    %seen = llvm.atomicrmw add %bin, %one monotonic : !llvm.ptr, i32
    %q = llvm.getelementptr %a[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i64
    %w = llvm.load %q : !llvm.ptr -> i64
    %far = llvm.getelementptr %total[%w] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %old = llvm.atomicrmw add %far, %one syncscope("singlethread") monotonic : !llvm.ptr, i32
    scf.reduce
  }
  llvm.return
}
