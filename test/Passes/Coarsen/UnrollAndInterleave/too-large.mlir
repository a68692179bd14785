// RUN: %regrain-opt %s --regrain-unroll-and-interleave='factor=8192' --verify-diagnostics

func.func @do_not_unroll_to_more_than_is_worth_compiling(%a: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c65536 = arith.constant 65536 : index
  // expected-remark @+1 {{its body would have more operations than are worth compiling}}
  scf.parallel (%i) = (%c0) to (%c65536) step (%c1) {
    %s1 = arith.index_cast %i : index to i64
    llvm.store %s1, %a : i64, !llvm.ptr
    scf.reduce
  }
  func.return
}
