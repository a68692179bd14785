// RUN: %regrain-opt %s --regrain-lower-cpu="register-bits=0" | FileCheck %s

// A branch that selects threads becomes a loop over just those; atomics on a block's own memory are seen by one thread alone.
// CHECK-LABEL: llvm.func @__regrain_block.k
// CHECK: llvm.store %{{.*}} {access_groups = {{.*}}} : f32, !llvm.ptr
// The loop ends with a row of 32.
// CHECK: %[[ROWS:.*]] = llvm.intr.smin(%{{.*}}, %{{.*}}) : (i64, i64) -> i64
// CHECK: %[[SOME:.*]] = llvm.intr.smax(%[[ROWS]], %{{.*}}) : (i64, i64) -> i64
// CHECK: %[[END:.*]] = llvm.mul %[[SOME]], %{{.*}} : i64
// CHECK: llvm.icmp "slt" %{{.*}}, %[[END]] : i64
// CHECK: llvm.atomicrmw add %{{.*}}, %{{.*}} syncscope("singlethread") monotonic
llvm.func ptx_kernelcc @k(%p: !llvm.ptr, %half: i32)
llvm.func @__regrain_launch.k(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @k} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1 : i32
  %g = arith.index_castui %gx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %next = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %second = llvm.load %next : !llvm.ptr -> !llvm.ptr
  %half = llvm.load %second {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> i32
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %count = regrain.shared : i32 -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %a = llvm.getelementptr %p[%t] : (!llvm.ptr, i32) -> !llvm.ptr, f32
        %v = llvm.load %a : !llvm.ptr -> f32
        %s = llvm.fadd %v, %v : f32
        llvm.store %s, %a : f32, !llvm.ptr
        %c = llvm.icmp "slt" %t, %half : i32
        scf.if %c {
          %old = llvm.atomicrmw add %count, %one monotonic : !llvm.ptr<3>, i32
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}

// A number that grows by a step of the run time: so many threads as have one below the bound, if none wraps.
// CHECK-LABEL: llvm.func @__regrain_block.sweep
// CHECK: %[[STEP:.*]] = llvm.freeze %{{.*}} : i32
// CHECK: llvm.sext %[[STEP]] : i32 to i64
// CHECK: %[[COUNT:.*]] = llvm.udiv %{{.*}}, %{{.*}} : i64
// CHECK: %[[THREADS:.*]] = llvm.select %{{.*}}, %[[COUNT]], %{{.*}} : i1, i64
// CHECK: %[[SOME:.*]] = llvm.intr.smin(%[[THREADS]], %{{.*}}) : (i64, i64) -> i64
// CHECK: %[[END:.*]] = llvm.intr.smax(%[[SOME]], %{{.*}}) : (i64, i64) -> i64
// CHECK: llvm.icmp "slt" %{{.*}}, %[[END]] : i64
llvm.func ptx_kernelcc @sweep(%p: !llvm.ptr, %step: i32)
llvm.func @__regrain_launch.sweep(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @sweep} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1 : i32
  %bound = arith.constant 128 : i32
  %g = arith.index_castui %gx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %next = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %second = llvm.load %next : !llvm.ptr -> !llvm.ptr
  %step = llvm.load %second {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> i32
  %e = regrain.gpu_wrapper @sweep grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %t1 = llvm.add %t, %one overflow<nsw> : i32
        %far = llvm.mul %t1, %step overflow<nsw> : i32
        %at = llvm.sub %far, %one overflow<nsw> : i32
        %c = llvm.icmp "slt" %at, %bound : i32
        scf.if %c {
          %a = llvm.getelementptr %p[%at] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          %v = llvm.load %a : !llvm.ptr -> f32
          %s = llvm.fadd %v, %v : f32
          llvm.store %s, %a : f32, !llvm.ptr
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}

// Phases of which each has half the threads of the one before do not end with whole rows.
// CHECK-LABEL: llvm.func @__regrain_block.halved
// CHECK-NOT: ashr
// CHECK: llvm.intr.smin
// CHECK: llvm.intr.smax
// CHECK: llvm.return
llvm.func ptx_kernelcc @halved(%p: !llvm.ptr, %count: i32)
llvm.func @__regrain_launch.halved(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @halved} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %phases = arith.constant 6 : index
  %one = arith.constant 1 : i32
  %g = arith.index_castui %gx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %next = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %second = llvm.load %next : !llvm.ptr -> !llvm.ptr
  %count = llvm.load %second {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> i32
  %e = regrain.gpu_wrapper @halved grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %last = scf.for %phase = %c0 to %phases step %c1 iter_args(%d = %count) -> (i32) {
        scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
          %t = arith.index_cast %x : index to i32
          %c = llvm.icmp "slt" %t, %d : i32
          scf.if %c {
            %a = llvm.getelementptr %p[%t] : (!llvm.ptr, i32) -> !llvm.ptr, f32
            %v = llvm.load %a : !llvm.ptr -> f32
            %s = llvm.fadd %v, %v : f32
            llvm.store %s, %a : f32, !llvm.ptr
          }
          scf.reduce
        }
        %half = llvm.lshr %d, %one : i32
        scf.yield %half : i32
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}

// Every so many threads: a loop over just those, where the sums are exact, and the loop as it was.
// CHECK-LABEL: llvm.func @__regrain_block.every
// CHECK: %[[BY:.*]] = llvm.sext %{{.*}} : i32 to i64
// CHECK: %[[REST:.*]] = llvm.srem %{{.*}}, %[[BY]] : i64
// CHECK: %[[FIRST:.*]] = llvm.select %{{.*}}, %{{.*}}, %[[REST]] : i1, i64
// CHECK: %[[COUNT:.*]] = llvm.udiv %{{.*}}, %[[BY]] : i64
// CHECK: llvm.icmp "slt" %[[ROUND:.*]], %[[COUNT]] : i64
// CHECK: %[[FAR:.*]] = llvm.mul %[[ROUND]], %[[BY]] : i64
// CHECK: llvm.add %[[FIRST]], %[[FAR]] : i64
// CHECK-NOT: llvm.srem
// CHECK: llvm.fadd
// The loop as it was.
// CHECK: llvm.srem %{{.*}}, %{{.*}} : i32
// CHECK: llvm.fadd
llvm.func ptx_kernelcc @every(%p: !llvm.ptr, %by: i32)
llvm.func @__regrain_launch.every(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @every} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : i32
  %g = arith.index_castui %gx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %next = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %second = llvm.load %next : !llvm.ptr -> !llvm.ptr
  %divisor = llvm.load %second {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> i32
  %e = regrain.gpu_wrapper @every grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %t1 = llvm.add %t, %one overflow<nsw> : i32
        %rest = llvm.srem %t1, %divisor : i32
        %c = llvm.icmp "eq" %rest, %zero : i32
        scf.if %c {
          %a = llvm.getelementptr %p[%t] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          %v = llvm.load %a : !llvm.ptr -> f32
          %s = llvm.fadd %v, %v : f32
          llvm.store %s, %a : f32, !llvm.ptr
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}

// The same of numbers of 64 bits, and of the lowest bits.
// CHECK-LABEL: llvm.func @__regrain_block.every_mask
// CHECK: %[[MASK:.*]] = llvm.freeze %{{.*}} : i64
// CHECK: %[[BY:.*]] = llvm.add %[[MASK]], %{{.*}} : i64
// CHECK: %[[BOTH:.*]] = llvm.and %[[MASK]], %[[BY]] : i64
// CHECK: llvm.icmp "eq" %[[BOTH]], %{{.*}} : i64
// CHECK: llvm.udiv %{{.*}}, %[[BY]] : i64
// CHECK: llvm.return
llvm.func ptx_kernelcc @every_mask(%p: !llvm.ptr, %mask: i64)
llvm.func @__regrain_launch.every_mask(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @every_mask} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i32
  %g = arith.index_castui %gx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %next = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %second = llvm.load %next : !llvm.ptr -> !llvm.ptr
  %mask = llvm.load %second {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> i64
  %e = regrain.gpu_wrapper @every_mask grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %rest = llvm.and %t, %mask : i64
        %c = llvm.icmp "eq" %rest, %zero : i64
        scf.if %c {
          %a = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i32
          llvm.store %one, %a : i32, !llvm.ptr
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}

// What one thread alone wants of the block's memory it alone loads: the others' loop does not wait for it.
// CHECK-LABEL: llvm.func @__regrain_block.one_wants
// CHECK: %[[TOTAL:.*]] = llvm.alloca
// CHECK-NOT: llvm.load %[[TOTAL]]
// CHECK: llvm.store %{{.*}}, %{{.*}} {access_groups = {{.*}}} : i32, !llvm.ptr
// CHECK: llvm.icmp "slt" %{{.*}}, %{{.*}} : i64
// CHECK: %[[READ:.*]] = llvm.load %[[TOTAL]]
// CHECK: llvm.store %[[READ]]
// CHECK: llvm.return
llvm.func ptx_kernelcc @one_wants(%p: !llvm.ptr, %q: !llvm.ptr)
llvm.func @__regrain_launch.one_wants(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @one_wants} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0 : i32
  %g = arith.index_castui %gx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %next = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %second = llvm.load %next : !llvm.ptr -> !llvm.ptr
  %q = llvm.load %second {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @one_wants grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %total = regrain.shared : i32 -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %sum = llvm.load %total : !llvm.ptr<3> -> i32
        %a = llvm.getelementptr %p[%t] : (!llvm.ptr, i32) -> !llvm.ptr, i32
        llvm.store %t, %a : i32, !llvm.ptr
        %c = llvm.icmp "eq" %t, %zero : i32
        scf.if %c {
          llvm.store %sum, %q : i32, !llvm.ptr
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}

// Not where it is written in between.
// CHECK-LABEL: llvm.func @__regrain_block.written_between
// CHECK: %[[TOTAL:.*]] = llvm.alloca
// CHECK: %[[READ:.*]] = llvm.load %[[TOTAL]]
// CHECK: llvm.store %{{.*}}, %[[TOTAL]]
// CHECK: llvm.store %[[READ]]
// CHECK: llvm.return
llvm.func ptx_kernelcc @written_between(%q: !llvm.ptr)
llvm.func @__regrain_launch.written_between(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @written_between} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0 : i32
  %g = arith.index_castui %gx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %q = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @written_between grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %total = regrain.shared : i32 -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %sum = llvm.load %total : !llvm.ptr<3> -> i32
        llvm.store %t, %total : i32, !llvm.ptr<3>
        %c = llvm.icmp "eq" %t, %zero : i32
        scf.if %c {
          llvm.store %sum, %q : i32, !llvm.ptr
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}

// Nor is a loop taken apart where a part uses inside of a branch what another has made, which it would make once more.
// CHECK-LABEL: llvm.func @__regrain_block.made_once
// CHECK-COUNT-1: llvm.atomicrmw add
// CHECK-NOT: llvm.atomicrmw
// CHECK: llvm.return
llvm.func ptx_kernelcc @made_once(%p: !llvm.ptr, %q: !llvm.ptr)
llvm.func @__regrain_launch.made_once(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @made_once} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %some = arith.constant 8 : i32
  %g = arith.index_castui %gx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %next = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %second = llvm.load %next : !llvm.ptr -> !llvm.ptr
  %q = llvm.load %second {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @made_once grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %a = llvm.getelementptr %p[%t] : (!llvm.ptr, i32) -> !llvm.ptr, i32
        %b = llvm.getelementptr %q[%t] : (!llvm.ptr, i32) -> !llvm.ptr, i32
        %before = llvm.load %a : !llvm.ptr -> i32
        %asks = llvm.icmp "eq" %before, %zero : i32
        %made = scf.if %asks -> (i32) {
          %old = llvm.atomicrmw add %a, %one seq_cst : !llvm.ptr, i32
          scf.yield %old : i32
        } else {
          scf.yield %one : i32
        }
        %few = llvm.icmp "slt" %t, %some : i32
        scf.if %few {
          llvm.store %t, %b : i32, !llvm.ptr
        }
        %odd = llvm.and %t, %one : i32
        %wants = llvm.icmp "eq" %odd, %one : i32
        %picked = scf.if %wants -> (i32) {
          %more = llvm.add %made, %one : i32
          scf.yield %more : i32
        } else {
          scf.yield %zero : i32
        }
        llvm.store %picked, %b : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}
