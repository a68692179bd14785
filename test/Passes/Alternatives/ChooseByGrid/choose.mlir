// RUN: %regrain-opt %s --regrain-choose-by-grid='least-blocks=4224' | FileCheck %s
// RUN: not %regrain-opt %s --regrain-choose-by-grid='least-blocks=-1' 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: expected a number of blocks, got -1

// CHECK-LABEL: llvm.func @__regrain_launch.k
// CHECK: %[[X:.*]] = arith.extui %arg1 : i32 to i64
// CHECK: %[[Y:.*]] = arith.extui %arg2 : i32 to i64
// CHECK: %[[Z:.*]] = arith.extui %arg3 : i32 to i64
// CHECK: %[[XY:.*]] = arith.muli %[[X]], %[[Y]] : i64
// CHECK: %[[BLOCKS:.*]] = arith.muli %[[XY]], %[[Z]] : i64
// CHECK: %[[LEAST:.*]] = arith.constant 4224 : i64
// CHECK: %[[LARGE:.*]] = arith.cmpi uge, %[[BLOCKS]], %[[LEAST]] : i64
// CHECK: %[[E:.*]] = scf.if %[[LARGE]] -> (i32) {
// CHECK: llvm.call @coarse
// CHECK: } else {
// CHECK: llvm.call @original
// CHECK: llvm.return %[[E]]
llvm.func @original(!llvm.ptr) -> i32
llvm.func @coarse(!llvm.ptr) -> i32
llvm.func @__regrain_launch.k(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %shmem: i64,
                              %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @k} {
  %e = regrain.alternatives ["original", "b2x1x1"] -> i32 {
    %a = llvm.call @original(%args) : (!llvm.ptr) -> i32
    regrain.yield %a : i32
  }, {
    %b = llvm.call @coarse(%args) : (!llvm.ptr) -> i32
    regrain.yield %b : i32
  }
  llvm.return %e : i32
}

// More than two, or without the original: they stay.
// CHECK-LABEL: llvm.func @__regrain_launch.three
// CHECK: regrain.alternatives ["original", "b2x1x1", "b4x1x1"]
llvm.func @__regrain_launch.three(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %shmem: i64,
                                  %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @k} {
  %e = regrain.alternatives ["original", "b2x1x1", "b4x1x1"] -> i32 {
    regrain.yield %gx : i32
  }, {
    regrain.yield %gy : i32
  }, {
    regrain.yield %gz : i32
  }
  llvm.return %e : i32
}
