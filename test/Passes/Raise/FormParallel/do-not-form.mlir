// RUN: %regrain-opt %s --regrain-form-parallel --verify-diagnostics | FileCheck %s

// CHECK-NOT: @__regrain_launch

llvm.func @unknown()
llvm.func @__nv_sqrtf(f32) -> f32

llvm.func @reads_its_thread() -> i32 {
  %t = nvvm.read.ptx.sreg.tid.x : i32
  llvm.return %t : i32
}

llvm.func @calls_on() -> i32 {
  %t = llvm.call @reads_its_thread() : () -> i32
  llvm.return %t : i32
}

// CHECK: llvm.func ptx_kernelcc @do_not_form_a_call_that_knows_its_thread
// CHECK-SAME: regrain.not_raised = "it calls reads_its_thread, which knows its thread"
// CHECK: llvm.call @calls_on
// expected-remark @below {{kernel do_not_form_a_call_that_knows_its_thread is not raised: it calls reads_its_thread, which knows its thread}}
llvm.func ptx_kernelcc @do_not_form_a_call_that_knows_its_thread(%p: !llvm.ptr) {
  %t = llvm.call @calls_on() : () -> i32
  llvm.store %t, %p : i32, !llvm.ptr
  llvm.return
}

// expected-remark @below {{kernel do_not_form_an_unknown_call is not raised: it calls unknown, which may synchronise}}
llvm.func ptx_kernelcc @do_not_form_an_unknown_call() {
  llvm.call @unknown() : () -> ()
  llvm.return
}

// expected-remark @below {{kernel do_not_form_an_indirect_call is not raised: it calls through a pointer}}
llvm.func ptx_kernelcc @do_not_form_an_indirect_call(%f: !llvm.ptr) {
  llvm.call %f() : !llvm.ptr, () -> ()
  llvm.return
}

// expected-remark @below {{kernel do_not_form_branches is not raised: its control flow is not structured}}
llvm.func ptx_kernelcc @do_not_form_branches(%c: i1) {
  llvm.cond_br %c, ^a, ^b
^a:
  llvm.br ^b
^b:
  llvm.return
}

// expected-remark @below {{kernel do_not_form_a_named_barrier is not raised: it uses a named barrier}}
llvm.func ptx_kernelcc @do_not_form_a_named_barrier(%n: i32) {
  llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"(%n) : (i32) -> ()
  llvm.return
}

// expected-remark @below {{kernel do_not_form_assembly_that_synchronises is not raised: inline assembly synchronises}}
llvm.func ptx_kernelcc @do_not_form_assembly_that_synchronises() {
  %0 = llvm.inline_asm has_side_effects asm_dialect = att "bar.sync 1, 64;", "" : () -> !llvm.void
  llvm.return
}

llvm.mlir.global external @elsewhere() {addr_space = 3 : i32} : !llvm.array<4 x i32>
llvm.mlir.global internal @tile() {addr_space = 3 : i32} : !llvm.array<4 x i32> {
  %0 = llvm.mlir.undef : !llvm.array<4 x i32>
  llvm.return %0 : !llvm.array<4 x i32>
}

llvm.func @uses_shared() {
  %t = llvm.mlir.addressof @tile : !llvm.ptr<3>
  llvm.return
}

// expected-remark @below {{kernel do_not_form_shared_memory_of_another_module is not raised: it uses shared memory of another module}}
llvm.func ptx_kernelcc @do_not_form_shared_memory_of_another_module() {
  %t = llvm.mlir.addressof @elsewhere : !llvm.ptr<3>
  llvm.return
}

// expected-remark @below {{kernel do_not_form_a_call_that_uses_shared_memory is not raised: it calls uses_shared, which uses shared memory}}
llvm.func ptx_kernelcc @do_not_form_a_call_that_uses_shared_memory() {
  llvm.call @uses_shared() : () -> ()
  llvm.return
}

// A loop that another thread ends, and one that calls again and again what asks once.
llvm.func @waits(%flag: !llvm.ptr) {
  %zero = llvm.mlir.constant(0 : i32) : i32
  llvm.br ^again
^again:
  %seen = llvm.atomicrmw add %flag, %zero monotonic : !llvm.ptr, i32
  %none = llvm.icmp "eq" %seen, %zero : i32
  llvm.cond_br %none, ^again, ^end
^end:
  llvm.return
}

llvm.func @asks(%flag: !llvm.ptr) -> i1 {
  %one = llvm.mlir.constant(1 : i32) : i32
  %zero = llvm.mlir.constant(0 : i32) : i32
  %seen = llvm.atomicrmw xchg %flag, %one monotonic : !llvm.ptr, i32
  %none = llvm.icmp "eq" %seen, %zero : i32
  llvm.return %none : i1
}

llvm.func @asks_again(%flag: !llvm.ptr) {
  llvm.br ^again
^again:
  %none = llvm.call @asks(%flag) : (!llvm.ptr) -> i1
  llvm.cond_br %none, ^again, ^end
^end:
  llvm.return
}

// expected-remark @below {{kernel do_not_form_a_call_that_waits is not raised: it calls waits, which may wait for another thread}}
llvm.func ptx_kernelcc @do_not_form_a_call_that_waits(%flag: !llvm.ptr) {
  llvm.call @waits(%flag) : (!llvm.ptr) -> ()
  llvm.return
}

// expected-remark @below {{kernel do_not_form_a_call_that_asks_again is not raised: it calls asks_again, which may wait for another thread}}
llvm.func ptx_kernelcc @do_not_form_a_call_that_asks_again(%flag: !llvm.ptr) {
  llvm.call @asks_again(%flag) : (!llvm.ptr) -> ()
  llvm.return
}

// expected-remark @below {{kernel do_not_form_variable_arguments is not raised: it has variable arguments}}
llvm.func ptx_kernelcc @do_not_form_variable_arguments(%p: !llvm.ptr, ...) {
  llvm.intr.vastart %p : !llvm.ptr
  llvm.return
}

// expected-remark @below {{kernel do_not_form_grid_synchronisation is not raised: it synchronises the grid}}
llvm.func ptx_kernelcc @do_not_form_grid_synchronisation() {
  %0 = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.envreg2"() : () -> i32
  llvm.return
}

// expected-remark @below {{kernel do_not_form_clusters is not raised: it uses thread block clusters}}
llvm.func ptx_kernelcc @do_not_form_clusters() {
  llvm.call_intrinsic "llvm.nvvm.barrier.cluster.arrive"() : () -> ()
  llvm.return
}

// expected-remark @below {{kernel do_not_form_an_unknown_reduction is not raised: it uses an unknown barrier reduction}}
llvm.func ptx_kernelcc @do_not_form_an_unknown_reduction(%n: i32, %c: i1) {
  %0 = llvm.call_intrinsic "llvm.nvvm.barrier.cta.red.xor.aligned.all"(%n, %c) : (i32, i1) -> i1
  llvm.return
}

// expected-remark @below {{kernel do_not_form_a_barrier_of_part_of_the_block is not raised: it uses a barrier of part of the block}}
llvm.func ptx_kernelcc @do_not_form_a_barrier_of_part_of_the_block(%n: i32) {
  llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.count"(%n, %n) : (i32, i32) -> ()
  llvm.return
}

// expected-remark @below {{kernel do_not_form_an_asynchronous_barrier is not raised: it uses an asynchronous barrier}}
llvm.func ptx_kernelcc @do_not_form_an_asynchronous_barrier(%p: !llvm.ptr, %n: i32) {
  llvm.call_intrinsic "llvm.nvvm.mbarrier.init"(%p, %n) : (!llvm.ptr, i32) -> ()
  llvm.return
}

// expected-remark @below {{kernel do_not_form_threads_that_exit is not raised: its threads exit}}
llvm.func ptx_kernelcc @do_not_form_threads_that_exit() {
  llvm.call_intrinsic "llvm.nvvm.exit"() : () -> ()
  llvm.return
}

// expected-remark @below {{kernel do_not_form_a_warp_operation_in_assembly is not raised: inline assembly holds a warp operation}}
llvm.func ptx_kernelcc @do_not_form_a_warp_operation_in_assembly() {
  %0 = llvm.inline_asm has_side_effects asm_dialect = att "vote.sync.any.pred p, q, 0xffffffff;", "" : () -> !llvm.void
  llvm.return
}

// expected-remark @below {{kernel do_not_form_assembly_that_names_the_thread is not raised: inline assembly names the thread}}
llvm.func ptx_kernelcc @do_not_form_assembly_that_names_the_thread() {
  %0 = llvm.inline_asm asm_dialect = att "add.u32 $0, %tid.x, 1;", "=r" : () -> i32
  llvm.return
}

// expected-remark @below {{kernel do_not_form_other_synchronisation is not raised: it holds a synchronisation without parallel form}}
llvm.func ptx_kernelcc @do_not_form_other_synchronisation() {
  nvvm.cluster.arrive
  llvm.return
}
