// RUN: %regrain-opt %s -verify-diagnostics --regrain-vectorize-threads="register-bits=256 cost-model=false report=true" -o /dev/null

// Asked for, remarks say of each thread loop what became of it, and how each access is made.
llvm.func @rows(%a: !llvm.ptr, %b: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c32 = arith.constant 32 : index
  // expected-remark @below {{threads go in rows of 8 [-Rpass=regrain-vectorize-threads]}}
  // expected-remark @below {{threads go in rows of 8: 2 accesses contiguous, 1 gathered [-Rpass-analysis=regrain-vectorize-threads]}}
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i64
    %p = llvm.getelementptr %a[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %v = llvm.load %p : !llvm.ptr -> i32
    %q = llvm.getelementptr %b[%v] : (!llvm.ptr, i32) -> !llvm.ptr, i32
    // expected-remark @below {{a load of i32 is gathered: its addresses differ unevenly from thread to thread}}
    %w = llvm.load %q : !llvm.ptr -> i32
    llvm.store %w, %p : i32, !llvm.ptr
    scf.reduce
  }
  // expected-remark @below {{its threads run one by one: its rows are too short [-Rpass-missed=regrain-vectorize-threads]}}
  // expected-remark @below {{its threads run one by one: its rows are too short [-Rpass-analysis=regrain-vectorize-threads]}}
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c3, %c1, %c1) step (%c1, %c1, %c1) {
    scf.reduce
  }
  // Of a loop of one thread there is nothing to say.
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c1, %c1, %c1) step (%c1, %c1, %c1) {
    scf.reduce
  }
  // expected-remark @below {{it holds llvm.alloca, which has no form for rows [-Rpass-missed=regrain-vectorize-threads]}}
  // expected-remark @below {{it holds llvm.alloca, which has no form for rows [-Rpass-analysis=regrain-vectorize-threads]}}
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
    %n = arith.constant 1 : i64
    // expected-note @below {{it stands here}}
    %m = llvm.alloca %n x i32 : (i64) -> !llvm.ptr
    scf.reduce
  }
  llvm.return
}
