// RUN: %regrain-opt %s --regrain-share-loads | FileCheck %s
// RUN: %regrain-opt %s --regrain-share-loads --regrain-split-barriers | FileCheck %s --check-prefix=SPLIT

// The rounds are as many in all threads, which load how many before they store anywhere but in their tile.
// CHECK-LABEL: func.func @length_of_a_block
// CHECK: scf.parallel
// CHECK: %[[N:.*]] = llvm.load %{{.*}} -> i64
// CHECK: scf.parallel
// CHECK-NOT: llvm.load {{.*}} -> i64
// CHECK: scf.for {{.*}} to %[[N]]
// A loop that all threads share stands outside of their loops.
// SPLIT-LABEL: func.func @length_of_a_block
// SPLIT: %[[N:.*]] = llvm.load %{{.*}} -> i64
// SPLIT: scf.parallel
// SPLIT: scf.for {{.*}} to %[[N]]
// SPLIT: scf.parallel
func.func @length_of_a_block(%g: index, %b: index, %slot: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %lengths = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared : !llvm.array<64 x i64> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %block = arith.index_cast %i : index to i64
        %t = arith.index_cast %x : index to i64
        %cell = llvm.getelementptr %tile[%t] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, i64
        llvm.store %t, %cell : i64, !llvm.ptr<3>
        %at = llvm.getelementptr %lengths[%block] : (!llvm.ptr, i64) -> !llvm.ptr, i64
        %n = llvm.load %at : !llvm.ptr -> i64
        regrain.barrier(%x, %y, %z)
        %zero = llvm.mlir.constant(0 : i64) : i64
        %one = llvm.mlir.constant(1 : i64) : i64
        scf.for %r = %zero to %n step %one : i64 {
          %other = llvm.getelementptr %tile[%r] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, i64
          llvm.store %r, %other : i64, !llvm.ptr<3>
          regrain.barrier(%x, %y, %z)
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// A thread may have written there when another one loads.
// CHECK-LABEL: func.func @do_not_share_what_the_phase_writes
// CHECK: scf.parallel
// CHECK: scf.parallel
// CHECK: llvm.load {{.*}} -> i64
func.func @do_not_share_what_the_phase_writes(%g: index, %b: index, %slots: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %lengths = llvm.load %slots {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %out = llvm.load %slots {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %n = llvm.load %lengths : !llvm.ptr -> i64
        %at = llvm.getelementptr %out[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i64
        llvm.store %n, %at : i64, !llvm.ptr
        regrain.barrier(%x, %y, %z)
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// What is loaded behind a barrier may have been written before it, what only some threads load may lie nowhere, and behind a loop that may
// not end nobody may come to the load. A place of its own each thread loads itself.
// CHECK-LABEL: func.func @do_not_share_elsewhere
// CHECK: scf.parallel
// CHECK: scf.parallel
// CHECK: scf.if
// CHECK: llvm.load {{.*}} -> i8
// CHECK: llvm.load {{.*}} -> i64
// CHECK: scf.while
// CHECK: llvm.load {{.*}} -> i16
// CHECK: regrain.barrier
// CHECK: llvm.load {{.*}} -> i32
func.func @do_not_share_elsewhere(%g: index, %b: index, %slots: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %lengths = llvm.load %slots {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %zero = llvm.mlir.constant(0 : i64) : i64
        %first = llvm.icmp "eq" %t, %zero : i64
        scf.if %first {
          %some = llvm.load %lengths : !llvm.ptr -> i8
        }
        %own = llvm.getelementptr %lengths[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i64
        %mine = llvm.load %own : !llvm.ptr -> i64
        %end = scf.while (%m = %mine) : (i64) -> i64 {
          %more = llvm.icmp "ne" %m, %t : i64
          scf.condition(%more) %m : i64
        } do {
        ^bb0(%m: i64):
          %next = llvm.mul %m, %m : i64
          scf.yield %next : i64
        }
        %late = llvm.load %lengths : !llvm.ptr -> i16
        regrain.barrier(%x, %y, %z)
        %behind = llvm.load %lengths : !llvm.ptr -> i32
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}
