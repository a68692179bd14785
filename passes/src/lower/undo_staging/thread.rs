//! The numbers of one thread: what is computed from its place alone is a number, what is the same for all threads of the block a symbol.
//!
//! A condition that depends on symbols is guessed, and what it takes for the guess to be right is noted ([`Thread::demands`]); so are
//! clamps, and that sums stay within their width.

use std::collections::HashMap;
use std::rc::Rc;

use mlir_bridge::ir::{Attr, Op, Type, Value};
use regrain_targets::device_language::library;

use super::sums::{Place, Sum, Symbols, is_small};
use crate::analysis::{
    addresses::{Steps, steps},
    facts::{Range, constant, is_nsw, width},
    objects::is_shared,
};
use crate::lower::vectorize_threads::is_ordinary;

/// What is known of a value in one thread.
#[derive(Clone, PartialEq)]
pub enum Known<'c> {
    /// An integer, read as a signed number.
    Number(Sum),
    Truth(bool),
    /// What a load read.
    Copy(Copy<'c>),
    Constant(Attr<'c>),
    Nothing,
}

/// What is at an address of the device's memory.
#[derive(Clone, PartialEq)]
pub struct Copy<'c> {
    pub root: Value<'c>,
    pub at: Sum,
    pub ty: Type<'c>,
    /// Bytes.
    pub alignment: i64,
}

/// Why a sum has to be at least 0: the operation that asks, and which of its questions it is.
type Origin<'c> = (Op<'c>, u8);

/// The thread that is looked at.
pub struct Thread<'c> {
    parallel: Op<'c>,
    pub symbols: Symbols<'c>,
    /// What is known, of the rounds of inner loops last.
    frames: Vec<HashMap<Value<'c>, Known<'c>>>,
    /// Numbers of the thread and of the rounds of loops around.
    pub place: Place,
    /// Sums that have to be at least 0 for all that was found to hold, by who asked.
    pub demands: Vec<Vec<(Place, Sum)>>,
    asked: HashMap<Origin<'c>, usize>,
    /// What parts of addresses add, the same for all threads.
    steps: HashMap<Op<'c>, Option<Rc<Steps<'c>>>>,
    /// How many values may still be looked at.
    budget: usize,
}

/// How many values are looked at, of all threads together.
const BUDGET: usize = 1 << 20;

impl<'c> Thread<'c> {
    /// None yet.
    pub fn new(parallel: Op<'c>, grid: Op<'c>) -> Self {
        Self {
            parallel,
            symbols: Symbols::new(grid),
            frames: vec![HashMap::new()],
            place: Vec::new(),
            demands: Vec::new(),
            asked: HashMap::new(),
            steps: HashMap::new(),
            budget: BUDGET,
        }
    }

    /// Goes on with another thread of the block.
    pub fn start(&mut self, place: Place) {
        self.frames.truncate(1);
        self.frames.push(HashMap::new());
        for (number, value) in place.iter().zip(self.parallel.body().args()) {
            self.set(value, Known::Number(Sum::constant((*number).into())));
        }
        self.place = place;
    }

    /// Whether more was asked for than is worth it.
    pub fn is_exhausted(&self) -> bool {
        self.budget == 0
    }

    /// Begins a round of a loop.
    pub fn enter(&mut self, number: i64) {
        self.frames.push(HashMap::new());
        self.place.push(number);
    }

    /// Ends a round.
    pub fn leave(&mut self) {
        self.place.pop();
        self.frames.pop();
    }

    pub fn set(&mut self, value: Value<'c>, known: Known<'c>) {
        if let Some(frame) = self.frames.last_mut() {
            frame.insert(value, known);
        }
    }

    /// What is known of a value.
    pub fn known(&mut self, value: Value<'c>) -> Known<'c> {
        if let Some(known) = self.frames.iter().rev().find_map(|frame| frame.get(&value)) {
            return known.clone();
        }
        self.budget = self.budget.saturating_sub(1);
        let found = if self.is_exhausted() { Known::Nothing } else { self.find(value) };
        let small = !matches!(&found, Known::Number(sum) if !is_small(sum));
        let found = if small { found } else { Known::Nothing };
        self.set(value, found.clone());
        found
    }

    /// A number without symbols.
    pub fn number(&mut self, value: Value<'c>) -> Option<i64> {
        self.sum(value)?.as_constant()?.try_into().ok()
    }

    pub fn truth(&mut self, value: Value<'c>) -> Option<bool> {
        match self.known(value) {
            Known::Truth(truth) => Some(truth),
            _ => None,
        }
    }

    /// A number as a sum.
    pub fn sum(&mut self, value: Value<'c>) -> Option<Sum> {
        match self.known(value) {
            Known::Number(sum) => Some(sum),
            Known::Truth(truth) => Some(Sum::constant(truth.into())),
            _ => None,
        }
    }

    /// The object that an address is in, and the offset in bytes.
    pub fn address(&mut self, pointer: Value<'c>) -> Option<(Value<'c>, Sum)> {
        let (mut root, mut at) = (pointer, Sum::default());
        while let Some(op) = root.defining_op() {
            match op.name() {
                "llvm.getelementptr" => {
                    let steps = self.steps.entry(op).or_insert_with(|| steps(op).map(Rc::new)).clone()?;
                    at = at.plus(&Sum::constant(steps.bytes.into()), &1);
                    for (index, stride) in &steps.indices {
                        at = at.plus(&self.sum(*index)?, &(*stride).into());
                    }
                }
                "llvm.addrspacecast" | "llvm.bitcast" => {}
                _ => break,
            }
            root = op.operand(0);
        }
        is_small(&at).then_some((root, at))
    }

    fn find(&mut self, value: Value<'c>) -> Known<'c> {
        let is_number = width(value.ty()).is_some();
        let found = value.defining_op().and_then(|op| self.result(op, value));
        let outside = || !value.parent_block().and_then(|block| block.parent_op()).is_some_and(|op| self.is_inside(op));
        match found {
            Some(known) => known,
            None if is_number && !value.ty().is_int(1) && outside() => Known::Number(self.symbols.of(value)),
            None => Known::Nothing,
        }
    }

    fn is_inside(&self, op: Op<'c>) -> bool {
        self.parallel.is_ancestor_of(op)
    }

    fn result(&mut self, op: Op<'c>, value: Value<'c>) -> Option<Known<'c>> {
        if let Some(number) = constant(value) {
            return Some(match value.ty().is_int(1) {
                true => Known::Truth(number != 0),
                false => Known::Number(Sum::constant(number.into())),
            });
        }
        let (_, name) = op.name().split_once('.')?;
        match name {
            "mlir.constant" | "constant" => op.attr("value").map(Known::Constant),
            "load" if self.is_inside(op) => self.load(op),
            "if" => {
                let region = usize::from(!self.truth(op.operand(0))?);
                Some(self.known(yielded(op, region, value)?))
            }
            "index_switch" => {
                let region = self.case(op)?;
                Some(self.known(yielded(op, region, value)?))
            }
            "select" => {
                let chosen = if self.truth(op.operand(0))? { 1 } else { 2 };
                Some(self.known(op.operand(chosen)))
            }
            "icmp" | "cmpi" => self.comparison(op).map(Known::Truth),
            "freeze" => Some(self.known(op.operand(0))),
            "call" => {
                let callee = op.attr("callee").and_then(|callee| callee.as_symbol())?;
                self.extreme(op, library::integer_operation(callee)?).map(Known::Number)
            }
            "and" | "andi" | "or" | "ori" | "xor" | "xori" if value.ty().is_int(1) => self.logic(op, name),
            "intr.smax" | "intr.smin" | "intr.umax" | "intr.umin" => {
                let (kind, sign) = (&name[6..], if name.as_bytes()[5] == b's' { "si" } else { "ui" });
                self.extreme(op, &format!("{kind}{sign}")).map(Known::Number)
            }
            "maxsi" | "minsi" | "maxui" | "minui" => self.extreme(op, name).map(Known::Number),
            _ => self.arithmetic(op, name, width(value.ty())?).map(Known::Number),
        }
    }

    /// The region of a switch that is taken.
    pub fn case(&mut self, op: Op<'c>) -> Option<usize> {
        let number = self.number(op.operand(0))?;
        let cases = op.attr("cases")?.as_i64_array()?;
        Some(cases.iter().position(|case| *case == number).map_or(0, |found| found + 1))
    }

    fn load(&mut self, op: Op<'c>) -> Option<Known<'c>> {
        let plain = is_ordinary(op) && !op.has_attr("volatile_") && !is_shared(op.operand(0));
        let (root, at) = self.address(op.operand(0)).filter(|_| plain)?;
        let inside = root.defining_op().is_some_and(|op| self.is_inside(op));
        let alignment = op.attr("alignment").and_then(Attr::as_int).unwrap_or(1);
        (!inside).then(|| Known::Copy(Copy { root, at, ty: op.result(0).ty(), alignment }))
    }

    fn logic(&mut self, op: Op<'c>, name: &str) -> Option<Known<'c>> {
        let (a, b) = (self.truth(op.operand(0)), self.truth(op.operand(1)));
        let truth = match (&name[..2], a, b) {
            ("an", Some(false), _) | ("an", _, Some(false)) => false,
            ("or", Some(true), _) | ("or", _, Some(true)) => true,
            ("an", Some(a), Some(b)) => a && b,
            ("or", Some(a), Some(b)) => a || b,
            (_, Some(a), Some(b)) => a != b,
            _ => return None,
        };
        Some(Known::Truth(truth))
    }

    fn arithmetic(&mut self, op: Op<'c>, name: &str, bits: u32) -> Option<Sum> {
        let value = op.result(0);
        let first = self.sum(op.operand(0))?;
        match name {
            "sext" | "extsi" => {
                let truth = op.operand(0).ty().is_int(1);
                return Some(if truth { first.scaled(&-1) } else { first });
            }
            "zext" | "extui" | "index_castui" => {
                let from = width(op.operand(0).ty())?;
                if let Some(number) = first.as_constant() {
                    return Some(Sum::constant(unsigned(number, from)));
                }
                self.demand((op, 0), first.clone());
                return if from <= bits { Some(first) } else { self.within(op, first, bits) };
            }
            "trunc" | "trunci" | "index_cast" => return self.within(op, first, bits),
            _ => {}
        }
        let second = self.sum(op.operand(1))?;
        let sum = match name {
            "add" | "addi" => first.plus(&second, &1),
            "sub" | "subi" => first.plus(&second, &-1),
            "mul" | "muli" => first.times(&second),
            "or" | "ori" if op.has_attr("isDisjoint") => first.plus(&second, &1),
            "shl" | "shli" => {
                let by = second.as_constant().filter(|by| (0..32).contains(by))?;
                first.scaled(&(1 << by))
            }
            _ => {
                let number = of_numbers(name, first.as_constant()?, second.as_constant()?, width(value.ty())?)?;
                return Some(Sum::constant(number));
            }
        };
        if is_nsw(op) { Some(sum) } else { self.within(op, sum, bits) }
    }

    /// A sum that has to stay within a width.
    fn within(&mut self, op: Op<'c>, sum: Sum, bits: u32) -> Option<Sum> {
        if bits == 64 {
            return Some(sum);
        }
        if let Some(number) = sum.as_constant() {
            return Some(Sum::constant(signed(number, bits)));
        }
        let (low, high) = (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1);
        self.demand((op, 0), sum.plus(&Sum::constant(low), &-1));
        self.demand((op, 1), Sum::constant(high).plus(&sum, &-1));
        Some(sum)
    }

    /// Notes that a sum has to be at least 0.
    fn demand(&mut self, origin: Origin<'c>, sum: Sum) {
        if self.symbols.range(&sum).low < 0 {
            self.note(origin, sum);
        }
    }

    fn note(&mut self, origin: Origin<'c>, sum: Sum) {
        let next = self.demands.len();
        let number = *self.asked.entry(origin).or_insert(next);
        if number == next {
            self.demands.push(Vec::new());
        }
        self.demands[number].push((self.place.clone(), sum));
    }

    /// Two numbers that are compared; nothing where they may be beyond what 64 bits hold.
    fn compared(&mut self, op: Op<'c>) -> Option<(Sum, Sum)> {
        let (first, second) = (self.sum(op.operand(0))?, self.sum(op.operand(1))?);
        let fits = |range: Range| range.low > -(1 << 62) && range.high < 1 << 62;
        let narrow = width(op.operand(0).ty())? <= 32;
        if !narrow {
            let demands = [self.symbols.moderate(&first), self.symbols.moderate(&second)].concat();
            demands.into_iter().for_each(|demand| self.demands.push(vec![(self.place.clone(), demand)]));
        }
        let exact = narrow || fits(self.symbols.range(&first)) && fits(self.symbols.range(&second));
        exact.then_some((first, second))
    }

    /// The larger or the smaller of two numbers.
    fn extreme(&mut self, op: Op<'c>, kind: &str) -> Option<Sum> {
        let (first, second) = self.compared(op)?;
        if kind.ends_with("ui") {
            self.demand((op, 2), first.clone());
            self.demand((op, 3), second.clone());
        }
        let larger = self.is_at_least_zero((op, 0), first.plus(&second, &-1))?;
        Some(if larger == kind.starts_with("max") { first } else { second })
    }

    fn comparison(&mut self, op: Op<'c>) -> Option<bool> {
        let predicate = op.attr("predicate").and_then(Attr::as_int)?;
        let (first, second) = self.compared(op)?;
        if let (6.., Some(a), Some(b)) = (predicate, first.as_constant(), second.as_constant()) {
            let bits = width(op.operand(0).ty())?;
            let (a, b) = (unsigned(a, bits), unsigned(b, bits));
            return Some([a < b, a <= b, a > b, a >= b][usize::try_from(predicate - 6).ok().filter(|at| *at < 4)?]);
        }
        if predicate >= 6 {
            self.demand((op, 2), first.clone());
            self.demand((op, 3), second.clone());
        }
        let difference = first.plus(&second, &-1);
        match predicate {
            0 | 1 => {
                if let Some(number) = difference.as_constant() {
                    return Some((number == 0) == (predicate == 0));
                }
                let above = self.symbols.guess(&difference) > 0;
                let apart = less_one(if above { difference } else { difference.scaled(&-1) });
                self.is_at_least_zero((op, 0), apart).filter(|apart| *apart).map(|_| predicate == 1)
            }
            2 | 6 => self.is_at_least_zero((op, 0), difference).map(|holds| !holds),
            3 | 7 => self.is_at_least_zero((op, 0), less_one(difference)).map(|holds| !holds),
            4 | 8 => self.is_at_least_zero((op, 0), less_one(difference)),
            5 | 9 => self.is_at_least_zero((op, 0), difference),
            _ => None,
        }
    }

    /// What is at least 0 if a comparison of signed numbers holds, and only then.
    pub fn at_least_zero(&mut self, comparison: Op<'c>) -> Option<Sum> {
        let predicate = comparison.attr("predicate").and_then(Attr::as_int)?;
        let (first, second) = (self.sum(comparison.operand(0))?, self.sum(comparison.operand(1))?);
        let difference = first.plus(&second, &-1);
        match predicate {
            2 => Some(less_one(difference.scaled(&-1))),
            3 => Some(difference.scaled(&-1)),
            4 => Some(less_one(difference)),
            5 => Some(difference),
            _ => None,
        }
    }

    /// Whether a sum is at least 0: known, or guessed and noted.
    fn is_at_least_zero(&mut self, origin: Origin<'c>, sum: Sum) -> Option<bool> {
        let range = self.symbols.range(&sum);
        if range.low >= 0 || range.high < 0 {
            return Some(range.low >= 0);
        }
        if self.symbols.names_round(&sum) {
            return None;
        }
        let holds = self.symbols.guess(&sum) >= 0;
        let needed = if holds { sum } else { sum.plus(&Sum::constant(1), &1).scaled(&-1) };
        // The answer may differ from place to place: each has its own demand.
        self.note((origin.0, origin.1 + 4 * u8::from(holds)), needed);
        Some(holds)
    }
}

fn less_one(sum: Sum) -> Sum {
    sum.plus(&Sum::constant(1), &-1)
}

/// What a region yields for a result.
fn yielded<'c>(op: Op<'c>, region: usize, value: Value<'c>) -> Option<Value<'c>> {
    op.region(region).first_block()?.terminator().map(|end| end.operand(value.result_number().unwrap_or(0)))
}

fn signed(number: i128, bits: u32) -> i128 {
    let size = 1i128 << bits;
    let low = number.rem_euclid(size);
    if low >= size / 2 { low - size } else { low }
}

fn unsigned(number: i128, bits: u32) -> i128 {
    number.rem_euclid(1i128 << bits)
}

/// An operation on two numbers.
fn of_numbers(name: &str, a: i128, b: i128, bits: u32) -> Option<i128> {
    let (ua, ub) = (unsigned(a, bits), unsigned(b, bits));
    let found = match name {
        "and" | "andi" => ua & ub,
        "or" | "ori" => ua | ub,
        "xor" | "xori" => ua ^ ub,
        "udiv" | "divui" if ub != 0 => ua / ub,
        "urem" | "remui" if ub != 0 => ua % ub,
        "sdiv" | "divsi" if b != 0 => a / b,
        "srem" | "remsi" if b != 0 => a % b,
        "lshr" | "shrui" if ub < i128::from(bits) => ua >> ub,
        "ashr" | "shrsi" if ub < i128::from(bits) => a >> ub,
        _ => return None,
    };
    Some(signed(found, bits))
}
