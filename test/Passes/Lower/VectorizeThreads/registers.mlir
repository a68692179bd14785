// Vector registers have one of three widths, or there are none.
// RUN: not %regrain-opt %s --regrain-vectorize-threads='register-bits=77' 2>&1 | FileCheck %s --check-prefix=WIDTH
// WIDTH: error: register-bits: expected 0, 128, 256 or 512, got '77'

// RUN: %regrain-opt %s --regrain-vectorize-threads='register-bits=0' | FileCheck %s --check-prefix=NONE
// NONE-NOT: vector<

// What lanes leave in memory is allocated where the function begins, of whatever dialect it is: not once for each block.
// RUN: %regrain-opt %s --regrain-vectorize-threads='register-bits=256 cost-model=false' | FileCheck %s
// CHECK-LABEL: func.func @serial
// CHECK: llvm.alloca
// CHECK: scf.parallel
// CHECK-NOT: llvm.alloca
func.func private @asked(f32) -> f32
func.func @serial(%p: !llvm.ptr, %g: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %l = arith.index_cast %x : index to i64
        %a = llvm.getelementptr %p[%l] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %v = llvm.load %a : !llvm.ptr -> f32
        %w = func.call @asked(%v) : (f32) -> f32
        llvm.store %w, %a : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return %e : i32
}

// Between single precision in memory, double precision takes two registers where there are enough, else rows are half as long.
// RUN: %regrain-opt %s --regrain-vectorize-threads='register-bits=256 registers=32 cost-model=false' | FileCheck %s --check-prefixes=MANY,BOTH
// RUN: %regrain-opt %s --regrain-vectorize-threads='register-bits=256 registers=16 cost-model=false' | FileCheck %s --check-prefixes=FEW,BOTH
// BOTH-LABEL: func.func @between
// MANY: arith.extf {{.*}} vector<8xf32> to vector<8xf64>
// FEW: arith.extf {{.*}} vector<4xf32> to vector<4xf64>
// BOTH-LABEL: func.func @in_memory
// BOTH: arith.mulf {{.*}} vector<4xf64>
func.func @between(%p: !llvm.ptr, %g: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %third = arith.constant 0.33333 : f64
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %l = arith.index_cast %x : index to i64
        %a = llvm.getelementptr %p[%l] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %v = llvm.load %a : !llvm.ptr -> f32
        %w = arith.extf %v : f32 to f64
        %m = arith.mulf %w, %third : f64
        %n = arith.truncf %m : f64 to f32
        llvm.store %n, %a : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return %e : i32
}
func.func @in_memory(%p: !llvm.ptr, %g: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %third = arith.constant 0.33333 : f64
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %l = arith.index_cast %x : index to i64
        %a = llvm.getelementptr %p[%l] : (!llvm.ptr, i64) -> !llvm.ptr, f64
        %v = llvm.load %a : !llvm.ptr -> f64
        %m = arith.mulf %v, %third : f64
        llvm.store %m, %a : f64, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return %e : i32
}
