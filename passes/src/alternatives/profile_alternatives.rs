//! `regrain-profile-alternatives`: the program chooses among the alternatives of a launch, and times them.
//!
//! ```text
//! Before, in a launch function `@__regrain_launch.k(%args, %gx, ..., %bz, %shmem, %stream)`:
//!   %e = regrain.alternatives ["original", "b2x1x1"] -> i32 { A ; regrain.yield %a }, { B ; regrain.yield %b }
//! After:
//!   %n = llvm.call @__regrain_profile_begin(%site, %gx, ..., %bz, %shmem, %stream, %token)
//!   %e = scf.index_switch %n -> i32 case 1 { B ; scf.yield %b } default { A ; scf.yield %a }
//!   llvm.call @__regrain_profile_end(%site, %token, %e)
//! ```
//!
//! With `adaptive` the program chooses for good: the functions are `__regrain_adapt_begin` and `__regrain_adapt_end`, and the site says which
//! alternative runs before anything is known (`Program::first`; as a pass, the original).
//!
//! `%site` is the address of a global that tells the profiler (`crates/profiler`) what is timed: the kernel, a hash of its
//! content (`content_hash.rs`), target, version, and the names of the grains. What it holds it is given as options.
//! Only alternatives with one i32 result in such a function are taken; others stay.

use std::collections::BTreeMap;

use mlir_bridge::{
    ir::{Block, Builder, Ctx, Op, Type, Value},
    pass::{Anchor, PassInfo, PassOption, PassResult, PassRun},
};
use regrain_dialects::{
    attributes::{self, CONTENT, HOST},
    ops::Alternatives,
};
use regrain_tuning::Grain;

use super::choices::{launch_function, take};
use crate::launch::launch_function::kernel_of;

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: "regrain-profile-alternatives",
    summary: "let the program choose among alternatives and time them",
    anchor: Anchor::Module,
    options: &[
        PassOption { name: "target", default: "", description: "the target that times are for, as in sm_80" },
        PassOption { name: "version", default: "", description: "the version of this compiler" },
        PassOption {
            name: "adaptive",
            default: "false",
            description: "the program settles on an alternative by itself",
        },
    ],
    dialects: &["arith", "scf", "llvm"],
    run,
};

/// What the program that is compiled does with alternatives.
#[derive(Clone, Copy)]
pub struct Program<'p> {
    /// The target that times are for, as in `sm_80`.
    pub target: &'p str,
    /// The version of this compiler.
    pub version: &'p str,
    /// Where it settles on one by itself: what host functions run before anything is known, by their names; the original where
    /// nothing is said.
    pub first: Option<&'p BTreeMap<String, Grain>>,
}

impl Program<'_> {
    /// The functions around a launch.
    fn functions(&self) -> [&'static str; 2] {
        match self.first {
            Some(_) => ["__regrain_adapt_begin", "__regrain_adapt_end"],
            None => ["__regrain_profile_begin", "__regrain_profile_end"],
        }
    }
}

/// Says to the profiler's start-up code that the program is built to measure.
const PROFILED: &str = "__regrain_profiled";

/// Bytes of a token, which the profiler keeps between the two calls.
const TOKEN_SIZE: i64 = 32;

fn run(pass: &PassRun<'_>, module: Op<'_>) -> PassResult {
    let originals = BTreeMap::new();
    let first = pass.option_bool("adaptive")?.then_some(&originals);
    profile_all(module, &Program { target: pass.option("target"), version: pass.option("version"), first });
    Ok(())
}

/// Lowers the alternatives of every launch function of a module.
pub fn profile_all(module: Op<'_>, program: &Program<'_>) {
    for alternatives in Alternatives::all(module) {
        if let Some(function) = launch_function(alternatives) {
            lower(module, function, alternatives, program);
        }
    }
}

fn lower<'c>(module: Op<'c>, function: Op<'c>, alternatives: Alternatives<'c>, program: &Program<'_>) {
    let name = function.symbol_name().unwrap_or_default();
    let kernel = kernel_of(function).unwrap_or(name);
    let content = attributes::text(function, CONTENT).unwrap_or_default();
    let globals = Globals { module, site: format!("__regrain_site.{name}") };
    let functions = program.functions();
    declare(module, functions, &globals, program.first.is_none());
    let grains = alternatives.descriptions();
    let first = program.first.and_then(|firsts| firsts.get(name)).map(Grain::to_string);
    let first = grains.iter().position(|grain| first.as_deref() == Some(grain)).unwrap_or(0);
    globals.make(&[kernel, content, program.target, program.version], &grains, first);
    let op = alternatives.op();
    let b = Builder::before(op);
    let ptr = b.ctx().ptr(0);
    let site = b.llvm_addressof(&globals.site);
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
    let choice = b.llvm_call(functions[0], &arguments, &[b.ctx().int(32)]).result(0);
    let error = switch(b, choice, alternatives);
    Builder::before(op).llvm_call(functions[1], &[site, token, error], &[]);
    op.replace_with(&[error]);
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
        take(to, *from);
    }
    made.result(0)
}

fn declare(module: Op<'_>, [begin, end]: [&str; 2], globals: &Globals<'_>, measures: bool) {
    if module.lookup_symbol(begin).is_some() {
        return;
    }
    let ctx = module.ctx();
    let (ptr, word, long) = (ctx.ptr(0), ctx.int(32), ctx.int(64));
    let b = Builder::at_end(module.body(), ctx.unknown_loc());
    let begin = b.llvm_func(begin, word, &[ptr, word, word, word, word, word, word, long, ptr, ptr]);
    let end = b.llvm_func(end, ctx.llvm_void(), &[ptr, ptr, word]);
    for function in [begin, end] {
        function.set_attr(HOST, ctx.unit_attr());
    }
    if measures {
        let mark = globals.text(PROFILED, "");
        mark.set_attr("linkage", ctx.parse_attr("#llvm.linkage<weak_odr>").expect("the llvm dialect"));
    }
}

/// `struct regrain_site` of the profiler.
fn site_type(ctx: Ctx<'_>) -> Type<'_> {
    let (ptr, word) = (ctx.ptr(0), ctx.int(32));
    ctx.llvm_struct(&[ptr, ptr, ptr, ptr, word, word, ptr, ptr], false)
}

/// A site, with its strings and the table of its grains. It is written to by the profiler, which keeps its own state
/// behind the last field.
struct Globals<'c> {
    module: Op<'c>,
    site: String,
}

impl<'c> Globals<'c> {
    fn make(&self, strings: &[&str], grains: &[&str], first: usize) {
        let ctx = self.module.ctx();
        for (number, text) in strings.iter().chain(grains).enumerate() {
            self.text(&self.part(number), text);
        }
        let table = format!("{}.grains", self.site);
        let pointers = ctx.llvm_array(ctx.ptr(0), grains.len() as u32);
        let (b, end) = self.begin(&table, pointers, true);
        let nothing = b.op("llvm.mlir.undef").result(pointers).build().result(0);
        let names = (0..grains.len()).fold(nothing, |all, number| {
            b.llvm_insertvalue(b.llvm_addressof(&self.part(strings.len() + number)), all, number)
        });
        self.finish(end, names);
        let (b, end) = self.begin(&self.site, site_type(ctx), false);
        let empty = b.op("llvm.mlir.zero").result(site_type(ctx)).build().result(0);
        let named = (0..strings.len())
            .fold(empty, |all, number| b.llvm_insertvalue(b.llvm_addressof(&self.part(number)), all, number));
        let numbers = [grains.len(), first].into_iter().enumerate();
        let counted = numbers.fold(named, |all, (at, number)| {
            let number = b.op("llvm.mlir.constant").attr("value", ctx.i32_attr(number as i32)).result(ctx.int(32));
            b.llvm_insertvalue(number.build().result(0), all, strings.len() + at)
        });
        self.finish(end, b.llvm_insertvalue(b.llvm_addressof(&table), counted, strings.len() + 2));
    }

    /// The name of a string.
    fn part(&self, number: usize) -> String {
        format!("{}.{number}", self.site)
    }

    fn text(&self, name: &str, text: &str) -> Op<'c> {
        let ctx = self.module.ctx();
        let global = self.global(name, ctx.llvm_array(ctx.int(8), text.len() as u32 + 1), true);
        global.set_attr("value", ctx.str_attr(&format!("{text}\0")));
        global
    }

    fn global(&self, name: &str, ty: Type<'c>, constant: bool) -> Op<'c> {
        let ctx = self.module.ctx();
        let made = Builder::at_end(self.module.body(), ctx.unknown_loc()).llvm_global(name, ty);
        made.set_attr("linkage", ctx.parse_attr("#llvm.linkage<internal>").expect("the llvm dialect"));
        made.set_attr(HOST, ctx.unit_attr());
        if constant {
            made.set_attr("constant", ctx.unit_attr());
        }
        made
    }

    /// A global whose value a block computes.
    fn begin(&self, name: &str, ty: Type<'c>, constant: bool) -> (Builder<'c>, Block<'c>) {
        let global = self.global(name, ty, constant);
        let block = global.region(0).append_block(&[], global.loc());
        (Builder::at_end(block, global.loc()), block)
    }

    fn finish(&self, block: Block<'c>, value: Value<'c>) {
        Builder::at_end(block, self.module.ctx().unknown_loc()).op("llvm.return").operands(&[value]).build();
    }
}
