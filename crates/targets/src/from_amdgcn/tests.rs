//! IR as the AMDGPU back end's instruction selection would get it, brought to the CPU.

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;

use crate::Error;
use crate::cpu::Cpu;
use crate::target::{BlockOptions, Blocks};

const HEAD: &str = r#"
target datalayout = "e-m:e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"
"#;

fn module<'ctx>(context: &'ctx Context, text: &str) -> Module<'ctx> {
    let text = [HEAD.as_bytes(), text.as_bytes(), b"\0"].concat();
    let module = context.create_module_from_ir(MemoryBuffer::create_from_memory_range_copy(&text, "device"));
    module.expect("valid IR")
}

fn options() -> BlockOptions {
    BlockOptions {
        unit: "0".into(),
        relocatable: false,
        cuda_arch: 70,
        level: 2,
        cpu: None,
        lines: false,
        loaded: false,
        checks: 0,
        may_part: false,
    }
}

/// The IR that emulation makes of `text`; it also comes through the host's back end.
fn emulated(text: &str) -> Result<String, Error> {
    let context = Context::create();
    let lowered = Cpu.lower(&context, module(&context, text), None, &options())?;
    let made = lowered.print_to_string().to_string();
    let folder = tempfile::tempdir().expect("a folder");
    Cpu.emit(&lowered, &options(), &folder.path().join("a.o")).map(drop)?;
    Ok(made)
}

/// Everything after `from` in the body of function `name`.
fn body<'t>(text: &'t str, name: &str) -> &'t str {
    let start = text.find(&format!("@{name}(")).expect("the function");
    let text = &text[start..];
    &text[..text.find("\n}").expect("its end")]
}

#[test]
fn stops_are_numbered_in_the_order_of_the_code() {
    let made = emulated(
        r#"
declare i32 @llvm.amdgcn.readfirstlane.i32(i32)
declare i64 @llvm.amdgcn.ballot.i64(i1)
declare void @llvm.amdgcn.s.barrier()
declare i32 @llvm.amdgcn.workitem.id.x()
define amdgpu_kernel void @k(ptr addrspace(1) %p, i32 %n) #0 {
entry:
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %j, %loop ]
  %f = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %i)
  %j = add i32 %i, 1
  %c = icmp ult i32 %j, %t
  br i1 %c, label %loop, label %exit
exit:
  call void @llvm.amdgcn.s.barrier()
  %b = call i64 @llvm.amdgcn.ballot.i64(i1 %c)
  store i64 %b, ptr addrspace(1) %p
  ret void
}
attributes #0 = { "target-cpu"="gfx90a" "target-features"="+wavefrontsize64" }
"#,
    )
    .expect("emulated");
    let body = body(&made, "__regrain_dev_k");
    let calls: Vec<&str> = body.lines().filter(|line| line.contains("@__regrain_amdgcn_")).map(str::trim).collect();
    let want = [("readfirstlane(i64", 0u32), ("latch(", 1), ("s_barrier(", 2), ("ballot(i64", 3)];
    assert_eq!(calls.len(), want.len(), "{body}");
    for (call, (name, site)) in calls.iter().zip(want) {
        let site = format!("i32 {})", (1u32 << 31 | site).cast_signed());
        assert!(call.contains(&format!("@__regrain_amdgcn_{name}")) && call.ends_with(&site), "{call}: {name} {site}");
    }
}

#[test]
fn waves_of_rdna_have_32_lanes_unless_asked() {
    let text = |attributes: &str| {
        format!(
            "declare i32 @llvm.amdgcn.readfirstlane.i32(i32)
             define amdgpu_kernel void @k(ptr addrspace(1) %p) {attributes} {{
               %l = call i32 @llvm.amdgcn.readfirstlane.i32(i32 7)
               store i32 %l, ptr addrspace(1) %p
               ret void
             }}"
        )
    };
    let site = |attributes| emulated(&text(attributes)).expect("emulated").contains("(i64 7, i32 -2147483648)");
    assert!(site(r#""target-cpu"="gfx942""#));
    assert!(!site(r#""target-cpu"="gfx1030""#));
    assert!(site(r#""target-cpu"="gfx1100" "target-features"="+wavefrontsize64""#));
}

#[test]
fn pointers_of_32_bits_stay_so() {
    let made = emulated(
        r#"
@tile = internal addrspace(3) global [64 x i32] poison, align 4
@slot = internal addrspace(1) global ptr addrspace(3) null
define amdgpu_kernel void @k(ptr addrspace(1) %p, i32 %n) {
  %own = alloca [4 x i32], align 4, addrspace(5)
  %e = getelementptr inbounds [4 x i32], ptr addrspace(5) %own, i32 0, i32 %n
  store i32 %n, ptr addrspace(5) %e
  %a = getelementptr inbounds [64 x i32], ptr addrspace(3) @tile, i32 0, i32 %n
  store ptr addrspace(3) %a, ptr addrspace(1) @slot
  %b = load ptr addrspace(3), ptr addrspace(1) @slot
  %same = icmp eq ptr addrspace(3) %a, %b
  %flat = addrspacecast ptr addrspace(3) %b to ptr
  %number = ptrtoint ptr addrspace(3) %b to i64
  %v = atomicrmw add ptr addrspace(3) %b, i32 1 syncscope("workgroup") monotonic
  store volatile ptr %flat, ptr addrspace(1) %p
  store volatile i1 %same, ptr addrspace(1) %p
  store volatile i64 %number, ptr addrspace(1) %p
  ret void
}
"#,
    )
    .expect("emulated");
    let body = body(&made, "__regrain_dev_k");
    for part in [
        "alloca [4 x i32], align 4\n",
        "store i32 %", // the pointer, as a number
        "icmp eq i32",
        "= load i32, ptr addrspace(1) @__regrain_dev_slot",
        "atomicrmw add ptr %",
        ", -1\n", // the null pointer
    ] {
        assert!(body.contains(part), "{part} in {body}");
    }
    assert!(
        !body.contains("load ptr addrspace(3)") && !body.contains("addrspace(5)\n  store i32 %n, ptr addrspace(5)")
    );
}

#[test]
fn functions_in_which_lanes_stop_are_inlined() {
    let made = emulated(
        r#"
declare i32 @llvm.amdgcn.readfirstlane.i32(i32)
define internal i32 @deep(i32 %v) noinline { %r = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %v) ret i32 %r }
define internal i32 @middle(i32 %v) noinline { %r = call i32 @deep(i32 %v) ret i32 %r }
define amdgpu_kernel void @k(ptr addrspace(1) %p, i32 %n) {
  %a = call i32 @middle(i32 %n)
  %b = call i32 @middle(i32 %a)
  store i32 %b, ptr addrspace(1) %p
  ret void
}
"#,
    )
    .expect("emulated");
    let body = body(&made, "__regrain_dev_k");
    assert!(body.contains(", i32 0)") && body.contains(", i32 1)") && !body.contains("middle"), "{body}");
}

#[test]
fn recursion_in_which_lanes_stop_is_refused() {
    let error = emulated(
        r#"
declare i32 @llvm.amdgcn.readfirstlane.i32(i32)
define internal i32 @f(i32 %v) {
  %r = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %v)
  %c = icmp eq i32 %r, 0
  br i1 %c, label %again, label %end
again:
  %s = call i32 @f(i32 1)
  ret i32 %s
end:
  ret i32 %r
}
define amdgpu_kernel void @k(ptr addrspace(1) %p, i32 %n) { %a = call i32 @f(i32 %n) store i32 %a, ptr addrspace(1) %p ret void }
"#,
    )
    .expect_err("refused")
    .to_string();
    assert!(error.contains("no operation of a wave where a function calls itself"), "{error}");
}

#[test]
fn what_nobody_has_is_named() {
    let error = emulated(
        r#"
declare i32 @llvm.amdgcn.wave.reduce.umin.i32(i32, i32)
define amdgpu_kernel void @k(ptr addrspace(1) %p, i32 %n) {
  %a = call i32 @llvm.amdgcn.wave.reduce.umin.i32(i32 %n, i32 0)
  store i32 %a, ptr addrspace(1) %p
  ret void
}
"#,
    )
    .expect_err("refused")
    .to_string();
    assert!(error.contains("the CPU target has no 'llvm_amdgcn_wave_reduce_umin_i32' in"), "{error}");
}
