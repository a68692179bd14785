// RUN: %regrain-opt %s --regrain-profile-alternatives='target=cpu version=1.0 adaptive=true' | FileCheck %s --implicit-check-not=__regrain_profile
// RUN: %regrain-opt %S/switch.mlir --regrain-profile-alternatives='target=cpu version=1.0' | FileCheck %s --check-prefix=MEASURES

// The program chooses for good: other functions around the launch, and it does not start as one that measures.
// CHECK-LABEL: llvm.func @__regrain_launch.k
// CHECK: %[[SITE:.*]] = llvm.mlir.addressof @__regrain_site.__regrain_launch.k
// CHECK: %[[N:.*]] = llvm.call @__regrain_adapt_begin(%[[SITE]], %arg1, %arg2, %arg3, %arg4, %arg5, %arg6, %arg7, %arg8, %[[TOKEN:[0-9]+]])
// CHECK: %[[E:.*]] = scf.index_switch
// CHECK: llvm.call @__regrain_adapt_end(%[[SITE]], %[[TOKEN]], %[[E]])
// MEASURES: llvm.mlir.global weak_odr constant @__regrain_profiled
llvm.func @original(!llvm.ptr) -> i32
llvm.func @coarse(!llvm.ptr) -> i32
llvm.func @__regrain_launch.k(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %shmem: i64,
                              %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @k, regrain.content = "0123456789abcdef0123456789abcdef"} {
  %e = regrain.alternatives ["original", "b2x1x1"] -> i32 {
    %a = llvm.call @original(%args) : (!llvm.ptr) -> i32
    regrain.yield %a : i32
  }, {
    %b = llvm.call @coarse(%args) : (!llvm.ptr) -> i32
    regrain.yield %b : i32
  }
  llvm.return %e : i32
}
