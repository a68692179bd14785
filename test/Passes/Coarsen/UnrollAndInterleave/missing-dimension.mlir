// RUN: %regrain-opt %s --regrain-unroll-and-interleave='factor=2 dimension=1' --verify-diagnostics

func.func @do_not_unroll_missing_dimension(%a: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  // expected-remark @+1 {{the loop has no such dimension}}
  scf.parallel (%i) = (%c0) to (%c16) step (%c1) {
    %s1 = arith.index_cast %i : index to i64
    llvm.store %s1, %a : i64, !llvm.ptr
    scf.reduce
  }
  func.return
}
