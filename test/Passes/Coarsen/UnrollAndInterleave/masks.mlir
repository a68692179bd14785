// RUN: %regrain-opt %s --regrain-unroll-and-interleave='factor=2' --verify-diagnostics | FileCheck %s

// An early return: a thread comes to the barrier if one of its copies does.
// CHECK-LABEL: func.func @mask_early_return
func.func @mask_early_return(%a: !llvm.ptr, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  scf.parallel (%i) = (%c0) to (%c16) step (%c1) {
    // CHECK: %[[M0:.*]] = arith.cmpi slt
    // CHECK: %[[M1:.*]] = arith.cmpi slt
    %in = arith.cmpi slt, %i, %n : index
    // CHECK: %[[ANY:.*]] = arith.ori %[[M0]], %[[M1]] : i1
    // CHECK: scf.if %[[ANY]] {
    scf.if %in {
      // CHECK: %[[V0:.*]] = scf.if %[[M0]] -> (i64) {
      // CHECK: llvm.load
      // CHECK: llvm.store
      // CHECK: } else {
      // CHECK: ub.poison
      // CHECK: %[[V1:.*]] = scf.if %[[M1]] -> (i64) {
      // CHECK: llvm.load
      // CHECK: llvm.store
      %v = llvm.load %a : !llvm.ptr -> i64
      %w = arith.addi %v, %v : i64
      llvm.store %w, %a : i64, !llvm.ptr
      // CHECK: regrain.barrier
      // CHECK-NOT: regrain.barrier
      regrain.barrier(%i)
      // CHECK: scf.if %[[M0]] {
      // CHECK-NEXT: llvm.store %[[V0]]
      // CHECK: scf.if %[[M1]] {
      // CHECK-NEXT: llvm.store %[[V1]]
      llvm.store %v, %a : i64, !llvm.ptr
    }
    scf.reduce
  }
  func.return
}

// A loop that the copies which take part run alike; what it runs to comes from one of them.
// CHECK-LABEL: func.func @mask_loop_inside
func.func @mask_loop_inside(%a: !llvm.ptr, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.parallel (%i) = (%c0) to (%c16) step (%c1) {
    %in = arith.cmpi slt, %i, %n : index
    scf.if %in {
      // CHECK: %[[N0:.*]] = scf.if %[[M0:.*]] -> (i32)
      // CHECK: %[[N1:.*]] = scf.if %[[M1:.*]] -> (i32)
      %m = llvm.load %a : !llvm.ptr -> i32
      // CHECK: %[[N:.*]] = arith.select %[[M0]], %[[N0]], %[[N1]] : i32
      // CHECK: scf.for %{{.*}} = %{{.*}} to %[[N]] step
      scf.for %j = %zero to %m step %one : i32 {
        // CHECK: scf.if %[[M0]] {
        // CHECK: scf.if %[[M1]] {
        // CHECK: regrain.barrier
        llvm.store %j, %a : i32, !llvm.ptr
        regrain.barrier(%i)
      }
    }
    scf.reduce
  }
  func.return
}

// The other branch, results, and a predicate that is neutral for who stays away.
// CHECK-LABEL: func.func @mask_results
func.func @mask_results(%a: !llvm.ptr, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  scf.parallel (%i) = (%c0) to (%c16) step (%c1) {
    // CHECK: %[[M0:.*]] = arith.cmpi slt
    // CHECK: %[[M1:.*]] = arith.cmpi slt
    %in = arith.cmpi slt, %i, %n : index
    // CHECK: %[[O0:.*]] = scf.if %{{.*}} -> (i1) {
    // CHECK: %[[O1:.*]] = scf.if %{{.*}} -> (i1) {
    // CHECK: %[[R:.*]]:2 = scf.if %{{.*}} -> (i1, i1) {
    // CHECK: %[[P0:.*]] = arith.select %[[M0]], %{{.*}}, %[[FALSE:.*]] : i1
    // CHECK: %[[P1:.*]] = arith.select %[[M1]], %{{.*}}, %[[FALSE]] : i1
    // CHECK: %[[P:.*]] = arith.ori %[[P0]], %[[P1]] : i1
    // CHECK: regrain.barrier_reduce or %[[P]]
    // CHECK-NOT: regrain.barrier_reduce
    // CHECK: } else {
    // CHECK: arith.select %[[M0]], %[[R]]#0, %[[O0]] : i1
    // CHECK: arith.select %[[M1]], %[[R]]#1, %[[O1]] : i1
    %r = scf.if %in -> i1 {
      %p = llvm.load %a : !llvm.ptr -> i1
      %all = regrain.barrier_reduce or %p (%i) : i1
      scf.yield %all : i1
    } else {
      %p = llvm.load %a : !llvm.ptr -> i1
      scf.yield %p : i1
    }
    llvm.store %r, %a : i1, !llvm.ptr
    scf.reduce
  }
  func.return
}

// A warp operation may name lanes that left, but not lanes that wait for another copy.
// CHECK-LABEL: func.func @do_not_mask_warp_operations
func.func @do_not_mask_warp_operations(%v: i32, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %all = arith.constant -1 : i32
  // expected-remark @+1 {{a barrier of another loop would be duplicated}}
  scf.parallel (%b) = (%c0) to (%c16) step (%c1) {
    scf.parallel (%i) = (%c0) to (%c16) step (%c1) {
      %in = arith.cmpi slt, %b, %n : index
      scf.if %in {
        regrain.barrier(%i)
        %r, %ok = regrain.shuffle idx %v, %v, %v mask %all (%i) : i32
      }
      scf.reduce
    }
    scf.reduce
  }
  func.return
}

// CHECK-LABEL: func.func @do_not_mask_both_branches
func.func @do_not_mask_both_branches(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  // expected-remark @+1 {{a barrier of another loop would be duplicated}}
  scf.parallel (%b) = (%c0) to (%c16) step (%c1) {
    scf.parallel (%i) = (%c0) to (%c16) step (%c1) {
      %in = arith.cmpi slt, %b, %n : index
      scf.if %in {
        regrain.barrier(%i)
      } else {
        regrain.barrier(%i)
      }
      scf.reduce
    }
    scf.reduce
  }
  func.return
}
