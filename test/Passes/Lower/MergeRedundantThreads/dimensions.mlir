// RUN: %regrain-opt %s --regrain-merge-redundant-threads | FileCheck %s

// All threads of y sum up the same row; the sum in memory begins with a store of their own.
// CHECK-LABEL: func.func @sum_of_a_row
// CHECK: scf.parallel {{.*}} to (%{{.*}}, %c1, %c1) step
// CHECK: scf.parallel {{.*}} to (%arg1, %c1{{.*}}, %c1) step
func.func @sum_of_a_row(%g: index, %bx: index, %by: index, %p: !llvm.ptr, %q: !llvm.ptr, %n: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%bx, %by, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%bx, %by, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %u = arith.index_cast %y : index to i64
        %own = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %zero = llvm.mlir.constant(0.0 : f32) : f32
        llvm.store %zero, %own : f32, !llvm.ptr
        %first = llvm.mlir.constant(0 : i64) : i64
        %one = llvm.mlir.constant(1 : i64) : i64
        scf.for %r = %first to %n step %one : i64 {
          %a = llvm.getelementptr %q[%r] : (!llvm.ptr, i64) -> !llvm.ptr, f32
          %v = llvm.load %a : !llvm.ptr -> f32
          %s = llvm.load %own : !llvm.ptr -> f32
          %next = llvm.fadd %s, %v : f32
          llvm.store %next, %own : f32, !llvm.ptr
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// What one thread writes all read behind a barrier.
// CHECK-LABEL: func.func @through_shared_memory
// CHECK: scf.parallel {{.*}} to (%{{.*}}, %c1, %c1) step
// CHECK: scf.parallel {{.*}} to (%arg1, %c1{{.*}}, %c1) step
func.func @through_shared_memory(%g: index, %bx: index, %by: index, %p: !llvm.ptr, %q: !llvm.ptr, %n: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%bx, %by, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared : !llvm.array<64 x f32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%bx, %by, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %u = arith.index_cast %y : index to i64
        %own = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %cell = llvm.getelementptr %tile[%t] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
        %v = llvm.load %own : !llvm.ptr -> f32
        llvm.store %v, %cell : f32, !llvm.ptr<3>
        regrain.barrier(%x, %y, %z)
        %w = llvm.load %tile : !llvm.ptr<3> -> f32
        %to = llvm.getelementptr %q[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        llvm.store %w, %to : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// The array of a thread is the same in all.
// CHECK-LABEL: func.func @own_array
// CHECK: scf.parallel {{.*}} to (%{{.*}}, %c1, %c1) step
// CHECK: scf.parallel {{.*}} to (%arg1, %c1{{.*}}, %c1) step
func.func @own_array(%g: index, %bx: index, %by: index, %p: !llvm.ptr, %q: !llvm.ptr, %n: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%bx, %by, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%bx, %by, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %u = arith.index_cast %y : index to i64
        %own = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %two = llvm.mlir.constant(2 : i32) : i32
        %array = llvm.alloca %two x f32 : (i32) -> !llvm.ptr
        %second = llvm.getelementptr %array[1] : (!llvm.ptr) -> !llvm.ptr, f32
        %v = llvm.load %q : !llvm.ptr -> f32
        llvm.store %v, %second : f32, !llvm.ptr
        %w = llvm.load %second : !llvm.ptr -> f32
        llvm.store %w, %own : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// The value comes from y.
// CHECK-LABEL: func.func @do_not_merge_values
// CHECK: scf.parallel {{.*}} to (%arg1, %arg2, %c1) step
func.func @do_not_merge_values(%g: index, %bx: index, %by: index, %p: !llvm.ptr, %q: !llvm.ptr, %n: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%bx, %by, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%bx, %by, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %u = arith.index_cast %y : index to i64
        %own = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        llvm.store %u, %own : i64, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// The place comes from y.
// CHECK-LABEL: func.func @do_not_merge_places
// CHECK: scf.parallel {{.*}} to (%arg1, %arg2, %c1) step
func.func @do_not_merge_places(%g: index, %bx: index, %by: index, %p: !llvm.ptr, %q: !llvm.ptr, %n: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%bx, %by, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%bx, %by, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %u = arith.index_cast %y : index to i64
        %own = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %f = llvm.mlir.constant(1.0 : f32) : f32
        %other = llvm.getelementptr %own[%u] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        llvm.store %f, %other : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// Who stores comes from y.
// CHECK-LABEL: func.func @do_not_merge_decisions
// CHECK: scf.parallel {{.*}} to (%arg1, %arg2, %c1) step
func.func @do_not_merge_decisions(%g: index, %bx: index, %by: index, %p: !llvm.ptr, %q: !llvm.ptr, %n: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%bx, %by, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%bx, %by, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %u = arith.index_cast %y : index to i64
        %own = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %f = llvm.mlir.constant(1.0 : f32) : f32
        %zero = llvm.mlir.constant(0 : i64) : i64
        %c = llvm.icmp "eq" %u, %zero : i64
        scf.if %c {
          llvm.store %f, %own : f32, !llvm.ptr
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// How often comes from y.
// CHECK-LABEL: func.func @do_not_merge_rounds
// CHECK: scf.parallel {{.*}} to (%arg1, %arg2, %c1) step
func.func @do_not_merge_rounds(%g: index, %bx: index, %by: index, %p: !llvm.ptr, %q: !llvm.ptr, %n: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%bx, %by, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%bx, %by, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %u = arith.index_cast %y : index to i64
        %own = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %f = llvm.mlir.constant(1.0 : f32) : f32
        scf.for %r = %c0 to %y step %c1 {
          llvm.store %f, %own : f32, !llvm.ptr
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// Each thread adds once more.
// CHECK-LABEL: func.func @do_not_merge_atomics
// CHECK: scf.parallel {{.*}} to (%arg1, %arg2, %c1) step
func.func @do_not_merge_atomics(%g: index, %bx: index, %by: index, %p: !llvm.ptr, %q: !llvm.ptr, %n: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%bx, %by, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%bx, %by, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %u = arith.index_cast %y : index to i64
        %own = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %f = llvm.mlir.constant(1.0 : f32) : f32
        %old = llvm.atomicrmw fadd %own, %f monotonic : !llvm.ptr, f32
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// Each access of a device counts.
// CHECK-LABEL: func.func @do_not_merge_volatile_accesses
// CHECK: scf.parallel {{.*}} to (%arg1, %arg2, %c1) step
func.func @do_not_merge_volatile_accesses(%g: index, %bx: index, %by: index, %p: !llvm.ptr, %q: !llvm.ptr, %n: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%bx, %by, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%bx, %by, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %u = arith.index_cast %y : index to i64
        %own = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %f = llvm.mlir.constant(1.0 : f32) : f32
        llvm.store volatile %f, %own : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// Threads are counted.
// CHECK-LABEL: func.func @do_not_merge_counting
// CHECK: scf.parallel {{.*}} to (%arg1, %arg2, %c1) step
func.func @do_not_merge_counting(%g: index, %bx: index, %by: index, %p: !llvm.ptr, %q: !llvm.ptr, %n: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%bx, %by, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%bx, %by, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %u = arith.index_cast %y : index to i64
        %own = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %true = llvm.mlir.constant(true) : i1
        %count = regrain.barrier_reduce popc %true (%x, %y, %z) : i32
        llvm.store %count, %own : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// Lanes differ.
// CHECK-LABEL: func.func @do_not_merge_warps
// CHECK: scf.parallel {{.*}} to (%arg1, %arg2, %c1) step
func.func @do_not_merge_warps(%g: index, %bx: index, %by: index, %p: !llvm.ptr, %q: !llvm.ptr, %n: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%bx, %by, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%bx, %by, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %u = arith.index_cast %y : index to i64
        %own = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %lane = regrain.lane_id(%x, %y, %z)
        llvm.store %lane, %own : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// In step all add to what they found, so the sum is added once.
// CHECK-LABEL: func.func @adds_to_what_it_finds
// CHECK: scf.parallel {{.*}} to (%{{.*}}, %c1, %c1) step
// CHECK: scf.parallel {{.*}} to (%arg1, %c1{{.*}}, %c1) step
func.func @adds_to_what_it_finds(%g: index, %bx: index, %by: index, %p: !llvm.ptr, %q: !llvm.ptr, %n: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%bx, %by, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%bx, %by, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %u = arith.index_cast %y : index to i64
        %own = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %f = llvm.mlir.constant(1.0 : f32) : f32
        %v = llvm.load %own : !llvm.ptr -> f32
        %w = llvm.fadd %v, %f : f32
        llvm.store %w, %own : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// So it is behind a barrier.
// CHECK-LABEL: func.func @adds_to_what_another_phase_wrote
// CHECK: scf.parallel {{.*}} to (%{{.*}}, %c1, %c1) step
// CHECK: scf.parallel {{.*}} to (%arg1, %c1{{.*}}, %c1) step
func.func @adds_to_what_another_phase_wrote(%g: index, %bx: index, %by: index, %p: !llvm.ptr, %q: !llvm.ptr, %n: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%bx, %by, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%bx, %by, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %u = arith.index_cast %y : index to i64
        %own = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %f = llvm.mlir.constant(1.0 : f32) : f32
        llvm.store %f, %own : f32, !llvm.ptr
        regrain.barrier(%x, %y, %z)
        %v = llvm.load %own : !llvm.ptr -> f32
        %w = llvm.fadd %v, %f : f32
        llvm.store %w, %own : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// The address of an array differs.
// CHECK-LABEL: func.func @do_not_merge_addresses_of_arrays
// CHECK: scf.parallel {{.*}} to (%arg1, %arg2, %c1) step
func.func @do_not_merge_addresses_of_arrays(%g: index, %bx: index, %by: index, %p: !llvm.ptr, %q: !llvm.ptr, %n: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%bx, %by, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%bx, %by, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %u = arith.index_cast %y : index to i64
        %own = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %two = llvm.mlir.constant(2 : i32) : i32
        %array = llvm.alloca %two x f32 : (i32) -> !llvm.ptr
        llvm.store %array, %own : !llvm.ptr, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// A function may do anything.
// CHECK-LABEL: func.func @do_not_merge_calls
// CHECK: scf.parallel {{.*}} to (%arg1, %arg2, %c1) step
func.func @do_not_merge_calls(%g: index, %bx: index, %by: index, %p: !llvm.ptr, %q: !llvm.ptr, %n: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%bx, %by, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%bx, %by, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %u = arith.index_cast %y : index to i64
        %own = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        llvm.call @unknown() : () -> ()
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

llvm.func @unknown()
