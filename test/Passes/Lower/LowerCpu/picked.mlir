// RUN: %regrain-opt %s --split-input-file --regrain-lower-cpu="register-bits=0" | FileCheck %s

// Each round is for the thread that it picks, if that is one of those that come to the loop. What a thread carries lies in memory, and what is
// behind the loop comes after all rounds.
// CHECK-LABEL: llvm.func @__regrain_block.walk
// CHECK-DAG: %[[CARRIED:.*]] = llvm.alloca %{{.*}} x i32 {alignment = 64
// CHECK-DAG: %[[CAME:.*]] = llvm.alloca %{{.*}} x i8 {alignment = 64
// CHECK: llvm.store %{{.*}}, %[[CAME]] : i8, !llvm.ptr
// CHECK: %[[FIRST:.*]] = llvm.load %{{.*}} {access_groups = {{.*}}} : !llvm.ptr -> i32
// CHECK-NEXT: %[[CELL:.*]] = llvm.getelementptr %[[CARRIED]]
// CHECK-NEXT: llvm.store %[[FIRST]], %[[CELL]] {access_groups
// CHECK-NEXT: llvm.store %{{.*}}, %[[CAME]] {access_groups
// CHECK: llvm.load %[[CAME]]
// CHECK: llvm.cond_br
// CHECK: %[[KEY:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i32
// CHECK-NEXT: %[[DIGIT:.*]] = llvm.and %[[KEY]]
// CHECK-NEXT: llvm.icmp "ult" %[[DIGIT]], %{{.*}} : i32
// CHECK-NEXT: llvm.cond_br
// CHECK: llvm.icmp "slt"
// CHECK-NEXT: llvm.cond_br
// CHECK: %[[OWN:.*]] = llvm.getelementptr %[[CARRIED]]
// CHECK-NEXT: llvm.load %[[OWN]]
// CHECK: %[[NEXT:.*]] = llvm.getelementptr %[[CARRIED]]
// CHECK-NEXT: llvm.store %{{.*}}, %[[NEXT]] : i32, !llvm.ptr
// CHECK: %[[BEHIND:.*]] = llvm.getelementptr %[[CARRIED]]
// CHECK-NEXT: %[[LAST:.*]] = llvm.load %[[BEHIND]]
// CHECK: llvm.store %[[LAST]], %{{.*}} : i32, !llvm.ptr
// CHECK: llvm.return
llvm.func ptx_kernelcc @walk(%p: !llvm.ptr, %n: i32)
llvm.func @__regrain_launch.walk(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @walk} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %c15 = arith.constant 15 : i32
  %c16 = arith.constant 16 : i32
  %g = arith.index_castui %gx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %next = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %second = llvm.load %next : !llvm.ptr -> !llvm.ptr
  %n = llvm.load %second {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> i32
  %e = regrain.gpu_wrapper @walk grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %few = llvm.icmp "slt" %t, %c16 : i32
        scf.if %few {
          %a = llvm.getelementptr %p[%t] : (!llvm.ptr, i32) -> !llvm.ptr, i32
          %first = llvm.load %a : !llvm.ptr -> i32
          %last = scf.for %r = %zero to %n step %one iter_args(%at = %first) -> (i32) : i32 {
            %b = llvm.getelementptr %p[%r] : (!llvm.ptr, i32) -> !llvm.ptr, i32
            %key = llvm.load %b : !llvm.ptr -> i32
            %digit = llvm.and %key, %c15 : i32
            %mine = llvm.icmp "eq" %digit, %t : i32
            %then = scf.if %mine -> (i32) {
              %c = llvm.getelementptr %p[%at] : (!llvm.ptr, i32) -> !llvm.ptr, i32
              llvm.store %key, %c : i32, !llvm.ptr
              %more = llvm.add %at, %one : i32
              scf.yield %more : i32
            } else {
              scf.yield %at : i32
            }
            scf.yield %then : i32
          }
          llvm.store %last, %a : i32, !llvm.ptr
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}

// -----

// A thread that is not picked counts on.
// CHECK-LABEL: llvm.func @__regrain_block.do_not_pick
// CHECK-NOT: llvm.alloca
// CHECK: llvm.return
llvm.func ptx_kernelcc @do_not_pick(%p: !llvm.ptr, %n: i32)
llvm.func @__regrain_launch.do_not_pick(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @do_not_pick} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %g = arith.index_castui %gx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %next = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %second = llvm.load %next : !llvm.ptr -> !llvm.ptr
  %n = llvm.load %second {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> i32
  %e = regrain.gpu_wrapper @do_not_pick grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %last = scf.for %r = %zero to %n step %one iter_args(%at = %zero) -> (i32) : i32 {
          %b = llvm.getelementptr %p[%r] : (!llvm.ptr, i32) -> !llvm.ptr, i32
          %key = llvm.load %b : !llvm.ptr -> i32
          %mine = llvm.icmp "eq" %key, %t : i32
          %then = scf.if %mine -> (i32) {
            llvm.store %at, %b : i32, !llvm.ptr
            scf.yield %zero : i32
          } else {
            %more = llvm.add %at, %one : i32
            scf.yield %more : i32
          }
          scf.yield %then : i32
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}

// -----

// A number in eight bits is that of several threads: the loop is over all of them, and none is picked.
// CHECK-LABEL: llvm.func @__regrain_block.do_not_narrow
// CHECK-NOT: llvm.intr.smin
// CHECK-NOT: llvm.alloca
// CHECK: %[[ALL:.*]] = llvm.mlir.constant(512 : index) : i64
// CHECK: llvm.icmp "slt" %{{.*}}, %[[ALL]] : i64
// CHECK: llvm.return
llvm.func ptx_kernelcc @do_not_narrow(%p: !llvm.ptr, %n: i32)
llvm.func @__regrain_launch.do_not_narrow(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @do_not_narrow} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c512 = arith.constant 512 : index
  %five = arith.constant 5 : i8
  %g = arith.index_castui %gx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @do_not_narrow grid(%g, %c1, %c1) block(%c512, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c512, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %narrow = llvm.trunc %t : i32 to i8
        %c = llvm.icmp "eq" %narrow, %five : i8
        scf.if %c {
          %a = llvm.getelementptr %p[%t] : (!llvm.ptr, i32) -> !llvm.ptr, i32
          llvm.store %t, %a : i32, !llvm.ptr
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}
