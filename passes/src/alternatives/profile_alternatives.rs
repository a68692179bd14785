//! `regrain-profile-alternatives`: the program chooses among the alternatives of a launch, and times them.
//!
//! Before, in a launch function `@__regrain_launch.k(%args, %gx, ..., %bz, %shmem, %stream)`:
//!   %e = regrain.alternatives ["original", "b2x1x1"] -> i32 { A ; regrain.yield %a }, { B ; regrain.yield %b }
//! After:
//!   %n = llvm.call @__regrain_profile_begin(%site, %gx, ..., %bz, %shmem, %stream, %token)
//!   %e = scf.index_switch %n -> i32 case 1 { B ; scf.yield %b } default { A ; scf.yield %a }
//!   llvm.call @__regrain_profile_end(%site, %token, %e)
//!
//! `%site` is the address of a global that tells the profiler (`crates/profiler`) what is timed: the kernel, a hash of its
//! content (`content_hash.rs`), target, version, and the names of the grains. What it holds it is given as options.
//! Only alternatives with one i32 result in such a function are taken; others stay.

use std::fmt::Write;

use mlir_bridge::{
    ir::{Builder, Op, Value},
    pass::{Anchor, PassInfo, PassOption, PassResult, PassRun},
};
use regrain_dialects::{
    attributes::{CONTENT, HOST},
    ops::Alternatives,
};

use crate::launch::launch_function::kernel_of;

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: "regrain-profile-alternatives",
    summary: "let the program choose among alternatives and time them",
    anchor: Anchor::Module,
    options: &[
        PassOption { name: "target", default: "", description: "the target that times are for, as in sm_80" },
        PassOption { name: "version", default: "", description: "the version of this compiler" },
    ],
    dialects: &["arith", "scf", "llvm"],
    run,
};

const BEGIN: &str = "__regrain_profile_begin";
const END: &str = "__regrain_profile_end";

/// `struct regrain_site` of the profiler.
const SITE: &str = "!llvm.struct<(ptr, ptr, ptr, ptr, i32, i32, ptr, ptr)>";

/// Bytes of a token, which the profiler keeps between the two calls.
const TOKEN_SIZE: i64 = 32;

fn run(pass: &PassRun<'_>, module: Op<'_>) -> PassResult {
    let (target, version) = (pass.option("target"), pass.option("version"));
    profile_all(module, target, version).map_err(Into::into)
}

/// Lowers the alternatives of every launch function of a module.
pub fn profile_all(module: Op<'_>, target: &str, version: &str) -> Result<(), String> {
    for alternatives in Alternatives::all(module) {
        let op = alternatives.op();
        let function = op.parent_of_name("llvm.func").filter(|function| function.body().num_args() == 9);
        if let Some(function) = function.filter(|_| op.num_results() == 1 && op.result(0).ty().is_int(32)) {
            lower(module, function, alternatives, target, version)?;
        }
    }
    Ok(())
}

fn lower<'c>(
    module: Op<'c>,
    function: Op<'c>,
    alternatives: Alternatives<'c>,
    target: &str,
    version: &str,
) -> Result<(), String> {
    let name = function.symbol_name().unwrap_or_default();
    let kernel = kernel_of(function).unwrap_or(name);
    let content = function.attr(CONTENT).and_then(|hash| hash.as_str()).unwrap_or_default();
    let site = format!("__regrain_site.{name}");
    let text = globals(&site, &[kernel, content, target, version], &alternatives.descriptions());
    declare(module)?;
    if !module.body().parse_into(module.ctx(), &text) {
        return Err(format!("the site of '{kernel}' does not parse"));
    }
    let op = alternatives.op();
    let b = Builder::before(op);
    let ptr = b.ctx().ptr(0);
    let site = b.llvm_addressof(&site);
    let bytes = b.ctx().int(8);
    let start = Builder::at_start(function.body(), op.loc());
    let token = start
        .op("llvm.alloca")
        .operands(&[start.const_int(b.ctx().int(64), TOKEN_SIZE)])
        .attr("elem_type", b.ctx().type_attr(bytes));
    let token = token.attr("alignment", b.ctx().i64_attr(16)).result(ptr).build().result(0);
    let mut arguments = vec![site];
    arguments.extend_from_slice(&function.body().args()[1..9]);
    arguments.push(token);
    let choice = b.llvm_call(BEGIN, &arguments, &[b.ctx().int(32)]).result(0);
    let error = switch(b, choice, alternatives);
    Builder::before(op).llvm_call(END, &[site, token, error], &[]);
    op.replace_with(&[error]);
    Ok(())
}

/// `scf.index_switch` over the alternatives, the first by default.
fn switch<'c>(b: Builder<'c>, choice: Value<'c>, alternatives: Alternatives<'c>) -> Value<'c> {
    let ctx = b.ctx();
    let regions = alternatives.choices();
    let numbers: Vec<i64> = (1..regions.len() as i64).collect();
    let index = b.index_castui(choice, ctx.index());
    let spec = b.op("scf.index_switch").operands(&[index]).result(ctx.int(32));
    let made = spec.attr("cases", ctx.i64_array_attr(&numbers)).regions(regions.len()).build();
    for (to, from) in made.regions().into_iter().zip(&regions) {
        to.take_blocks(*from);
        if let Some(end) = to.entry().terminator() {
            Builder::before(end).scf_yield(&end.operands());
            end.erase();
        }
    }
    made.result(0)
}

fn declare(module: Op<'_>) -> Result<(), String> {
    if module.lookup_symbol(BEGIN).is_some() {
        return Ok(());
    }
    let text = format!(
        "llvm.func @{BEGIN}(!llvm.ptr, i32, i32, i32, i32, i32, i32, i64, !llvm.ptr, !llvm.ptr) -> i32 attributes {{{HOST}}}\n\
         llvm.func @{END}(!llvm.ptr, !llvm.ptr, i32) attributes {{{HOST}}}\n"
    );
    if module.body().parse_into(module.ctx(), &text) {
        Ok(())
    } else {
        Err("the profiler's declarations do not parse".into())
    }
}

/// The site and its strings. It is written to by the profiler, which keeps its own state behind the last field.
fn globals(site: &str, strings: &[&str], grains: &[&str]) -> String {
    let mut text = String::new();
    let all = strings.iter().chain(grains).enumerate();
    for (number, string) in all {
        let _ = writeln!(
            text,
            "llvm.mlir.global internal constant @\"{site}.{number}\"(\"{}\\00\") {{addr_space = 0 : i32, {HOST}}} : !llvm.array<{} x i8>",
            string.escape_default(),
            string.len() + 1
        );
    }
    let table = format!("!llvm.array<{} x ptr>", grains.len());
    let _ = writeln!(
        text,
        "llvm.mlir.global internal constant @\"{site}.grains\"() {{addr_space = 0 : i32, {HOST}}} : {table} {{"
    );
    let _ = writeln!(text, "%v0 = llvm.mlir.undef : {table}");
    for number in 0..grains.len() {
        let global = strings.len() + number;
        let _ = writeln!(text, "%p{number} = llvm.mlir.addressof @\"{site}.{global}\" : !llvm.ptr");
        let _ = writeln!(text, "%v{} = llvm.insertvalue %p{number}, %v{number}[{number}] : {table}", number + 1);
    }
    let _ = writeln!(text, "llvm.return %v{} : {table}\n}}", grains.len());
    let _ = writeln!(text, "llvm.mlir.global internal @\"{site}\"() {{addr_space = 0 : i32, {HOST}}} : {SITE} {{");
    let _ = writeln!(text, "%v0 = llvm.mlir.zero : {SITE}");
    for number in 0..strings.len() {
        let _ = writeln!(text, "%p{number} = llvm.mlir.addressof @\"{site}.{number}\" : !llvm.ptr");
        let _ = writeln!(text, "%v{} = llvm.insertvalue %p{number}, %v{number}[{number}] : {SITE}", number + 1);
    }
    let _ = writeln!(text, "%n = llvm.mlir.constant({} : i32) : i32", grains.len());
    let _ = writeln!(text, "%w = llvm.insertvalue %n, %v{}[4] : {SITE}", strings.len());
    let _ = writeln!(text, "%t = llvm.mlir.addressof @\"{site}.grains\" : !llvm.ptr");
    let _ = writeln!(text, "%all = llvm.insertvalue %t, %w[6] : {SITE}\nllvm.return %all : {SITE}\n}}");
    text
}
