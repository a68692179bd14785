// RUN: %regrain-opt %s | %regrain-opt | FileCheck %s

// Every attribute of the dialect, where it belongs.

// CHECK: llvm.func @launch() attributes {regrain.block_shape = array<i64: 16, 16, 1>, regrain.content = "0123456789abcdef0123456789abcdef", regrain.launch = @k, regrain.space = "none"}
llvm.func @launch() attributes {regrain.launch = @k, regrain.block_shape = array<i64: 16, 16, 1>, regrain.content = "0123456789abcdef0123456789abcdef", regrain.space = "none"}
// CHECK: llvm.func @dispatch() attributes {regrain.dispatch = @k, regrain.host, regrain.static_shared = 1024 : i64}
llvm.func @dispatch() attributes {regrain.dispatch = @k, regrain.host, regrain.static_shared = 1024}
// CHECK: llvm.func @k() attributes {regrain.cluster_shape = array<i64: 2>, regrain.comdat = @any::@k, regrain.linkage = #llvm.linkage<weak_odr>,
// CHECK-SAME: regrain.max_cluster = 4 : i64, regrain.max_threads = array<i64: 256>, regrain.min_blocks = 2 : i64, regrain.required_threads = array<i64: 16, 16>}
llvm.func @k() attributes {regrain.linkage = #llvm.linkage<weak_odr>, regrain.comdat = @any::@k, regrain.max_threads = array<i64: 256>, regrain.required_threads = array<i64: 16, 16>, regrain.min_blocks = 2, regrain.cluster_shape = array<i64: 2>, regrain.max_cluster = 4}
// CHECK: llvm.func @version() attributes {regrain.grain = array<i64: 2, 1, 1>, regrain.rest = 1 : i64, regrain.static_shared = 0 : i64, regrain.thread_grain = array<i64: 1, 1, 1>, regrain.version_of = @k}
llvm.func @version() attributes {regrain.version_of = @k, regrain.grain = array<i64: 2, 1, 1>, regrain.thread_grain = array<i64: 1, 1, 1>, regrain.rest = 1, regrain.static_shared = 0}
// CHECK: llvm.func @hard(!llvm.ptr {regrain.grid_constant}) attributes {regrain.not_raised = "it calls through a pointer"}
llvm.func @hard(!llvm.ptr {regrain.grid_constant}) attributes {regrain.not_raised = "it calls through a pointer"}
// CHECK: llvm.mlir.global external @handle() {addr_space = 0 : i32, regrain.handle = @version, regrain.host, regrain.rest = 1 : i64} : i8
llvm.mlir.global external @handle() {addr_space = 0 : i32, regrain.handle = @version, regrain.host, regrain.rest = 1} : i8

// CHECK: llvm.func @omitting() attributes {regrain.launch = @k, regrain.omitted = {{\[\[}}"b2x1x1", "declined", "its barriers are not uniform"], ["t4x1x1", "pruned", "3 bytes of spills"]]}
llvm.func @omitting() attributes {regrain.launch = @k, regrain.omitted = [["b2x1x1", "declined", "its barriers are not uniform"], ["t4x1x1", "pruned", "3 bytes of spills"]]}
// CHECK: llvm.func @block() attributes {regrain.block_of = "k", regrain.block_shape = array<i64: 16, 16, 1>, regrain.max_threads = array<i64: 256>, regrain.parameter_sizes = array<i64: 8, 4>, regrain.seldom, regrain.static_shared = 64 : i64}
llvm.func @block() attributes {regrain.block_of = "k", regrain.block_shape = array<i64: 16, 16, 1>, regrain.parameter_sizes = array<i64: 8, 4>, regrain.seldom, regrain.static_shared = 64, regrain.max_threads = array<i64: 256>}
// CHECK: llvm.func @only() attributes {regrain.block_shape = array<i64: 16, 16, 1>, regrain.launch = @k, regrain.sole}
llvm.func @only() attributes {regrain.launch = @k, regrain.block_shape = array<i64: 16, 16, 1>, regrain.sole}

// CHECK-LABEL: func.func @host
func.func @host(%n: index, %p: !llvm.ptr, %one: i32) {
  // CHECK: llvm.load %{{.*}} {regrain.kernel_arg = 2 : i64}
  %a = llvm.load %p {regrain.kernel_arg = 2} : !llvm.ptr -> i32
  // CHECK: llvm.load %{{.*}} {regrain.unchanging}
  %b = llvm.load %p {regrain.unchanging} : !llvm.ptr -> i32
  // CHECK: llvm.alloca %{{.*}} {regrain.reused}
  %c = llvm.alloca %one x i32 {regrain.reused} : (i32) -> !llvm.ptr
  %d = arith.cmpi eq, %n, %n : index
  // CHECK: } {regrain.together}
  scf.if %d {
  } {regrain.together}
  // CHECK: } {regrain.convex}
  scf.if %d {
  } {regrain.convex}
  // CHECK: } {regrain.rows}
  scf.for %r = %n to %n step %n {
  } {regrain.rows}
  // CHECK: } {regrain.of_blocks = 8 : i64}
  scf.if %d {
  } {regrain.of_blocks = 8 : i64}
  // CHECK: llvm.inline_asm has_side_effects {regrain.asm_attributes = "nounwind"}
  llvm.inline_asm has_side_effects {regrain.asm_attributes = "nounwind"} "nop", "" : () -> ()
  // CHECK: regrain.gpu_wrapper {{.*}} attributes {regrain.kept, regrain.not_split = "it may wait", regrain.original}
  %e = regrain.gpu_wrapper grid(%n, %n, %n) block(%n, %n, %n) attributes {regrain.kept, regrain.original, regrain.not_split = "it may wait"} {
  }
  // CHECK: regrain.gpu_wrapper {{.*}} attributes {regrain.grain = array<i64: 2, 1, 1>, regrain.optimised, regrain.tasks = 16 : i32, regrain.thread_grain = array<i64: 1, 2, 1>}
  %f = regrain.gpu_wrapper grid(%n, %n, %n) block(%n, %n, %n) attributes {regrain.grain = array<i64: 2, 1, 1>, regrain.thread_grain = array<i64: 1, 2, 1>, regrain.tasks = 16 : i32, regrain.optimised} {
  }
  // CHECK: regrain.gpu_wrapper {{.*}} attributes {regrain.epilogue}
  %g = regrain.gpu_wrapper grid(%n, %n, %n) block(%n, %n, %n) attributes {regrain.epilogue} {
  }
  return
}
