//! Loops whose order is of no matter, shared by the threads of many blocks.
//!
//! ```text
//!   kernel, parts:    T p0 = 0; for (my rounds) p0 = p0 + ...;   the block's threads add theirs up, R0[blockIdx.x] = sum
//!   kernel, whole:    T s = start; for (b of all blocks) s = s + R0[b];   ... what the statement does with s
//! ```
//!
//! A block has a piece of the rounds, in which neighbours have neighbouring ones. Where the loop does nothing but another one, blocks have
//! pieces of the outer one, and threads rounds of the innermost.

use mlir_bridge::ir::Op;
use regrain_passes::affine::poly::variable_name;
use regrain_passes::affine::reductions::Reduction;
use regrain_passes::affine::teams::LANE;

use super::body::Body;
use super::combine::{Part, ROW, combine, neutral, numbers};
use super::terms::Lines;
use super::types::type_name;

/// The most blocks.
pub const MOST_PARTS: u32 = 256;
/// The rounds that a block has where there are not too many.
pub const ROUNDS: u32 = 4096;

/// What a kernel of parts has before its statement: the memory of a block, and what a thread starts with.
pub fn start(lines: &mut Lines, reduction: &Reduction<'_>, first: usize, threads: u32) -> Option<()> {
    for (slot, how, ty) in numbers(reduction, first) {
        let name = type_name(ty)?;
        lines.line(&format!("__shared__ {name} all{slot}[{threads}];"));
        lines.line(&format!("{name} p{slot} = {};", neutral(how, ty)?));
    }
    Some(())
}

/// What it has behind: the numbers of a block's threads are combined, two by two.
pub fn finish(lines: &mut Lines, reduction: &Reduction<'_>, first: usize, threads: u32) -> Option<()> {
    let numbers = numbers(reduction, first);
    for (slot, ..) in &numbers {
        lines.line(&format!("all{slot}[threadIdx.x] = p{slot};"));
    }
    lines.open(&format!("for (unsigned half = {}; half > 0; half /= 2)", threads / 2));
    lines.line("__syncthreads();");
    lines.open("if (threadIdx.x < half)");
    for (slot, how, ty) in &numbers {
        let (one, other) = (format!("all{slot}[threadIdx.x]"), format!("all{slot}[threadIdx.x + half]"));
        lines.line(&format!("{one} = {};", combine(*how, *ty, &one, &other)?));
    }
    lines.close();
    lines.close();
    lines.open("if (threadIdx.x == 0)");
    for (slot, ..) in &numbers {
        lines.line(&format!("R{slot}[blockIdx.x] = all{slot}[0];"));
    }
    lines.close();
    Some(())
}

/// What a kernel that combines hands on to those behind.
pub fn hand_on<'c>(body: &mut Body<'_, 'c>, lines: &mut Lines, reduction: &Reduction<'c>, first: usize) -> Option<()> {
    for (slot, value) in (first..).zip(reduction.op.results()) {
        let value = body.value(lines, value)?;
        lines.line(&format!("R{slot}[{MOST_PARTS}] = {value};"));
    }
    Some(())
}

impl<'c> Body<'_, 'c> {
    /// A reduction, or what this kernel does of it.
    pub(super) fn part(
        &mut self,
        lines: &mut Lines,
        reduction: &Reduction<'c>,
        first: usize,
        part: Part,
    ) -> Option<()> {
        let op = reduction.op;
        match part {
            Part::Mine | Part::Lane => {
                let names: Vec<String> =
                    numbers(reduction, first).iter().map(|(slot, ..)| format!("p{slot}")).collect();
                self.mine(lines, op, reduction, part, &names)
            }
            Part::Whole | Part::Row => {
                let starts = op.operands().split_off(3);
                for (((slot, how, ty), start), result) in
                    numbers(reduction, first).into_iter().zip(starts).zip(op.results())
                {
                    let start = self.value(lines, start)?;
                    let name = self.fresh();
                    lines.line(&format!("{} {name} = {start};", type_name(ty)?));
                    let mut other = format!("all{slot}[{ROW}]");
                    let mut indent = "";
                    if part == Part::Whole {
                        lines.line("for (long part = 0; part < parts; part++)");
                        (other, indent) = (format!("R{slot}[part]"), "  ");
                    }
                    lines.line(&format!("{indent}{name} = {};", combine(how, ty, &name, &other)?));
                    self.name(result, name);
                }
                Some(())
            }
            Part::Known => {
                for (slot, result) in (first..).zip(op.results()) {
                    self.declare(lines, result, &format!("R{slot}[{MOST_PARTS}]"))?;
                }
                Some(())
            }
        }
    }

    /// A thread's rounds of a loop.
    fn mine(
        &mut self,
        lines: &mut Lines,
        op: Op<'c>,
        reduction: &Reduction<'c>,
        part: Part,
        names: &[String],
    ) -> Option<()> {
        let (is_outer, is_inner) = (op == reduction.op, op == reduction.inner);
        let counter = self.fresh();
        let mut bounds = Vec::new();
        for at in 0..3 {
            bounds.push(self.value(lines, op.operand(at))?);
        }
        let [low, high, step] = &bounds[..] else { return None };
        let (mut first, mut end) = (format!("(long){low}"), format!("(long){high}"));
        lines.open("");
        if is_outer && part == Part::Mine {
            lines.line(&format!("const long count_{counter} = ({end} - {first} + {step} - 1L) / {step};"));
            lines.line(&format!("const long piece_{counter} = (most(count_{counter}, 0L) + parts - 1L) / parts;"));
            lines.line(&format!("const long first_{counter} = {first} + blockIdx.x * piece_{counter} * {step};"));
            lines
                .line(&format!("const long end_{counter} = least({end}, first_{counter} + piece_{counter} * {step});"));
            (first, end) = (format!("first_{counter}"), format!("end_{counter}"));
        }
        let (start, next) = match is_inner {
            true if part == Part::Lane => {
                let [lane, lanes] = LANE;
                (format!("{first} + {lane} * (long){step}"), format!("{lanes} * {step}"))
            }
            true => (format!("{first} + threadIdx.x * (long){step}"), format!("{}L * {step}", self.threads)),
            false => (first, step.clone()),
        };
        lines.open(&format!("for (long {counter} = {start}; {counter} < {end}; {counter} += {next})"));
        self.names.push(std::collections::HashMap::new());
        let body = op.body();
        let variable = body.arg(0);
        let (ty, name) = (type_name(variable.ty())?, variable_name(self.description.numbers.variable(variable)?));
        lines.line(&format!("const {ty} {name} = ({ty}){counter};"));
        for (argument, name) in body.args().into_iter().skip(1).zip(names) {
            self.name(argument, name.clone());
        }
        if is_inner {
            self.block(lines, body, names)?;
        } else {
            let mut ops = body.ops();
            let next = ops.pop()?.operand(0).defining_op()?;
            for op in ops {
                if op == next { self.mine(lines, op, reduction, part, names)? } else { self.operation(lines, op)? }
            }
        }
        self.names.pop();
        lines.close();
        lines.close();
        Some(())
    }
}
