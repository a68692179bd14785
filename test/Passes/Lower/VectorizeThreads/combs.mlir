// RUN: %regrain-opt %s --regrain-vectorize-threads="register-bits=256 cost-model=false" | FileCheck %s
// RUN: %regrain-opt %s -verify-diagnostics=only-expected --regrain-vectorize-threads="register-bits=256 report=true" -o /dev/null

// Four loads of neighbouring elements, and the next thread's behind them: all is loaded once, four elements of a thread at a time, and transposed.
// CHECK-LABEL: llvm.func @quads
// CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<4xf32>
// CHECK: llvm.shufflevector %{{.*}} [0, 8, 2, 10, 4, 12, 6, 14] : vector<8xf32>
// CHECK-NOT: llvm.load %{{.*}} -> vector
// CHECK: llvm.return
llvm.func @quads(%a: !llvm.ptr, %b: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c4 = arith.constant 4 : i64
  // expected-remark @below {{threads go in rows of 8: 1 access contiguous, 4 transposed}}
  scf.parallel (%i, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %i : index to i64
    %first = llvm.mul %t, %c4 : i64
    %p = llvm.getelementptr %a[%first] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %q = llvm.getelementptr %p[1] : (!llvm.ptr) -> !llvm.ptr, f32
    %r = llvm.getelementptr %p[2] : (!llvm.ptr) -> !llvm.ptr, f32
    %s = llvm.getelementptr %p[3] : (!llvm.ptr) -> !llvm.ptr, f32
    // expected-remark @below {{a load of f32 is transposed: 16 bytes from thread to thread}}
    %v1 = llvm.load %q : !llvm.ptr -> f32
    // expected-remark @below {{a load of f32 is transposed: 16 bytes from thread to thread}}
    %v0 = llvm.load %p : !llvm.ptr -> f32
    // expected-remark @below {{a load of f32 is transposed: 16 bytes from thread to thread}}
    %v2 = llvm.load %r : !llvm.ptr -> f32
    // expected-remark @below {{a load of f32 is transposed: 16 bytes from thread to thread}}
    %v3 = llvm.load %s : !llvm.ptr -> f32
    %m0 = llvm.fmul %v0, %v1 : f32
    %m1 = llvm.fmul %v2, %v3 : f32
    %m = llvm.fadd %m0, %m1 : f32
    %o = llvm.getelementptr %b[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %m, %o : f32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// What is stored between the loads may be what the last of them reads.
// CHECK-LABEL: llvm.func @do_not_load_before_a_store
// CHECK: llvm.load
// CHECK: llvm.store
// CHECK: llvm.load
// CHECK: llvm.store
// CHECK: llvm.return
llvm.func @do_not_load_before_a_store(%a: !llvm.ptr, %b: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c4 = arith.constant 4 : i64
  // expected-remark @below {{threads go in rows of 8: 2 accesses contiguous, 4 strided}}
  scf.parallel (%i, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %i : index to i64
    %first = llvm.mul %t, %c4 : i64
    %p = llvm.getelementptr %a[%first] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %q = llvm.getelementptr %p[1] : (!llvm.ptr) -> !llvm.ptr, f32
    %r = llvm.getelementptr %p[2] : (!llvm.ptr) -> !llvm.ptr, f32
    %s = llvm.getelementptr %p[3] : (!llvm.ptr) -> !llvm.ptr, f32
    %o = llvm.getelementptr %b[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    // expected-remark @below {{a load of f32 is strided: 16 bytes from thread to thread}}
    %v = llvm.load %p : !llvm.ptr -> f32
    llvm.store %v, %o : f32, !llvm.ptr
    // expected-remark @below {{a load of f32 is strided: 16 bytes from thread to thread}}
    %w = llvm.load %q : !llvm.ptr -> f32
    // expected-remark @below {{a load of f32 is strided: 16 bytes from thread to thread}}
    %u = llvm.load %r : !llvm.ptr -> f32
    // expected-remark @below {{a load of f32 is strided: 16 bytes from thread to thread}}
    %f = llvm.load %s : !llvm.ptr -> f32
    %m0 = llvm.fadd %w, %u : f32
    %m1 = llvm.fadd %m0, %f : f32
    llvm.store %m1, %o : f32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// Four stores of neighbouring elements, the next thread's behind them, in any order: transposed, and all elements of a thread stored at once.
// What is true of some of them only is not said of all.
// CHECK-LABEL: llvm.func @stored_quads
// CHECK-NOT: llvm.store
// CHECK: llvm.shufflevector %{{.*}} [0, 8, 2, 10, 4, 12, 6, 14] : vector<8xf32>
// CHECK-COUNT-8: llvm.store %{{.*}} {alignment = 4 : i64, nontemporal} : vector<4xf32>, !llvm.ptr
// CHECK-NOT: llvm.store
// CHECK: llvm.return
llvm.func @stored_quads(%a: !llvm.ptr, %b: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c4 = arith.constant 4 : i64
  // expected-remark @below {{threads go in rows of 8: 1 access contiguous, 4 transposed}}
  scf.parallel (%i, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %i : index to i64
    %o = llvm.getelementptr %b[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v0 = llvm.load %o : !llvm.ptr -> f32
    %first = llvm.mul %t, %c4 : i64
    %p = llvm.getelementptr %a[%first] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %q = llvm.getelementptr %p[1] : (!llvm.ptr) -> !llvm.ptr, f32
    %r = llvm.getelementptr %p[2] : (!llvm.ptr) -> !llvm.ptr, f32
    %s = llvm.getelementptr %p[3] : (!llvm.ptr) -> !llvm.ptr, f32
    // expected-remark @below {{a store of f32 is transposed: 16 bytes from thread to thread}}
    llvm.store %v0, %q {invariant, nontemporal} : f32, !llvm.ptr
    %v1 = llvm.fadd %v0, %v0 : f32
    // expected-remark @below {{a store of f32 is transposed: 16 bytes from thread to thread}}
    llvm.store %v1, %p {nontemporal} : f32, !llvm.ptr
    %v2 = llvm.fadd %v1, %v0 : f32
    // expected-remark @below {{a store of f32 is transposed: 16 bytes from thread to thread}}
    llvm.store %v2, %s {nontemporal} : f32, !llvm.ptr
    // expected-remark @below {{a store of f32 is transposed: 16 bytes from thread to thread}}
    llvm.store %v2, %r {nontemporal} : f32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// Two of them: in turn.
// CHECK-LABEL: llvm.func @stored_pairs
// CHECK: %[[ALL:.*]] = llvm.shufflevector %{{.*}} [0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15] : vector<8xf32>
// CHECK: llvm.store %[[ALL]], %{{.*}} {alignment = 4 : i64} : vector<16xf32>, !llvm.ptr
// CHECK: llvm.return
llvm.func @stored_pairs(%a: !llvm.ptr, %b: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c2 = arith.constant 2 : i64
  // expected-remark @below {{threads go in rows of 8: 1 access contiguous, 2 transposed}}
  scf.parallel (%i, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %i : index to i64
    %o = llvm.getelementptr %b[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v0 = llvm.load %o : !llvm.ptr -> f32
    %v1 = llvm.fadd %v0, %v0 : f32
    %first = llvm.mul %t, %c2 : i64
    %p = llvm.getelementptr %a[%first] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %q = llvm.getelementptr %p[1] : (!llvm.ptr) -> !llvm.ptr, f32
    // expected-remark @below {{a store of f32 is transposed: 8 bytes from thread to thread}}
    llvm.store %v0, %p : f32, !llvm.ptr
    // expected-remark @below {{a store of f32 is transposed: 8 bytes from thread to thread}}
    llvm.store %v1, %q : f32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// What is loaded between the stores may be what the first of them writes; and what is written twice is so in order.
// CHECK-LABEL: llvm.func @do_not_store_behind_a_load
// CHECK-COUNT-2: llvm.intr.masked.scatter
// CHECK: llvm.load
// CHECK-COUNT-3: llvm.intr.masked.scatter
// CHECK: llvm.return
llvm.func @do_not_store_behind_a_load(%a: !llvm.ptr, %b: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c4 = arith.constant 4 : i64
  scf.parallel (%i, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %i : index to i64
    %v = llvm.sitofp %t : i64 to f32
    %first = llvm.mul %t, %c4 : i64
    %p = llvm.getelementptr %a[%first] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %q = llvm.getelementptr %p[1] : (!llvm.ptr) -> !llvm.ptr, f32
    %r = llvm.getelementptr %p[2] : (!llvm.ptr) -> !llvm.ptr, f32
    %s = llvm.getelementptr %p[3] : (!llvm.ptr) -> !llvm.ptr, f32
    %o = llvm.getelementptr %b[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %v, %p : f32, !llvm.ptr
    llvm.store %v, %q : f32, !llvm.ptr
    %w = llvm.load %o : !llvm.ptr -> f32
    llvm.store %w, %r : f32, !llvm.ptr
    llvm.store %v, %r : f32, !llvm.ptr
    llvm.store %w, %s : f32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}
