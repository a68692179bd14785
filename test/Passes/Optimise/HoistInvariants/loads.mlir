// RUN: %regrain-opt %s --regrain-hoist-invariants | FileCheck %s

// The inner loop's own particle is loaded once; what it adds up goes to global memory, which is no shared memory.
// CHECK-LABEL: func.func @shared_loads_out_of_the_innermost_loop
func.func @shared_loads_out_of_the_innermost_loop(%n: index, %out: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c100 = arith.constant 100 : index
  scf.parallel (%b) = (%c0) to (%n) step (%c1) {
    %mine = regrain.shared : !llvm.array<64 x f32> -> !llvm.ptr<3>
    %all = regrain.shared : !llvm.array<100 x f32> -> !llvm.ptr<3>
    // CHECK: scf.parallel
    // CHECK: scf.parallel
    scf.parallel (%x) = (%c0) to (%c64) step (%c1) {
      // CHECK: %[[OWN:.*]] = llvm.getelementptr %{{.*}} !llvm.array<64 x f32>
      // CHECK: %[[V:.*]] = llvm.load %[[OWN]]
      // CHECK: scf.for
      // CHECK: %[[W:.*]] = llvm.load %{{.*}} : !llvm.ptr<3> -> f32
      // CHECK: llvm.fmul %[[V]], %[[W]]
      %i = arith.index_cast %x : index to i64
      scf.for %k = %c0 to %c100 step %c1 {
        %own = llvm.getelementptr %mine[0, %i] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<64 x f32>
        %v = llvm.load %own : !llvm.ptr<3> -> f32
        %at = arith.index_cast %k : index to i64
        %other = llvm.getelementptr %all[0, %at] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<100 x f32>
        %w = llvm.load %other : !llvm.ptr<3> -> f32
        %p = llvm.fmul %v, %w : f32
        %o = llvm.getelementptr %out[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %s = llvm.load %o : !llvm.ptr -> f32
        %t = llvm.fadd %s, %p : f32
        llvm.store %t, %o : f32, !llvm.ptr
      }
    }
  }
  return
}

// Across the loop's barriers: each thread writes its own place alone, and nobody the one that is read.
// CHECK-LABEL: func.func @across_barriers
func.func @across_barriers(%n: index, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%b) = (%c0) to (%n) step (%c1) {
    %tile = regrain.shared : !llvm.array<64 x f32> -> !llvm.ptr<3>
    %table = regrain.shared : !llvm.array<64 x f32> -> !llvm.ptr<3>
    // CHECK: scf.parallel
    // CHECK: scf.parallel
    scf.parallel (%x) = (%c0) to (%c64) step (%c1) {
      // CHECK: llvm.load
      // CHECK: scf.for
      // CHECK-NOT: llvm.load
      // CHECK: regrain.barrier
      %i = arith.index_cast %x : index to i64
      %own = llvm.getelementptr %tile[0, %i] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<64 x f32>
      %entry = llvm.getelementptr %table[0, %i] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<64 x f32>
      scf.for %k = %c0 to %c64 step %c1 {
        regrain.barrier(%x)
        %v = llvm.load %entry : !llvm.ptr<3> -> f32
        llvm.store %v, %own : f32, !llvm.ptr<3>
      }
    }
  }
  return
}

// Whether there is a first round is not known.
// CHECK-LABEL: func.func @guarded
func.func @guarded(%n: index, %p: !llvm.ptr, %q: !llvm.ptr<3>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: %[[SOME:.*]] = arith.cmpi slt, %c0, %{{.*}} : index
  // CHECK: scf.parallel
  scf.parallel (%x) = (%c0) to (%n) step (%c1) {
    // CHECK: %[[V:.*]]:2 = scf.if %[[SOME]]
    // CHECK: %[[L:.*]] = llvm.load
    // CHECK: %[[M:.*]] = llvm.fmul %[[L]], %[[L]]
    // CHECK: scf.yield %[[L]], %[[M]]
    // CHECK: ub.poison
    // CHECK: scf.for
    // CHECK-NOT: llvm.fmul
    // CHECK: llvm.fadd %{{.*}}, %[[V]]#1
    %zero = llvm.mlir.constant(0.0 : f32) : f32
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> f32 {
      %v = llvm.load %p : !llvm.ptr -> f32
      %m = llvm.fmul %v, %v : f32
      %t = llvm.fadd %a, %m : f32
      scf.yield %t : f32
    }
    llvm.store %s, %q : f32, !llvm.ptr<3>
  }
  return
}

// A test runs at least once, a body may not.
// CHECK-LABEL: func.func @the_test_of_a_loop
func.func @the_test_of_a_loop(%n: index, %p: !llvm.ptr, %q: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: scf.parallel
  scf.parallel (%x) = (%c0) to (%n) step (%c1) {
    // CHECK: llvm.load
    // CHECK: scf.while
    // CHECK-NOT: llvm.load
    // CHECK: } do {
    // CHECK: llvm.load
    %one = llvm.mlir.constant(1 : i64) : i64
    %r = scf.while (%k = %one) : (i64) -> i64 {
      %end = llvm.load %p : !llvm.ptr -> i64
      %more = llvm.icmp "slt" %k, %end : i64
      scf.condition(%more) %k : i64
    } do {
    ^bb0(%k: i64):
      %step = llvm.load %q : !llvm.ptr -> i64
      %next = llvm.add %k, %step : i64
      scf.yield %next : i64
    }
  }
  return
}

// Values that are the same in all threads leave the loop over the threads.
// CHECK-LABEL: func.func @out_of_parallel_loops
func.func @out_of_parallel_loops(%n: index, %a: i32, %p: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: llvm.mul
  // CHECK: scf.parallel
  // CHECK: llvm.add
  // CHECK: scf.parallel
  // CHECK: llvm.store
  scf.parallel (%b) = (%c0) to (%n) step (%c1) {
    %i = arith.index_cast %b : index to i32
    scf.parallel (%x) = (%c0) to (%n) step (%c1) {
      %m = llvm.mul %a, %a : i32
      %s = llvm.add %m, %i : i32
      llvm.store %s, %p : i32, !llvm.ptr
    }
  }
  return
}

// A search ends where its test fails: the test of the first round tells whether what stands behind it runs at all.
// CHECK-LABEL: func.func @of_a_search
// CHECK: %[[FIRST:.*]] = arith.cmpi slt, %{{.*}}, %arg1
// CHECK: %[[LIMIT:.*]] = scf.if %[[FIRST]] -> (f64) {
// CHECK:   llvm.load %arg2
// CHECK: } else {
// CHECK:   ub.poison
// CHECK: scf.while
// CHECK:   scf.if
// CHECK:     %[[V:.*]] = llvm.load
// CHECK:     arith.cmpf olt, %[[V]], %[[LIMIT]]
func.func @of_a_search(%p: !llvm.ptr, %n: i32, %q: !llvm.ptr, %out: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%b) = (%c0) to (%c64) step (%c1) {
    scf.parallel (%x) = (%c0) to (%c64) step (%c1) {
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %false = arith.constant false
      %found = scf.while (%k = %zero) : (i32) -> (i32) {
        %inside = arith.cmpi slt, %k, %n : i32
        %go = scf.if %inside -> (i1) {
          %at = llvm.getelementptr %p[%k] : (!llvm.ptr, i32) -> !llvm.ptr, f64
          %v = llvm.load %at : !llvm.ptr -> f64
          %limit = llvm.load %q : !llvm.ptr -> f64
          %less = arith.cmpf olt, %v, %limit : f64
          scf.yield %less : i1
        } else {
          scf.yield %false : i1
        }
        scf.condition(%go) %k : i32
      } do {
      ^bb0(%k: i32):
        %next = arith.addi %k, %one : i32
        scf.yield %next : i32
      }
      llvm.store %found, %out : i32, !llvm.ptr
    }
  }
  return
}
