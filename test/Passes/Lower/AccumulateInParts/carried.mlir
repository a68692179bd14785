// RUN: %regrain-opt %s --regrain-accumulate-in-parts | FileCheck %s

// Sums that a loop carries as values, nine at a time.
// CHECK-LABEL: llvm.func @values
// CHECK: %[[FIRST:.*]]:9 = scf.for
// CHECK: scf.yield
// CHECK: scf.for
// CHECK: scf.yield
// CHECK: %[[LAST:.*]]:8 = scf.for
// CHECK: scf.yield
// CHECK-NOT: scf.for
// CHECK: llvm.store %[[FIRST]]#0
// CHECK: llvm.store %[[LAST]]#7
llvm.func @values(%p: !llvm.ptr, %q: !llvm.ptr, %r: !llvm.ptr, %gx: i32) {
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
        %none = llvm.mlir.constant(0.0 : f32) : f32
        %all:26 = scf.for %n = %zero to %eight step %one iter_args(%s0 = %none, %s1 = %none, %s2 = %none, %s3 = %none, %s4 = %none, %s5 = %none, %s6 = %none, %s7 = %none, %s8 = %none, %s9 = %none, %s10 = %none, %s11 = %none, %s12 = %none, %s13 = %none, %s14 = %none, %s15 = %none, %s16 = %none, %s17 = %none, %s18 = %none, %s19 = %none, %s20 = %none, %s21 = %none, %s22 = %none, %s23 = %none, %s24 = %none, %s25 = %none) -> (f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32) : i32 {
          %a = llvm.getelementptr %p[%n] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          %v = llvm.load %a : !llvm.ptr -> f32
          %w0 = llvm.getelementptr %q[0] : (!llvm.ptr) -> !llvm.ptr, f32
          %b0 = llvm.load %w0 : !llvm.ptr -> f32
          %m0 = llvm.fmul %v, %b0 : f32
          %n0 = llvm.fadd %s0, %m0 : f32
          %w1 = llvm.getelementptr %q[1] : (!llvm.ptr) -> !llvm.ptr, f32
          %b1 = llvm.load %w1 : !llvm.ptr -> f32
          %m1 = llvm.fmul %v, %b1 : f32
          %n1 = llvm.fadd %s1, %m1 : f32
          %w2 = llvm.getelementptr %q[2] : (!llvm.ptr) -> !llvm.ptr, f32
          %b2 = llvm.load %w2 : !llvm.ptr -> f32
          %m2 = llvm.fmul %v, %b2 : f32
          %n2 = llvm.fadd %s2, %m2 : f32
          %w3 = llvm.getelementptr %q[3] : (!llvm.ptr) -> !llvm.ptr, f32
          %b3 = llvm.load %w3 : !llvm.ptr -> f32
          %m3 = llvm.fmul %v, %b3 : f32
          %n3 = llvm.fadd %s3, %m3 : f32
          %w4 = llvm.getelementptr %q[4] : (!llvm.ptr) -> !llvm.ptr, f32
          %b4 = llvm.load %w4 : !llvm.ptr -> f32
          %m4 = llvm.fmul %v, %b4 : f32
          %n4 = llvm.fadd %s4, %m4 : f32
          %w5 = llvm.getelementptr %q[5] : (!llvm.ptr) -> !llvm.ptr, f32
          %b5 = llvm.load %w5 : !llvm.ptr -> f32
          %m5 = llvm.fmul %v, %b5 : f32
          %n5 = llvm.fadd %s5, %m5 : f32
          %w6 = llvm.getelementptr %q[6] : (!llvm.ptr) -> !llvm.ptr, f32
          %b6 = llvm.load %w6 : !llvm.ptr -> f32
          %m6 = llvm.fmul %v, %b6 : f32
          %n6 = llvm.fadd %s6, %m6 : f32
          %w7 = llvm.getelementptr %q[7] : (!llvm.ptr) -> !llvm.ptr, f32
          %b7 = llvm.load %w7 : !llvm.ptr -> f32
          %m7 = llvm.fmul %v, %b7 : f32
          %n7 = llvm.fadd %s7, %m7 : f32
          %w8 = llvm.getelementptr %q[8] : (!llvm.ptr) -> !llvm.ptr, f32
          %b8 = llvm.load %w8 : !llvm.ptr -> f32
          %m8 = llvm.fmul %v, %b8 : f32
          %n8 = llvm.fadd %s8, %m8 : f32
          %w9 = llvm.getelementptr %q[9] : (!llvm.ptr) -> !llvm.ptr, f32
          %b9 = llvm.load %w9 : !llvm.ptr -> f32
          %m9 = llvm.fmul %v, %b9 : f32
          %n9 = llvm.fadd %s9, %m9 : f32
          %w10 = llvm.getelementptr %q[10] : (!llvm.ptr) -> !llvm.ptr, f32
          %b10 = llvm.load %w10 : !llvm.ptr -> f32
          %m10 = llvm.fmul %v, %b10 : f32
          %n10 = llvm.fadd %s10, %m10 : f32
          %w11 = llvm.getelementptr %q[11] : (!llvm.ptr) -> !llvm.ptr, f32
          %b11 = llvm.load %w11 : !llvm.ptr -> f32
          %m11 = llvm.fmul %v, %b11 : f32
          %n11 = llvm.fadd %s11, %m11 : f32
          %w12 = llvm.getelementptr %q[12] : (!llvm.ptr) -> !llvm.ptr, f32
          %b12 = llvm.load %w12 : !llvm.ptr -> f32
          %m12 = llvm.fmul %v, %b12 : f32
          %n12 = llvm.fadd %s12, %m12 : f32
          %w13 = llvm.getelementptr %q[13] : (!llvm.ptr) -> !llvm.ptr, f32
          %b13 = llvm.load %w13 : !llvm.ptr -> f32
          %m13 = llvm.fmul %v, %b13 : f32
          %n13 = llvm.fadd %s13, %m13 : f32
          %w14 = llvm.getelementptr %q[14] : (!llvm.ptr) -> !llvm.ptr, f32
          %b14 = llvm.load %w14 : !llvm.ptr -> f32
          %m14 = llvm.fmul %v, %b14 : f32
          %n14 = llvm.fadd %s14, %m14 : f32
          %w15 = llvm.getelementptr %q[15] : (!llvm.ptr) -> !llvm.ptr, f32
          %b15 = llvm.load %w15 : !llvm.ptr -> f32
          %m15 = llvm.fmul %v, %b15 : f32
          %n15 = llvm.fadd %s15, %m15 : f32
          %w16 = llvm.getelementptr %q[16] : (!llvm.ptr) -> !llvm.ptr, f32
          %b16 = llvm.load %w16 : !llvm.ptr -> f32
          %m16 = llvm.fmul %v, %b16 : f32
          %n16 = llvm.fadd %s16, %m16 : f32
          %w17 = llvm.getelementptr %q[17] : (!llvm.ptr) -> !llvm.ptr, f32
          %b17 = llvm.load %w17 : !llvm.ptr -> f32
          %m17 = llvm.fmul %v, %b17 : f32
          %n17 = llvm.fadd %s17, %m17 : f32
          %w18 = llvm.getelementptr %q[18] : (!llvm.ptr) -> !llvm.ptr, f32
          %b18 = llvm.load %w18 : !llvm.ptr -> f32
          %m18 = llvm.fmul %v, %b18 : f32
          %n18 = llvm.fadd %s18, %m18 : f32
          %w19 = llvm.getelementptr %q[19] : (!llvm.ptr) -> !llvm.ptr, f32
          %b19 = llvm.load %w19 : !llvm.ptr -> f32
          %m19 = llvm.fmul %v, %b19 : f32
          %n19 = llvm.fadd %s19, %m19 : f32
          %w20 = llvm.getelementptr %q[20] : (!llvm.ptr) -> !llvm.ptr, f32
          %b20 = llvm.load %w20 : !llvm.ptr -> f32
          %m20 = llvm.fmul %v, %b20 : f32
          %n20 = llvm.fadd %s20, %m20 : f32
          %w21 = llvm.getelementptr %q[21] : (!llvm.ptr) -> !llvm.ptr, f32
          %b21 = llvm.load %w21 : !llvm.ptr -> f32
          %m21 = llvm.fmul %v, %b21 : f32
          %n21 = llvm.fadd %s21, %m21 : f32
          %w22 = llvm.getelementptr %q[22] : (!llvm.ptr) -> !llvm.ptr, f32
          %b22 = llvm.load %w22 : !llvm.ptr -> f32
          %m22 = llvm.fmul %v, %b22 : f32
          %n22 = llvm.fadd %s22, %m22 : f32
          %w23 = llvm.getelementptr %q[23] : (!llvm.ptr) -> !llvm.ptr, f32
          %b23 = llvm.load %w23 : !llvm.ptr -> f32
          %m23 = llvm.fmul %v, %b23 : f32
          %n23 = llvm.fadd %s23, %m23 : f32
          %w24 = llvm.getelementptr %q[24] : (!llvm.ptr) -> !llvm.ptr, f32
          %b24 = llvm.load %w24 : !llvm.ptr -> f32
          %m24 = llvm.fmul %v, %b24 : f32
          %n24 = llvm.fadd %s24, %m24 : f32
          %w25 = llvm.getelementptr %q[25] : (!llvm.ptr) -> !llvm.ptr, f32
          %b25 = llvm.load %w25 : !llvm.ptr -> f32
          %m25 = llvm.fmul %v, %b25 : f32
          %n25 = llvm.fadd %s25, %m25 : f32
          scf.yield %n0, %n1, %n2, %n3, %n4, %n5, %n6, %n7, %n8, %n9, %n10, %n11, %n12, %n13, %n14, %n15, %n16, %n17, %n18, %n19, %n20, %n21, %n22, %n23, %n24, %n25 : f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32
        }
        llvm.store %all#0, %r : f32, !llvm.ptr
        llvm.store %all#25, %r : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// Two sums go into each other.
// CHECK-LABEL: llvm.func @do_not_part_values_of_others
// CHECK-COUNT-1: scf.for
// CHECK-NOT: scf.for
// CHECK: llvm.return
llvm.func @do_not_part_values_of_others(%p: !llvm.ptr, %q: !llvm.ptr, %r: !llvm.ptr, %gx: i32) {
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
        %none = llvm.mlir.constant(0.0 : f32) : f32
        %all:26 = scf.for %n = %zero to %eight step %one iter_args(%s0 = %none, %s1 = %none, %s2 = %none, %s3 = %none, %s4 = %none, %s5 = %none, %s6 = %none, %s7 = %none, %s8 = %none, %s9 = %none, %s10 = %none, %s11 = %none, %s12 = %none, %s13 = %none, %s14 = %none, %s15 = %none, %s16 = %none, %s17 = %none, %s18 = %none, %s19 = %none, %s20 = %none, %s21 = %none, %s22 = %none, %s23 = %none, %s24 = %none, %s25 = %none) -> (f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32) : i32 {
          %a = llvm.getelementptr %p[%n] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          %v = llvm.load %a : !llvm.ptr -> f32
          %w0 = llvm.getelementptr %q[0] : (!llvm.ptr) -> !llvm.ptr, f32
          %b0 = llvm.load %w0 : !llvm.ptr -> f32
          %m0 = llvm.fmul %v, %b0 : f32
          %n0 = llvm.fadd %s0, %m0 : f32
          %w1 = llvm.getelementptr %q[1] : (!llvm.ptr) -> !llvm.ptr, f32
          %b1 = llvm.load %w1 : !llvm.ptr -> f32
          %m1 = llvm.fmul %v, %b1 : f32
          %n1 = llvm.fadd %s1, %m1 : f32
          %w2 = llvm.getelementptr %q[2] : (!llvm.ptr) -> !llvm.ptr, f32
          %b2 = llvm.load %w2 : !llvm.ptr -> f32
          %m2 = llvm.fmul %v, %b2 : f32
          %n2 = llvm.fadd %s2, %m2 : f32
          %w3 = llvm.getelementptr %q[3] : (!llvm.ptr) -> !llvm.ptr, f32
          %b3 = llvm.load %w3 : !llvm.ptr -> f32
          %m3 = llvm.fmul %v, %b3 : f32
          %n3 = llvm.fadd %s3, %m3 : f32
          %w4 = llvm.getelementptr %q[4] : (!llvm.ptr) -> !llvm.ptr, f32
          %b4 = llvm.load %w4 : !llvm.ptr -> f32
          %m4 = llvm.fmul %v, %b4 : f32
          %n4 = llvm.fadd %s4, %m4 : f32
          %w5 = llvm.getelementptr %q[5] : (!llvm.ptr) -> !llvm.ptr, f32
          %b5 = llvm.load %w5 : !llvm.ptr -> f32
          %m5 = llvm.fmul %v, %b5 : f32
          %n5 = llvm.fadd %s5, %m5 : f32
          %w6 = llvm.getelementptr %q[6] : (!llvm.ptr) -> !llvm.ptr, f32
          %b6 = llvm.load %w6 : !llvm.ptr -> f32
          %m6 = llvm.fmul %v, %b6 : f32
          %n6 = llvm.fadd %s6, %m6 : f32
          %w7 = llvm.getelementptr %q[7] : (!llvm.ptr) -> !llvm.ptr, f32
          %b7 = llvm.load %w7 : !llvm.ptr -> f32
          %m7 = llvm.fmul %v, %b7 : f32
          %n7 = llvm.fadd %s7, %m7 : f32
          %w8 = llvm.getelementptr %q[8] : (!llvm.ptr) -> !llvm.ptr, f32
          %b8 = llvm.load %w8 : !llvm.ptr -> f32
          %m8 = llvm.fmul %v, %b8 : f32
          %n8 = llvm.fadd %s8, %m8 : f32
          %w9 = llvm.getelementptr %q[9] : (!llvm.ptr) -> !llvm.ptr, f32
          %b9 = llvm.load %w9 : !llvm.ptr -> f32
          %m9 = llvm.fmul %v, %b9 : f32
          %n9 = llvm.fadd %s9, %m9 : f32
          %w10 = llvm.getelementptr %q[10] : (!llvm.ptr) -> !llvm.ptr, f32
          %b10 = llvm.load %w10 : !llvm.ptr -> f32
          %m10 = llvm.fmul %v, %b10 : f32
          %n10 = llvm.fadd %s10, %m10 : f32
          %w11 = llvm.getelementptr %q[11] : (!llvm.ptr) -> !llvm.ptr, f32
          %b11 = llvm.load %w11 : !llvm.ptr -> f32
          %m11 = llvm.fmul %v, %b11 : f32
          %n11 = llvm.fadd %s11, %m11 : f32
          %w12 = llvm.getelementptr %q[12] : (!llvm.ptr) -> !llvm.ptr, f32
          %b12 = llvm.load %w12 : !llvm.ptr -> f32
          %m12 = llvm.fmul %v, %b12 : f32
          %n12 = llvm.fadd %s12, %m12 : f32
          %w13 = llvm.getelementptr %q[13] : (!llvm.ptr) -> !llvm.ptr, f32
          %b13 = llvm.load %w13 : !llvm.ptr -> f32
          %m13 = llvm.fmul %v, %b13 : f32
          %n13 = llvm.fadd %s13, %m13 : f32
          %w14 = llvm.getelementptr %q[14] : (!llvm.ptr) -> !llvm.ptr, f32
          %b14 = llvm.load %w14 : !llvm.ptr -> f32
          %m14 = llvm.fmul %v, %b14 : f32
          %n14 = llvm.fadd %s14, %m14 : f32
          %w15 = llvm.getelementptr %q[15] : (!llvm.ptr) -> !llvm.ptr, f32
          %b15 = llvm.load %w15 : !llvm.ptr -> f32
          %m15 = llvm.fmul %v, %b15 : f32
          %n15 = llvm.fadd %s15, %m15 : f32
          %w16 = llvm.getelementptr %q[16] : (!llvm.ptr) -> !llvm.ptr, f32
          %b16 = llvm.load %w16 : !llvm.ptr -> f32
          %m16 = llvm.fmul %v, %b16 : f32
          %n16 = llvm.fadd %s16, %m16 : f32
          %w17 = llvm.getelementptr %q[17] : (!llvm.ptr) -> !llvm.ptr, f32
          %b17 = llvm.load %w17 : !llvm.ptr -> f32
          %m17 = llvm.fmul %v, %b17 : f32
          %n17 = llvm.fadd %s17, %m17 : f32
          %w18 = llvm.getelementptr %q[18] : (!llvm.ptr) -> !llvm.ptr, f32
          %b18 = llvm.load %w18 : !llvm.ptr -> f32
          %m18 = llvm.fmul %v, %b18 : f32
          %n18 = llvm.fadd %s18, %m18 : f32
          %w19 = llvm.getelementptr %q[19] : (!llvm.ptr) -> !llvm.ptr, f32
          %b19 = llvm.load %w19 : !llvm.ptr -> f32
          %m19 = llvm.fmul %v, %b19 : f32
          %n19 = llvm.fadd %s19, %m19 : f32
          %w20 = llvm.getelementptr %q[20] : (!llvm.ptr) -> !llvm.ptr, f32
          %b20 = llvm.load %w20 : !llvm.ptr -> f32
          %m20 = llvm.fmul %v, %b20 : f32
          %n20 = llvm.fadd %s20, %m20 : f32
          %w21 = llvm.getelementptr %q[21] : (!llvm.ptr) -> !llvm.ptr, f32
          %b21 = llvm.load %w21 : !llvm.ptr -> f32
          %m21 = llvm.fmul %v, %b21 : f32
          %n21 = llvm.fadd %s21, %m21 : f32
          %w22 = llvm.getelementptr %q[22] : (!llvm.ptr) -> !llvm.ptr, f32
          %b22 = llvm.load %w22 : !llvm.ptr -> f32
          %m22 = llvm.fmul %v, %b22 : f32
          %n22 = llvm.fadd %s22, %m22 : f32
          %w23 = llvm.getelementptr %q[23] : (!llvm.ptr) -> !llvm.ptr, f32
          %b23 = llvm.load %w23 : !llvm.ptr -> f32
          %m23 = llvm.fmul %v, %b23 : f32
          %n23 = llvm.fadd %s23, %m23 : f32
          %w24 = llvm.getelementptr %q[24] : (!llvm.ptr) -> !llvm.ptr, f32
          %b24 = llvm.load %w24 : !llvm.ptr -> f32
          %m24 = llvm.fmul %v, %b24 : f32
          %n24 = llvm.fadd %s24, %m24 : f32
          %w25 = llvm.getelementptr %q[25] : (!llvm.ptr) -> !llvm.ptr, f32
          %b25 = llvm.load %w25 : !llvm.ptr -> f32
          %m25 = llvm.fmul %v, %b25 : f32
          %n25 = llvm.fadd %s25, %m25 : f32
          scf.yield %n1, %n0, %n2, %n3, %n4, %n5, %n6, %n7, %n8, %n9, %n10, %n11, %n12, %n13, %n14, %n15, %n16, %n17, %n18, %n19, %n20, %n21, %n22, %n23, %n24, %n25 : f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32
        }
        llvm.store %all#0, %r : f32, !llvm.ptr
        llvm.store %all#25, %r : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// What all need takes long.
// CHECK-LABEL: llvm.func @do_not_compute_again
// CHECK-COUNT-1: scf.for
// CHECK-NOT: scf.for
// CHECK: llvm.return
llvm.func @do_not_compute_again(%p: !llvm.ptr, %q: !llvm.ptr, %r: !llvm.ptr, %gx: i32) {
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
        %none = llvm.mlir.constant(0.0 : f32) : f32
        %all:26 = scf.for %n = %zero to %eight step %one iter_args(%s0 = %none, %s1 = %none, %s2 = %none, %s3 = %none, %s4 = %none, %s5 = %none, %s6 = %none, %s7 = %none, %s8 = %none, %s9 = %none, %s10 = %none, %s11 = %none, %s12 = %none, %s13 = %none, %s14 = %none, %s15 = %none, %s16 = %none, %s17 = %none, %s18 = %none, %s19 = %none, %s20 = %none, %s21 = %none, %s22 = %none, %s23 = %none, %s24 = %none, %s25 = %none) -> (f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32) : i32 {
          %a = llvm.getelementptr %p[%n] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          %u = llvm.load %a : !llvm.ptr -> f32
          %v = llvm.fdiv %none, %u : f32
          %w0 = llvm.getelementptr %q[0] : (!llvm.ptr) -> !llvm.ptr, f32
          %b0 = llvm.load %w0 : !llvm.ptr -> f32
          %m0 = llvm.fmul %v, %b0 : f32
          %n0 = llvm.fadd %s0, %m0 : f32
          %w1 = llvm.getelementptr %q[1] : (!llvm.ptr) -> !llvm.ptr, f32
          %b1 = llvm.load %w1 : !llvm.ptr -> f32
          %m1 = llvm.fmul %v, %b1 : f32
          %n1 = llvm.fadd %s1, %m1 : f32
          %w2 = llvm.getelementptr %q[2] : (!llvm.ptr) -> !llvm.ptr, f32
          %b2 = llvm.load %w2 : !llvm.ptr -> f32
          %m2 = llvm.fmul %v, %b2 : f32
          %n2 = llvm.fadd %s2, %m2 : f32
          %w3 = llvm.getelementptr %q[3] : (!llvm.ptr) -> !llvm.ptr, f32
          %b3 = llvm.load %w3 : !llvm.ptr -> f32
          %m3 = llvm.fmul %v, %b3 : f32
          %n3 = llvm.fadd %s3, %m3 : f32
          %w4 = llvm.getelementptr %q[4] : (!llvm.ptr) -> !llvm.ptr, f32
          %b4 = llvm.load %w4 : !llvm.ptr -> f32
          %m4 = llvm.fmul %v, %b4 : f32
          %n4 = llvm.fadd %s4, %m4 : f32
          %w5 = llvm.getelementptr %q[5] : (!llvm.ptr) -> !llvm.ptr, f32
          %b5 = llvm.load %w5 : !llvm.ptr -> f32
          %m5 = llvm.fmul %v, %b5 : f32
          %n5 = llvm.fadd %s5, %m5 : f32
          %w6 = llvm.getelementptr %q[6] : (!llvm.ptr) -> !llvm.ptr, f32
          %b6 = llvm.load %w6 : !llvm.ptr -> f32
          %m6 = llvm.fmul %v, %b6 : f32
          %n6 = llvm.fadd %s6, %m6 : f32
          %w7 = llvm.getelementptr %q[7] : (!llvm.ptr) -> !llvm.ptr, f32
          %b7 = llvm.load %w7 : !llvm.ptr -> f32
          %m7 = llvm.fmul %v, %b7 : f32
          %n7 = llvm.fadd %s7, %m7 : f32
          %w8 = llvm.getelementptr %q[8] : (!llvm.ptr) -> !llvm.ptr, f32
          %b8 = llvm.load %w8 : !llvm.ptr -> f32
          %m8 = llvm.fmul %v, %b8 : f32
          %n8 = llvm.fadd %s8, %m8 : f32
          %w9 = llvm.getelementptr %q[9] : (!llvm.ptr) -> !llvm.ptr, f32
          %b9 = llvm.load %w9 : !llvm.ptr -> f32
          %m9 = llvm.fmul %v, %b9 : f32
          %n9 = llvm.fadd %s9, %m9 : f32
          %w10 = llvm.getelementptr %q[10] : (!llvm.ptr) -> !llvm.ptr, f32
          %b10 = llvm.load %w10 : !llvm.ptr -> f32
          %m10 = llvm.fmul %v, %b10 : f32
          %n10 = llvm.fadd %s10, %m10 : f32
          %w11 = llvm.getelementptr %q[11] : (!llvm.ptr) -> !llvm.ptr, f32
          %b11 = llvm.load %w11 : !llvm.ptr -> f32
          %m11 = llvm.fmul %v, %b11 : f32
          %n11 = llvm.fadd %s11, %m11 : f32
          %w12 = llvm.getelementptr %q[12] : (!llvm.ptr) -> !llvm.ptr, f32
          %b12 = llvm.load %w12 : !llvm.ptr -> f32
          %m12 = llvm.fmul %v, %b12 : f32
          %n12 = llvm.fadd %s12, %m12 : f32
          %w13 = llvm.getelementptr %q[13] : (!llvm.ptr) -> !llvm.ptr, f32
          %b13 = llvm.load %w13 : !llvm.ptr -> f32
          %m13 = llvm.fmul %v, %b13 : f32
          %n13 = llvm.fadd %s13, %m13 : f32
          %w14 = llvm.getelementptr %q[14] : (!llvm.ptr) -> !llvm.ptr, f32
          %b14 = llvm.load %w14 : !llvm.ptr -> f32
          %m14 = llvm.fmul %v, %b14 : f32
          %n14 = llvm.fadd %s14, %m14 : f32
          %w15 = llvm.getelementptr %q[15] : (!llvm.ptr) -> !llvm.ptr, f32
          %b15 = llvm.load %w15 : !llvm.ptr -> f32
          %m15 = llvm.fmul %v, %b15 : f32
          %n15 = llvm.fadd %s15, %m15 : f32
          %w16 = llvm.getelementptr %q[16] : (!llvm.ptr) -> !llvm.ptr, f32
          %b16 = llvm.load %w16 : !llvm.ptr -> f32
          %m16 = llvm.fmul %v, %b16 : f32
          %n16 = llvm.fadd %s16, %m16 : f32
          %w17 = llvm.getelementptr %q[17] : (!llvm.ptr) -> !llvm.ptr, f32
          %b17 = llvm.load %w17 : !llvm.ptr -> f32
          %m17 = llvm.fmul %v, %b17 : f32
          %n17 = llvm.fadd %s17, %m17 : f32
          %w18 = llvm.getelementptr %q[18] : (!llvm.ptr) -> !llvm.ptr, f32
          %b18 = llvm.load %w18 : !llvm.ptr -> f32
          %m18 = llvm.fmul %v, %b18 : f32
          %n18 = llvm.fadd %s18, %m18 : f32
          %w19 = llvm.getelementptr %q[19] : (!llvm.ptr) -> !llvm.ptr, f32
          %b19 = llvm.load %w19 : !llvm.ptr -> f32
          %m19 = llvm.fmul %v, %b19 : f32
          %n19 = llvm.fadd %s19, %m19 : f32
          %w20 = llvm.getelementptr %q[20] : (!llvm.ptr) -> !llvm.ptr, f32
          %b20 = llvm.load %w20 : !llvm.ptr -> f32
          %m20 = llvm.fmul %v, %b20 : f32
          %n20 = llvm.fadd %s20, %m20 : f32
          %w21 = llvm.getelementptr %q[21] : (!llvm.ptr) -> !llvm.ptr, f32
          %b21 = llvm.load %w21 : !llvm.ptr -> f32
          %m21 = llvm.fmul %v, %b21 : f32
          %n21 = llvm.fadd %s21, %m21 : f32
          %w22 = llvm.getelementptr %q[22] : (!llvm.ptr) -> !llvm.ptr, f32
          %b22 = llvm.load %w22 : !llvm.ptr -> f32
          %m22 = llvm.fmul %v, %b22 : f32
          %n22 = llvm.fadd %s22, %m22 : f32
          %w23 = llvm.getelementptr %q[23] : (!llvm.ptr) -> !llvm.ptr, f32
          %b23 = llvm.load %w23 : !llvm.ptr -> f32
          %m23 = llvm.fmul %v, %b23 : f32
          %n23 = llvm.fadd %s23, %m23 : f32
          %w24 = llvm.getelementptr %q[24] : (!llvm.ptr) -> !llvm.ptr, f32
          %b24 = llvm.load %w24 : !llvm.ptr -> f32
          %m24 = llvm.fmul %v, %b24 : f32
          %n24 = llvm.fadd %s24, %m24 : f32
          %w25 = llvm.getelementptr %q[25] : (!llvm.ptr) -> !llvm.ptr, f32
          %b25 = llvm.load %w25 : !llvm.ptr -> f32
          %m25 = llvm.fmul %v, %b25 : f32
          %n25 = llvm.fadd %s25, %m25 : f32
          scf.yield %n0, %n1, %n2, %n3, %n4, %n5, %n6, %n7, %n8, %n9, %n10, %n11, %n12, %n13, %n14, %n15, %n16, %n17, %n18, %n19, %n20, %n21, %n22, %n23, %n24, %n25 : f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32
        }
        llvm.store %all#0, %r : f32, !llvm.ptr
        llvm.store %all#25, %r : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}
