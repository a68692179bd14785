// RUN: %regrain-opt %s --regrain-interchange-strides | FileCheck %s

// The number that all threads share goes on by the stride; where it might wrap, the loop stays as it was.
// CHECK-LABEL: llvm.func @grid_stride
// CHECK: %[[LOW:.*]] = llvm.mul
// CHECK: %[[STRIDE:.*]] = llvm.mul
// CHECK: arith.cmpi sgt, %[[STRIDE]]
// CHECK: scf.if
// CHECK: scf.while (%[[NOW:.*]] = %[[LOW]])
// CHECK: arith.cmpi slt, %[[NOW]], %arg4
// CHECK: ^bb0(%[[ROUND:.*]]: i32):
// CHECK-NEXT: regrain.barrier
// CHECK-NEXT: %[[NUMBER:.*]] = arith.addi %[[ROUND]], %{{.*}} : i32
// CHECK-NEXT: %[[MINE:.*]] = arith.cmpi slt, %[[NUMBER]], %arg4
// CHECK-NEXT: scf.if %[[MINE]]
// CHECK: llvm.getelementptr %arg0[%[[NUMBER]]]
// CHECK: arith.addi %[[ROUND]], %[[STRIDE]]
// CHECK: } else {
// CHECK: scf.while
// CHECK-NOT: regrain.barrier
// CHECK: scf.reduce
llvm.func @grid_stride(%p: !llvm.ptr, %gx: i32, %bx: i32, %by: i32, %n: i32, %n64: i64, %flag: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %g = arith.index_castui %gx : i32 to index
  %b = arith.index_castui %bx : i32 to index
  %h = arith.index_castui %by : i32 to index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %h, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %block = arith.index_cast %i : index to i32
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %h, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %first = llvm.mul %block, %bx : i32
        %start = llvm.add %first, %t : i32
        %stride = llvm.mul %gx, %bx : i32
        %f = llvm.mlir.constant(1.0 : f32) : f32
        %last = scf.while (%now = %start) : (i32) -> i32 {
          %go = llvm.icmp "slt" %now, %n : i32
          scf.condition(%go) %now : i32
        } do {
        ^bb0(%number: i32):
          %a = llvm.getelementptr %p[%number] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          llvm.store %f, %a : f32, !llvm.ptr
          %next = llvm.add %number, %stride : i32
          scf.yield %next : i32
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// A start made wider must not have wrapped before.
// CHECK-LABEL: llvm.func @wider
// CHECK: arith.cmpi ule, %{{.*}}, %{{.*}} : i32
// CHECK: %[[LOW:.*]] = arith.extui %{{.*}} : i32 to i64
// CHECK: %[[OWN:.*]] = arith.extui %{{.*}} : i32 to i64
// CHECK: scf.if
// CHECK: scf.while (%{{.*}} = %[[LOW]])
// CHECK: regrain.barrier
// CHECK-NEXT: arith.addi %{{.*}}, %[[OWN]] : i64
llvm.func @wider(%p: !llvm.ptr, %gx: i32, %bx: i32, %by: i32, %n: i32, %n64: i64, %flag: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %g = arith.index_castui %gx : i32 to index
  %b = arith.index_castui %bx : i32 to index
  %h = arith.index_castui %by : i32 to index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %h, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %block = arith.index_cast %i : index to i32
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %h, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %first = llvm.mul %block, %bx : i32
        %start = llvm.add %first, %t : i32
        %stride = llvm.mul %gx, %bx : i32
        %f = llvm.mlir.constant(1.0 : f32) : f32
        %wide = llvm.zext %start : i32 to i64
        %step = llvm.zext %stride : i32 to i64
        %last = scf.while (%now = %wide) : (i64) -> i64 {
          %go = llvm.icmp "slt" %now, %n64 : i64
          scf.condition(%go) %now : i64
        } do {
        ^bb0(%number: i64):
          %a = llvm.getelementptr %p[%number] : (!llvm.ptr, i64) -> !llvm.ptr, f32
          llvm.store %f, %a : f32, !llvm.ptr
          %next = llvm.add %number, %step : i64
          scf.yield %next : i64
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// Rows of threads start apart by their length; constants need no question.
// CHECK-LABEL: llvm.func @block_stride
// CHECK-NOT: arith.cmpi
// CHECK-NOT: scf.if
// CHECK: scf.for %[[BASE:.*]] = %{{.*}} to %{{.*}} step
// CHECK: regrain.barrier
// CHECK: %[[NUMBER:.*]] = arith.addi %[[BASE]]
// CHECK: %[[MINE:.*]] = arith.cmpi slt, %[[NUMBER]]
// CHECK: scf.if %[[MINE]]
// CHECK-NOT: } else {
// CHECK: scf.reduce
llvm.func @block_stride(%p: !llvm.ptr, %gx: i32, %bx: i32, %by: i32, %n: i32, %n64: i64, %flag: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %g = arith.index_castui %gx : i32 to index
  %b = arith.index_castui %bx : i32 to index
  %h = arith.index_castui %by : i32 to index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %h, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %block = arith.index_cast %i : index to i32
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %h, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %first = llvm.mul %block, %bx : i32
        %start = llvm.add %first, %t : i32
        %stride = llvm.mul %gx, %bx : i32
        %f = llvm.mlir.constant(1.0 : f32) : f32
        %u = arith.index_cast %y : index to i32
        %below = llvm.mul %u, %bx : i32
        %thread = llvm.add %below, %t : i32
        %many = llvm.mlir.constant(4096 : i32) : i32
        %step = llvm.mlir.constant(256 : i32) : i32
        scf.for %number = %thread to %many step %step : i32 {
          %a = llvm.getelementptr %p[%number] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          llvm.store %f, %a : f32, !llvm.ptr
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// All threads start together.
// CHECK-LABEL: llvm.func @do_not_interchange_what_is_shared
// CHECK-NOT: regrain.barrier
// CHECK: scf.reduce
llvm.func @do_not_interchange_what_is_shared(%p: !llvm.ptr, %gx: i32, %bx: i32, %by: i32, %n: i32, %n64: i64, %flag: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %g = arith.index_castui %gx : i32 to index
  %b = arith.index_castui %bx : i32 to index
  %h = arith.index_castui %by : i32 to index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %h, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %block = arith.index_cast %i : index to i32
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %h, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %first = llvm.mul %block, %bx : i32
        %start = llvm.add %first, %t : i32
        %stride = llvm.mul %gx, %bx : i32
        %f = llvm.mlir.constant(1.0 : f32) : f32
        %last = scf.while (%now = %first) : (i32) -> i32 {
          %go = llvm.icmp "slt" %now, %n : i32
          scf.condition(%go) %now : i32
        } do {
        ^bb0(%number: i32):
          %a = llvm.getelementptr %p[%number] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          llvm.store %f, %a : f32, !llvm.ptr
          %next = llvm.add %number, %stride : i32
          scf.yield %next : i32
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// Each thread has its own end.
// CHECK-LABEL: llvm.func @do_not_interchange_own_ends
// CHECK-NOT: regrain.barrier
// CHECK: scf.reduce
llvm.func @do_not_interchange_own_ends(%p: !llvm.ptr, %gx: i32, %bx: i32, %by: i32, %n: i32, %n64: i64, %flag: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %g = arith.index_castui %gx : i32 to index
  %b = arith.index_castui %bx : i32 to index
  %h = arith.index_castui %by : i32 to index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %h, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %block = arith.index_cast %i : index to i32
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %h, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %first = llvm.mul %block, %bx : i32
        %start = llvm.add %first, %t : i32
        %stride = llvm.mul %gx, %bx : i32
        %f = llvm.mlir.constant(1.0 : f32) : f32
        %last = scf.while (%now = %start) : (i32) -> i32 {
          %go = llvm.icmp "slt" %now, %t : i32
          scf.condition(%go) %now : i32
        } do {
        ^bb0(%number: i32):
          %a = llvm.getelementptr %p[%number] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          llvm.store %f, %a : f32, !llvm.ptr
          %next = llvm.add %number, %stride : i32
          scf.yield %next : i32
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// Each thread has its own stride.
// CHECK-LABEL: llvm.func @do_not_interchange_own_strides
// CHECK-NOT: regrain.barrier
// CHECK: scf.reduce
llvm.func @do_not_interchange_own_strides(%p: !llvm.ptr, %gx: i32, %bx: i32, %by: i32, %n: i32, %n64: i64, %flag: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %g = arith.index_castui %gx : i32 to index
  %b = arith.index_castui %bx : i32 to index
  %h = arith.index_castui %by : i32 to index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %h, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %block = arith.index_cast %i : index to i32
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %h, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %first = llvm.mul %block, %bx : i32
        %start = llvm.add %first, %t : i32
        %stride = llvm.mul %gx, %bx : i32
        %f = llvm.mlir.constant(1.0 : f32) : f32
        %last = scf.while (%now = %start) : (i32) -> i32 {
          %go = llvm.icmp "slt" %now, %n : i32
          scf.condition(%go) %now : i32
        } do {
        ^bb0(%number: i32):
          %a = llvm.getelementptr %p[%number] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          llvm.store %f, %a : f32, !llvm.ptr
          %next = llvm.add %number, %t : i32
          scf.yield %next : i32
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// Only some threads come here.
// CHECK-LABEL: llvm.func @do_not_interchange_what_some_do
// CHECK-NOT: regrain.barrier
// CHECK: scf.reduce
llvm.func @do_not_interchange_what_some_do(%p: !llvm.ptr, %gx: i32, %bx: i32, %by: i32, %n: i32, %n64: i64, %flag: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %g = arith.index_castui %gx : i32 to index
  %b = arith.index_castui %bx : i32 to index
  %h = arith.index_castui %by : i32 to index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %h, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %block = arith.index_cast %i : index to i32
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %h, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %first = llvm.mul %block, %bx : i32
        %start = llvm.add %first, %t : i32
        %stride = llvm.mul %gx, %bx : i32
        %f = llvm.mlir.constant(1.0 : f32) : f32
        %zero = llvm.mlir.constant(0 : i32) : i32
        %some = llvm.icmp "eq" %t, %zero : i32
        scf.if %some {
        %last = scf.while (%now = %start) : (i32) -> i32 {
          %go = llvm.icmp "slt" %now, %n : i32
          scf.condition(%go) %now : i32
        } do {
        ^bb0(%number: i32):
          %a = llvm.getelementptr %p[%number] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          llvm.store %f, %a : f32, !llvm.ptr
          %next = llvm.add %number, %stride : i32
          scf.yield %next : i32
        }
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// A sum is carried: where the block reads more than the nearest cache holds, the loop goes outside with it.
// CHECK-LABEL: llvm.func @sums
// CHECK: %[[BYTES:.*]] = arith.muli %{{.*}}, %c4_i64
// CHECK: %[[ROUNDS:.*]] = arith.divui %c32768_i64, %[[BYTES]]
// CHECK: %[[REACH:.*]] = arith.muli %{{.*}}, %[[ROUNDS]]
// CHECK: arith.cmpi sgt, %{{.*}}, %[[REACH]]
// CHECK: %[[ALL:.*]] = scf.if %{{.*}} -> (f32)
// CHECK: %[[OUT:.*]]:2 = scf.while
// CHECK: ^bb0(%{{.*}}: i32, %[[NOW:.*]]: f32):
// CHECK-NEXT: regrain.barrier
// CHECK: %[[NEXT:.*]] = scf.if %{{.*}} -> (f32)
// CHECK: %[[MORE:.*]] = llvm.fadd %[[NOW]]
// CHECK: scf.yield %[[MORE]] : f32
// CHECK: scf.yield %[[NOW]] : f32
// CHECK: scf.yield %{{.*}}, %[[NEXT]] : i32, f32
// CHECK: scf.yield %[[OUT]]#1 : f32
// CHECK: } else {
// CHECK: scf.while
// CHECK-NOT: regrain.barrier
// CHECK: llvm.store %[[ALL]]
llvm.func @sums(%p: !llvm.ptr, %gx: i32, %bx: i32, %by: i32, %n: i32, %n64: i64, %flag: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %g = arith.index_castui %gx : i32 to index
  %b = arith.index_castui %bx : i32 to index
  %h = arith.index_castui %by : i32 to index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %h, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %block = arith.index_cast %i : index to i32
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %h, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %first = llvm.mul %block, %bx : i32
        %start = llvm.add %first, %t : i32
        %stride = llvm.mul %gx, %bx : i32
        %f = llvm.mlir.constant(1.0 : f32) : f32
        %sum:2 = scf.while (%now = %start, %s = %f) : (i32, f32) -> (i32, f32) {
          %go = llvm.icmp "slt" %now, %n : i32
          scf.condition(%go) %now, %s : i32, f32
        } do {
        ^bb0(%number: i32, %s: f32):
          %a = llvm.getelementptr %p[%number] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          %v = llvm.load %a : !llvm.ptr -> f32
          %more = llvm.fadd %s, %v : f32
          %next = llvm.add %number, %stride : i32
          scf.yield %next, %more : i32, f32
        }
        llvm.store %sum#1, %p : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// Shared memory is near.
// CHECK-LABEL: llvm.func @do_not_interchange_sums_of_tiles
// CHECK-NOT: regrain.barrier
// CHECK: scf.reduce
llvm.func @do_not_interchange_sums_of_tiles(%p: !llvm.ptr, %gx: i32, %bx: i32, %by: i32, %n: i32, %n64: i64, %flag: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %g = arith.index_castui %gx : i32 to index
  %b = arith.index_castui %bx : i32 to index
  %h = arith.index_castui %by : i32 to index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %h, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<64 x f32> -> !llvm.ptr<3>
      %block = arith.index_cast %i : index to i32
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %h, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %first = llvm.mul %block, %bx : i32
        %start = llvm.add %first, %t : i32
        %stride = llvm.mul %gx, %bx : i32
        %f = llvm.mlir.constant(1.0 : f32) : f32
        %sum:2 = scf.while (%now = %start, %s = %f) : (i32, f32) -> (i32, f32) {
          %go = llvm.icmp "slt" %now, %n : i32
          scf.condition(%go) %now, %s : i32, f32
        } do {
        ^bb0(%number: i32, %s: f32):
          %a = llvm.getelementptr %tile[%number] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
          %v = llvm.load %a : !llvm.ptr<3> -> f32
          %more = llvm.fadd %s, %v : f32
          %next = llvm.add %number, %stride : i32
          scf.yield %next, %more : i32, f32
        }
        llvm.store %sum#1, %p : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// What waits must not take turns.
// CHECK-LABEL: llvm.func @do_not_interchange_volatile_accesses
// CHECK-NOT: regrain.barrier
// CHECK: scf.reduce
llvm.func @do_not_interchange_volatile_accesses(%p: !llvm.ptr, %gx: i32, %bx: i32, %by: i32, %n: i32, %n64: i64, %flag: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %g = arith.index_castui %gx : i32 to index
  %b = arith.index_castui %bx : i32 to index
  %h = arith.index_castui %by : i32 to index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %h, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %block = arith.index_cast %i : index to i32
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %h, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %first = llvm.mul %block, %bx : i32
        %start = llvm.add %first, %t : i32
        %stride = llvm.mul %gx, %bx : i32
        %f = llvm.mlir.constant(1.0 : f32) : f32
        %last = scf.while (%now = %start) : (i32) -> i32 {
          %go = llvm.icmp "slt" %now, %n : i32
          scf.condition(%go) %now : i32
        } do {
        ^bb0(%number: i32):
          llvm.store volatile %f, %p : f32, !llvm.ptr
          %next = llvm.add %number, %stride : i32
          scf.yield %next : i32
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// The thread has its memory to itself.
// CHECK-LABEL: llvm.func @do_not_interchange_own_memory
// CHECK-NOT: regrain.barrier
// CHECK: scf.reduce
llvm.func @do_not_interchange_own_memory(%p: !llvm.ptr, %gx: i32, %bx: i32, %by: i32, %n: i32, %n64: i64, %flag: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %g = arith.index_castui %gx : i32 to index
  %b = arith.index_castui %bx : i32 to index
  %h = arith.index_castui %by : i32 to index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %h, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %block = arith.index_cast %i : index to i32
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %h, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %first = llvm.mul %block, %bx : i32
        %start = llvm.add %first, %t : i32
        %stride = llvm.mul %gx, %bx : i32
        %f = llvm.mlir.constant(1.0 : f32) : f32
        %two = llvm.mlir.constant(2 : i32) : i32
        %own = llvm.alloca %two x f32 : (i32) -> !llvm.ptr
        %last = scf.while (%now = %start) : (i32) -> i32 {
          %go = llvm.icmp "slt" %now, %n : i32
          scf.condition(%go) %now : i32
        } do {
        ^bb0(%number: i32):
          llvm.store %f, %own : f32, !llvm.ptr
          %next = llvm.add %number, %stride : i32
          scf.yield %next : i32
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// The body holds a loop.
// CHECK-LABEL: llvm.func @do_not_interchange_nests
// CHECK-NOT: regrain.barrier
// CHECK: scf.reduce
llvm.func @do_not_interchange_nests(%p: !llvm.ptr, %gx: i32, %bx: i32, %by: i32, %n: i32, %n64: i64, %flag: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %g = arith.index_castui %gx : i32 to index
  %b = arith.index_castui %bx : i32 to index
  %h = arith.index_castui %by : i32 to index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %h, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %block = arith.index_cast %i : index to i32
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %h, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %first = llvm.mul %block, %bx : i32
        %start = llvm.add %first, %t : i32
        %stride = llvm.mul %gx, %bx : i32
        %f = llvm.mlir.constant(1.0 : f32) : f32
        %last = scf.while (%now = %start) : (i32) -> i32 {
          %go = llvm.icmp "slt" %now, %n : i32
          scf.condition(%go) %now : i32
        } do {
        ^bb0(%number: i32):
          scf.for %inner = %c0 to %b step %c1 {
            llvm.store %f, %p : f32, !llvm.ptr
          }
          %next = llvm.add %number, %stride : i32
          scf.yield %next : i32
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// The starts may be far apart.
// CHECK-LABEL: llvm.func @do_not_interchange_unknown_starts
// CHECK-NOT: regrain.barrier
// CHECK: scf.reduce
llvm.func @do_not_interchange_unknown_starts(%p: !llvm.ptr, %gx: i32, %bx: i32, %by: i32, %n: i32, %n64: i64, %flag: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %g = arith.index_castui %gx : i32 to index
  %b = arith.index_castui %bx : i32 to index
  %h = arith.index_castui %by : i32 to index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %h, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %block = arith.index_cast %i : index to i32
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %h, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %first = llvm.mul %block, %bx : i32
        %start = llvm.add %first, %t : i32
        %stride = llvm.mul %gx, %bx : i32
        %f = llvm.mlir.constant(1.0 : f32) : f32
        %far = llvm.mul %t, %n : i32
        %last = scf.while (%now = %far) : (i32) -> i32 {
          %go = llvm.icmp "slt" %now, %n : i32
          scf.condition(%go) %now : i32
        } do {
        ^bb0(%number: i32):
          %a = llvm.getelementptr %p[%number] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          llvm.store %f, %a : f32, !llvm.ptr
          %next = llvm.add %number, %stride : i32
          scf.yield %next : i32
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// The threads of a block are a divisor of the bound: all make each round.
// CHECK-LABEL: llvm.func @whole_rounds
// CHECK-NOT: arith.cmpi
// CHECK: scf.for %[[BASE:.*]] = %{{.*}} to %{{.*}} step
// CHECK-NEXT: regrain.barrier
// CHECK-NEXT: arith.addi %[[BASE]]
// CHECK-NOT: scf.if
// CHECK: scf.reduce
llvm.func @whole_rounds(%p: !llvm.ptr, %q: !llvm.ptr, %gx: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %g = arith.index_castui %gx : i32 to index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%c16, %c16, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c16, %c16, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %u = arith.index_cast %y : index to i32
        %sixteen = llvm.mlir.constant(16 : i32) : i32
        %below = llvm.mul %u, %sixteen : i32
        %thread = llvm.add %below, %t : i32
        %many = llvm.mlir.constant(1024 : i32) : i32
        %step = llvm.mlir.constant(256 : i32) : i32
        scf.for %number = %thread to %many step %step : i32 {
          %a = llvm.getelementptr %p[%number] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          %v = llvm.load %a : !llvm.ptr -> f32
          %b = llvm.getelementptr %q[%number] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          llvm.store %v, %b : f32, !llvm.ptr
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// A last round is of some threads alone: the rounds are known, but not all threads make each.
// CHECK-LABEL: llvm.func @do_not_take_all_threads
// CHECK: scf.for
// CHECK: regrain.barrier
// CHECK: arith.cmpi slt
// CHECK: scf.if
// CHECK: scf.reduce
llvm.func @do_not_take_all_threads(%p: !llvm.ptr, %gx: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %g = arith.index_castui %gx : i32 to index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%c256, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c256, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %many = llvm.mlir.constant(1023 : i32) : i32
        %step = llvm.mlir.constant(256 : i32) : i32
        %f = llvm.mlir.constant(1.0 : f32) : f32
        scf.for %number = %t to %many step %step : i32 {
          %a = llvm.getelementptr %p[%number] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          llvm.store %f, %a : f32, !llvm.ptr
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}
