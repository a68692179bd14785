// RUN: %regrain-opt %s --regrain-vectorize-threads="register-bits=256 cost-model=false" | FileCheck %s --check-prefixes=CHECK,NARROW
// RUN: %regrain-opt %s --regrain-vectorize-threads="register-bits=512 cost-model=false" | FileCheck %s --check-prefixes=CHECK,WIDE

// What all lanes have read they may write back, if there is no other store.
// CHECK-LABEL: llvm.func @smaller_of_two
// CHECK: %[[SMALLER:.*]] = llvm.icmp "slt"
// NARROW: llvm.intr.vector.reduce.or
// NARROW: %[[OLD:.*]] = llvm.load
// NARROW: %[[FROZEN:.*]] = llvm.freeze %[[OLD]]
// NARROW: %[[ALL:.*]] = llvm.select %[[SMALLER]], %{{.*}}, %[[FROZEN]]
// NARROW: llvm.store %[[ALL]]
// WIDE: llvm.intr.masked.store
// CHECK: llvm.return
llvm.func @smaller_of_two(%p: !llvm.ptr, %q: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%n, %c1, %c1) step (%c1, %c1, %c1) {
    %i = arith.index_cast %x : index to i64
    %a = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %b = llvm.getelementptr %q[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %v = llvm.load %a : !llvm.ptr -> i32
    %w = llvm.load %b : !llvm.ptr -> i32
    %c = llvm.icmp "slt" %w, %v : i32
    scf.if %c {
      llvm.store %w, %a : i32, !llvm.ptr
    }
    scf.reduce
  }
  llvm.return
}

// The place has not been read.
// CHECK-LABEL: llvm.func @do_not_write_what_was_not_read
// CHECK: llvm.intr.masked.store
// CHECK: llvm.return
llvm.func @do_not_write_what_was_not_read(%p: !llvm.ptr, %q: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  %zero = llvm.mlir.constant(0 : i32) : i32
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%n, %c1, %c1) step (%c1, %c1, %c1) {
    %i = arith.index_cast %x : index to i64
    %a = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %b = llvm.getelementptr %q[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %w = llvm.load %b : !llvm.ptr -> i32
    %c = llvm.icmp "slt" %w, %zero : i32
    scf.if %c {
      llvm.store %w, %a : i32, !llvm.ptr
    }
    scf.reduce
  }
  llvm.return
}

// Another thread may update the place by an atomic operation.
// CHECK-LABEL: llvm.func @do_not_write_beside_atomics
// CHECK: llvm.intr.masked.store
// CHECK: llvm.return
llvm.func @do_not_write_beside_atomics(%p: !llvm.ptr, %q: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%n, %c1, %c1) step (%c1, %c1, %c1) {
    %i = arith.index_cast %x : index to i64
    %a = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %b = llvm.getelementptr %q[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %v = llvm.load %a : !llvm.ptr -> i32
    %w = llvm.load %b : !llvm.ptr -> i32
    %c = llvm.icmp "slt" %w, %v : i32
    scf.if %c {
      llvm.store %w, %a : i32, !llvm.ptr
    }
    %far = llvm.sext %w : i32 to i64
    %d = llvm.getelementptr %p[%far] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %old = llvm.atomicrmw min %d, %w monotonic : !llvm.ptr, i32
    scf.reduce
  }
  llvm.return
}

// Blocks have places of their own.
// CHECK-LABEL: llvm.func @smaller_of_two_in_blocks
// NARROW-NOT: llvm.intr.masked.store
// NARROW: llvm.select
// NARROW: llvm.store
// CHECK: llvm.return
llvm.func @smaller_of_two_in_blocks(%p: !llvm.ptr, %q: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  %size = llvm.mlir.constant(64 : i32) : i32
  %block = nvvm.read.ptx.sreg.ctaid.x : i32
  %first = llvm.mul %block, %size overflow<nsw> : i32
  %begin = llvm.sext %first : i32 to i64
  %r = llvm.getelementptr %q[%begin] : (!llvm.ptr, i64) -> !llvm.ptr, i32
  %s = llvm.getelementptr %p[%begin] : (!llvm.ptr, i64) -> !llvm.ptr, i32
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%n, %c1, %c1) step (%c1, %c1, %c1) {
    %i = arith.index_cast %x : index to i64
    %a = llvm.getelementptr %s[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %b = llvm.getelementptr %r[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %v = llvm.load %a : !llvm.ptr -> i32
    %w = llvm.load %b : !llvm.ptr -> i32
    %c = llvm.icmp "slt" %w, %v : i32
    scf.if %c {
      llvm.store %w, %a : i32, !llvm.ptr
    }
    scf.reduce
  }
  llvm.return
}

// All blocks update the same places: what one has read another one may have written by then.
// CHECK-LABEL: llvm.func @do_not_write_what_other_blocks_update
// CHECK: llvm.intr.masked.store
// CHECK: llvm.return
llvm.func @do_not_write_what_other_blocks_update(%p: !llvm.ptr, %q: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  %size = llvm.mlir.constant(64 : i32) : i32
  %block = nvvm.read.ptx.sreg.ctaid.x : i32
  %first = llvm.mul %block, %size overflow<nsw> : i32
  %begin = llvm.sext %first : i32 to i64
  %r = llvm.getelementptr %q[%begin] : (!llvm.ptr, i64) -> !llvm.ptr, i32
  %s = llvm.getelementptr %p[%begin] : (!llvm.ptr, i64) -> !llvm.ptr, i32
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%n, %c1, %c1) step (%c1, %c1, %c1) {
    %i = arith.index_cast %x : index to i64
    %a = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %b = llvm.getelementptr %r[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %v = llvm.load %a : !llvm.ptr -> i32
    %w = llvm.load %b : !llvm.ptr -> i32
    %c = llvm.icmp "slt" %w, %v : i32
    scf.if %c {
      llvm.store %w, %a : i32, !llvm.ptr
    }
    scf.reduce
  }
  llvm.return
}
