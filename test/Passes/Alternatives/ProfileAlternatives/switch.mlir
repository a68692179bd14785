// RUN: %regrain-opt %s --regrain-profile-alternatives='target=sm_80 version=1.0' | FileCheck %s
// RUN: %regrain-opt %s --pass-pipeline='builtin.module(regrain-profile-alternatives{target=cpu},convert-scf-to-cf,convert-cf-to-llvm,convert-arith-to-llvm,convert-index-to-llvm,reconcile-unrealized-casts)' | mlir-translate --mlir-to-llvmir - | FileCheck %s --check-prefix=LLVM

// CHECK-LABEL: llvm.func @__regrain_launch.k
// CHECK-DAG: %[[TOKEN:.*]] = llvm.alloca %{{.*}} x i8 {alignment = 16 : i64}
// CHECK-DAG: %[[SITE:.*]] = llvm.mlir.addressof @__regrain_site.__regrain_launch.k
// CHECK: %[[N:.*]] = llvm.call @__regrain_profile_begin(%[[SITE]], %arg1, %arg2, %arg3, %arg4, %arg5, %arg6, %arg7, %arg8, %[[TOKEN]])
// CHECK: %[[I:.*]] = arith.index_castui %[[N]]
// CHECK: %[[E:.*]] = scf.index_switch %[[I]] -> i32
// CHECK-NEXT: case 1 {
// CHECK: llvm.call @coarse
// CHECK: default {
// CHECK: llvm.call @original
// CHECK: llvm.call @__regrain_profile_end(%[[SITE]], %[[TOKEN]], %[[E]])
// CHECK: llvm.return %[[E]]
// CHECK: llvm.mlir.global internal constant @__regrain_site.__regrain_launch.k.0("k\00")
// CHECK: "0123456789abcdef0123456789abcdef\00"
// CHECK: "sm_80\00"
// CHECK: "1.0\00"
// CHECK: "original\00"
// CHECK: "b2x1x1\00"

// LLVM: @__regrain_site.__regrain_launch.k = internal global { ptr, ptr, ptr, ptr, i32, i32, ptr, ptr } { ptr @__regrain_site.__regrain_launch.k.0,
// LLVM-SAME: i32 2, i32 0, ptr @__regrain_site.__regrain_launch.k.grains, ptr null }
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
