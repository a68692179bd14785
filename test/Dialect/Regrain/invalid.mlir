// RUN: %regrain-opt %s --split-input-file --verify-diagnostics

func.func @wrapper_grid_rank(%n: index) {
  // expected-error @+1 {{'regrain.gpu_wrapper' op has 2 grid sizes, expected 3}}
  %0 = regrain.gpu_wrapper grid(%n, %n) block(%n, %n, %n) {
  }
  return
}

// -----

func.func @wrapper_block_rank(%n: index) {
  // expected-error @+1 {{'regrain.gpu_wrapper' op has 1 block sizes, expected 3}}
  %0 = regrain.gpu_wrapper grid(%n, %n, %n) block(%n) {
  }
  return
}

// -----

func.func @wrapper_arguments(%n: index) {
  // expected-error @+1 {{'regrain.gpu_wrapper' op body has 1 arguments, expected none}}
  %0 = regrain.gpu_wrapper grid(%n, %n, %n) block(%n, %n, %n) {
  ^bb0(%i: index):
  }
  return
}

// -----

func.func @wrapper_nested(%n: index) {
  %0 = regrain.gpu_wrapper grid(%n, %n, %n) block(%n, %n, %n) {
    // expected-error @+1 {{'regrain.gpu_wrapper' op is nested in another gpu_wrapper}}
    %1 = regrain.gpu_wrapper grid(%n, %n, %n) block(%n, %n, %n) {
    }
  }
  return
}

// -----

func.func @barrier_without_loop() {
  // expected-error @+1 {{'regrain.barrier' op has no induction variables, expected those of an enclosing parallel loop}}
  regrain.barrier()
  return
}

// -----

func.func @barrier_foreign_value(%n: index) {
  // expected-error @+1 {{'regrain.barrier' op operand #0 is not an induction variable of an scf.parallel}}
  regrain.barrier(%n)
  return
}

// -----

func.func @barrier_of_sequential_loop(%n: index) {
  scf.for %i = %n to %n step %n {
    // expected-error @+1 {{'regrain.barrier' op operand #0 is not an induction variable of an scf.parallel}}
    regrain.barrier(%i)
  }
  return
}

// -----

func.func @barrier_missing_iv(%n: index) {
  // expected-note @+1 {{the loop is here}}
  scf.parallel (%x, %y) = (%n, %n) to (%n, %n) step (%n, %n) {
    // expected-error @+1 {{'regrain.barrier' op has 1 induction variables, expected 2 of its parallel loop}}
    regrain.barrier(%x)
  }
  return
}

// -----

func.func @barrier_order(%n: index) {
  // expected-note @+1 {{the loop is here}}
  scf.parallel (%x, %y) = (%n, %n) to (%n, %n) step (%n, %n) {
    // expected-error @+1 {{'regrain.barrier' op operand #0 is not induction variable #0 of the parallel loop of operand #0}}
    regrain.barrier(%y, %x)
  }
  return
}

// -----

func.func @barrier_two_loops(%n: index) {
  scf.parallel (%a, %b) = (%n, %n) to (%n, %n) step (%n, %n) {
    // expected-note @+1 {{the loop is here}}
    scf.parallel (%x, %y) = (%n, %n) to (%n, %n) step (%n, %n) {
      // expected-error @+1 {{'regrain.barrier' op operand #1 is not induction variable #1 of the parallel loop of operand #0}}
      regrain.barrier(%x, %b)
    }
  }
  return
}

// -----

func.func @barrier_count_without_id(%n: index, %c: i32) {
  scf.parallel (%x) = (%n) to (%n) step (%n) {
    // expected-error @+1 {{'regrain.barrier' op has a count without an id}}
    regrain.barrier(%x) count %c
  }
  return
}

// -----

func.func @barrier_reduce_type(%n: index, %p: i1) {
  scf.parallel (%x) = (%n) to (%n) step (%n) {
    // expected-error @+1 {{'regrain.barrier_reduce' op result has type 'i1', expected i32 for popc}}
    %0 = regrain.barrier_reduce popc %p (%x) : i1
  }
  return
}

// -----

func.func @barrier_reduce_loop(%n: index, %p: i1) {
  // expected-error @+1 {{'regrain.barrier_reduce' op operand #0 is not an induction variable of an scf.parallel}}
  %0 = regrain.barrier_reduce or %p (%n) : i1
  return
}

// -----

func.func @vote_type(%n: index, %p: i1, %m: i32) {
  scf.parallel (%x) = (%n) to (%n) step (%n) {
    // expected-error @+1 {{'regrain.vote' op result has type 'i32', expected i1 for any}}
    %0 = regrain.vote any %p mask %m (%x) : i32
  }
  return
}

// -----

func.func @shuffle_type(%n: index, %v: i8, %m: i32) {
  scf.parallel (%x) = (%n) to (%n) step (%n) {
    // expected-error @+1 {{custom op 'regrain.shuffle' 'value' must be 32 or 64 bit integer or float, but got 'i8'}}
    %0, %1 = regrain.shuffle up %v, %m, %m mask %m (%x) : i8
  }
  return
}

// -----

func.func @warp_barrier_loop(%m: i32) {
  // expected-error @+1 {{'regrain.warp_barrier' op has no induction variables, expected those of an enclosing parallel loop}}
  regrain.warp_barrier %m ()
  return
}

// -----

func.func @shared_type() {
  // expected-error @+1 {{'regrain.shared' op has type 'index', expected an LLVM compatible type}}
  %0 = regrain.shared : index -> !llvm.ptr<3>
  return
}

// -----

func.func @shared_space() {
  // expected-error @+1 {{result #0 must be pointer to shared memory (!llvm.ptr<3>), but got '!llvm.ptr'}}
  %0 = regrain.shared : f32 -> !llvm.ptr
  return
}

// -----

func.func @shared_alignment() {
  // expected-error @+1 {{'regrain.shared' op alignment is 12, expected a power of two}}
  %0 = regrain.shared align 12 : f32 -> !llvm.ptr<3>
  return
}

// -----

func.func @shared_in_block_loop(%n: index) {
  %0 = regrain.gpu_wrapper grid(%n, %n, %n) block(%n, %n, %n) {
    scf.parallel (%i) = (%n) to (%n) step (%n) {
      scf.parallel (%x) = (%n) to (%n) step (%n) {
        // expected-error @+1 {{'regrain.shared' op is inside 2 parallel loops of its gpu_wrapper, expected 1, the grid loop}}
        %1 = regrain.shared : f32 -> !llvm.ptr<3>
      }
    }
  }
  return
}

// -----

func.func @dynamic_shared_outside(%n: index) {
  %0 = regrain.gpu_wrapper grid(%n, %n, %n) block(%n, %n, %n) {
    // expected-error @+1 {{'regrain.dynamic_shared' op is inside 0 parallel loops of its gpu_wrapper, expected 1, the grid loop}}
    %1 = regrain.dynamic_shared %n : index -> !llvm.ptr<3>
  }
  return
}

// -----

func.func @one_block(%n: i1) {
  // expected-error @+1 {{'regrain.take_blocks' op takes 1 blocks, expected at least 2}}
  %0 = regrain.take_blocks 1 if %n
  return
}

// -----

func.func @blocks_outside(%n: index, %b: i1) {
  %0 = regrain.gpu_wrapper grid(%n, %n, %n) block(%n, %n, %n) {
    // expected-error @+1 {{'regrain.take_blocks' op is inside 0 parallel loops of its gpu_wrapper, expected 1, the grid loop}}
    %1 = regrain.take_blocks 8 if %b
  }
  return
}

// -----

func.func @dynamic_shared_alignment(%n: i64) {
  // expected-error @+1 {{'regrain.dynamic_shared' op alignment is 0, expected a power of two}}
  %0 = regrain.dynamic_shared %n align 0 : i64 -> !llvm.ptr<3>
  return
}

// -----

func.func @alternatives_descriptions() {
  // expected-error @+1 {{'regrain.alternatives' op has 1 descriptions, expected 2, one for each region}}
  regrain.alternatives ["original"] {
  }, {
  }
  return
}

// -----

func.func @alternatives_results(%a: i32) {
  %e = regrain.alternatives ["original", "b2x1x1"] -> i32 {
    regrain.yield %a : i32
  }, {
    // expected-error @+1 {{'regrain.yield' op gives , expected 'i32', the results of the alternatives}}
    regrain.yield
  }
  return
}

// -----

func.func @alternatives_empty() {
  // expected-error @+1 {{'regrain.alternatives' op has no regions, expected at least 1}}
  "regrain.alternatives"() {descriptions = []} : () -> ()
  return
}

// -----

func.func @grid_barrier_with_id(%n: index, %id: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%x) = (%c0) to (%n) step (%c1) {
    // expected-error @+1 {{'regrain.barrier' op is of the grid and has an id}}
    regrain.barrier(%x) id %id {grid}
  }
  return
}

// -----

func.func @warp_call_words(%n: index, %i: i32, %w: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%x) = (%c0) to (%n) step (%c1) {
    // expected-error @+1 {{'regrain.warp_call' op has a word of type 'i64', expected 'i32' as its first result}}
    %t = regrain.warp_call @f(%i, %w) lanes(%x) : (i32, i64) -> i32
  }
  return
}

// -----

func.func @warp_call_of_nothing(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%x) = (%c0) to (%n) step (%c1) {
    // expected-error @+1 {{'regrain.warp_call' op has no values or no results, expected at least 1 of each}}
    %t = regrain.warp_call @f() lanes(%x) : () -> i32
  }
  return
}
