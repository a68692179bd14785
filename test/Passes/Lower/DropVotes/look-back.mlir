// RUN: %regrain-opt %s --regrain-drop-votes | FileCheck %s

// Lanes look back until they see a sum; the vote only says which of them still look.
// CHECK-LABEL: llvm.func @look_back(
// CHECK-NOT: regrain.vote
// CHECK: llvm.return
llvm.func @look_back(%p: !llvm.ptr, %g: i32) {
  %n = arith.index_castui %g : i32 to index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %e = regrain.gpu_wrapper @k grid(%n, %c1, %c1) block(%c256, %c1, %c1) {
    %c0 = arith.constant 0 : index
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%n, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c256, %c1, %c1) step (%c1, %c1, %c1) {
        %all = arith.constant -1 : i32
        %zero = arith.constant 0 : i32
        %one = arith.constant 1 : i32
        %r:2 = scf.while (%mask = %all, %sum = %zero) : (i32, i32) -> (i32, i32) {
          %v = llvm.load volatile %p : !llvm.ptr -> i32
          %more = arith.cmpi eq, %v, %zero : i32
          %next = scf.if %more -> (i32) {
            %still = regrain.vote ballot %more mask %mask(%x, %y, %z) : i32
            scf.yield %still : i32
          } else {
            scf.yield %zero : i32
          }
          %less = arith.andi %next, %all : i32
          %total = arith.addi %sum, %v : i32
          scf.condition(%more) %less, %total : i32, i32
        } do {
        ^bb0(%mask: i32, %sum: i32):
          scf.yield %mask, %sum : i32, i32
        }
        llvm.store %r#1, %p : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// One decides, one is stored, one names the lanes of a vote that is stored, and one nobody asks.
// CHECK-LABEL: llvm.func @do_not_drop(
// CHECK-COUNT-5: regrain.vote
// CHECK: llvm.return
llvm.func @do_not_drop(%p: !llvm.ptr, %g: i32) {
  %n = arith.index_castui %g : i32 to index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %e = regrain.gpu_wrapper @k grid(%n, %c1, %c1) block(%c256, %c1, %c1) {
    %c0 = arith.constant 0 : index
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%n, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c256, %c1, %c1) step (%c1, %c1, %c1) {
        %all = arith.constant -1 : i32
        %zero = arith.constant 0 : i32
        %v = llvm.load %p : !llvm.ptr -> i32
        %some = arith.cmpi eq, %v, %zero : i32
        %any = regrain.vote any %some mask %all(%x, %y, %z) : i1
        scf.if %any {
          llvm.store %zero, %p : i32, !llvm.ptr
        }
        %names = regrain.vote ballot %some mask %all(%x, %y, %z) : i32
        %stored = regrain.vote ballot %some mask %names(%x, %y, %z) : i32
        llvm.store %stored, %p : i32, !llvm.ptr
        %together = regrain.vote ballot %some mask %all(%x, %y, %z) : i32
        %least = regrain.vote ballot %some mask %all(%x, %y, %z) : i32
        %c = scf.while (%at = %least) : (i32) -> i32 {
          %go = arith.cmpi slt, %at, %v : i32
          scf.condition(%go) %at : i32
        } do {
        ^bb0(%at: i32):
          %next = arith.addi %at, %v : i32
          scf.yield %next : i32
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// Blocks of any shape.
// CHECK-LABEL: llvm.func @do_not_drop_in_any_shape(
// CHECK-COUNT-2: regrain.vote
// CHECK: llvm.return
llvm.func @do_not_drop_in_any_shape(%p: !llvm.ptr, %g: i32) {
  %n = arith.index_castui %g : i32 to index
  %c1 = arith.constant 1 : index
  %e = regrain.gpu_wrapper @k grid(%n, %c1, %c1) block(%n, %c1, %c1) {
    %c0 = arith.constant 0 : index
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%n, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%n, %c1, %c1) step (%c1, %c1, %c1) {
        %all = arith.constant -1 : i32
        %zero = arith.constant 0 : i32
        %v = llvm.load %p : !llvm.ptr -> i32
        %some = arith.cmpi eq, %v, %zero : i32
        %first = regrain.vote ballot %some mask %all(%x, %y, %z) : i32
        %second = regrain.vote ballot %some mask %first(%x, %y, %z) : i32
        %third = arith.addi %second, %v : i32
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}
