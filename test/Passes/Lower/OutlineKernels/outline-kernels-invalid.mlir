// RUN: %regrain-opt %s --regrain-outline-kernels --split-input-file --verify-diagnostics

// A kernel that is only a declaration must come back.

llvm.func ptx_kernelcc @k(i32)
// expected-error @below {{kernel 'k' cannot be made of its parallel form: its loops do not run over the whole block}}
llvm.func @__regrain_launch.k(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %shmem: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @k} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %gxi = arith.index_castui %gx : i32 to index
  %gyi = arith.index_castui %gy : i32 to index
  %gzi = arith.index_castui %gz : i32 to index
  %bxi = arith.index_castui %bx : i32 to index
  %half = arith.divui %bxi, %c2 : index
  %err = regrain.gpu_wrapper @k grid(%gxi, %gyi, %gzi) block(%bxi, %bxi, %bxi) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%gxi, %gyi, %gzi) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%half, %c1, %c1) step (%c1, %c1, %c1) {
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %err : i32
}
