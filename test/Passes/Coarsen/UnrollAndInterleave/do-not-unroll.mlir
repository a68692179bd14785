// RUN: %regrain-opt %s --regrain-unroll-and-interleave='factor=2' --split-input-file --verify-diagnostics

// Iterations that are left over would have to come to the same barrier.
func.func @do_not_unroll_by_non_divisor(%a: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c15 = arith.constant 15 : index
  // expected-remark @+1 {{the factor does not divide the number of iterations}}
  scf.parallel (%i) = (%c0) to (%c15) step (%c1) {
    %s1 = arith.index_cast %i : index to i64
    llvm.store %s1, %a : i64, !llvm.ptr
    regrain.barrier(%i)
    scf.reduce
  }
  func.return
}

// -----

func.func @do_not_unroll_reductions(%f: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  // expected-remark @+1 {{the loop reduces values}}
  %r = scf.parallel (%i) = (%c0) to (%c16) step (%c1) init (%f) -> f32 {
    scf.reduce(%f : f32) {
    ^bb0(%x: f32, %y: f32):
      %s = arith.addf %x, %y : f32
      scf.reduce.return %s : f32
    }
  }
  func.return %r : f32
}

// -----

// Loops are not masked.
func.func @do_not_share_divergent_loop(%a: !llvm.ptr, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  // expected-remark @+1 {{control flow around a barrier depends on the thread}}
  scf.parallel (%i) = (%c0) to (%c16) step (%c1) {
    scf.for %j = %i to %n step %c1 {
      %s2 = arith.index_cast %i : index to i64
      llvm.store %s2, %a : i64, !llvm.ptr
      regrain.barrier(%i)
    }
    scf.reduce
  }
  func.return
}

// -----

func.func @do_not_share_named_barrier(%a: !llvm.ptr, %id: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  // expected-remark @+1 {{it uses a barrier of part of the block}}
  scf.parallel (%i) = (%c0) to (%c16) step (%c1) {
    regrain.barrier(%i) id %id
    scf.reduce
  }
  func.return
}

// -----

func.func @do_not_unroll_spinning(%a: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  // expected-remark @+1 {{it may wait for another iteration}}
  scf.parallel (%i) = (%c0) to (%c16) step (%c1) {
    scf.while : () -> () {
      %c = llvm.load volatile %a : !llvm.ptr -> i1
      scf.condition(%c)
    } do {
      scf.yield
    }
    scf.reduce
  }
  func.return
}

// -----

func.func @do_not_unroll_thread_registers(%a: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  // expected-remark @+1 {{it reads registers of its thread}}
  scf.parallel (%i) = (%c0) to (%c16) step (%c1) {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    llvm.store %t, %a : i32, !llvm.ptr
    scf.reduce
  }
  func.return
}

// -----

llvm.func @unknown()
func.func @do_not_unroll_calls() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  // expected-remark @+1 {{it calls a function that may know its thread or synchronise}}
  scf.parallel (%i) = (%c0) to (%c16) step (%c1) {
    llvm.call @unknown() : () -> ()
    scf.reduce
  }
  func.return
}

// -----

func.func @do_not_split_warps(%v: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %all = arith.constant -1 : i32
  // expected-remark @+1 {{whole warps would not stay whole}}
  scf.parallel (%i) = (%c0) to (%c16) step (%c1) {
    %r, %ok = regrain.shuffle idx %v, %v, %v mask %all (%i) : i32
    scf.reduce
  }
  func.return
}

// -----

func.func @do_not_unroll_unstructured(%a: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  // expected-remark @+1 {{it synchronises inside of control flow that is not structured}}
  scf.parallel (%i) = (%c0) to (%c16) step (%c1) {
    scf.execute_region {
      regrain.barrier(%i)
      scf.yield
    }
    scf.reduce
  }
  func.return
}
