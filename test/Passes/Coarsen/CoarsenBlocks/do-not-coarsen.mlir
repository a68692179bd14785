// RUN: %regrain-opt %s --regrain-coarsen-blocks='factors=2,1,1' --split-input-file --verify-diagnostics

func.func @do_not_coarsen_by_block_index(%p: !llvm.ptr, %g: index, %b: index, %n: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-remark @+1 {{a barrier of another loop would be duplicated}}
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        scf.for %q = %c0 to %i step %c1 {
          regrain.barrier(%x, %y, %z)
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return %e : i32
}

// -----

func.func @do_not_coarsen_by_memory(%p: !llvm.ptr, %g: index, %b: index, %n: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-remark @+1 {{a barrier of another loop would be duplicated}}
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %count = llvm.load %p : !llvm.ptr -> i32
        %zero = arith.constant 0 : i32
        %one = arith.constant 1 : i32
        scf.for %q = %zero to %count step %one : i32 {
          regrain.barrier(%x, %y, %z)
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return %e : i32
}

// -----

func.func @do_not_coarsen_spinning(%p: !llvm.ptr, %g: index, %b: index, %n: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-remark @+1 {{it may wait for another iteration}}
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        scf.while : () -> () {
          %c = llvm.load volatile %p : !llvm.ptr -> i1
          scf.condition(%c)
        } do {
          scf.yield
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return %e : i32
}
