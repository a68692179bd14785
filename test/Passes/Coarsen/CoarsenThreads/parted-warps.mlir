// RUN: %regrain-opt %s --split-input-file --verify-diagnostics --regrain-coarsen-threads='factors=2,1,1' | FileCheck %s

// A copy's lanes that do not come to the shuffle are alive in the other copy: where the program's lanes have left, these would
// be waited for.
// CHECK-LABEL: func.func @do_not_coarsen
// CHECK: regrain.shuffle
// CHECK-NOT: regrain.shuffle
func.func @do_not_coarsen(%p: !llvm.ptr, %g: index, %n: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c32 = arith.constant 32 : i32
  %all = arith.constant -1 : i32
  // expected-remark@below {{threads not coarsened: lanes of a warp may part before a warp operation, some copies of them going on}}
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %some = arith.cmpi ult, %t, %n : i32
        scf.if %some {
          %r, %ok = regrain.shuffle down %t, %n, %n mask %all (%x, %y, %z) : i32
          llvm.store %r, %p : i32, !llvm.ptr
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return %e : i32
}

// -----

// Whole warps come to it, or none of their lanes.
// CHECK-LABEL: func.func @first_warp
// CHECK: regrain.shuffle
// CHECK: regrain.shuffle
func.func @first_warp(%p: !llvm.ptr, %g: index, %n: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c32 = arith.constant 32 : i32
  %all = arith.constant -1 : i32
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %some = arith.cmpi ult, %t, %c32 : i32
        scf.if %some {
          %r, %ok = regrain.shuffle down %t, %n, %n mask %all (%x, %y, %z) : i32
          llvm.store %r, %p : i32, !llvm.ptr
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return %e : i32
}

// -----

// CHECK-LABEL: func.func @by_the_number_of_the_warp
// CHECK: regrain.shuffle
// CHECK: regrain.shuffle
func.func @by_the_number_of_the_warp(%p: !llvm.ptr, %g: index, %n: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c32 = arith.constant 32 : i32
  %all = arith.constant -1 : i32
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %warp = regrain.warp_id(%x, %y, %z)
        %some = arith.cmpi eq, %warp, %n : i32
        scf.if %some {
          %r, %ok = regrain.shuffle down %t, %n, %n mask %all (%x, %y, %z) : i32
          llvm.store %r, %p : i32, !llvm.ptr
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return %e : i32
}

// -----

// What does not depend on the thread does not part lanes.
// CHECK-LABEL: func.func @by_the_block
// CHECK: regrain.shuffle
// CHECK: regrain.shuffle
func.func @by_the_block(%p: !llvm.ptr, %g: index, %n: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c32 = arith.constant 32 : i32
  %all = arith.constant -1 : i32
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %b = arith.index_cast %i : index to i32
        %some = arith.cmpi ult, %b, %n : i32
        scf.if %some {
          %r, %ok = regrain.shuffle down %t, %n, %n mask %all (%x, %y, %z) : i32
          llvm.store %r, %p : i32, !llvm.ptr
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return %e : i32
}
