// RUN: %regrain-opt %s --regrain-interchange-strides | FileCheck %s

// All threads go through the rounds together: a barrier is all that the loop needs. It stands where the accesses are, behind the condition.
// CHECK-LABEL: llvm.func @tiles
// CHECK: scf.while
// CHECK: scf.if
// CHECK-NEXT: regrain.barrier
// CHECK: scf.for
// CHECK: scf.condition

// CHECK-LABEL: llvm.func @do_not_stay_near
// CHECK-NOT: regrain.barrier
// CHECK: llvm.return

// A round does too little for the four numbers that a thread carries.
// CHECK-LABEL: llvm.func @do_not_carry_much
// CHECK-NOT: regrain.barrier
// CHECK: llvm.return

// CHECK-LABEL: llvm.func @do_not_part
// CHECK-NOT: regrain.barrier
// CHECK: llvm.return
llvm.func @tiles(%p: !llvm.ptr, %gx: i32, %n: i32, %stride: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 64 : index
  %g = arith.index_castui %gx : i32 to index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %low = arith.index_cast %i : index to i32
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %zero = llvm.mlir.constant(0 : i32) : i32
        %one = llvm.mlir.constant(1 : i32) : i32
        %four = llvm.mlir.constant(4 : i32) : i32
        %size = llvm.mlir.constant(64 : i32) : i32
        %last:2 = scf.while (%at = %low, %sum = %zero) : (i32, i32) -> (i32, i32) {
          %go = llvm.icmp "slt" %at, %n : i32
          %made:2 = scf.if %go -> (i32, i32) {
            %base = llvm.add %at, %t : i32
            %more = scf.for %u = %zero to %four step %one iter_args(%so = %sum) -> (i32) : i32 {
              %far = llvm.mul %u, %size : i32
              %number = llvm.add %base, %far : i32
              %a = llvm.getelementptr %p[%number] : (!llvm.ptr, i32) -> !llvm.ptr, i32
              %v = llvm.load %a : !llvm.ptr -> i32
              %s = llvm.add %so, %v : i32
              scf.yield %s : i32
            }
            %next = llvm.add %at, %stride : i32
            scf.yield %next, %more : i32, i32
          } else {
            scf.yield %at, %sum : i32, i32
          }
          scf.condition(%go) %made#0, %made#1 : i32, i32
        } do {
        ^bb0(%at: i32, %sum: i32):
          scf.yield %at, %sum : i32, i32
        }
        %out = llvm.getelementptr %p[%t] : (!llvm.ptr, i32) -> !llvm.ptr, i32
        llvm.store %last#1, %out : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// The next round is beside this one.
llvm.func @do_not_stay_near(%p: !llvm.ptr, %gx: i32, %n: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 64 : index
  %g = arith.index_castui %gx : i32 to index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %zero = llvm.mlir.constant(0 : i32) : i32
        %one = llvm.mlir.constant(1 : i32) : i32
        scf.for %at = %zero to %n step %one : i32 {
          %number = llvm.add %at, %t : i32
          %a = llvm.getelementptr %p[%number] : (!llvm.ptr, i32) -> !llvm.ptr, i32
          llvm.store %t, %a : i32, !llvm.ptr
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

llvm.func @do_not_carry_much(%p: !llvm.ptr, %gx: i32, %n: i32, %stride: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 64 : index
  %g = arith.index_castui %gx : i32 to index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %zero = llvm.mlir.constant(0 : i32) : i32
        %last:3 = scf.while (%at = %zero, %s0 = %t, %s1 = %t) : (i32, i32, i32) -> (i32, i32, i32) {
          %go = llvm.icmp "slt" %at, %n : i32
          scf.condition(%go) %at, %s0, %s1 : i32, i32, i32
        } do {
        ^bb0(%at: i32, %s0: i32, %s1: i32):
          %number = llvm.add %at, %t : i32
          %a = llvm.getelementptr %p[%number] : (!llvm.ptr, i32) -> !llvm.ptr, i32
          %v = llvm.load %a : !llvm.ptr -> i32
          %m0 = llvm.add %s0, %v : i32
          %m1 = llvm.mul %s1, %v : i32
          %next = llvm.add %at, %stride : i32
          scf.yield %next, %m0, %m1 : i32, i32, i32
        }
        %out = llvm.getelementptr %p[%last#1] : (!llvm.ptr, i32) -> !llvm.ptr, i32
        llvm.store %last#2, %out : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// Not all threads come to the loop.
llvm.func @do_not_part(%p: !llvm.ptr, %gx: i32, %n: i32, %stride: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 64 : index
  %g = arith.index_castui %gx : i32 to index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %zero = llvm.mlir.constant(0 : i32) : i32
        %ten = llvm.mlir.constant(10 : i32) : i32
        %first = llvm.icmp "slt" %t, %ten : i32
        scf.if %first {
          scf.for %at = %zero to %n step %stride : i32 {
            %number = llvm.add %at, %t : i32
            %next = llvm.add %at, %stride : i32
            %a = llvm.getelementptr %p[%number] : (!llvm.ptr, i32) -> !llvm.ptr, i32
            llvm.store %next, %a : i32, !llvm.ptr
          }
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}
