// RUN: %regrain-opt %s --regrain-fuse-loops | FileCheck %s

// Three loops that hand on an array of the thread, the second under a condition.
// CHECK-LABEL: func.func @hands_on
// CHECK: scf.for %[[I:.*]] =
// CHECK: %[[V:.*]] = llvm.load
// CHECK: llvm.store %[[V]]
// CHECK: scf.if
// CHECK: llvm.store
// CHECK: %[[W:.*]] = llvm.load
// CHECK: llvm.store %[[W]], %{{.*}} : i32, !llvm.ptr<3>
// CHECK-NOT: scf.for
// CHECK: return
func.func @hands_on(%in: !llvm.ptr, %n: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%b) = (%c0) to (%c64) step (%c1) {
    %tile = regrain.shared : !llvm.array<960 x i32> -> !llvm.ptr<3>
    scf.parallel (%x) = (%c0) to (%c64) step (%c1) {
      %one = llvm.mlir.constant(1 : i32) : i32
      %zero = llvm.mlir.constant(0 : i32) : i32
      %many = llvm.mlir.constant(15 : i32) : i32
      %items = llvm.alloca %one x !llvm.array<15 x i32> : (i32) -> !llvm.ptr
      %t = arith.index_cast %x : index to i32
      scf.for %i = %zero to %many step %one : i32 {
        %k = llvm.sext %i : i32 to i64
        %a = llvm.getelementptr %in[%k] : (!llvm.ptr, i64) -> !llvm.ptr, i32
        %v = llvm.load %a : !llvm.ptr -> i32
        %p = llvm.getelementptr %items[0, %k] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<15 x i32>
        llvm.store %v, %p : i32, !llvm.ptr
      }
      scf.for %i = %zero to %many step %one : i32 {
        %go = llvm.icmp "slt" %i, %n : i32
        scf.if %go {
          %k = llvm.sext %i : i32 to i64
          %p = llvm.getelementptr %items[%k] : (!llvm.ptr, i64) -> !llvm.ptr, i32
          %v = llvm.load %p : !llvm.ptr -> i32
          %w = llvm.add %v, %one : i32
          llvm.store %w, %p : i32, !llvm.ptr
        }
      }
      %first = llvm.mul %t, %many : i32
      %fifteen = llvm.mlir.constant(15 : i32) : i32
      scf.for %i = %zero to %fifteen step %one : i32 {
        %k = llvm.sext %i : i32 to i64
        %p = llvm.getelementptr %items[0, %k] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<15 x i32>
        %v = llvm.load %p : !llvm.ptr -> i32
        %at = llvm.add %first, %i : i32
        %q = llvm.getelementptr %tile[0, %at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<960 x i32>
        llvm.store %v, %q : i32, !llvm.ptr<3>
      }
    }
  }
  return
}

// A round reads what a later one of the loop before writes.
// CHECK-LABEL: func.func @do_not_read_ahead
// CHECK: scf.for
// CHECK: scf.for
// CHECK: return
func.func @do_not_read_ahead(%in: !llvm.ptr, %out: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%x) = (%c0) to (%c64) step (%c1) {
    %one = llvm.mlir.constant(1 : i64) : i64
    %zero = llvm.mlir.constant(0 : i64) : i64
    %many = llvm.mlir.constant(15 : i64) : i64
    %tile = llvm.alloca %one x !llvm.array<1 x i32> : (i64) -> !llvm.ptr
    %items = llvm.alloca %one x !llvm.array<16 x i32> : (i64) -> !llvm.ptr
    scf.for %i = %zero to %many step %one : i64 {
      %a = llvm.getelementptr %in[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
      %v = llvm.load %a : !llvm.ptr -> i32
      %p = llvm.getelementptr %items[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
      llvm.store %v, %p : i32, !llvm.ptr
    }
    scf.for %i = %zero to %many step %one : i64 {
      %j = llvm.add %i, %one : i64
      %p = llvm.getelementptr %items[%j] : (!llvm.ptr, i64) -> !llvm.ptr, i32
      %v = llvm.load %p : !llvm.ptr -> i32
      llvm.store %v, %tile : i32, !llvm.ptr
    }
  }
  return
}

// What the second loop writes the first may read in a later round: both are of the host's.
// CHECK-LABEL: func.func @do_not_write_what_may_be_read
// CHECK: scf.for
// CHECK: scf.for
// CHECK: return
func.func @do_not_write_what_may_be_read(%in: !llvm.ptr, %out: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%x) = (%c0) to (%c64) step (%c1) {
    %one = llvm.mlir.constant(1 : i64) : i64
    %zero = llvm.mlir.constant(0 : i64) : i64
    %many = llvm.mlir.constant(15 : i64) : i64
    %items = llvm.alloca %one x !llvm.array<15 x i32> : (i64) -> !llvm.ptr
    scf.for %i = %zero to %many step %one : i64 {
      %a = llvm.getelementptr %in[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
      %v = llvm.load %a : !llvm.ptr -> i32
      %p = llvm.getelementptr %items[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
      llvm.store %v, %p : i32, !llvm.ptr
    }
    scf.for %i = %zero to %many step %one : i64 {
      %p = llvm.getelementptr %items[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
      %v = llvm.load %p : !llvm.ptr -> i32
      %o = llvm.getelementptr %out[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
      llvm.store %v, %o : i32, !llvm.ptr
    }
  }
  return
}

// Another thread's stores are between; loops that count differently; loops that share nothing of the thread's.
// CHECK-LABEL: func.func @do_not_fuse
// CHECK: scf.for
// CHECK: regrain.warp_barrier
// CHECK: scf.for
// CHECK: scf.for
// CHECK: scf.for
// CHECK: return
func.func @do_not_fuse(%in: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%b) = (%c0) to (%c64) step (%c1) {
    %tile = regrain.shared : !llvm.array<64 x i32> -> !llvm.ptr<3>
    scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
      %one = llvm.mlir.constant(1 : i64) : i64
      %zero = llvm.mlir.constant(0 : i64) : i64
      %many = llvm.mlir.constant(15 : i64) : i64
      %fewer = llvm.mlir.constant(14 : i64) : i64
      %all = llvm.mlir.constant(-1 : i32) : i32
      %items = llvm.alloca %one x !llvm.array<15 x i32> : (i64) -> !llvm.ptr
      scf.for %i = %zero to %many step %one : i64 {
        %a = llvm.getelementptr %in[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
        %v = llvm.load %a : !llvm.ptr -> i32
        %p = llvm.getelementptr %items[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
        llvm.store %v, %p : i32, !llvm.ptr
      }
      regrain.warp_barrier %all(%x, %y, %z)
      scf.for %i = %zero to %many step %one : i64 {
        %p = llvm.getelementptr %items[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
        %v = llvm.load %p : !llvm.ptr -> i32
        %w = llvm.add %v, %v : i32
        llvm.store %w, %p : i32, !llvm.ptr
      }
      scf.for %i = %zero to %fewer step %one : i64 {
        %p = llvm.getelementptr %items[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
        %v = llvm.load %p : !llvm.ptr -> i32
        %q = llvm.getelementptr %tile[0, %i] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<64 x i32>
        llvm.store %v, %q : i32, !llvm.ptr<3>
      }
      scf.for %i = %zero to %fewer step %one : i64 {
        %p = llvm.getelementptr %items[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
        llvm.store %all, %p : i32, !llvm.ptr
      }
      scf.reduce
    }
  }
  return
}
