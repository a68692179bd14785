//! What a statement does, as C.

use std::collections::{HashMap, HashSet};

use mlir_bridge::ir::{Block, Op, Type, Value};
use regrain_passes::affine::accesses::Array;
use regrain_passes::affine::accesses::Base;
use regrain_passes::affine::reductions::Reduction;
use regrain_passes::affine::statements::function;
use regrain_passes::affine::{Description, poly::variable_name};
use regrain_passes::analysis::addresses::steps;
use regrain_passes::analysis::facts::{constant, is_nsw};

use super::combine::Part;
use super::places::Places;
use super::terms::Lines;
use super::types::{type_name, unsigned_name};

/// How a value of C is written for a value of the program.
pub struct Body<'d, 'c> {
    pub(super) description: &'d Description<'c>,
    /// Whether the host rounds once where it may.
    fuses: bool,
    /// The names that values have in the blocks around, the innermost last.
    pub(super) names: Vec<HashMap<Value<'c>, String>>,
    next: usize,
    /// What is done of reductions, and their first slots.
    parts: Vec<(&'d Reduction<'c>, usize, Part)>,
    /// The threads of a block that do.
    pub(super) threads: u32,
    /// Operations that are done in another order than the program's.
    reordered: HashSet<Op<'c>>,
    /// Where elements are that are not in their arrays.
    places: Places<'c>,
}

/// `None` for what has no counterpart.
type Text = Option<String>;

impl<'d, 'c> Body<'d, 'c> {
    /// A writer that has not named any value.
    pub fn of(description: &'d Description<'c>, fuses: bool) -> Self {
        let reordered = HashSet::new();
        Self {
            description,
            fuses,
            names: vec![HashMap::new()],
            next: 0,
            parts: Vec::new(),
            threads: 1,
            reordered,
            places: Places::default(),
        }
    }

    /// The same where a part is done of reductions, by so many threads of a block.
    pub fn with_parts(mut self, parts: Vec<(&'d Reduction<'c>, usize, Part)>, threads: u32) -> Self {
        self.threads = threads;
        self.reordered = parts.iter().flat_map(|(reduction, ..)| reduction.steps.iter().copied()).collect();
        self.parts = parts;
        self
    }

    /// The same where operations are done in another order than the program's.
    pub fn with_reordered(mut self, ops: impl Iterator<Item = Op<'c>>) -> Self {
        self.reordered.extend(ops);
        self
    }

    /// The same where elements are in other places.
    pub fn with_places(mut self, places: Places<'c>) -> Self {
        self.places = places;
        self
    }

    /// Writes operations in their order, and what is behind them.
    pub fn operations(
        &mut self,
        lines: &mut Lines,
        ops: &[Op<'c>],
        behind: impl FnOnce(&mut Self, &mut Lines) -> Option<()>,
    ) -> Option<()> {
        self.names.push(HashMap::new());
        for op in ops {
            self.operation(lines, *op)?;
        }
        behind(self, lines)?;
        self.names.pop().map(drop)
    }

    pub(super) fn fresh(&mut self) -> String {
        self.next += 1;
        format!("v{}", self.next)
    }

    pub(super) fn name(&mut self, value: Value<'c>, name: String) {
        if let Some(names) = self.names.last_mut() {
            names.insert(value, name);
        }
    }

    pub(super) fn declare(&mut self, lines: &mut Lines, value: Value<'c>, text: &str) -> Option<()> {
        let name = self.fresh();
        lines.line(&format!("const {} {name} = {text};", type_name(value.ty())?));
        self.name(value, name);
        Some(())
    }

    pub(super) fn operation(&mut self, lines: &mut Lines, op: Op<'c>) -> Option<()> {
        match op.name() {
            "llvm.load" => {
                let place = self.place(lines, op, op.operand(0), op.result(0).ty())?;
                self.declare(lines, op.result(0), &place)
            }
            "llvm.store" => {
                let value = self.value(lines, op.operand(0))?;
                let place = self.place(lines, op, op.operand(1), op.operand(0).ty())?;
                lines.line(&format!("{place} = {value};"));
                Some(())
            }
            "scf.for" => match self.parts.iter().find(|(reduction, ..)| reduction.op == op).copied() {
                Some((reduction, first, part)) => self.part(lines, reduction, first, part),
                None => self.round(lines, op),
            },
            "scf.if" => self.branch(lines, op),
            "llvm.call" => {
                let text = self.expression(lines, op)?;
                self.declare(lines, op.result(0), &text)
            }
            // Written where it is used.
            _ if op.num_regions() == 0 && op.is_pure() => Some(()),
            _ => None,
        }
    }

    pub(super) fn block(&mut self, lines: &mut Lines, block: Block<'c>, results: &[String]) -> Option<()> {
        self.names.push(HashMap::new());
        let mut ops = block.ops();
        let last = ops.pop()?;
        for op in ops {
            self.operation(lines, op)?;
        }
        // All at once: one may be computed of another.
        let mut values = Vec::new();
        for value in last.operands() {
            let text = self.value(lines, value)?;
            let name = self.fresh();
            lines.line(&format!("const {} {name} = {text};", type_name(value.ty())?));
            values.push(name);
        }
        for (result, value) in results.iter().zip(values) {
            lines.line(&format!("{result} = {value};"));
        }
        self.names.pop().map(drop)
    }

    fn round(&mut self, lines: &mut Lines, op: Op<'c>) -> Option<()> {
        let mut bounds = Vec::new();
        for at in 0..3 {
            bounds.push(self.value(lines, op.operand(at))?);
        }
        let mut results = Vec::new();
        for (result, start) in op.results().into_iter().zip(op.operands().split_off(3)) {
            let start = self.value(lines, start)?;
            let name = self.fresh();
            lines.line(&format!("{} {name} = {start};", type_name(result.ty())?));
            self.name(result, name.clone());
            results.push(name);
        }
        let counter = self.fresh();
        let [first, end, step] = &bounds[..] else { return None };
        lines.open(&format!("for (long {counter} = {first}; {counter} < {end}; {counter} += {step})"));
        self.round_body(lines, op, &counter, &results)?;
        lines.close();
        Some(())
    }

    fn branch(&mut self, lines: &mut Lines, op: Op<'c>) -> Option<()> {
        let condition = self.value(lines, op.operand(0))?;
        let mut results = Vec::new();
        for result in op.results() {
            let name = self.fresh();
            lines.line(&format!("{} {name};", type_name(result.ty())?));
            self.name(result, name.clone());
            results.push(name);
        }
        lines.open(&format!("if ({condition})"));
        self.block(lines, op.region(0).single_block()?, &results)?;
        lines.close();
        if let Some(block) = op.region(1).single_block() {
            lines.open("else");
            self.block(lines, block, &results)?;
            lines.close();
        }
        Some(())
    }

    /// The rounds of a loop that are of a piece; what it hands on is in `results`.
    pub(super) fn rounds_of_piece(
        &mut self,
        lines: &mut Lines,
        op: Op<'c>,
        first: &str,
        count: i64,
        results: &[String],
    ) -> Option<()> {
        let (low, high) = (self.value(lines, op.operand(0))?, self.value(lines, op.operand(1))?);
        let counter = self.fresh();
        let (low, high) = (format!("most((long){low}, {first})"), format!("least((long){high}, {first} + {count}L)"));
        lines.open(&format!("for (long {counter} = {low}; {counter} < {high}; {counter}++)"));
        self.round_body(lines, op, &counter, results)?;
        lines.close();
        Some(())
    }

    fn round_body(&mut self, lines: &mut Lines, op: Op<'c>, counter: &str, results: &[String]) -> Option<()> {
        let body = op.body();
        let variable = body.arg(0);
        self.names.push(HashMap::new());
        let name = variable_name(self.description.numbers.variable(variable)?);
        let ty = type_name(variable.ty())?;
        lines.line(&format!("const {ty} {name} = ({ty}){counter};"));
        for (argument, name) in body.args().into_iter().skip(1).zip(results) {
            self.name(argument, name.clone());
        }
        self.block(lines, body, results)?;
        self.names.pop().map(drop)
    }

    /// Where an operation loads or stores.
    fn place(&mut self, lines: &mut Lines, op: Op<'c>, pointer: Value<'c>, ty: Type<'c>) -> Text {
        match (self.places.tiles.get(&op), self.places.linear.get(&op)) {
            (Some(element), _) => element.text(),
            (None, Some(element)) => Some(element.clone()),
            (None, None) => self.element(lines, pointer, ty),
        }
    }

    /// An element of an array.
    fn element(&mut self, lines: &mut Lines, pointer: Value<'c>, ty: Type<'c>) -> Text {
        let (mut pointer, mut bytes, mut indices) = (pointer, 0, Vec::new());
        while let Some(address) = pointer.defining_op().filter(|op| op.is("llvm.getelementptr")) {
            let steps = steps(address)?;
            bytes += steps.bytes;
            indices.splice(0..0, steps.indices);
            pointer = address.operand(0);
        }
        let base = match pointer.block_arg() {
            Some((_, number)) => Base::Parameter(number),
            None => Base::Variable(pointer.defining_op()?.attr("global_name")?.as_symbol()?),
        };
        let number = self.description.arrays.iter().position(|array| array.base == base)?;
        let array: &Array<'c> = &self.description.arrays[number];
        if self.places.registers.contains(&number) {
            return (ty == array.element).then(|| format!("r{number}"));
        }
        let mut sum = Vec::new();
        for (index, stride) in indices {
            if stride % array.size != 0 {
                return None;
            }
            let factor = stride / array.size;
            let index = match constant(index) {
                Some(index) => index.to_string(),
                None => format!("(long){}", self.value(lines, index)?),
            };
            sum.push(if factor == 1 { index } else { format!("{index} * {factor}") });
        }
        if bytes % array.size != 0 {
            return None;
        }
        if bytes != 0 || sum.is_empty() {
            sum.push((bytes / array.size).to_string());
        }
        let is_constant = self.places.constants.contains(&number);
        if is_constant {
            sum.insert(0, format!("at_A{number}"));
        }
        let name = if is_constant { format!("C{number}") } else { format!("A{number}") };
        let name = if ty == array.element { name } else { format!("(({} *){name})", type_name(ty)?) };
        Some(format!("{name}[{}]", sum.join(" + ")))
    }

    /// A value where it is used.
    pub fn value(&mut self, lines: &mut Lines, value: Value<'c>) -> Text {
        if let Some(name) = self.names.iter().rev().find_map(|names| names.get(&value)) {
            return Some(name.clone());
        }
        if let Some(number) = self.description.numbers.variable(value) {
            return Some(variable_name(number));
        }
        if let Some((block, number)) = value.block_arg() {
            return (block.parent_op() == Some(self.description.function)).then(|| format!("a{number}"));
        }
        let op = value.defining_op()?;
        if matches!(op.name(), "llvm.mlir.constant" | "arith.constant") {
            return literal(op, value.ty());
        }
        let text = self.expression(lines, op)?;
        if value.uses().len() < 2 {
            return Some(text);
        }
        self.declare(lines, value, &text)?;
        self.names.iter().rev().find_map(|names| names.get(&value)).cloned()
    }

    fn expression(&mut self, lines: &mut Lines, op: Op<'c>) -> Text {
        if op.num_results() != 1 || (op.num_regions() != 0) {
            return None;
        }
        let mut operands = Vec::new();
        for operand in op.operands() {
            operands.push(self.value(lines, operand)?);
        }
        let ty = op.result(0).ty();
        let to = type_name(ty)?;
        let name = op.name().trim_start_matches("llvm.").trim_start_matches("arith.");
        if let Some(function) = function(op) {
            return Some(format!("{function}{}({})", if to == "float" { "f" } else { "" }, operands.join(", ")));
        }
        match (name, &operands[..]) {
            ("select", [c, a, b]) => Some(format!("({c} ? {a} : {b})")),
            ("intr.fmuladd", [a, b, c]) if self.fuses => Some(fused(ty, a, b, c)),
            ("intr.fmuladd", [a, b, c]) => Some(format!("({a} * {b} + {c})")),
            ("bitcast", [a]) => bits(op.operand(0).ty(), ty, a),
            (name, [a]) => unary(name, op, to, a),
            (name, [a, b]) => binary(name, op, to, a, b, is_nsw(op) && !self.reordered.contains(&op)),
            ("poison" | "ub.poison" | "mlir.poison" | "mlir.undef", []) => Some("0".into()),
            _ => None,
        }
    }
}

fn fused(ty: Type<'_>, a: &str, b: &str, c: &str) -> String {
    format!("{}({a}, {b}, {c})", if ty.float_width() == Some(32) { "fmaf" } else { "fma" })
}

/// The bits of a number as those of another type.
fn bits(from: Type<'_>, to: Type<'_>, a: &str) -> Text {
    Some(match (type_name(from)?, type_name(to)?) {
        ("float", "int") => format!("__float_as_int({a})"),
        ("int", "float") => format!("__int_as_float({a})"),
        ("double", "long") => format!("__double_as_longlong({a})"),
        ("long", "double") => format!("__longlong_as_double({a})"),
        _ => return None,
    })
}

fn unary(name: &str, op: Op<'_>, to: &str, a: &str) -> Text {
    let from = op.operand(0).ty();
    Some(match name {
        "sext" | "extsi" if from.is_int(1) => format!("(-({to}){a})"),
        "sext" | "extsi" | "fpext" | "extf" | "fptrunc" | "truncf" | "sitofp" | "fptosi" => format!("({to}){a}"),
        "zext" | "extui" | "uitofp" => format!("({to})({}){a}", unsigned_name(from)?),
        "fptoui" => format!("({to})({}){a}", unsigned_name(op.result(0).ty())?),
        "trunc" | "trunci" if to == "bool" => format!("(({a} & 1) != 0)"),
        "trunc" | "trunci" => format!("({to}){a}"),
        "fneg" | "negf" => format!("(-{a})"),
        "freeze" => a.to_owned(),
        _ => return None,
    })
}

fn binary(name: &str, op: Op<'_>, to: &str, a: &str, b: &str, stays: bool) -> Text {
    const COMPARISONS: [&str; 10] = ["==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">="];
    let predicate = || usize::try_from(op.attr("predicate")?.as_int()?).ok();
    let small = ["signed char", "short"].contains(&to);
    let wraps = |sign: &str| {
        let unsigned = unsigned_name(op.result(0).ty())?;
        if stays && !small {
            return Some(format!("({a} {sign} {b})"));
        }
        // In C narrower numbers are computed as int: nothing overflows there but a product of two without a sign.
        let unsigned = if small { "unsigned" } else { unsigned };
        Some(format!("({to})(({unsigned}){a} {sign} ({unsigned}){b})"))
    };
    let unsigned = |sign: &str| {
        let unsigned = unsigned_name(op.operand(0).ty())?;
        Some(format!("({to})(({unsigned}){a} {sign} ({unsigned}){b})"))
    };
    match name {
        "add" | "addi" => wraps("+"),
        "sub" | "subi" => wraps("-"),
        "mul" | "muli" => wraps("*"),
        "sdiv" | "divsi" => Some(format!("({to})({a} / {b})")),
        "srem" | "remsi" => Some(format!("({to})({a} % {b})")),
        "udiv" | "divui" => unsigned("/"),
        "urem" | "remui" => unsigned("%"),
        "shl" | "shli" => Some(format!("({to})(({}){a} << {b})", unsigned_name(op.result(0).ty())?)),
        "lshr" | "shrui" => unsigned(">>"),
        "ashr" | "shrsi" => Some(format!("({to})({a} >> {b})")),
        "and" | "andi" => Some(format!("({to})({a} & {b})")),
        "or" | "ori" => Some(format!("({to})({a} | {b})")),
        "xor" | "xori" => Some(format!("({to})({a} ^ {b})")),
        "fadd" | "addf" => Some(format!("({a} + {b})")),
        "fsub" | "subf" => Some(format!("({a} - {b})")),
        "fmul" | "mulf" => Some(format!("({a} * {b})")),
        "fdiv" | "divf" => Some(format!("({a} / {b})")),
        "icmp" | "cmpi" => {
            let (predicate, from) = (predicate()?, op.operand(0).ty());
            let unsigned = unsigned_name(from)?;
            let cast = if predicate >= 6 { format!("({unsigned})") } else { String::new() };
            Some(format!("({cast}{a} {} {cast}{b})", COMPARISONS.get(predicate)?))
        }
        "fcmp" | "cmpf" => Some(match predicate()? {
            1 => format!("({a} == {b})"),
            2 => format!("({a} > {b})"),
            3 => format!("({a} >= {b})"),
            4 => format!("({a} < {b})"),
            5 => format!("({a} <= {b})"),
            6 => format!("({a} < {b} || {a} > {b})"),
            7 => format!("({a} == {a} && {b} == {b})"),
            8 => format!("(!({a} < {b} || {a} > {b}))"),
            9 => format!("(!({a} <= {b}))"),
            10 => format!("(!({a} < {b}))"),
            11 => format!("(!({a} >= {b}))"),
            12 => format!("(!({a} > {b}))"),
            13 => format!("({a} != {b})"),
            14 => format!("({a} != {a} || {b} != {b})"),
            _ => return None,
        }),
        "intr.smin" | "minsi" => Some(format!("({a} < {b} ? {a} : {b})")),
        "intr.smax" | "maxsi" => Some(format!("({a} > {b} ? {a} : {b})")),
        "intr.umin" | "intr.umax" => {
            let (unsigned, sign) = (unsigned_name(op.result(0).ty())?, if name.ends_with('n') { "<" } else { ">" });
            Some(format!("(({unsigned}){a} {sign} ({unsigned}){b} ? {a} : {b})"))
        }
        "intr.abs" => Some(format!("({a} < 0 ? -{a} : {a})")),
        _ => None,
    }
}

/// A constant.
fn literal(op: Op<'_>, ty: Type<'_>) -> Text {
    if ty.is_float() {
        let value = op.attr("value")?.as_float()?;
        return float_literal(value, type_name(ty)? == "float");
    }
    let value = constant(op.result(0))?;
    Some(match type_name(ty)? {
        "bool" => if value != 0 { "true" } else { "false" }.into(),
        "long" if value == i64::MIN => "(-9223372036854775807L - 1)".into(),
        "long" => format!("({value}L)"),
        _ if value == i64::from(i32::MIN) => "(-2147483647 - 1)".into(),
        "int" if value < 0 => format!("({value})"),
        "int" => value.to_string(),
        to => format!("({to})({value})"),
    })
}

/// All digits of a number, to the base of 16.
fn float_literal(value: f64, is_float: bool) -> Text {
    let suffix = if is_float { "f" } else { "" };
    if value.is_nan() && is_float {
        return Some(format!("__int_as_float({})", (value as f32).to_bits() as i32));
    }
    if value.is_nan() {
        return Some(format!("__longlong_as_double({}L)", value.to_bits() as i64));
    }
    let sign = if value.is_sign_negative() { "-" } else { "" };
    if value.is_infinite() {
        return Some(format!("({sign}1.0{suffix} / 0.0{suffix})"));
    }
    let bits = value.to_bits();
    let (exponent, digits) = ((bits >> 52) & 0x7ff, bits & ((1 << 52) - 1));
    let plain = value.abs();
    if plain == plain.trunc() && plain < 1e6 {
        return Some(format!("({sign}{plain:.1}{suffix})"));
    }
    let text = match exponent {
        0 => format!("0x0.{digits:013x}p-1022"),
        _ => format!("0x1.{digits:013x}p{}", exponent as i64 - 1023),
    };
    Some(format!("({sign}{text}{suffix})"))
}

#[cfg(test)]
mod tests {
    use super::float_literal;

    #[test]
    fn numbers_keep_all_digits() {
        let text = |value, is_float| float_literal(value, is_float).unwrap_or_default();
        assert_eq!(text(0.1, false), "(0x1.999999999999ap-4)");
        assert_eq!(text(-2.0, true), "(-2.0f)");
        assert_eq!(text(-0.0, false), "(-0.0)");
        assert_eq!(text(f64::INFINITY, true), "(1.0f / 0.0f)");
        assert_eq!(text(f64::from_bits(1), false), "(0x0.0000000000001p-1022)");
        assert_eq!(text(f64::NAN, false), "__longlong_as_double(9221120237041090560L)");
        assert_eq!(text(f64::NAN, true), "__int_as_float(2143289344)");
    }
}
