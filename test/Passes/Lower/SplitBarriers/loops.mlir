// RUN: %regrain-opt %s --regrain-split-barriers | FileCheck %s

// All threads agree on the condition: the loop moves outside.
// CHECK-LABEL: func.func @uniform_while
func.func @uniform_while(%p: !llvm.ptr, %n: i32, %g: index, %b: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      // CHECK: scf.while (%[[ROUND:.*]] = %{{.*}}) : (i32) -> i32
      // CHECK: %[[MORE:.*]] = arith.cmpi slt, %[[ROUND]]
      // CHECK: scf.condition(%[[MORE]])
      // CHECK: scf.parallel
      // CHECK: llvm.store
      // CHECK: scf.reduce
      // CHECK: scf.yield
      // CHECK-NOT: regrain.barrier
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %r = scf.while (%round = %zero) : (i32) -> i32 {
          %more = arith.cmpi slt, %round, %n : i32
          scf.condition(%more) %round : i32
        } do {
        ^bb0(%round: i32):
          llvm.store volatile %round, %p : i32, !llvm.ptr
          regrain.barrier(%x, %y, %z)
          %next = arith.addi %round, %one : i32
          scf.yield %next : i32
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// Each thread has its own number of rounds: a mask, and a loop that runs while any thread is in it.
// CHECK-LABEL: func.func @masked_while
func.func @masked_while(%p: !llvm.ptr, %g: index, %b: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      // CHECK: %[[MASK:.*]] = llvm.alloca %{{.*}} x i8
      // CHECK: "llvm.intr.memset"(%[[MASK]]
      // CHECK: scf.while : () -> () {
      // CHECK: scf.parallel
      // CHECK: llvm.getelementptr %[[MASK]]
      // CHECK: scf.if
      // CHECK: arith.cmpi slt
      // CHECK: %[[COUNT:.*]] = scf.for
      // CHECK: %[[ANY:.*]] = arith.cmpi ne, %[[COUNT]]
      // CHECK: scf.condition(%[[ANY]])
      // CHECK: scf.parallel
      // CHECK: llvm.getelementptr %[[MASK]]
      // CHECK: scf.if
      // CHECK-NOT: regrain.barrier
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %r = scf.while (%round = %zero) : (i32) -> i32 {
          %more = arith.cmpi slt, %round, %t : i32
          scf.condition(%more) %round : i32
        } do {
        ^bb0(%round: i32):
          llvm.store volatile %round, %p : i32, !llvm.ptr
          regrain.warp_barrier %one (%x, %y, %z)
          %next = arith.addi %round, %one : i32
          scf.yield %next : i32
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// A switch that all threads take alike is a chain of branches outside of the thread loops.
// CHECK-LABEL: func.func @uniform_switch
func.func @uniform_switch(%p: !llvm.ptr, %which: index, %g: index, %b: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      // CHECK: scf.if
      // CHECK-NEXT: scf.parallel
      // CHECK: arith.cmpi eq
      // CHECK: scf.if
      // CHECK-NEXT: scf.parallel
      // CHECK: llvm.store
      // CHECK-NOT: regrain.barrier
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        scf.index_switch %which
        case 3 {
          llvm.store volatile %one, %p : i32, !llvm.ptr
          regrain.barrier(%x, %y, %z)
          scf.yield
        }
        default {
          llvm.store volatile %one, %p : i32, !llvm.ptr
          scf.yield
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// Else each case has a mask.
// CHECK-LABEL: func.func @masked_switch
func.func @masked_switch(%p: !llvm.ptr, %g: index, %b: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      // CHECK: %[[DEFAULT:.*]] = llvm.alloca %{{.*}} x i8
      // CHECK: %[[CASE:.*]] = llvm.alloca %{{.*}} x i8
      // CHECK: scf.parallel
      // CHECK: llvm.getelementptr %[[DEFAULT]]
      // CHECK: llvm.getelementptr %[[CASE]]
      // CHECK: scf.if
      // CHECK: scf.parallel
      // CHECK-NOT: regrain.warp_barrier
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        scf.index_switch %x
        case 3 {
          llvm.store volatile %one, %p : i32, !llvm.ptr
          regrain.warp_barrier %one (%x, %y, %z)
          scf.yield
        }
        default {
          llvm.store volatile %one, %p : i32, !llvm.ptr
          scf.yield
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// The sum that a round adds up goes straight into the cells that the next one reads: nothing is copied behind the barrier.
// CHECK-LABEL: func.func @sum_of_rounds
// CHECK: %[[CELLS:.*]] = llvm.alloca
// CHECK-NOT: llvm.alloca
// CHECK: scf.for
// CHECK: scf.parallel
// CHECK: llvm.getelementptr %[[CELLS]]
// CHECK: scf.for
// CHECK: llvm.getelementptr %[[CELLS]]
// CHECK: llvm.store
// CHECK: scf.reduce
// CHECK-NEXT: }
// CHECK-NEXT: }
func.func @sum_of_rounds(%p: !llvm.ptr, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %zero = llvm.mlir.constant(0.0 : f32) : f32
  %e = regrain.gpu_wrapper grid(%c8, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%c8, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %q = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %all = scf.for %r = %c0 to %n step %c1 iter_args(%sum = %zero) -> (f32) {
          regrain.barrier(%x, %y, %z)
          %more = scf.for %s = %c0 to %c8 step %c1 iter_args(%now = %sum) -> (f32) {
            %v = llvm.load %p : !llvm.ptr -> f32
            %next = llvm.fadd %now, %v : f32
            scf.yield %next : f32
          }
          regrain.barrier(%x, %y, %z)
          scf.yield %more : f32
        }
        regrain.barrier(%x, %y, %z)
        llvm.store %all, %q : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  return
}

// The old sum is read once more behind the barrier, so that the new one waits in cells of its own.
// CHECK-LABEL: func.func @sums_of_two_rounds
// CHECK-COUNT-2: llvm.alloca
// CHECK: scf.for
func.func @sums_of_two_rounds(%p: !llvm.ptr, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %zero = llvm.mlir.constant(0.0 : f32) : f32
  %e = regrain.gpu_wrapper grid(%c8, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%c8, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %q = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %all = scf.for %r = %c0 to %n step %c1 iter_args(%sum = %zero) -> (f32) {
          regrain.barrier(%x, %y, %z)
          %more = scf.for %s = %c0 to %c8 step %c1 iter_args(%now = %sum) -> (f32) {
            %v = llvm.load %p : !llvm.ptr -> f32
            %next = llvm.fadd %now, %v : f32
            scf.yield %next : f32
          }
          regrain.barrier(%x, %y, %z)
          llvm.store %sum, %q : f32, !llvm.ptr
          scf.yield %more : f32
        }
        regrain.barrier(%x, %y, %z)
        llvm.store %all, %q : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  return
}
