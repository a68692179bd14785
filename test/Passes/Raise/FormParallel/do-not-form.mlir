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
