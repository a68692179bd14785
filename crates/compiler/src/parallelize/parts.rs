//! Loops whose order is of no matter, shared by the threads of many blocks.
//!
//! ```text
//!   kernel, parts:    T p0 = 0; for (my rounds) p0 = p0 + ...;   the block's threads add theirs up, R0[blockIdx.x] = sum
//!   kernel, whole:    T s = start; for (b of all blocks) s = s + R0[b];   ... what the statement does with s
//! ```
//!
//! A block has a piece of the rounds, in which neighbours have neighbouring ones. Where the loop does nothing but another one, blocks have
//! pieces of the outer one, and threads rounds of the innermost.

use mlir_bridge::ir::{Op, Type};
use regrain_passes::affine::poly::variable_name;
use regrain_passes::affine::reductions::{Combination, Reduction};
use regrain_passes::affine::teams::LANE;

use super::body::{Body, type_name, unsigned_name};
use super::teams::ROW;
use super::terms::Lines;

/// The threads of a block.
pub const THREADS: u32 = 256;
/// The most blocks.
pub const MOST_PARTS: u32 = 256;
/// The rounds that a block has where there are not too many.
pub const ROUNDS: u32 = 4096;

/// What a kernel does of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Each thread its rounds.
    Mine,
    /// It combines what blocks have.
    Whole,
    /// It takes what a kernel before has combined.
    Known,
    /// Each thread of a row its rounds.
    Lane,
    /// It combines what the threads of a row have.
    Row,
}

/// Combines two numbers.
pub fn combine(how: Combination, ty: Type<'_>, a: &str, b: &str) -> Option<String> {
    let (name, is_float, is_bool) = (type_name(ty)?, ty.is_float(), ty.is_int(1));
    let signed = |text: String| Some(format!("({name})({text})"));
    let unsigned = |sign: &str| Some(format!("({name})(({u}){a} {sign} ({u}){b})", u = unsigned_name(ty)?));
    let choice = |sign: &str| Some(format!("({a} {sign} {b} ? {a} : {b})"));
    let plain = |sign: &str| format!("{a} {sign} {b}");
    match how {
        Combination::And => signed(plain("&")),
        Combination::Or => signed(plain("|")),
        Combination::Xor => signed(plain("^")),
        _ if is_bool => None,
        Combination::Sum if is_float => Some(format!("({})", plain("+"))),
        Combination::Product if is_float => Some(format!("({})", plain("*"))),
        // Narrow ones are computed as int, whose product of two without a sign may not fit.
        Combination::Sum | Combination::Product if matches!(name, "signed char" | "short") => {
            let sign = if how == Combination::Sum { "+" } else { "*" };
            Some(format!("({name})((unsigned){a} {sign} (unsigned){b})"))
        }
        Combination::Sum => unsigned("+"),
        Combination::Product => unsigned("*"),
        Combination::Least => choice("<"),
        Combination::Greatest => choice(">"),
        Combination::LeastUnsigned | Combination::GreatestUnsigned => {
            let sign = if how == Combination::LeastUnsigned { "<" } else { ">" };
            Some(format!("(({u}){a} {sign} ({u}){b} ? {a} : {b})", u = unsigned_name(ty)?))
        }
    }
}

/// What changes nothing when it is combined with.
pub fn neutral(how: Combination, ty: Type<'_>) -> Option<String> {
    let name = type_name(ty)?;
    if ty.is_float() {
        let suffix = if name == "float" { "f" } else { "" };
        return Some(match how {
            Combination::Sum => format!("-0.0{suffix}"),
            Combination::Product => format!("1.0{suffix}"),
            Combination::Least => format!("(1.0{suffix} / 0.0{suffix})"),
            Combination::Greatest => format!("(-1.0{suffix} / 0.0{suffix})"),
            _ => return None,
        });
    }
    let bits = ty.int_width()?;
    let greatest = u64::MAX >> (65 - bits.clamp(2, 64));
    Some(match how {
        Combination::And | Combination::LeastUnsigned => format!("({name})-1"),
        Combination::Product => format!("({name})1"),
        Combination::Least => format!("({name}){greatest}L"),
        Combination::Greatest => format!("({name})(-{greatest}L - 1)"),
        Combination::Sum | Combination::Or | Combination::Xor | Combination::GreatestUnsigned => format!("({name})0"),
    })
}

/// The numbers that a reduction makes, from the first of its slots on: how, and of which type.
pub fn numbers<'c>(reduction: &Reduction<'c>, first: usize) -> Vec<(usize, Combination, Type<'c>)> {
    let of = |((slot, how), value): ((usize, &Combination), mlir_bridge::ir::Value<'c>)| (slot, *how, value.ty());
    (first..).zip(&reduction.results).zip(reduction.op.results()).map(of).collect()
}

/// What a kernel of parts has before its statement: the memory of a block, and what a thread starts with.
pub fn start(lines: &mut Lines, reduction: &Reduction<'_>, first: usize) -> Option<()> {
    for (slot, how, ty) in numbers(reduction, first) {
        let name = type_name(ty)?;
        lines.line(&format!("__shared__ {name} all{slot}[{THREADS}];"));
        lines.line(&format!("{name} p{slot} = {};", neutral(how, ty)?));
    }
    Some(())
}

/// What it has behind: the numbers of a block's threads are combined, two by two.
pub fn finish(lines: &mut Lines, reduction: &Reduction<'_>, first: usize) -> Option<()> {
    let numbers = numbers(reduction, first);
    for (slot, ..) in &numbers {
        lines.line(&format!("all{slot}[threadIdx.x] = p{slot};"));
    }
    lines.open(&format!("for (unsigned half = {}; half > 0; half /= 2)", THREADS / 2));
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
            true => (format!("{first} + threadIdx.x * (long){step}"), format!("{THREADS}L * {step}")),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::mlir_context;
    use mlir_bridge::ir::Ctx;

    #[test]
    fn nothing_changes_what_it_is_combined_with() {
        let context = mlir_context();
        let context = Ctx::from(&context);
        let text = |how, ty| neutral(how, ty).unwrap_or_default();
        assert_eq!(text(Combination::Least, context.int(32)), "(int)2147483647L");
        assert_eq!(text(Combination::Greatest, context.int(64)), "(long)(-9223372036854775807L - 1)");
        assert_eq!(text(Combination::Greatest, context.int(8)), "(signed char)(-127L - 1)");
        assert_eq!(text(Combination::And, context.int(1)), "(bool)-1");
    }

    #[test]
    fn sums_of_integers_may_leave_their_type() {
        let context = mlir_context();
        let context = Ctx::from(&context);
        let text = |how, bits| combine(how, context.int(bits), "a", "b");
        assert_eq!(text(Combination::Sum, 32).as_deref(), Some("(int)((unsigned)a + (unsigned)b)"));
        assert_eq!(text(Combination::Product, 16).as_deref(), Some("(short)((unsigned)a * (unsigned)b)"));
        assert_eq!(
            text(Combination::LeastUnsigned, 64).as_deref(),
            Some("((unsigned long)a < (unsigned long)b ? a : b)")
        );
        assert_eq!(text(Combination::Sum, 1), None);
    }
}
