// RUN: %regrain-opt %s --regrain-split-barriers --split-input-file --verify-diagnostics | FileCheck %s

// A barrier of part of the block.
// CHECK: attributes {regrain.not_split = "it uses a barrier of part of the block"}
func.func @do_not_split_named_barrier(%g: index, %b: index, %n: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-remark @below {{not split at its barriers: it uses a barrier of part of the block}}
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        regrain.barrier(%x, %y, %z) id %n count %n
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// -----

// A loop that waits for another thread's store, and an operation of a warp that a thread loop would end at: the store may come after it.
func.func @do_not_split_waiting_beside_warp_operation(%g: index, %b: index, %p: !llvm.ptr, %q: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-remark @below {{it may wait for another thread of its block}}
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %all = arith.constant -1 : i32
        %zero = arith.constant 0 : i32
        scf.while : () -> () {
          %v = llvm.load volatile %p : !llvm.ptr -> i32
          %more = arith.cmpi eq, %v, %zero : i32
          scf.condition(%more)
        } do {
          scf.yield
        }
        %odd = arith.cmpi eq, %zero, %all : i32
        %votes = regrain.vote ballot %odd mask %all(%x, %y, %z) : i32
        llvm.store %votes, %q : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// -----

// CHECK-LABEL: func.func @split_compare_and_swap
// CHECK-NOT: regrain.not_split
// CHECK-LABEL: func.func @do_not_split_unknown_call
// A loop over compare-and-swap makes progress by itself.
func.func @split_compare_and_swap(%g: index, %b: index, %p: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %first = llvm.load %p : !llvm.ptr -> i32
        %r = scf.while (%old = %first) : (i32) -> i32 {
          %one = arith.constant 1 : i32
          %new = arith.addi %old, %one : i32
          %pair = llvm.cmpxchg %p, %old, %new monotonic monotonic : !llvm.ptr, i32
          %now = llvm.extractvalue %pair[0] : !llvm.struct<(i32, i1)>
          %more = arith.cmpi ne, %now, %old : i32
          scf.condition(%more) %now : i32
        } do {
        ^bb0(%again: i32):
          scf.yield %again : i32
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// -----

// A call of a function that nobody knows.
llvm.func @unknown(i32) -> i32
func.func @do_not_split_unknown_call(%g: index, %b: index, %n: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-remark @below {{it calls a function that may know its thread or synchronise}}
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %v = llvm.call @unknown(%n) : (i32) -> i32
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// -----

// Stack memory of a size that only the run knows.
func.func @do_not_split_dynamic_stack(%g: index, %b: index, %n: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-remark @below {{it allocates stack memory of a size known only at run time}}
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %v = llvm.alloca %n x f32 : (i32) -> !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// -----

// A register of the thread that no induction variable stands for.
func.func @do_not_split_thread_register(%g: index, %b: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-remark @below {{it reads registers of its thread}}
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %v = nvvm.read.ptx.sreg.tid.x : i32
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// -----

// The address of shared memory as a number: in a block function it lies elsewhere.
func.func @do_not_split_shared_address(%g: index, %b: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-remark @below {{it makes a number of the address of shared memory}}
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %s = regrain.shared : !llvm.array<4 x f32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %v = llvm.ptrtoint %s : !llvm.ptr<3> to i32
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// -----

// What memory an address lies in that comes from anywhere: on the stack of a block shared memory is like a thread's own.
func.func @do_not_split_asking(%g: index, %b: index, %p: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-remark @below {{it asks of an address that is not known whether it lies in shared memory}}
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %s = regrain.shared : !llvm.array<4 x f32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = llvm.addrspacecast %s : !llvm.ptr<3> to !llvm.ptr
        %known = llvm.call_intrinsic "llvm.nvvm.isspacep.shared"(%t) : (!llvm.ptr) -> i1
        %either = llvm.select %known, %t, %p : i1, !llvm.ptr
        %asked = llvm.call_intrinsic "llvm.nvvm.isspacep.shared"(%either) : (!llvm.ptr) -> i1
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// -----

// Threads that keep kilobytes each across a barrier.
func.func @do_not_split_much_state(%g: index, %b: index, %p: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-remark @below {{its threads hold too much state across synchronisation}}
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %one = arith.constant 1 : i32
        %v = llvm.alloca %one x !llvm.array<65536 x f32> : (i32) -> !llvm.ptr
        llvm.store %one, %v : i32, !llvm.ptr
        regrain.barrier(%x, %y, %z)
        %w = llvm.load %v : !llvm.ptr -> i32
        llvm.store %w, %p : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// -----

// Nothing says what its threads are.
func.func @do_not_split_without_block_loop(%g: index, %b: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-remark @below {{it has no grid loop with one block loop inside}}
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.reduce
    }
  }
  func.return
}

// -----

func.func @do_not_split_steps_of_two(%g: index, %b: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  // expected-remark @below {{not split at its barriers: its block loop has not three dimensions from 0 with step 1}}
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c2, %c1, %c1) {
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// -----

func.func @do_not_split_effects_beside_the_block_loop(%g: index, %b: index, %p: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  // expected-remark @below {{not split at its barriers: it has effects between the grid loop and the block loop}}
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      llvm.store %p, %p : !llvm.ptr, !llvm.ptr
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// -----

func.func @do_not_split_a_barrier_of_the_grid(%g: index, %b: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  // expected-remark @below {{not split at its barriers: it synchronises another loop than the block loop}}
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        regrain.barrier(%i, %j, %k)
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// -----

func.func @do_not_split_unstructured_control_flow(%g: index, %b: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  // expected-remark @below {{not split at its barriers: it synchronises inside of control flow that is not structured}}
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        scf.execute_region {
          regrain.barrier(%x, %y, %z)
          scf.yield
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// -----

llvm.func @do_not_split_a_written_argument(%args: !llvm.ptr, %gx: i32, %bx: i32) {
  %g = arith.index_castui %gx : i32 to index
  %b = arith.index_castui %bx : i32 to index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %slot = llvm.getelementptr %args[0] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  // expected-remark @below {{not split at its barriers: it may write to an argument passed by value}}
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        llvm.store %p, %p : !llvm.ptr, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// -----

// All threads of the block meet in each round, but the flag is another block's.
func.func @do_not_split_waiting_for_a_block(%g: index, %b: index, %p: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-remark @below {{not split at its barriers: it may wait for another block elsewhere than at a barrier of the grid}}
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        regrain.barrier(%x, %y, %z) {grid}
        scf.while : () -> () {
          regrain.barrier(%x, %y, %z)
          %v = llvm.load volatile %p : !llvm.ptr -> i32
          %zero = arith.constant 0 : i32
          %more = arith.cmpi eq, %v, %zero : i32
          scf.condition(%more)
        } do {
          scf.yield
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// -----

llvm.func @waits(%p: !llvm.ptr) {
  %v = llvm.load volatile %p : !llvm.ptr -> i32
  llvm.return
}

func.func @do_not_split_waiting_for_a_block_in_a_function(%g: index, %b: index, %p: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-remark @below {{not split at its barriers: it may wait for another block elsewhere than at a barrier of the grid}}
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        regrain.barrier(%x, %y, %z) {grid}
        llvm.call @waits(%p) : (!llvm.ptr) -> ()
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}
