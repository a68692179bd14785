//! Each PTX statement is lowered, linked with the device library, compiled by clang and run against an expected value.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;

use super::lower_inline_ptx;
use crate::{Unsupported, cpu};

/// What the runtime would offer; a warp of one lane.
const RUNTIME: &str = r#"
#include <stdint.h>
#include <stdio.h>
#include <string.h>
struct tls { uint32_t tid[3], ntid[3], ctaid[3], nctaid[3], laneid, warpid, size, grid; void *dynamic, *site, *runtime; };
_Thread_local struct tls __regrain_tls __attribute__((tls_model("initial-exec"))) =
  {{5, 6, 7}, {32, 2, 1}, {1, 2, 3}, {4, 5, 6}, 3, 1, 0, 9, 0, 0, 0};
_Thread_local uint32_t shared_words[64] __attribute__((tls_model("initial-exec")));
_Alignas(16) uint32_t global_words[64];
void __regrain_spin_hint(void) {}
uint32_t __regrain_active_mask(void) { return 8; }
uint32_t __regrain_warp_exchange(uint32_t mask, uint64_t value, uint64_t *out) {
  memset(out, 0, 256);
  out[3] = value;
  out[4] = value + 1;
  return mask & 0x18;
}
void __regrain_barrier(uint32_t id, uint32_t n) { global_words[40 + id] += 1 + n; }
void __regrain_barrier_arrive(uint32_t id, uint32_t n) { (void)id; (void)n; }
uint32_t __regrain_barrier_red(uint32_t op, uint32_t id, uint32_t n, uint32_t p) { return op * 100 + id * 10 + n + p; }
void __regrain_nanosleep(uint32_t n) { (void)n; }
uint64_t __regrain_clock64(void) { return 0x100000002ull; }
uint64_t __regrain_globaltimer(void) { return 0x300000004ull; }
void __regrain_trap(void) {}
static uint64_t failures;
static void check(const char *what, uint64_t got, uint64_t wanted) {
  if (got == wanted) return;
  ++failures;
  printf("%s: got %#lx, expected %#lx\n", what, (unsigned long)got, (unsigned long)wanted);
}
"#;

/// Lowers the statements of `module` over the CPU's library.
fn lower(module: &Module<'_>) -> Result<(), Vec<Unsupported>> {
    lower_inline_ptx(module, cpu::device_library().signatures())
}

/// A statement with its constraints, arguments (bits), and expected bits.
struct Case {
    asm: &'static str,
    constraints: &'static str,
    arguments: Vec<u64>,
    expected: u64,
}

fn case(asm: &'static str, constraints: &'static str, arguments: &[u64], expected: u64) -> Case {
    Case { asm, constraints, arguments: arguments.to_vec(), expected }
}

fn f(value: f32) -> u64 {
    value.to_bits().into()
}

fn d(value: f64) -> u64 {
    value.to_bits()
}

fn llvm_type(constraint: &str, result: &str) -> &'static str {
    match constraint.trim_start_matches('=') {
        "h" => "i16",
        "r" | "n" | "i" => "i32",
        "l" => "i64",
        "f" => "float",
        "d" => "double",
        "0" => llvm_type(result, ""),
        other => panic!("constraint {other}"),
    }
}

/// How a value is passed for a constraint. An "n" is the constant that the test gives as its argument.
fn passed(constraint: &str, ty: &str, index: usize, case: &Case) -> String {
    match constraint {
        "n" | "i" => format!("{ty} {}", case.arguments[index] as i32),
        _ => format!("{ty} %v{index}"),
    }
}

/// `@case_N`: the statement between integers of 64 bits.
fn case_function(number: usize, case: &Case) -> String {
    let constraints: Vec<&str> = case.constraints.split(',').filter(|c| !c.starts_with('~')).collect();
    let result = llvm_type(constraints[0], "");
    let mut body = String::new();
    let mut operands = Vec::new();
    for (index, constraint) in constraints[1..].iter().enumerate() {
        let ty = llvm_type(constraint, constraints[0]);
        let int = match ty {
            "float" => "i32",
            "double" => "i64",
            other => other,
        };
        let _ = match int {
            "i64" => writeln!(body, "  %n{index} = add i64 %a{index}, 0"),
            _ => writeln!(body, "  %n{index} = trunc i64 %a{index} to {int}"),
        };
        let _ = writeln!(body, "  %v{index} = bitcast {int} %n{index} to {ty}");
        operands.push(passed(constraint, ty, index, case));
    }
    let asm = case.asm.replace('\n', "\\0A");
    let _ = writeln!(
        body,
        "  %r = call {result} asm sideeffect \"{asm}\", \"{}\"({})",
        case.constraints,
        operands.join(", ")
    );
    let (int, cast) = match result {
        "float" => ("i32", "zext"),
        "double" | "i64" => ("i64", ""),
        other => (other, "zext"),
    };
    let _ = writeln!(body, "  %b = bitcast {result} %r to {int}");
    let _ = match cast {
        "" => writeln!(body, "  ret i64 %b"),
        cast => writeln!(body, "  %w = {cast} {int} %b to i64\n  ret i64 %w"),
    };
    format!("define i64 @case_{number}(i64 %a0, i64 %a1, i64 %a2, i64 %a3) {{\n{body}}}\n")
}

fn llvm_tool(name: &str) -> PathBuf {
    let prefix = option_env!("LLVM_SYS_221_PREFIX").unwrap_or("/usr/lib/llvm-22");
    Path::new(prefix).join("bin").join(name)
}

fn run_cases(cases: &[Case]) {
    let context = Context::create();
    let text: String = cases.iter().enumerate().map(|(number, case)| case_function(number, case)).collect();
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "cases");
    let module = context.create_module_from_ir(buffer).expect("the cases are valid IR");
    lower(&module).unwrap_or_else(|missing| panic!("not lowered: {missing:#?}"));
    let library = cpu::device_library().load(&context).expect("the library is valid");
    module.set_triple(&library.get_triple());
    module.set_data_layout(&library.get_data_layout());
    module.link_in_module(library).expect("the library links");
    module.verify().unwrap_or_else(|e| panic!("{}", e.to_string()));

    let mut driver = RUNTIME.to_string();
    let mut main = String::from("int main(void) {\n");
    for (number, case) in cases.iter().enumerate() {
        let _ = writeln!(driver, "uint64_t case_{number}(uint64_t, uint64_t, uint64_t, uint64_t);");
        let mut arguments: Vec<String> = case.arguments.iter().map(|a| argument(*a)).collect();
        arguments.resize(4, "0".into());
        let name = case.asm.replace('"', "").replace('\n', " ").replace('%', "%%");
        let _ = writeln!(main, "  check(\"{name}\", case_{number}({}), {}u);", arguments.join(", "), case.expected);
    }
    let _ = writeln!(main, "  return failures != 0;\n}}");
    driver.push_str(&main);

    let folder = tempfile::tempdir().expect("a temporary folder");
    let (bitcode, source, program) =
        (folder.path().join("cases.bc"), folder.path().join("main.c"), folder.path().join("run"));
    assert!(module.write_bitcode_to_path(&bitcode));
    std::fs::write(&source, driver).expect("the driver is written");
    let mut clang = Command::new(llvm_tool("clang"));
    clang.args(["-O1", "-w"]).arg(&source).arg(&bitcode).arg("-o").arg(&program).arg("-lm");
    let built = clang.output().expect("clang runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let ran = Command::new(&program).output().expect("the program runs");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
}

/// Addresses of the driver's memory are written as numbers beyond any other argument.
const GLOBAL: u64 = 0xfeed_0000_0000_0000;
const SHARED: u64 = 0xfeed_0001_0000_0000;

fn argument(value: u64) -> String {
    match value & 0xffff_ffff_0000_0000 {
        GLOBAL => format!("(uint64_t)((char *)global_words + {})", value as u32),
        SHARED => format!("(uint64_t)((char *)shared_words + {})", value as u32),
        _ => format!("{value}u"),
    }
}

#[test]
fn moves_and_selects() {
    run_cases(&[
        case("mov.b32 $0, {$1,$2};", "=r,h,h", &[0x1234, 0xabcd], 0xabcd_1234),
        case("{.reg .b16 lo,hi; mov.b32 {lo,hi}, $1; mov.b16 $0, hi;}", "=h,r", &[0xabcd_1234], 0xabcd),
        case("mov.u32 $0, %tid.x;", "=r", &[], 5),
        case("mov.u32 $0, %laneid;", "=r", &[], 3),
        case("mov.u32 $0, %lanemask_lt;", "=r", &[], 7),
        case("mov.u64 $0, %clock64;", "=l", &[], 0x1_0000_0002),
        case("mov.u64 $0, %globaltimer;", "=l", &[], 0x3_0000_0004),
        case("mov.u32 $0, WARP_SZ;", "=r", &[], 32),
        case("mov.f32 $0, 0f3F800000;", "=f", &[], f(1.0)),
        case("mov.f32 $0, 1.5;", "=f", &[], f(1.5)),
        case("mov.u32 $0, -1;", "=r", &[], 0xffff_ffff),
        case("{ .reg .pred p; setp.lt.s32 p, $1, $2; selp.s32 $0, 10, 20, p; }", "=r,r,r", &[0xffff_ffff, 1], 10),
        case("{ .reg .pred p; setp.lt.u32 p, $1, $2; selp.s32 $0, 10, 20, p; }", "=r,r,r", &[0xffff_ffff, 1], 20),
        case("{ .reg .pred p, q; setp.ge.and.s32 p|q, $1, 0, 1; @p mov.u32 $0, 1; @!p mov.u32 $0, 2; }", "=r,r", &[3], 1)
            .expecting_unsupported_instead_of("two results"),
        case("{ .reg .pred p; setp.eq.s32 p, $1, 7; mov.u32 $0, 1; @p mov.u32 $0, 2; @!p add.u32 $0, $0, 4; }", "=r,r", &[7], 2),
        case("{ .reg .pred p; setp.eq.s32 p, $1, 7; mov.u32 $0, 1; @p mov.u32 $0, 2; @!p add.u32 $0, $0, 4; }", "=r,r", &[8], 5),
        case("slct.s32.f32 $0, 1, 2, $1;", "=r,f", &[f(-1.0)], 2),
        case("{ .reg .u32 i; mov.u32 i, 0; mov.u32 $0, 0; again: add.u32 $0, $0, i; add.u32 i, i, 1; .reg .pred p; setp.lt.u32 p, i, $1; @p bra again; }", "=r,r", &[5], 10),
    ]
    .into_iter()
    .filter(|c| !c.constraints.is_empty())
    .collect::<Vec<_>>());
}

impl Case {
    /// A form that is refused on purpose: it is taken out of the run, and checked to be refused.
    fn expecting_unsupported_instead_of(self, reason: &str) -> Self {
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(case_function(0, &self).as_bytes(), "case");
        let module = context.create_module_from_ir(buffer).expect("valid IR");
        let missing = lower(&module).expect_err("this form is refused");
        assert!(missing[0].what.contains(reason), "{missing:?}");
        Self { constraints: "", ..self }
    }
}

#[test]
fn integers() {
    run_cases(&[
        case("add.s32 $0, $1, $2;", "=r,r,r", &[5, 7], 12),
        case("add.sat.s32 $0, $1, $2;", "=r,r,r", &[0x7fff_ffff, 1], 0x7fff_ffff),
        case("{ .reg .u32 lo, hi; add.cc.u32 lo, $1, $2; addc.u32 $0, 0, 0; }", "=r,r,r", &[0xffff_ffff, 1], 1),
        case("{ .reg .u32 lo; sub.cc.u32 lo, $1, $2; subc.u32 $0, 10, 3; }", "=r,r,r", &[1, 2], 6),
        case("mul.lo.s32 $0, $1, $2;", "=r,r,r", &[0xffff_ffff, 3], 0xffff_fffd),
        case("mul.hi.u32 $0, $1, $2;", "=r,r,r", &[0x8000_0000, 6], 3),
        case("mul.hi.s32 $0, $1, $2;", "=r,r,r", &[0x8000_0000, 6], 0xffff_fffd),
        case("mul.wide.s32 $0, $1, $2;", "=l,r,r", &[0xffff_ffff, 3], (-3i64) as u64),
        case("mad.wide.u16 $0, $1, $2, $3;", "=r,h,h,r", &[0xffff, 2, 1], 0x1_ffff),
        case("mad.lo.u32 $0, $1, $2, $3;", "=r,r,r,r", &[3, 4, 5], 17),
        case("mad.hi.u64 $0, $1, $2, $3;", "=l,l,l,l", &[1 << 63, 4, 5], 7),
        case(
            "{ .reg .u32 lo; mad.lo.cc.u32 lo, $1, $2, $3; madc.hi.u32 $0, $1, $2, 0; }",
            "=r,r,r,r",
            &[0xffff_ffff, 1, 1],
            1,
        ),
        case("mul24.lo.s32 $0, $1, $2;", "=r,r,r", &[0x00ff_ffff, 3], 0xffff_fffd),
        case("div.s32 $0, $1, $2;", "=r,r,r", &[(-7i32) as u32 as u64, 2], 0xffff_fffd),
        case("rem.u64 $0, $1, $2;", "=l,l,l", &[17, 5], 2),
        case("neg.s32 $0, $1;", "=r,r", &[5], 0xffff_fffb),
        case("abs.s32 $0, $1;", "=r,r", &[0xffff_fffb], 5),
        case("min.s32 $0, $1, $2;", "=r,r,r", &[0xffff_fffb, 2], 0xffff_fffb),
        case("max.u32 $0, $1, $2;", "=r,r,r", &[0xffff_fffb, 2], 0xffff_fffb),
        case("xor.b32 $0, $1, $2;", "=r,r,r", &[6, 3], 5),
        case("not.b64 $0, $1;", "=l,l", &[0], u64::MAX),
        case("shl.b32 $0, $1, $2;", "=r,r,r", &[1, 40], 0),
        case("shr.s32 $0, $1, $2;", "=r,r,r", &[0x8000_0000, 40], 0xffff_ffff),
        case("shr.u32 $0, $1, 4;", "=r,r", &[0x8000_0000], 0x0800_0000),
        case("lop3.b32 $0, $1, $2, $3, 0xE8;", "=r,r,r,r", &[0xf0, 0xcc, 0xaa], 0xe8),
        case("shf.l.wrap.b32 $0, $1, $2, $3;", "=r,r,r,r", &[0x1234_5678, 0x9abc_def0, 8], 0xbcde_f012),
        case("shf.r.clamp.b32 $0, $1, $2, $3;", "=r,r,r,r", &[0x1234_5678, 0x9abc_def0, 40], 0x9abc_def0),
        case("prmt.b32 $0, $1, $2, $3;", "=r,r,r,r", &[0x3322_1180, 0x7766_5544, 0x8574], 0xff55_7744),
        case("bfe.u32 $0, $1, 4, 8;", "=r,r", &[0x1234_5678], 0x67),
        case("bfe.s32 $0, $1, 4, 8;", "=r,r", &[0x1234_5878], 0xffff_ff87),
        case("bfi.b32 $0, $1, $2, 8, 8;", "=r,r,r", &[0xab, 0x1111_1111], 0x1111_ab11),
        case("bmsk.clamp.b32 $0, $1, $2;", "=r,r,r", &[4, 8], 0xff0),
        case("bmsk.clamp.b32 $0, $1, $2;", "=r,r,r", &[4, 40], 0xffff_fff0),
        case("bmsk.clamp.b32 $0, $1, $2;", "=r,r,r", &[36, 8], 0),
        case("bmsk.wrap.b32 $0, $1, $2;", "=r,r,r", &[36, 40], 0xff0),
        case("bmsk.wrap.b32 $0, $1, $2;", "=r,r,r", &[30, 4], 0xc000_0000),
        case("popc.b64 $0, $1;", "=r,l", &[u64::MAX], 64),
        case("clz.b32 $0, $1;", "=r,r", &[1], 31),
        case("brev.b32 $0, $1;", "=r,r", &[1], 0x8000_0000),
        case("bfind.u32 $0, $1;", "=r,r", &[0x8000], 15),
        case("bfind.shiftamt.s32 $0, $1;", "=r,r", &[0xffff_fffe], 31),
        case("fns.b32 $0, $1, 0, 2;", "=r,r", &[0x14], 4),
        case("sad.u32 $0, $1, $2, $3;", "=r,r,r,r", &[3, 10, 1], 8),
        case("dp4a.s32.s32 $0, $1, $2, $3;", "=r,r,r,r", &[0xff02_0304, 0x0102_0304, 1], 1 + 16 + 9 + 4 - 1),
        case("vabsdiff4.u32.u32.u32.add $0, $1, $2, $3;", "=r,r,r,r", &[0x0102_0304, 0x0403_0201, 10], 18),
        case("set.lt.u32.s32 $0, $1, $2;", "=r,r,r", &[1, 2], 0xffff_ffff),
    ]);
}

#[test]
fn floats() {
    run_cases(&[
        case("add.f32 $0, $1, $2;", "=f,f,f", &[f(1.5), f(2.25)], f(3.75)),
        case("add.rp.f32 $0, $1, $2;", "=f,f,f", &[f(1.0), f(1e-20)], f(1.0) + 1),
        case("sub.rm.f32 $0, $1, $2;", "=f,f,f", &[f(1.0), f(1e-20)], f(1.0) - 1),
        case("sub.rz.f64 $0, $1, $2;", "=d,d,d", &[d(1.0), d(1e-30)], d(1.0) - 1),
        case("fma.rn.f32 $0, $1, $2, $3;", "=f,f,f,f", &[f(2.0), f(3.0), f(1.0)], f(7.0)),
        case("fma.rn.sat.f32 $0, $1, $2, $3;", "=f,f,f,f", &[f(2.0), f(3.0), f(1.0)], f(1.0)),
        case("mul.ftz.f32 $0, $1, $2;", "=f,f,f", &[f(1e-30), f(1e-10)], 0),
        case("div.rn.f64 $0, $1, $2;", "=d,d,d", &[d(1.0), d(3.0)], d(1.0 / 3.0)),
        case("div.full.f32 $0, $1, $2;", "=f,f,f", &[f(1.0), f(4.0)], f(0.25)),
        case("rcp.approx.ftz.f32 $0, $1;", "=f,f", &[f(4.0)], f(0.25)),
        case("rsqrt.approx.f32 $0, $1;", "=f,f", &[f(4.0)], f(0.5)),
        case("sqrt.rn.f32 $0, $1;", "=f,f", &[f(9.0)], f(3.0)),
        case("ex2.approx.ftz.f32 $0, $1;", "=f,f", &[f(3.0)], f(8.0)),
        case("lg2.approx.f32 $0, $1;", "=f,f", &[f(8.0)], f(3.0)),
        case("neg.f32 $0, $1;", "=f,f", &[f(1.0)], f(-1.0)),
        case("abs.f64 $0, $1;", "=d,d", &[d(-2.0)], d(2.0)),
        case("min.f32 $0, $1, $2;", "=f,f,f", &[f(f32::NAN), f(2.0)], f(2.0)),
        case("max.NaN.f32 $0, $1, $2;", "=f,f,f", &[f(f32::NAN), f(2.0)], 0x7fff_ffff),
        case("set.gtu.f32.f32 $0, $1, $2;", "=f,f,f", &[f(f32::NAN), f(2.0)], f(1.0)),
        case("{ .reg .pred p; testp.infinite.f32 p, $1; selp.u32 $0, 1, 0, p; }", "=r,f", &[f(f32::NEG_INFINITY)], 1),
        case("copysign.f32 $0, $1, $2;", "=f,f,f", &[f(-1.0), f(3.0)], f(-3.0)),
        // 1 + 2^-11 ties to even in half; with rounding up it does not
        case("cvt.rn.f16.f32 $0, $1;", "=h,f", &[f(1.0 + 1.0 / 2048.0)], 0x3c00),
        case("cvt.rp.f16.f32 $0, $1;", "=h,f", &[f(1.0001)], 0x3c01),
        case("cvt.rz.f16.f32 $0, $1;", "=h,f", &[f(1e9)], 0x7bff),
        case("cvt.rn.f16.f64 $0, $1;", "=h,d", &[d(1.000488281250001)], 0x3c01),
        case("cvt.rn.bf16.f32 $0, $1;", "=h,f", &[f(1.0 + 1.0 / 256.0)], 0x3f80),
        case("cvt.rn.bf16x2.f32 $0, $1, $2;", "=r,f,f", &[f(2.0), f(1.0)], 0x4000_3f80),
        case("cvt.f32.f16 $0, $1;", "=f,h", &[0x3c00], f(1.0)),
        case("cvt.f32.bf16 $0, $1;", "=f,h", &[0x3f80], f(1.0)),
        case("cvt.rzi.s32.f32 $0, $1;", "=r,f", &[f(-2.9)], 0xffff_fffe),
        case("cvt.rni.s32.f32 $0, $1;", "=r,f", &[f(2.5)], 2),
        case("cvt.rzi.u8.f16 $0, $1;", "=r,h", &[0x6400], 255),
        case("cvt.rzi.s32.f32 $0, $1;", "=r,f", &[f(f32::NAN)], 0),
        case("cvt.rmi.f16.f16 $0, $1;", "=h,h", &[0x3e00], 0x3c00),
        case("cvt.rn.f32.s64 $0, $1;", "=f,l", &[(-3i64) as u64], f(-3.0)),
        case("cvt.rz.f32.u32 $0, $1;", "=f,r", &[0xffff_ffff], f(4294967040.0)),
        case("cvt.rn.f16.s32 $0, $1;", "=h,r", &[0xffff_ffff], 0xbc00),
        case("cvt.sat.u8.s32 $0, $1;", "=r,r", &[0xffff_fff0], 0),
        case("cvt.s32.s8 $0, $1;", "=r,r", &[0x80], 0xffff_ff80),
        case("cvt.rna.tf32.f32 $0, $1;", "=r,f", &[0x3f80_1000], 0x3f80_2000),
        case("add.f16 $0, $1, $2;", "=h,h,h", &[0x3c00, 0x3c00], 0x4000),
        case("add.sat.f16x2 $0, $1, $2;", "=r,r,r", &[0x3c00_b800, 0x3c00_0000], 0x3c00_0000),
        case("fma.rn.f16x2 $0, $1, $2, $3;", "=r,r,r,r", &[0x4000_3c00, 0x4000_3c00, 0x3c00_3c00], 0x4500_4000),
        case("fma.rn.relu.bf16 $0, $1, $2, $3;", "=h,h,h,h", &[0xbf80, 0x3f80, 0], 0),
        case("max.NaN.f16 $0, $1, $2;", "=h,h,h", &[0x7e00, 0x3c00], 0x7fff),
        case("set.eq.f16x2.f16x2 $0, $1, $2;", "=r,r,r", &[0x3c00_4000, 0x3c00_3c00], 0x3c00_0000),
        case("set.eq.u32.f16x2 $0, $1, $2;", "=r,r,r", &[0x3c00_4000, 0x3c00_3c00], 0xffff_0000),
        case("neg.f16x2 $0, $1;", "=r,r", &[0x3c00_3c00], 0xbc00_bc00),
    ]);
}

#[test]
fn memory_and_warps() {
    run_cases(&[
        case("st.global.u32 [$1+4], 77; ld.global.cg.u32 $0, [$1+4];", "=r,l,~{memory}", &[GLOBAL], 77),
        case(
            "st.global.v2.u32 [$1], {3, 4}; { .reg .u32 a, b; ld.global.nc.v2.u32 {a, b}, [$1]; sub.u32 $0, b, a; }",
            "=r,l",
            &[GLOBAL],
            1,
        ),
        case(
            "st.relaxed.gpu.v2.u32 [$1], {3, 9}; { .reg .u32 a, b; ld.relaxed.gpu.v2.u32 {a, b}, [$1]; sub.u32 $0, b, a; }",
            "=r,l",
            &[GLOBAL],
            6,
        ),
        case(
            "st.release.gpu.v2.u64 [$1], {3, 7}; { .reg .u64 a, b; ld.acquire.gpu.v2.u64 {a, b}, [$1]; sub.u64 $0, b, a; }",
            "=l,l",
            &[GLOBAL],
            4,
        ),
        case("st.shared.u32 [$1+8], 5; ld.shared.u32 $0, [$1+8];", "=r,r", &[SHARED], 5),
        case("{ .reg .u64 p; cvta.shared.u64 p, $1; ld.u32 $0, [p+8]; }", "=r,l", &[SHARED], 5),
        case("ld.volatile.global.s8 $0, [$1];", "=r,l", &[GLOBAL], 3),
        case("ld.acquire.gpu.u32 $0, [$1];", "=r,l", &[GLOBAL], 3),
        case("atom.global.add.u32 $0, [$1+16], 5;", "=r,l", &[GLOBAL], 0),
        case("red.global.max.s32 [$1+16], 9; atom.cas.b32 $0, [$1+16], 9, 1;", "=r,l", &[GLOBAL], 9),
        case("atom.shared.inc.u32 $0, [$1+8], 5;", "=r,r", &[SHARED], 5),
        case(
            "atom.add.noftz.f16x2 $0, [$1+24], $2; ld.u32 $0, [$1+24];",
            "=r,l,r",
            &[GLOBAL, 0x3c00_4000],
            0x3c00_4000,
        ),
        case(
            "cp.async.ca.shared.global [$1+16], [$2], 4; cp.async.commit_group; cp.async.wait_all; ld.shared.u32 $0, [$1+16];",
            "=r,r,l",
            &[SHARED, GLOBAL],
            3,
        ),
        case("{ .reg .pred p; isspacep.shared p, $1; selp.u32 $0, 1, 0, p; }", "=r,l", &[SHARED], 1),
        case("{ .reg .pred p; isspacep.shared p, $1; selp.u32 $0, 1, 0, p; }", "=r,l", &[GLOBAL], 0),
        case("membar.gl; fence.acq_rel.gpu; prefetch.global.L2 [$1]; mov.u32 $0, 1;", "=r,l", &[GLOBAL], 1),
        case("bar.sync 0; bar.sync 0, 32; ld.u32 $0, [$1+160];", "=r,l", &[GLOBAL], 34),
        case("{ .reg .pred p; setp.ne.u32 p, $1, 0; bar.red.popc.u32 $0, 1, p; }", "=r,r", &[3], 11),
        case("shfl.sync.down.b32 $0, $1, 1, 31, -1;", "=r,r", &[40], 41),
        case("{ .reg .pred p; shfl.sync.up.b32 $0|p, $1, 4, 0, -1; selp.u32 $0, 1, $0, p; }", "=r,r", &[40], 40),
        case("{ .reg .pred p; setp.ne.u32 p, $1, 0; vote.sync.ballot.b32 $0, p, -1; }", "=r,r", &[1], 8),
        case("match.any.sync.b32 $0, $1, -1;", "=r,r", &[6], 8),
        case("redux.sync.add.s32 $0, $1, -1;", "=r,r", &[6], 13),
        case("activemask.b32 $0;", "=r", &[], 8),
        case("{ .reg .pred p; mov.u32 $0, 0; elect.sync $0|p, -1; @p add.u32 $0, $0, 10; }", "=r", &[], 13),
    ]);
}

#[test]
fn barrier_objects() {
    // Each waits for two. One arrives, two do, one leaves for good and one comes for the phase after; how many are waited for.
    let one = "{ .reg .b64 s; .reg .pred p; mbarrier.init.shared.b64 [$1], 2; mbarrier.arrive.shared.b64 s, [$1]; \
               mbarrier.test_wait.shared.b64 p, [$1], s; selp.u32 $0, 1, 0, p; }";
    let two = "{ .reg .b64 s; .reg .pred p; mbarrier.init.shared.b64 [$1], 2; mbarrier.arrive.shared.b64 s, [$1]; \
               cp.async.mbarrier.arrive.shared.b64 [$1]; cp.async.mbarrier.arrive.noinc.shared.b64 [$1]; \
               mbarrier.test_wait.shared.b64 p, [$1], s; selp.u32 $0, 1, 0, p; }";
    let fewer = "{ .reg .pred p; mbarrier.init.shared.b64 [$1], 2; mbarrier.arrive.noComplete.shared.b64 _, [$1], 1; \
                 mbarrier.arrive_drop.shared.b64 _, [$1]; mbarrier.arrive.shared::cta.b64 _, [$1]; \
                 mbarrier.try_wait.parity.shared.b64 p, [$1], 1, 5; selp.u32 $0, 1, 0, p; mbarrier.inval.shared.b64 [$1]; }";
    let pending = "{ .reg .b64 s; mbarrier.init.shared.b64 [$1], 2; mbarrier.arrive.shared.b64 s, [$1]; \
                   mbarrier.arrive.shared.b64 s, [$1]; mbarrier.pending_count.b64 $0, s; }";
    let given = [(one, 0), (two, 1), (fewer, 1), (pending, 1)];
    run_cases(&given.map(|(asm, expected)| case(asm, "=r,r", &[SHARED], expected)));
}

/// What the copies read and write.
const WORDS: &str = "st.shared.u64 [$1+16], -1; st.shared.u64 [$1+24], -1; st.global.v4.u32 [$2], {3, 4, 5, 6};";

#[test]
fn asynchronous_copies() {
    // What the copy leaves in four words is added up.
    let sum = |copy: &str| {
        format!(
            "{{ .reg .u32 a<4>; .reg .pred p; {WORDS} setp.eq.u32 p, 0, 0; {copy} cp.async.commit_group; cp.async.wait_group $3; \
             ld.shared.v4.u32 {{a0, a1, a2, a3}}, [$1+16]; add.u32 a0, a0, a1; add.u32 a0, a0, a2; add.u32 $0, a0, a3; }}"
        )
    };
    let [four, eight, sixteen] = [4, 8, 16];
    let all = |words: u64, zeros: u64| -> u64 {
        let copied: u64 = (0..words).map(|i| 3 + i).sum();
        (copied + (4 - words - zeros) * 0xffff_ffff) & 0xffff_ffff
    };
    let mut cases = Vec::new();
    for (copy, size, expected) in [
        ("cp.async.ca.shared.global [$1+16], [$2], $3;", four, all(1, 0)),
        ("cp.async.ca.shared.global.L2::128B [$1+16], [$2], $3, $3;", eight, all(2, 0)),
        ("cp.async.cg.shared.global [$1+$3], [$2], $3, $3;", sixteen, all(4, 0)),
        ("cp.async.cg.shared::cta.global.L2::256B [$1+16], [$2], $3, 8;", sixteen, all(2, 2)),
        ("cp.async.ca.shared.global [$1+16], [$2], $3, 0;", eight, all(0, 2)),
        ("cp.async.ca.shared.global [$1+16], [$2], $3, p;", sixteen, all(0, 4)),
        ("cp.async.ca.shared.global.L2::cache_hint [$1+16], [$2], $3, 0;", sixteen, all(4, 0)),
        ("cp.async.ca.shared.global.L2::cache_hint.L2::64B [$1+16], [$2], $3, 4, 0;", sixteen, all(1, 3)),
    ] {
        let text: &'static str = Box::leak(sum(copy).into_boxed_str());
        cases.push(case(text, "=r,r,l,n", &[SHARED, GLOBAL, size], expected));
    }
    run_cases(&cases);
}

#[test]
fn constants_as_operands() {
    const MINUS_TWO: u64 = -2i64 as u64;
    run_cases(&[
        case("add.s32 $0, $1, $2;", "=r,r,n", &[7, MINUS_TWO], 5),
        case("add.s32 $0, $1, $2;", "=r,r,i", &[7, 20], 27),
        case("st.shared.u32 [$1+8], 5; ld.shared.u32 $0, [$1+$2];", "=r,r,n", &[SHARED, 8], 5),
        case(
            "{ .reg .u64 p; add.u64 p, $1, 8; st.u32 [p-4], 4; ld.u32 $0, [p+$2]; }",
            "=r,l,n",
            &[GLOBAL, -4i64 as u64],
            4,
        ),
        case("mov.u32 $0, -$1;", "=r,n", &[MINUS_TWO], 2),
        case("prmt.b32 $0, $1, 0, $2;", "=r,r,n", &[0x0403_0201, 0x0123], 0x0102_0304),
        case("shfl.sync.down.b32 $0, $1, $2, $3, -1;", "=r,r,n,n", &[40, 1, 31], 41),
        case("{ .reg .s64 w; mov.s64 w, $1; shr.s64 w, w, 32; cvt.u32.s64 $0, w; }", "=r,n", &[MINUS_TWO], 0xffff_ffff),
        case("lop3.b32 $0, $1, $2, 0, $3;", "=r,r,r,n", &[12, 10, 0xc0], 8),
    ]);
}

#[test]
fn refuses_with_a_reason() {
    let context = Context::create();
    let text = r#"define void @kernel() { call void asm sideeffect "wgmma.fence.sync.aligned;", ""() ret void }"#;
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "bad");
    let module = context.create_module_from_ir(buffer).expect("valid IR");
    let missing = lower(&module).expect_err("wgmma is not known");
    assert_eq!(missing[0].function, "kernel");
    assert_eq!(missing[0].what, "unsupported PTX instruction 'wgmma.fence.sync.aligned': not known");
}

#[test]
fn refuses_accesses_of_textures_that_it_does_not_know() {
    let outputs = "=f,=f,=f,=f,l,r,r";
    for (statement, constraints, reason) in [
        ("tex.2d.v4.f32.s32 {$0,$1,$2,$3}, [$4, {$5,$6}];", outputs, "coordinates that count"),
        ("tex.2d.v4.f32.f32 {$0,$1,$2,$3}, [$4, {$5}];", outputs, "1 coordinates"),
        ("tex.2d.v4.f16.f32 {$0,$1,$2,$3}, [$4, {$5,$6}];", outputs, "elements of other sizes"),
        ("tex.2d.v4.f32.f32 {$0,$1}, [$4, {$5,$6}];", outputs, "elements of other sizes"),
        ("tex.2dms.v4.f32.f32 {$0,$1,$2,$3}, [$4, {$5,$6}];", outputs, "modifier '.2dms'"),
        ("tex.level.2d.v4.f32.f32 {$0,$1,$2,$3}, [$4, {$5,$6}];", outputs, "2 operands"),
        ("tex.2d.v4.f32.f32 {$0,$1,$2,$3}, $4;", outputs, "an object and coordinates expected"),
        ("tld4.r.cube.v4.f32.f32 {$0,$1,$2,$3}, [$4, {$5,$6,$6}];", outputs, "not known"),
        ("sust.p.2d.b32.trap [$4, {$5,$6}], $5;", outputs, "formatted accesses are not known"),
        ("suld.b.2d.b32 $0, [$4, {$5,$6}];", outputs, "what is done outside"),
        ("suld.b.2d.v4.b64.zero {$0,$1,$2,$3}, [$4, {$5,$6}];", outputs, "256 bits"),
    ] {
        let text = format!(
            "define void @k(i64 %o, i32 %x) {{\n  %v = call {{float, float, float, float}} asm sideeffect \"{statement}\", \
             \"{constraints}\"(i64 %o, i32 %x, i32 %x)\n  ret void\n}}\n"
        );
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "texture");
        let module = context.create_module_from_ir(buffer).expect("valid IR");
        let missing = lower(&module).expect_err(statement);
        assert!(missing[0].what.ends_with(&format!(": {reason}")), "{statement}: {}", missing[0].what);
    }
}

#[test]
fn refuses_asm_goto() {
    let text = "define void @k(ptr %p) {\n  callbr void asm sideeffect \"bra ${0:l};\", \"!i\"() to label %next [label %out]\nnext:\n  store i32 1, ptr %p\n  br label %out\nout:\n  ret void\n}\n";
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "jump");
    let module = context.create_module_from_ir(buffer).expect("valid IR");
    let missing = lower(&module).expect_err("a jump is refused");
    assert_eq!(missing[0].what, "inline PTX that jumps");
}

#[test]
fn what_computes_or_accesses_memory_as_any_code_is_put_in_place() {
    let text = r#"define float @kernel(i32 %x, float %y, ptr %p) {
  %high = call float asm "{.reg .f16 l,h; mov.b32 {l,h},$1; cvt.f32.f16 $0, h;}", "=f,r"(i32 %x)
  %narrow = call i16 asm "{ cvt.rn.f16.f32 $0, $1;}", "=h,f"(float %y)
  %time = call i32 asm sideeffect "mov.u32 $0, %clock;", "=r"()
  %pair = call { i64, i64 } asm sideeffect "ld.global.nc.v2.u64 {$0, $1}, [$2];", "=l,=l,l"(ptr %p)
  call void asm sideeffect "st.global.cg.u32 [$0], $1;", "l,r"(ptr %p, i32 %x)
  call void asm sideeffect "st.volatile.u32 [$0], $1;", "l,r"(ptr %p, i32 %x)
  call void asm sideeffect "prefetch.global.L2 [$0];", "l"(ptr %p)
  %lane = call i32 asm "mov.u32 $0, %laneid;", "=r"()
  call void asm sideeffect "st.global.u32 [$0], $1;", "l,r"(ptr %p, i32 %lane)
  %waited = call i32 asm sideeffect "ld.relaxed.gpu.u32 $0, [$1];", "=r,l"(ptr %p)
  %ordered = call i32 asm sideeffect "add.u32 $0, $1, 1;", "=r,r,~{memory}"(i32 %x)
  %brain = call i16 asm "{ cvt.rn.bf16.f32 $0, $1;}", "=h,f"(float %y)
  %fused = call i32 asm "{fma.rn.bf16x2 $0,$1,$2,$3;}", "=r,r,r,r"(i32 %x, i32 %time, i32 %lane)
  %power = call float asm "ex2.approx.f32 $0, $1;", "=f,f"(float %y)
  %both = or i16 %narrow, %brain
  %short = zext i16 %both to i32
  %wide = xor i32 %short, %fused
  %a = add i32 %wide, %time
  %first = extractvalue { i64, i64 } %pair, 0
  %lower = trunc i64 %first to i32
  %loaded = add i32 %lower, %waited
  %b = add i32 %loaded, %ordered
  %c = add i32 %a, %b
  %number = sitofp i32 %c to float
  %part = fadd float %high, %number
  %sum = fadd float %part, %power
  ret float %sum
}"#;
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "open");
    let module = context.create_module_from_ir(buffer).expect("valid IR");
    super::arithmetic::open(&context, &module, cpu::device_library(), 70).expect("no error of ours");
    let made = module.print_to_string().to_string();
    assert!(made.contains("fpext half") && made.contains("fptrunc float"), "{made}");
    assert!(!made.contains("cvt.") && !made.contains("fma.") && !made.contains("__regrain_"), "{made}");
    assert!(made.contains("call float @__nv_exp2f(float %y)") && made.contains("declare float @__nv_exp2f("), "{made}");
    assert!(made.contains("load i64, ptr %p") && made.contains("store i32 %x, ptr %p"), "{made}");
    assert_eq!(made.matches(" asm ").count(), 6, "{made}");
    module.verify().expect("valid IR");
}
