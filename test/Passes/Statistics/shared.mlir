// RUN: %regrain-opt %s --regrain-print-statistics -o /dev/null 2>&1 | FileCheck %s

// A column of a tile: all threads of a warp ask for one bank.
// CHECK-LABEL: statistics of column
// CHECK: shared store, strided by 128 bytes: 1 of 4 bytes, 32 passes
// CHECK: shared load, coalesced: 1 of 4 bytes, 1 passes
// CHECK: static shared memory: 4096
func.func @column(%p: !llvm.ptr, %g: index, %n: i32, %q: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %e = regrain.gpu_wrapper @column grid(%g, %c1, %c1) block(%c32, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared : !llvm.array<32 x array<32 x f32>> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
        %l = arith.index_cast %x : index to i64
        %f = arith.constant 1.0 : f32
        %a = llvm.getelementptr %tile[0, %l, 3] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<32 x array<32 x f32>>
        llvm.store %f, %a : f32, !llvm.ptr<3>
        regrain.barrier(%x, %y, %z)
        %b = llvm.getelementptr %tile[0, 3, %l] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<32 x array<32 x f32>>
        %v = llvm.load %b : !llvm.ptr<3> -> f32
        llvm.store %v, %q : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return %e : i32
}

// With a word more in each row all banks are asked for different words.
// CHECK-LABEL: statistics of padded
// CHECK: shared store, strided by 132 bytes: 1 of 4 bytes, 1 passes
func.func @padded(%p: !llvm.ptr, %g: index, %n: i32, %q: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %e = regrain.gpu_wrapper @padded grid(%g, %c1, %c1) block(%c32, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared : !llvm.array<32 x array<33 x f32>> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
        %l = arith.index_cast %x : index to i64
        %f = arith.constant 1.0 : f32
        %a = llvm.getelementptr %tile[0, %l, 3] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<32 x array<33 x f32>>
        llvm.store %f, %a : f32, !llvm.ptr<3>
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return %e : i32
}

// All threads of a warp read one word.
// CHECK-LABEL: statistics of broadcast
// CHECK: shared load, uniform: 1 of 4 bytes, 1 passes
func.func @broadcast(%p: !llvm.ptr, %g: index, %n: i32, %q: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c8 = arith.constant 8 : index
  %e = regrain.gpu_wrapper @broadcast grid(%g, %c1, %c1) block(%c32, %c8, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared : !llvm.array<32 x f32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c8, %c1) step (%c1, %c1, %c1) {
        %row = arith.index_cast %y : index to i64
        %va = llvm.getelementptr %tile[%row] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
        %v = llvm.load %va : !llvm.ptr<3> -> f32
        llvm.store %v, %q : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return %e : i32
}

// Words of eight bytes go by halves of the warp, each without conflict.
// CHECK-LABEL: statistics of wide
// CHECK: shared store, coalesced: 1 of 8 bytes, 1 passes
func.func @wide(%p: !llvm.ptr, %g: index, %n: i32, %q: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %e = regrain.gpu_wrapper @wide grid(%g, %c1, %c1) block(%c32, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared : !llvm.array<32 x f64> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
        %l = arith.index_cast %x : index to i64
        %f = arith.constant 1.0 : f64
        %a = llvm.getelementptr %tile[%l] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f64
        llvm.store %f, %a : f64, !llvm.ptr<3>
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return %e : i32
}
