//! Tests of `dispatch`: host code for both ways to pass a `dim3`.

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;

use super::{Dispatcher, redirect};

/// What the compiler hands over: a general function and one for a block shape.
const FUNCTIONS: &str = r#"
@"__regrain_handle.k$b2x1x1" = external global i8
@__regrain_handle.k = external global i8
declare i32 @__regrain_launch_kernel(ptr, i32, i32, i32, i32, i32, i32, ptr, i64, ptr, i64)
define i32 @__regrain_dispatch.k(ptr %a, i32 %gx, i32 %gy, i32 %gz, i32 %bx, i32 %by, i32 %bz, i64 %s, ptr %q) {
  %e = call i32 @__regrain_launch_kernel(ptr @"__regrain_handle.k$b2x1x1", i32 %gx, i32 %gy, i32 %gz, i32 %bx, i32 %by, i32 %bz, ptr %a, i64 %s, ptr %q, i64 48128)
  ret i32 %e
}
define i32 @__regrain_dispatch.k.b16x2x1(ptr %a, i32 %gx, i32 %gy, i32 %gz, i32 %bx, i32 %by, i32 %bz, i64 %s, ptr %q) {
  %e = call i32 @__regrain_launch_kernel(ptr @__regrain_handle.k, i32 %gx, i32 %gy, i32 %gz, i32 %bx, i32 %by, i32 %bz, ptr %a, i64 %s, ptr %q, i64 -1)
  ret i32 %e
}
"#;

const REGISTRATION: &str = r#"
@name = private constant [2 x i8] c"k\00"
declare i32 @__cudaRegisterFunction(ptr, ptr, ptr, ptr, i32, ptr, ptr, ptr, ptr, ptr)
define internal void @__cuda_register_globals(ptr %f) {
  %r = call i32 @__cudaRegisterFunction(ptr %f, ptr @stub, ptr @name, ptr @name, i32 -1, ptr null, ptr null, ptr null, ptr null, ptr null)
  ret void
}
"#;

const X86_64: &str = r#"
declare i32 @cudaLaunchKernel(ptr, i64, i32, i64, i32, ptr, i64, ptr)
define void @stub(i64 %g, i32 %gz, i64 %b, i32 %bz, ptr %args) {
  %e = call i32 @cudaLaunchKernel(ptr @stub, i64 %g, i32 %gz, i64 %b, i32 %bz, ptr %args, i64 0, ptr null)
  ret void
}
define i32 @direct(ptr %args) {
  %e = call i32 @cudaLaunchKernel(ptr @stub, i64 1, i32 1, i64 1, i32 1, ptr %args, i64 0, ptr null)
  ret i32 %e
}
define i32 @unknown(ptr %kernel, ptr %args) {
  %e = call i32 @cudaLaunchKernel(ptr %kernel, i64 1, i32 1, i64 1, i32 1, ptr %args, i64 0, ptr null)
  ret i32 %e
}
"#;

const AARCH64: &str = r#"
declare i32 @cudaLaunchKernel(ptr, [2 x i64], [2 x i64], ptr, i64, ptr)
define void @stub([2 x i64] %g, [2 x i64] %b, ptr %args) {
  %e = call i32 @cudaLaunchKernel(ptr @stub, [2 x i64] %g, [2 x i64] %b, ptr %args, i64 0, ptr null)
  ret void
}
"#;

fn parse<'ctx>(context: &'ctx Context, text: &str) -> Module<'ctx> {
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "test");
    context.create_module_from_ir(buffer).expect("IR that parses")
}

fn dispatchers() -> Vec<Dispatcher> {
    let of = |shape: Option<[u32; 3]>, symbol: &str, versions: &[&str]| Dispatcher {
        kernel: "k".into(),
        symbol: symbol.into(),
        shape,
        versions: versions.iter().map(ToString::to_string).collect(),
        most_threads: 512,
        static_shared: 1024,
        device: None,
    };
    vec![of(None, "__regrain_dispatch.k", &["k$b2x1x1"]), of(Some([16, 2, 1]), "__regrain_dispatch.k.b16x2x1", &[])]
}

fn redirected(host: &str, asks: bool) -> String {
    let context = Context::create();
    let host = parse(&context, &format!("{host}{REGISTRATION}"));
    let done =
        redirect(&host, vec![parse(&context, FUNCTIONS)], &dispatchers(), asks).expect("launches are redirected");
    assert!(done.contains("k"));
    host.verify().expect("valid IR");
    host.to_string()
}

#[test]
fn launches_of_a_kernel_go_to_its_launcher() {
    let text = redirected(X86_64, true);
    assert_eq!(
        text.matches("call i32 @__regrain_launcher.k(ptr @stub, i64 ").count(),
        2,
        "the stub's and the direct one"
    );
    assert!(text.contains("call i32 @cudaLaunchKernel(ptr %kernel, i64 1"), "what is not known stays");
    assert!(text.contains("call i32 @__regrain_keeps_grain()"));
    assert!(text.contains("call i32 @__cudaRegisterFunction(ptr %f, ptr @\"__regrain_handle.k$b2x1x1\""));
    assert!(text.contains("@__regrain_launch_kernel(ptr @stub, "), "the original is launched by its stub");
    assert!(!text.contains("@__regrain_handle.k ="));
    assert!(text.contains("call i32 @cudaFuncSetAttribute(ptr %0, i32 8, i32 "), "more shared memory is asked for");
    let special = text.find("call i32 @__regrain_dispatch.k.b16x2x1(").expect("a call");
    let general = text.find("call i32 @__regrain_dispatch.k(").expect("a call");
    assert!(special < general, "the shape is compared first");
}

#[test]
fn the_original_runs_where_no_version_could_be_launched() {
    let text = redirected(X86_64, false);
    assert!(text.contains("@__regrain_launched = internal thread_local global i8 0"));
    let launcher = &text[text.find("define internal i32 @__regrain_launcher.k(").expect("a launcher")..];
    let reset = launcher.find("store i8 0, ptr @__regrain_launched").expect("a store");
    let dispatched = launcher.find("call i32 @__regrain_dispatch.k").expect("a call");
    let cleared = launcher.find("call i32 @cudaGetLastError()").expect("a call");
    assert!(reset < dispatched && dispatched < cleared);
}

#[test]
fn an_invoke_keeps_its_ways_out() {
    let invokes = r#"
declare i32 @__gxx_personality_v0(...)
define i32 @with_destructors(ptr %args) personality ptr @__gxx_personality_v0 {
  %e = invoke i32 @cudaLaunchKernel(ptr @stub, i64 1, i32 1, i64 1, i32 1, ptr %args, i64 0, ptr null)
    to label %fine unwind label %pad
fine:
  ret i32 %e
pad:
  %p = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %p
}
"#;
    let text = redirected(&format!("{X86_64}{invokes}"), true);
    let invoke = &text[text.find("invoke i32 @__regrain_launcher.k(ptr @stub, i64 1").expect("a redirected invoke")..];
    let ways: Vec<_> = invoke.lines().nth(1).expect("a second line").split_whitespace().collect();
    assert_eq!(ways, ["to", "label", "%fine", "unwind", "label", "%pad"]);
}

#[test]
fn both_ways_to_pass_sizes() {
    let text = redirected(AARCH64, false);
    assert!(text.contains("call i32 @__regrain_launcher.k(ptr @stub, [2 x i64] %g"));
    assert!(text.contains("insertvalue [2 x i64]"));
    assert!(!text.contains("__regrain_keeps_grain"));
}

#[test]
fn another_calling_convention_keeps_its_launches() {
    let context = Context::create();
    let host = parse(&context, "declare i32 @cudaLaunchKernel(ptr, ptr, ptr, ptr, i64, ptr)");
    let done = redirect(&host, vec![parse(&context, FUNCTIONS)], &dispatchers(), false).expect("no error");
    assert!(done.is_empty() && host.get_function("__regrain_dispatch.k").is_none());
}

#[test]
fn each_device_has_its_own_versions() {
    let context = Context::create();
    let host = parse(&context, &format!("{X86_64}{REGISTRATION}"));
    let (mut modules, mut all) = (Vec::new(), Vec::new());
    for device in [0, 1] {
        let (functions, mut found) = (parse(&context, FUNCTIONS), dispatchers());
        super::for_device(&functions, &mut found, device);
        modules.push(functions);
        all.extend(found);
    }
    redirect(&host, modules, &all, false).expect("launches are redirected");
    host.verify().expect("valid IR");
    let text = host.to_string();
    let launcher = &text[text.find("define internal i32 @__regrain_launcher.k(").expect("a launcher")..];
    let asked = launcher.find("call i32 @__regrain_device_kind()").expect("the device is asked");
    for device in [0, 1] {
        let symbol = format!("call i32 @__regrain_dispatch.k.device{device}(");
        assert!(asked < launcher.find(&symbol).expect("a call"), "{symbol}");
        assert!(launcher.contains(&format!("icmp eq i32 %error, {device}")), "{launcher}");
    }
}
