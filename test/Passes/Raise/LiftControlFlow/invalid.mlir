// RUN: %regrain-opt %s --regrain-lift-control-flow --verify-diagnostics | FileCheck %s

// CHECK-LABEL: llvm.func @do_not_lift_a_wide_switch
// CHECK: llvm.switch
// expected-remark @below {{control flow of do_not_lift_a_wide_switch is not lifted: a switch over an integer wider than 64 bits}}
llvm.func @do_not_lift_a_wide_switch(%n: i128, %p: !llvm.ptr) {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  llvm.switch %n : i128, ^exit [
    1: ^first
  ]
^first:
  llvm.store %c0, %p : i32, !llvm.ptr
  llvm.br ^exit
^exit:
  llvm.return
}

// CHECK-LABEL: llvm.func @do_not_lift_an_indirect_branch
// CHECK: llvm.indirectbr
// expected-remark @below {{control flow of do_not_lift_an_indirect_branch is not lifted: a terminator llvm.indirectbr that is no plain branch}}
llvm.func @do_not_lift_an_indirect_branch(%to: !llvm.ptr) {
  llvm.indirectbr %to : !llvm.ptr, [
    ^a,
    ^b
  ]
^a:
  llvm.return
^b:
  llvm.return
}
