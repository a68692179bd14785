// RUN: %regrain-opt %s --regrain-undo-staging | FileCheck %s
// RUN: %regrain-opt %s --regrain-undo-staging --debug-only=regrain-undo-staging 2>&1 >/dev/null | FileCheck %s --check-prefix=WHY
// Tiles that stay.

// WHY: llvm.load {{.*}} reads what was not copied evenly
// WHY: llvm.load {{.*}} reads what was not copied evenly
// WHY: llvm.load {{.*}} is of memory that threads share
// WHY: they are filled and read in turn
// WHY: its shape is not known
// WHY: llvm.atomicrmw {{.*}} is more than to access memory, to compute and to meet
// WHY: llvm.store {{.*}} is not followed
// WHY: scf.if {{.*}} is not followed

// What is stored was computed.
// CHECK-LABEL: llvm.func @computed
// CHECK-NOT: scf.if %{{.*}} {
// CHECK: regrain.gpu_wrapper
// CHECK-NOT: } else {
// CHECK: llvm.return
llvm.func @computed(%p: !llvm.ptr, %gx: i32, %bx: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 16 : index
  %g = arith.index_castui %gx : i32 to index
  %in = llvm.load %p {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %out = llvm.load %p {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %b, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<256 x f32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %b, %c1) step (%c1, %c1, %c1) {
        %c16 = arith.constant 16 : index
        %row = arith.muli %y, %c16 : index
        %t = arith.addi %row, %x : index
        %n = arith.index_cast %t : index to i64
        %own = llvm.getelementptr %tile[%n] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
        %from = llvm.getelementptr %in[%n] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %to = llvm.getelementptr %out[%n] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %v = llvm.load %from {alignment = 4 : i64} : !llvm.ptr -> f32
        %w = llvm.fadd %v, %v : f32
        llvm.store %w, %own : f32, !llvm.ptr<3>
        regrain.barrier(%x, %y, %z)
        %west = llvm.getelementptr %tile[%n] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
        %u = llvm.load %west : !llvm.ptr<3> -> f32
        llvm.store %u, %to : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// The last thread reads where the first one stored: addresses do not go on evenly.
// CHECK-LABEL: llvm.func @uneven
// CHECK-NOT: scf.if %{{.*}} {
// CHECK: regrain.gpu_wrapper
// CHECK-NOT: } else {
// CHECK: llvm.return
llvm.func @uneven(%p: !llvm.ptr, %gx: i32, %bx: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 16 : index
  %g = arith.index_castui %gx : i32 to index
  %in = llvm.load %p {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %out = llvm.load %p {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %b, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<256 x f32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %b, %c1) step (%c1, %c1, %c1) {
        %c16 = arith.constant 16 : index
        %row = arith.muli %y, %c16 : index
        %t = arith.addi %row, %x : index
        %n = arith.index_cast %t : index to i64
        %own = llvm.getelementptr %tile[%n] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
        %from = llvm.getelementptr %in[%n] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %to = llvm.getelementptr %out[%n] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %v = llvm.load %from {alignment = 4 : i64} : !llvm.ptr -> f32
        llvm.store %v, %own : f32, !llvm.ptr<3>
        regrain.barrier(%x, %y, %z)
        %c1_i64 = arith.constant 1 : i64
        %c255 = arith.constant 255 : i64
        %after = arith.addi %n, %c1_i64 : i64
        %turned = arith.andi %after, %c255 : i64
        %next = llvm.getelementptr %tile[%turned] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
        %u = llvm.load %next : !llvm.ptr<3> -> f32
        llvm.store %u, %to : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// All threads of a row read the same element: the tile is read again and again, as it lies.
// CHECK-LABEL: llvm.func @rows
// CHECK-NOT: scf.if %{{.*}} {
// CHECK: regrain.gpu_wrapper
// CHECK-NOT: } else {
// CHECK: llvm.return
llvm.func @rows(%p: !llvm.ptr, %gx: i32, %bx: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 16 : index
  %g = arith.index_castui %gx : i32 to index
  %in = llvm.load %p {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %out = llvm.load %p {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %b, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<256 x f32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %b, %c1) step (%c1, %c1, %c1) {
        %c16 = arith.constant 16 : index
        %row = arith.muli %y, %c16 : index
        %t = arith.addi %row, %x : index
        %n = arith.index_cast %t : index to i64
        %own = llvm.getelementptr %tile[%n] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
        %from = llvm.getelementptr %in[%n] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %to = llvm.getelementptr %out[%n] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %v = llvm.load %from {alignment = 4 : i64} : !llvm.ptr -> f32
        llvm.store %v, %own : f32, !llvm.ptr<3>
        regrain.barrier(%x, %y, %z)
        %r = arith.index_cast %row : index to i64
        %head = llvm.getelementptr %tile[%r] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
        %u = llvm.load %head : !llvm.ptr<3> -> f32
        llvm.store %u, %to : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// The tile is filled again after it was read.
// CHECK-LABEL: llvm.func @twice
// CHECK-NOT: scf.if %{{.*}} {
// CHECK: regrain.gpu_wrapper
// CHECK-NOT: } else {
// CHECK: llvm.return
llvm.func @twice(%p: !llvm.ptr, %gx: i32, %bx: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 16 : index
  %g = arith.index_castui %gx : i32 to index
  %in = llvm.load %p {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %out = llvm.load %p {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %b, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<256 x f32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %b, %c1) step (%c1, %c1, %c1) {
        %c16 = arith.constant 16 : index
        %row = arith.muli %y, %c16 : index
        %t = arith.addi %row, %x : index
        %n = arith.index_cast %t : index to i64
        %own = llvm.getelementptr %tile[%n] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
        %from = llvm.getelementptr %in[%n] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %to = llvm.getelementptr %out[%n] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %v = llvm.load %from {alignment = 4 : i64} : !llvm.ptr -> f32
        llvm.store %v, %own : f32, !llvm.ptr<3>
        regrain.barrier(%x, %y, %z)
        %u = llvm.load %own : !llvm.ptr<3> -> f32
        regrain.barrier(%x, %y, %z)
        llvm.store %v, %own : f32, !llvm.ptr<3>
        regrain.barrier(%x, %y, %z)
        %w = llvm.load %own : !llvm.ptr<3> -> f32
        %s = llvm.fadd %u, %w : f32
        llvm.store %s, %to : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// How many threads there are is not known.
// CHECK-LABEL: llvm.func @unknown
// CHECK-NOT: scf.if %{{.*}} {
// CHECK: regrain.gpu_wrapper
// CHECK-NOT: } else {
// CHECK: llvm.return
llvm.func @unknown(%p: !llvm.ptr, %gx: i32, %bx: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 16 : index
  %g = arith.index_castui %gx : i32 to index
  %in = llvm.load %p {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %out = llvm.load %p {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> !llvm.ptr
  %s = arith.index_castui %bx : i32 to index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%s, %b, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<256 x f32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%s, %b, %c1) step (%c1, %c1, %c1) {
        %c16 = arith.constant 16 : index
        %row = arith.muli %y, %c16 : index
        %t = arith.addi %row, %x : index
        %n = arith.index_cast %t : index to i64
        %own = llvm.getelementptr %tile[%n] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
        %from = llvm.getelementptr %in[%n] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %to = llvm.getelementptr %out[%n] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %v = llvm.load %from {alignment = 4 : i64} : !llvm.ptr -> f32
        llvm.store %v, %own : f32, !llvm.ptr<3>
        regrain.barrier(%x, %y, %z)
        %u = llvm.load %own : !llvm.ptr<3> -> f32
        llvm.store %u, %to : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// Another thread may add to an element.
// CHECK-LABEL: llvm.func @atomic
// CHECK-NOT: scf.if %{{.*}} {
// CHECK: regrain.gpu_wrapper
// CHECK-NOT: } else {
// CHECK: llvm.return
llvm.func @atomic(%p: !llvm.ptr, %gx: i32, %bx: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 16 : index
  %g = arith.index_castui %gx : i32 to index
  %in = llvm.load %p {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %out = llvm.load %p {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %b, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<256 x f32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %b, %c1) step (%c1, %c1, %c1) {
        %c16 = arith.constant 16 : index
        %row = arith.muli %y, %c16 : index
        %t = arith.addi %row, %x : index
        %n = arith.index_cast %t : index to i64
        %own = llvm.getelementptr %tile[%n] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
        %from = llvm.getelementptr %in[%n] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %to = llvm.getelementptr %out[%n] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %v = llvm.load %from {alignment = 4 : i64} : !llvm.ptr -> f32
        llvm.store %v, %own : f32, !llvm.ptr<3>
        regrain.barrier(%x, %y, %z)
        %old = llvm.atomicrmw fadd %tile, %v monotonic : !llvm.ptr<3>, f32
        regrain.barrier(%x, %y, %z)
        %u = llvm.load %own : !llvm.ptr<3> -> f32
        llvm.store %u, %to : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// Where the block writes depends on what it read: it may be among what it reads.
// CHECK-LABEL: llvm.func @scattered
// CHECK-NOT: scf.if %{{.*}} {
// CHECK: regrain.gpu_wrapper
// CHECK-NOT: } else {
// CHECK: llvm.return
llvm.func @scattered(%p: !llvm.ptr, %gx: i32, %bx: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 16 : index
  %g = arith.index_castui %gx : i32 to index
  %in = llvm.load %p {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %out = llvm.load %p {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %b, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<256 x f32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %b, %c1) step (%c1, %c1, %c1) {
        %c16 = arith.constant 16 : index
        %row = arith.muli %y, %c16 : index
        %t = arith.addi %row, %x : index
        %n = arith.index_cast %t : index to i64
        %own = llvm.getelementptr %tile[%n] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
        %from = llvm.getelementptr %in[%n] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %to = llvm.getelementptr %out[%n] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %v = llvm.load %from {alignment = 4 : i64} : !llvm.ptr -> f32
        llvm.store %v, %own : f32, !llvm.ptr<3>
        regrain.barrier(%x, %y, %z)
        %u = llvm.load %own : !llvm.ptr<3> -> f32
        %bits = llvm.bitcast %u : f32 to i32
        %a = llvm.getelementptr %out[%bits] : (!llvm.ptr, i32) -> !llvm.ptr, f32
        llvm.store %u, %a : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// Which elements are filled depends on data.
// CHECK-LABEL: llvm.func @data
// CHECK: regrain.gpu_wrapper
// CHECK-NOT: } else {
// CHECK: llvm.return
llvm.func @data(%p: !llvm.ptr, %gx: i32, %bx: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 16 : index
  %g = arith.index_castui %gx : i32 to index
  %in = llvm.load %p {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %out = llvm.load %p {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %b, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<256 x f32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %b, %c1) step (%c1, %c1, %c1) {
        %c16 = arith.constant 16 : index
        %row = arith.muli %y, %c16 : index
        %t = arith.addi %row, %x : index
        %n = arith.index_cast %t : index to i64
        %own = llvm.getelementptr %tile[%n] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
        %from = llvm.getelementptr %in[%n] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %to = llvm.getelementptr %out[%n] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %v = llvm.load %from {alignment = 4 : i64} : !llvm.ptr -> f32
        %zero = llvm.mlir.constant(0.0 : f32) : f32
        %c = llvm.fcmp "olt" %v, %zero : f32
        scf.if %c {
          llvm.store %v, %own : f32, !llvm.ptr<3>
        }
        regrain.barrier(%x, %y, %z)
        %u = llvm.load %own : !llvm.ptr<3> -> f32
        llvm.store %u, %to : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// Neighbours along x would read rows of memory, as far from each other as is known at run time.
// WHY: threads would read memory by columns
// CHECK-LABEL: llvm.func @transposed
// CHECK-NOT: } else {
// CHECK: llvm.return
llvm.func @transposed(%p: !llvm.ptr, %gx: i32, %bx: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 16 : index
  %g = arith.index_castui %gx : i32 to index
  %in = llvm.load %p {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %out = llvm.load %p {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> !llvm.ptr
  %width = llvm.load %p {regrain.kernel_arg = 2 : i64} : !llvm.ptr -> i32
  %columns = llvm.sext %width : i32 to i64
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %b, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<256 x f32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %b, %c1) step (%c1, %c1, %c1) {
        %column = arith.index_cast %x : index to i64
        %row = arith.index_cast %y : index to i64
        %sixteen = llvm.mlir.constant(16 : i64) : i64
        %above = llvm.mul %row, %sixteen overflow<nsw> : i64
        %n = llvm.add %above, %column overflow<nsw> : i64
        %left = llvm.mul %column, %sixteen overflow<nsw> : i64
        %m = llvm.add %left, %row overflow<nsw> : i64
        %far = llvm.mul %row, %columns overflow<nsw> : i64
        %at = llvm.add %far, %column overflow<nsw> : i64
        %from = llvm.getelementptr %in[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %own = llvm.getelementptr %tile[%n] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
        %other = llvm.getelementptr %tile[%m] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
        %to = llvm.getelementptr %out[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %v = llvm.load %from {alignment = 4 : i64} : !llvm.ptr -> f32
        llvm.store %v, %own : f32, !llvm.ptr<3>
        regrain.barrier(%x, %y, %z)
        %u = llvm.load %other : !llvm.ptr<3> -> f32
        llvm.store %u, %to : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}
