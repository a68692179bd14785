// RUN: %regrain-opt %s --regrain-accumulate-in-parts | FileCheck %s

// Two times eight sums are more than there are registers: each eight go through the rounds by themselves, what both multiply is kept for all
// rounds, and what is multiplied with it is loaded where it is needed.
// CHECK-LABEL: llvm.func @two_parts
// CHECK: %[[SUMS:.*]] = llvm.alloca %{{.*}} x !llvm.array<3 x array<8 x f32>>
// CHECK: %[[ALL:.*]] = llvm.alloca %{{.*}} x !llvm.array<8 x array<8 x f32>>
// CHECK: llvm.intr.lifetime.start %[[ALL]]
// CHECK: scf.for %[[N:.*]] = %{{.*}} to
// CHECK: %[[ROW:.*]] = llvm.getelementptr %[[ALL]][%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<8 x f32>
// CHECK-NOT: llvm.load %arg0
// CHECK: scf.for
// CHECK: llvm.getelementptr %[[ROW]][0,
// CHECK: llvm.store
// CHECK-NOT: llvm.fadd
// CHECK: scf.for %{{.*}} = %{{.*}} to
// CHECK: llvm.getelementptr %[[ALL]]
// CHECK-COUNT-1: llvm.getelementptr %arg0
// CHECK-COUNT-1: llvm.fadd
// CHECK: scf.for %{{.*}} = %{{.*}} to
// CHECK: llvm.getelementptr %[[ALL]]
// CHECK: scf.for
// CHECK-COUNT-1: llvm.fadd
// CHECK-NOT: llvm.fadd
// CHECK: llvm.intr.lifetime.end %[[ALL]]
llvm.func @two_parts(%p: !llvm.ptr, %q: !llvm.ptr, %r: !llvm.ptr, %gx: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %g = arith.index_castui %gx : i32 to index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %zero = llvm.mlir.constant(0 : i32) : i32
        %one = llvm.mlir.constant(1 : i32) : i32
        %eight = llvm.mlir.constant(8 : i32) : i32
        %many = llvm.mlir.constant(64 : i32) : i32
        %t = arith.index_cast %x : index to i32
        %col = llvm.mul %t, %eight overflow<nsw> : i32
        %sums = llvm.alloca %one x !llvm.array<3 x array<8 x f32>> {alignment = 4 : i64} : (i32) -> !llvm.ptr
        %row = llvm.alloca %one x !llvm.array<8 x f32> {alignment = 4 : i64} : (i32) -> !llvm.ptr
        %s0 = llvm.getelementptr %sums[0, 0] : (!llvm.ptr) -> !llvm.ptr, !llvm.array<3 x array<8 x f32>>
        %s1 = llvm.getelementptr %sums[0, 1] : (!llvm.ptr) -> !llvm.ptr, !llvm.array<3 x array<8 x f32>>
        scf.for %n = %zero to %eight step %one : i32 {
          %wide = llvm.sext %n : i32 to i64
          %a0 = llvm.getelementptr %p[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, f32
          %v0 = llvm.load %a0 : !llvm.ptr -> f32
          %a1 = llvm.getelementptr %a0[8] : (!llvm.ptr) -> !llvm.ptr, f32
          %v1 = llvm.load %a1 : !llvm.ptr -> f32
          %below = llvm.mul %n, %many overflow<nsw> : i32
          %first = llvm.add %below, %col overflow<nsw> : i32
          scf.for %m = %zero to %eight step %one : i32 {
            %in = llvm.add %first, %m overflow<nsw> : i32
            %b = llvm.getelementptr %q[%in] : (!llvm.ptr, i32) -> !llvm.ptr, f32
            %u = llvm.load %b : !llvm.ptr -> f32
            %at = llvm.sext %m : i32 to i64
            %to = llvm.getelementptr %row[0, %at] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<8 x f32>
            llvm.store %u, %to : f32, !llvm.ptr
          }
          scf.for %m = %zero to %eight step %one : i32 {
            %at = llvm.sext %m : i32 to i64
            %from = llvm.getelementptr %row[0, %at] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<8 x f32>
            %u = llvm.load %from : !llvm.ptr -> f32
            %w = llvm.fmul %v0, %u : f32
            %to = llvm.getelementptr %s0[0, %at] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<8 x f32>
            %s = llvm.load %to : !llvm.ptr -> f32
            %more = llvm.fadd %s, %w : f32
            llvm.store %more, %to : f32, !llvm.ptr
          }
          scf.for %m = %zero to %eight step %one : i32 {
            %at = llvm.sext %m : i32 to i64
            %from = llvm.getelementptr %row[0, %at] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<8 x f32>
            %u = llvm.load %from : !llvm.ptr -> f32
            %w = llvm.fmul %v1, %u : f32
            %to = llvm.getelementptr %s1[0, %at] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<8 x f32>
            %s = llvm.load %to : !llvm.ptr -> f32
            %more = llvm.fadd %s, %w : f32
            llvm.store %more, %to : f32, !llvm.ptr
          }
        }
        %out = llvm.getelementptr %s1[0, %t] : (!llvm.ptr, i32) -> !llvm.ptr, !llvm.array<8 x f32>
        %result = llvm.load %out : !llvm.ptr -> f32
        llvm.store %result, %r : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// Both add to the same sums, one after the other.
// CHECK-LABEL: llvm.func @do_not_part_the_same_sums
// CHECK-NOT: llvm.intr.lifetime
// CHECK: scf.reduce
llvm.func @do_not_part_the_same_sums(%p: !llvm.ptr, %q: !llvm.ptr, %r: !llvm.ptr, %gx: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %g = arith.index_castui %gx : i32 to index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %zero = llvm.mlir.constant(0 : i32) : i32
        %one = llvm.mlir.constant(1 : i32) : i32
        %eight = llvm.mlir.constant(8 : i32) : i32
        %many = llvm.mlir.constant(64 : i32) : i32
        %t = arith.index_cast %x : index to i32
        %col = llvm.mul %t, %eight overflow<nsw> : i32
        %sums = llvm.alloca %one x !llvm.array<3 x array<8 x f32>> {alignment = 4 : i64} : (i32) -> !llvm.ptr
        %row = llvm.alloca %one x !llvm.array<8 x f32> {alignment = 4 : i64} : (i32) -> !llvm.ptr
        %s0 = llvm.getelementptr %sums[0, 0] : (!llvm.ptr) -> !llvm.ptr, !llvm.array<3 x array<8 x f32>>
        %s1 = llvm.getelementptr %sums[0, 0] : (!llvm.ptr) -> !llvm.ptr, !llvm.array<3 x array<8 x f32>>
        scf.for %n = %zero to %eight step %one : i32 {
          %wide = llvm.sext %n : i32 to i64
          %a0 = llvm.getelementptr %p[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, f32
          %v0 = llvm.load %a0 : !llvm.ptr -> f32
          %a1 = llvm.getelementptr %a0[8] : (!llvm.ptr) -> !llvm.ptr, f32
          %v1 = llvm.load %a1 : !llvm.ptr -> f32
          %below = llvm.mul %n, %many overflow<nsw> : i32
          %first = llvm.add %below, %col overflow<nsw> : i32
          scf.for %m = %zero to %eight step %one : i32 {
            %in = llvm.add %first, %m overflow<nsw> : i32
            %b = llvm.getelementptr %q[%in] : (!llvm.ptr, i32) -> !llvm.ptr, f32
            %u = llvm.load %b : !llvm.ptr -> f32
            %at = llvm.sext %m : i32 to i64
            %to = llvm.getelementptr %row[0, %at] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<8 x f32>
            llvm.store %u, %to : f32, !llvm.ptr
          }
          scf.for %m = %zero to %eight step %one : i32 {
            %at = llvm.sext %m : i32 to i64
            %from = llvm.getelementptr %row[0, %at] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<8 x f32>
            %u = llvm.load %from : !llvm.ptr -> f32
            %w = llvm.fmul %v0, %u : f32
            %to = llvm.getelementptr %s0[0, %at] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<8 x f32>
            %s = llvm.load %to : !llvm.ptr -> f32
            %more = llvm.fadd %s, %w : f32
            llvm.store %more, %to : f32, !llvm.ptr
          }
          scf.for %m = %zero to %eight step %one : i32 {
            %at = llvm.sext %m : i32 to i64
            %from = llvm.getelementptr %row[0, %at] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<8 x f32>
            %u = llvm.load %from : !llvm.ptr -> f32
            %w = llvm.fmul %v1, %u : f32
            %to = llvm.getelementptr %s1[0, %at] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<8 x f32>
            %s = llvm.load %to : !llvm.ptr -> f32
            %more = llvm.fadd %s, %w : f32
            llvm.store %more, %to : f32, !llvm.ptr
          }
        }
        %out = llvm.getelementptr %s1[0, %t] : (!llvm.ptr, i32) -> !llvm.ptr, !llvm.array<8 x f32>
        %result = llvm.load %out : !llvm.ptr -> f32
        llvm.store %result, %r : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// Of what is read a part is of the round before.
// CHECK-LABEL: llvm.func @do_not_part_what_is_partly_written
// CHECK-NOT: llvm.intr.lifetime
// CHECK: scf.reduce
llvm.func @do_not_part_what_is_partly_written(%p: !llvm.ptr, %q: !llvm.ptr, %r: !llvm.ptr, %gx: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %g = arith.index_castui %gx : i32 to index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %zero = llvm.mlir.constant(0 : i32) : i32
        %one = llvm.mlir.constant(1 : i32) : i32
        %eight = llvm.mlir.constant(8 : i32) : i32
        %seven = llvm.mlir.constant(7 : i32) : i32
        %many = llvm.mlir.constant(64 : i32) : i32
        %t = arith.index_cast %x : index to i32
        %col = llvm.mul %t, %eight overflow<nsw> : i32
        %sums = llvm.alloca %one x !llvm.array<3 x array<8 x f32>> {alignment = 4 : i64} : (i32) -> !llvm.ptr
        %row = llvm.alloca %one x !llvm.array<8 x f32> {alignment = 4 : i64} : (i32) -> !llvm.ptr
        %s0 = llvm.getelementptr %sums[0, 0] : (!llvm.ptr) -> !llvm.ptr, !llvm.array<3 x array<8 x f32>>
        %s1 = llvm.getelementptr %sums[0, 1] : (!llvm.ptr) -> !llvm.ptr, !llvm.array<3 x array<8 x f32>>
        scf.for %n = %zero to %eight step %one : i32 {
          %wide = llvm.sext %n : i32 to i64
          %a0 = llvm.getelementptr %p[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, f32
          %v0 = llvm.load %a0 : !llvm.ptr -> f32
          %a1 = llvm.getelementptr %a0[8] : (!llvm.ptr) -> !llvm.ptr, f32
          %v1 = llvm.load %a1 : !llvm.ptr -> f32
          %below = llvm.mul %n, %many overflow<nsw> : i32
          %first = llvm.add %below, %col overflow<nsw> : i32
          scf.for %m = %zero to %seven step %one : i32 {
            %in = llvm.add %first, %m overflow<nsw> : i32
            %b = llvm.getelementptr %q[%in] : (!llvm.ptr, i32) -> !llvm.ptr, f32
            %u = llvm.load %b : !llvm.ptr -> f32
            %at = llvm.sext %m : i32 to i64
            %to = llvm.getelementptr %row[0, %at] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<8 x f32>
            llvm.store %u, %to : f32, !llvm.ptr
          }
          scf.for %m = %zero to %eight step %one : i32 {
            %at = llvm.sext %m : i32 to i64
            %from = llvm.getelementptr %row[0, %at] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<8 x f32>
            %u = llvm.load %from : !llvm.ptr -> f32
            %w = llvm.fmul %v0, %u : f32
            %to = llvm.getelementptr %s0[0, %at] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<8 x f32>
            %s = llvm.load %to : !llvm.ptr -> f32
            %more = llvm.fadd %s, %w : f32
            llvm.store %more, %to : f32, !llvm.ptr
          }
          scf.for %m = %zero to %eight step %one : i32 {
            %at = llvm.sext %m : i32 to i64
            %from = llvm.getelementptr %row[0, %at] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<8 x f32>
            %u = llvm.load %from : !llvm.ptr -> f32
            %w = llvm.fmul %v1, %u : f32
            %to = llvm.getelementptr %s1[0, %at] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<8 x f32>
            %s = llvm.load %to : !llvm.ptr -> f32
            %more = llvm.fadd %s, %w : f32
            llvm.store %more, %to : f32, !llvm.ptr
          }
        }
        %out = llvm.getelementptr %s1[0, %t] : (!llvm.ptr, i32) -> !llvm.ptr, !llvm.array<8 x f32>
        %result = llvm.load %out : !llvm.ptr -> f32
        llvm.store %result, %r : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// What the last round leaves in the array is read later.
// CHECK-LABEL: llvm.func @do_not_part_what_is_read_later
// CHECK-NOT: llvm.intr.lifetime
// CHECK: scf.reduce
llvm.func @do_not_part_what_is_read_later(%p: !llvm.ptr, %q: !llvm.ptr, %r: !llvm.ptr, %gx: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %g = arith.index_castui %gx : i32 to index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %zero = llvm.mlir.constant(0 : i32) : i32
        %one = llvm.mlir.constant(1 : i32) : i32
        %eight = llvm.mlir.constant(8 : i32) : i32
        %many = llvm.mlir.constant(64 : i32) : i32
        %t = arith.index_cast %x : index to i32
        %col = llvm.mul %t, %eight overflow<nsw> : i32
        %sums = llvm.alloca %one x !llvm.array<3 x array<8 x f32>> {alignment = 4 : i64} : (i32) -> !llvm.ptr
        %row = llvm.alloca %one x !llvm.array<8 x f32> {alignment = 4 : i64} : (i32) -> !llvm.ptr
        %s0 = llvm.getelementptr %sums[0, 0] : (!llvm.ptr) -> !llvm.ptr, !llvm.array<3 x array<8 x f32>>
        %s1 = llvm.getelementptr %sums[0, 1] : (!llvm.ptr) -> !llvm.ptr, !llvm.array<3 x array<8 x f32>>
        scf.for %n = %zero to %eight step %one : i32 {
          %wide = llvm.sext %n : i32 to i64
          %a0 = llvm.getelementptr %p[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, f32
          %v0 = llvm.load %a0 : !llvm.ptr -> f32
          %a1 = llvm.getelementptr %a0[8] : (!llvm.ptr) -> !llvm.ptr, f32
          %v1 = llvm.load %a1 : !llvm.ptr -> f32
          %below = llvm.mul %n, %many overflow<nsw> : i32
          %first = llvm.add %below, %col overflow<nsw> : i32
          scf.for %m = %zero to %eight step %one : i32 {
            %in = llvm.add %first, %m overflow<nsw> : i32
            %b = llvm.getelementptr %q[%in] : (!llvm.ptr, i32) -> !llvm.ptr, f32
            %u = llvm.load %b : !llvm.ptr -> f32
            %at = llvm.sext %m : i32 to i64
            %to = llvm.getelementptr %row[0, %at] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<8 x f32>
            llvm.store %u, %to : f32, !llvm.ptr
          }
          scf.for %m = %zero to %eight step %one : i32 {
            %at = llvm.sext %m : i32 to i64
            %from = llvm.getelementptr %row[0, %at] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<8 x f32>
            %u = llvm.load %from : !llvm.ptr -> f32
            %w = llvm.fmul %v0, %u : f32
            %to = llvm.getelementptr %s0[0, %at] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<8 x f32>
            %s = llvm.load %to : !llvm.ptr -> f32
            %more = llvm.fadd %s, %w : f32
            llvm.store %more, %to : f32, !llvm.ptr
          }
          scf.for %m = %zero to %eight step %one : i32 {
            %at = llvm.sext %m : i32 to i64
            %from = llvm.getelementptr %row[0, %at] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<8 x f32>
            %u = llvm.load %from : !llvm.ptr -> f32
            %w = llvm.fmul %v1, %u : f32
            %to = llvm.getelementptr %s1[0, %at] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<8 x f32>
            %s = llvm.load %to : !llvm.ptr -> f32
            %more = llvm.fadd %s, %w : f32
            llvm.store %more, %to : f32, !llvm.ptr
          }
        }
        %late = llvm.load %row : !llvm.ptr -> f32
        llvm.store %late, %q : f32, !llvm.ptr
        %out = llvm.getelementptr %s1[0, %t] : (!llvm.ptr, i32) -> !llvm.ptr, !llvm.array<8 x f32>
        %result = llvm.load %out : !llvm.ptr -> f32
        llvm.store %result, %r : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// Other threads may read what a round stores.
// CHECK-LABEL: llvm.func @do_not_part_what_stores_elsewhere
// CHECK-NOT: llvm.intr.lifetime
// CHECK: scf.reduce
llvm.func @do_not_part_what_stores_elsewhere(%p: !llvm.ptr, %q: !llvm.ptr, %r: !llvm.ptr, %gx: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %g = arith.index_castui %gx : i32 to index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %zero = llvm.mlir.constant(0 : i32) : i32
        %one = llvm.mlir.constant(1 : i32) : i32
        %eight = llvm.mlir.constant(8 : i32) : i32
        %many = llvm.mlir.constant(64 : i32) : i32
        %t = arith.index_cast %x : index to i32
        %col = llvm.mul %t, %eight overflow<nsw> : i32
        %sums = llvm.alloca %one x !llvm.array<3 x array<8 x f32>> {alignment = 4 : i64} : (i32) -> !llvm.ptr
        %row = llvm.alloca %one x !llvm.array<8 x f32> {alignment = 4 : i64} : (i32) -> !llvm.ptr
        %s0 = llvm.getelementptr %sums[0, 0] : (!llvm.ptr) -> !llvm.ptr, !llvm.array<3 x array<8 x f32>>
        %s1 = llvm.getelementptr %sums[0, 1] : (!llvm.ptr) -> !llvm.ptr, !llvm.array<3 x array<8 x f32>>
        scf.for %n = %zero to %eight step %one : i32 {
          %wide = llvm.sext %n : i32 to i64
          %a0 = llvm.getelementptr %p[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, f32
          %v0 = llvm.load %a0 : !llvm.ptr -> f32
          %a1 = llvm.getelementptr %a0[8] : (!llvm.ptr) -> !llvm.ptr, f32
          %v1 = llvm.load %a1 : !llvm.ptr -> f32
          %below = llvm.mul %n, %many overflow<nsw> : i32
          %first = llvm.add %below, %col overflow<nsw> : i32
          scf.for %m = %zero to %eight step %one : i32 {
            %in = llvm.add %first, %m overflow<nsw> : i32
            %b = llvm.getelementptr %q[%in] : (!llvm.ptr, i32) -> !llvm.ptr, f32
            %u = llvm.load %b : !llvm.ptr -> f32
            %at = llvm.sext %m : i32 to i64
            %to = llvm.getelementptr %row[0, %at] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<8 x f32>
            llvm.store %u, %to : f32, !llvm.ptr
          }
          scf.for %m = %zero to %eight step %one : i32 {
            %b = llvm.getelementptr %r[%m] : (!llvm.ptr, i32) -> !llvm.ptr, f32
            llvm.store %v0, %b : f32, !llvm.ptr
          }
          scf.for %m = %zero to %eight step %one : i32 {
            %at = llvm.sext %m : i32 to i64
            %from = llvm.getelementptr %row[0, %at] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<8 x f32>
            %u = llvm.load %from : !llvm.ptr -> f32
            %w = llvm.fmul %v0, %u : f32
            %to = llvm.getelementptr %s0[0, %at] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<8 x f32>
            %s = llvm.load %to : !llvm.ptr -> f32
            %more = llvm.fadd %s, %w : f32
            llvm.store %more, %to : f32, !llvm.ptr
          }
          scf.for %m = %zero to %eight step %one : i32 {
            %at = llvm.sext %m : i32 to i64
            %from = llvm.getelementptr %row[0, %at] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<8 x f32>
            %u = llvm.load %from : !llvm.ptr -> f32
            %w = llvm.fmul %v1, %u : f32
            %to = llvm.getelementptr %s1[0, %at] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<8 x f32>
            %s = llvm.load %to : !llvm.ptr -> f32
            %more = llvm.fadd %s, %w : f32
            llvm.store %more, %to : f32, !llvm.ptr
          }
        }
        %out = llvm.getelementptr %s1[0, %t] : (!llvm.ptr, i32) -> !llvm.ptr, !llvm.array<8 x f32>
        %result = llvm.load %out : !llvm.ptr -> f32
        llvm.store %result, %r : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}
