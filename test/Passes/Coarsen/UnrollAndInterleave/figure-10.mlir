// RUN: %regrain-opt %s --regrain-unroll-and-interleave='factor=2' --verify-diagnostics | FileCheck %s

// On the left: all copies share the barrier of the inner loop.
// CHECK-LABEL: func.func @legal
// CHECK: scf.parallel
// CHECK: scf.parallel (%[[J:.*]]) =
// CHECK: scf.for
// CHECK: llvm.store
// CHECK-NEXT: llvm.store
// CHECK-NEXT: regrain.barrier(%[[J]])
// CHECK: llvm.store
// CHECK-NEXT: llvm.store
// CHECK-NOT: regrain.barrier
func.func @legal(%a: !llvm.ptr, %b: !llvm.ptr, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  scf.parallel (%i) = (%c0) to (%c16) step (%c1) {
    scf.parallel (%j) = (%c0) to (%c16) step (%c1) {
      scf.for %k = %c0 to %n step %c1 {
        %s1 = arith.index_cast %i : index to i64
        llvm.store %s1, %a : i64, !llvm.ptr
        regrain.barrier(%j)
        %s2 = arith.index_cast %i : index to i64
        llvm.store %s2, %b : i64, !llvm.ptr
      }
      scf.reduce
    }
    scf.reduce
  }
  func.return
}

// On the right: the number of rounds differs between the copies.
// CHECK-LABEL: func.func @do_not_duplicate_barrier
// CHECK-COUNT-1: regrain.barrier
func.func @do_not_duplicate_barrier(%a: !llvm.ptr, %b: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  // expected-remark @+1 {{not unrolled and interleaved: a barrier of another loop would be duplicated}}
  scf.parallel (%i) = (%c0) to (%c16) step (%c1) {
    scf.parallel (%j) = (%c0) to (%c16) step (%c1) {
      scf.for %k = %c0 to %i step %c1 {
        %s3 = arith.index_cast %i : index to i64
        llvm.store %s3, %a : i64, !llvm.ptr
        regrain.barrier(%j)
        %s4 = arith.index_cast %i : index to i64
        llvm.store %s4, %b : i64, !llvm.ptr
      }
      scf.reduce
    }
    scf.reduce
  }
  func.return
}

// Nor may it depend on memory.
// CHECK-LABEL: func.func @do_not_trust_memory
// CHECK-COUNT-1: regrain.barrier
func.func @do_not_trust_memory(%a: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  // expected-remark @+1 {{not unrolled and interleaved: a barrier of another loop would be duplicated}}
  scf.parallel (%i) = (%c0) to (%c16) step (%c1) {
    scf.parallel (%j) = (%c0) to (%c16) step (%c1) {
      %n = llvm.load %a : !llvm.ptr -> i32
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      scf.for %k = %zero to %n step %one : i32 {
        regrain.barrier(%j)
      }
      scf.reduce
    }
    scf.reduce
  }
  func.return
}

// A barrier of the unrolled loop itself makes control flow uniform: memory that all iterations read alike decides for all.
// CHECK-LABEL: func.func @uniform_by_rule
// CHECK: %[[C:.*]] = llvm.load
// CHECK-NEXT: llvm.load
// CHECK-NEXT: scf.if %[[C]]
// CHECK: llvm.store
// CHECK-NEXT: llvm.store
// CHECK-NEXT: regrain.barrier
// CHECK-NOT: regrain.barrier
func.func @uniform_by_rule(%a: !llvm.ptr, %b: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  scf.parallel (%i) = (%c0) to (%c16) step (%c1) {
    %c = llvm.load %a : !llvm.ptr -> i1
    scf.if %c {
      %s5 = arith.index_cast %i : index to i64
      llvm.store %s5, %b : i64, !llvm.ptr
      regrain.barrier(%i)
    }
    scf.reduce
  }
  func.return
}
