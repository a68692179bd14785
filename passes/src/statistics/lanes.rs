//! How a value differs between the threads of a block: polynomials over values that are the same for all threads, whose
//! coefficients are numbers, one for each thread.
//!
//! ```mlir
//! scf.parallel (%x, %y, %z) = ... to (%c16, %c16, %c1) {
//!   %r = arith.muli %y, %pitch            // pitch * [0, 0, ..., 1, 1, ...]
//!   %i = arith.addi %r, %x                // pitch * [0, 0, ..., 1, 1, ...] + [0, 1, ..., 0, 1, ...]
//!   %p = llvm.getelementptr %a[%i] : f32  // a + 4 * that
//! ```
//! Made for statistics, not for legality: arithmetic is taken not to wrap, quotients to be of what is not negative, and a
//! choice between a clamped and a varying value to be the varying one. Blocks of a constant shape are looked at whole, others
//! by one warp of neighbours in x.

use std::collections::HashMap;
use std::rc::Rc;

use mlir_bridge::ir::{Op, Value};
use regrain_dialects::ops::{ActiveMask, BarrierReduce, DynamicShared, LaneId, Shared, Vote, WarpId, WarpReduce};
use regrain_tuning::polynomial::{self, Monomial, Polynomial, Product};

use crate::analysis::addresses::steps;
use crate::analysis::facts::constant;
use crate::analysis::loops::{Carried, Counting, carried};
use crate::analysis::uniformity::repeatable;

/// Threads that are looked at where the shape of the block is not constant.
pub const WARP: usize = 32;
/// The most threads of a block.
const MOST_THREADS: i64 = 1024;
/// Longer chains of operations are given up.
const MOST_DEPTH: u32 = 256;
/// Larger polynomials are given up.
const MOST_TERMS: usize = 24;

/// A number for each thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Coefficient {
    /// The same for all.
    Same(i64),
    /// One for each.
    Each(Rc<[i64]>),
}

use Coefficient::{Each, Same};

impl Coefficient {
    /// That of one thread.
    pub fn of(&self, thread: usize) -> i64 {
        match self {
            Same(number) => *number,
            Each(numbers) => numbers.get(thread).copied().unwrap_or(0),
        }
    }

    fn each(numbers: Vec<i64>) -> Self {
        match numbers.first() {
            Some(first) if numbers.iter().all(|number| number == first) => Same(*first),
            _ => Each(numbers.into()),
        }
    }

    fn join(&self, other: &Self, with: impl Fn(i64, i64) -> i64) -> Self {
        match (self, other) {
            (Same(a), Same(b)) => Same(with(*a, *b)),
            (Same(a), Each(b)) => Self::each(b.iter().map(|b| with(*a, *b)).collect()),
            (Each(a), Same(b)) => Self::each(a.iter().map(|a| with(*a, *b)).collect()),
            (Each(a), Each(b)) => Self::each(a.iter().zip(b.iter()).map(|(a, b)| with(*a, *b)).collect()),
        }
    }
}

impl polynomial::Coefficient for Coefficient {
    fn zero() -> Self {
        Same(0)
    }

    fn plus(&self, other: &Self) -> Self {
        self.join(other, i64::wrapping_add)
    }

    fn times(&self, other: &Self) -> Self {
        self.join(other, i64::wrapping_mul)
    }
}

/// A product of values that are the same for all threads, by number.
type Symbols = Product<u32>;

/// A value as a polynomial.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Form(Polynomial<Symbols, Coefficient>);

impl Form {
    pub fn number(value: i64) -> Self {
        Self::numbers(Same(value))
    }

    fn numbers(value: Coefficient) -> Self {
        Self(Polynomial::constant(value))
    }

    fn symbol(symbol: u32) -> Self {
        Self(Polynomial::term(Product::of(symbol), Same(1)))
    }

    /// Whether it is the same for all threads.
    pub fn is_uniform(&self) -> bool {
        self.0.terms().iter().all(|term| matches!(term.coefficient, Same(_)))
    }

    /// Whether it is the same for all threads of each warp.
    pub fn is_uniform_in_warps(&self, threads: usize) -> bool {
        let same = |value: &Coefficient| match value {
            Same(_) => true,
            Each(numbers) => numbers.chunks(WARP).all(|warp| warp.iter().all(|number| Some(number) == warp.first())),
        };
        threads > 0 && self.0.terms().iter().all(|term| same(&term.coefficient))
    }

    /// The numbers, if there is no symbol in it.
    pub fn as_numbers(&self) -> Option<Coefficient> {
        self.0.as_constant()
    }

    /// The part without symbols.
    pub fn offset(&self) -> Coefficient {
        self.0.constant_part()
    }

    /// The parts with symbols.
    pub fn symbolic(&self) -> impl Iterator<Item = (&[u32], &Coefficient)> {
        self.0.symbolic().map(|term| (term.monomial.factors(), &term.coefficient))
    }

    pub fn plus(&self, other: &Self) -> Self {
        Self(self.0.plus(&other.0, &Same(1)))
    }

    pub fn minus(&self, other: &Self) -> Self {
        Self(self.0.plus(&other.0, &Same(-1)))
    }

    fn is_small(&self) -> bool {
        self.0.terms().len() <= MOST_TERMS
    }

    fn times(&self, other: &Self) -> Option<Self> {
        let terms = self.0.terms().len() * other.0.terms().len();
        (terms <= MOST_TERMS).then(|| Self(self.0.times(&other.0)))
    }

    pub fn scaled(&self, by: i64) -> Self {
        Self(self.0.scaled(&Same(by)))
    }

    /// Divided by a number (`rest`: what is left over) where the symbols' coefficients are multiples of it.
    fn divided(&self, by: i64, rest: bool) -> Option<Self> {
        let mut made = Polynomial::default();
        for term in self.0.terms() {
            let part = match (&term.coefficient, term.monomial == Symbols::one()) {
                (value, true) => value.join(&Same(by), if rest { i64::rem_euclid } else { i64::div_euclid }),
                (Same(number), false) if number % by == 0 => Same(if rest { 0 } else { number / by }),
                _ => return None,
            };
            made = made.plus(&Polynomial::term(term.monomial.clone(), part), &Same(1));
        }
        Some(Self(made))
    }
}

/// What is known of values, `None` where nothing is.
type Known = Option<Rc<Form>>;

/// The analysis of one wrapper.
pub struct Lanes<'c> {
    /// The block loop.
    nest: Op<'c>,
    /// The threads that are looked at, in CUDA's linear order.
    threads: Vec<[i64; 3]>,
    known: HashMap<Value<'c>, Known>,
    /// The order in which `known` grew.
    log: Vec<Value<'c>>,
    symbols: u32,
    /// How deep in operands the analysis is.
    depth: u32,
    /// Values that compute the same, as found by the caller.
    same: HashMap<Value<'c>, Value<'c>>,
}

impl<'c> Lanes<'c> {
    pub fn new(nest: Op<'c>) -> Self {
        let sizes: Vec<_> = Counting::dimensions(nest).iter().map(|counting| constant(counting.upper)).collect();
        let product: Option<i64> = sizes.iter().copied().product();
        let total = product.filter(|total| (1..=MOST_THREADS).contains(total)).unwrap_or(WARP as i64);
        let x = sizes[0].filter(|x| *x >= 1).unwrap_or(total);
        let y = sizes[1].filter(|y| *y >= 1).unwrap_or(total);
        let threads = (0..total).map(|t| [t % x, t / x % y, t / x / y]).collect();
        Self { nest, threads, known: HashMap::new(), log: Vec::new(), symbols: 0, depth: 0, same: HashMap::new() }
    }

    /// How many threads are looked at.
    pub fn threads(&self) -> usize {
        self.threads.len()
    }

    /// Tells that a value computes the same as another.
    pub fn equate(&mut self, value: Value<'c>, same: Value<'c>) {
        self.same.insert(value, same);
    }

    /// The value that stands for all that compute the same.
    pub fn representative(&self, value: Value<'c>) -> Value<'c> {
        self.same.get(&value).copied().unwrap_or(value)
    }

    fn fresh(&mut self) -> Form {
        self.symbols += 1;
        Form::symbol(self.symbols)
    }

    fn opaque(&mut self) -> Known {
        Some(Rc::new(self.fresh()))
    }

    fn learn(&mut self, value: Value<'c>, known: Known) {
        self.known.insert(value, known);
        self.log.push(value);
    }

    /// The form of a value.
    pub fn form(&mut self, value: Value<'c>) -> Known {
        let value = self.representative(value);
        if let Some(known) = self.known.get(&value) {
            return known.clone();
        }
        if self.depth == MOST_DEPTH {
            return None;
        }
        self.depth += 1;
        let found = match value.defining_op() {
            Some(op) => self.of_op(op, value),
            None => self.of_argument(value),
        };
        self.depth -= 1;
        // Arguments of loops are learnt with what is in the loop.
        if !self.known.contains_key(&value) {
            self.learn(value, found.clone());
        }
        found
    }

    pub fn is_uniform(&mut self, value: Value<'c>) -> bool {
        self.form(value).is_some_and(|form| form.is_uniform())
    }

    fn linear(&self, of: impl Fn(i64) -> i64) -> Known {
        let numbers = (0..self.threads.len() as i64).map(of).collect();
        Some(Rc::new(Form::numbers(Coefficient::each(numbers))))
    }

    fn of_argument(&mut self, value: Value<'c>) -> Known {
        let (block, number) = value.block_arg()?;
        let Some(owner) = block.parent_op() else { return self.opaque() };
        if owner == self.nest {
            let numbers = self.threads.iter().map(|thread| thread[number]).collect();
            return Some(Rc::new(Form::numbers(Coefficient::each(numbers))));
        }
        if !self.nest.is_proper_ancestor_of(owner) {
            return self.opaque();
        }
        if let Some((_, _, counting)) = Counting::of_variable(value).filter(|_| owner.is("scf.for")) {
            let (low, step) = (self.form(counting.lower)?, self.is_uniform(counting.step));
            let start = if low.is_uniform() { Form::default() } else { (*low).clone() };
            return step.then(|| Rc::new(start.plus(&self.fresh())));
        }
        if let Some(carried) = carried(value) {
            return self.carried(value, carried);
        }
        match owner.name() {
            "scf.while" => {
                let condition = owner.region(0).entry().terminator()?;
                self.form(condition.operand(1 + number))
            }
            _ => None,
        }
    }

    /// A value that a loop carries: what it begins with, and something uniform added in each iteration.
    fn carried(&mut self, value: Value<'c>, carried: Carried<'c>) -> Known {
        let first = self.form(carried.first)?;
        let start = if first.is_uniform() { Form::default() } else { (*first).clone() };
        let assumed = Rc::new(start.plus(&self.fresh()));
        let before = self.log.len();
        self.learn(value, Some(assumed.clone()));
        if self.form(carried.next).is_some_and(|next| next.minus(&assumed).is_uniform()) {
            return Some(assumed);
        }
        // All that was concluded from the assumption is void.
        for wrong in self.log.split_off(before) {
            self.known.remove(&wrong);
        }
        self.learn(value, None);
        None
    }

    fn of_op(&mut self, op: Op<'c>, value: Value<'c>) -> Known {
        if let Some(number) = constant(value) {
            return Some(Rc::new(Form::number(number)));
        }
        let name = op.name();
        let short = name.split_once('.').map_or(name, |(_, rest)| rest);
        match name {
            Shared::NAME | DynamicShared::NAME | "llvm.mlir.addressof" | "llvm.alloca" => {
                return self.opaque();
            }
            LaneId::NAME => return self.linear(|thread| thread % WARP as i64),
            WarpId::NAME => return self.linear(|thread| thread / WARP as i64),
            // All threads of a warp or block get the same.
            Vote::NAME | WarpReduce::NAME | BarrierReduce::NAME | ActiveMask::NAME => {
                return self.opaque();
            }
            "scf.if" => return self.of_if(op, value),
            "scf.for" | "scf.while" => return self.of_loop(op, value),
            "llvm.getelementptr" => return self.of_address(op),
            "llvm.load" => return if self.is_uniform(op.operand(0)) { self.opaque() } else { None },
            _ => {}
        }
        match short {
            "sext" | "zext" | "trunc" | "extsi" | "extui" | "trunci" | "index_cast" | "index_castui" | "ptrtoint"
            | "inttoptr" | "addrspacecast" | "bitcast" | "freeze" => self.form(op.operand(0)),
            "select" => self.choice(op.operand(0), op.operand(1), op.operand(2)),
            _ if op.num_operands() == 2 => self.of_pair(op, short),
            _ => self.of_other(op),
        }
    }

    /// Whatever computes the same from the same operands.
    fn of_other(&mut self, op: Op<'c>) -> Known {
        let outside = !self.nest.is_ancestor_of(op);
        let uniform = outside
            || (op.num_regions() == 0 && repeatable(op) && op.operands().into_iter().all(|v| self.is_uniform(v)));
        if uniform { self.opaque() } else { None }
    }

    fn of_pair(&mut self, op: Op<'c>, name: &str) -> Known {
        let (Some(a), Some(b)) = (self.form(op.operand(0)), self.form(op.operand(1))) else { return self.of_other(op) };
        let number = b.as_numbers();
        let by = match number {
            Some(Same(number)) => Some(number),
            _ => None,
        };
        let power = by.filter(|by| (0..62).contains(by)).map(|by| 1i64 << by);
        let made = match (name, by) {
            ("add" | "addi", _) => Some(a.plus(&b)),
            ("or" | "ori", _) if op.has_attr("isDisjoint") => Some(a.plus(&b)),
            ("sub" | "subi", _) => Some(a.minus(&b)),
            ("mul" | "muli", _) => a.times(&b),
            ("shl" | "shli", _) => power.map(|power| a.scaled(power)),
            ("lshr" | "shrui" | "ashr" | "shrsi", _) => power.and_then(|power| a.divided(power, false)),
            ("udiv" | "divui" | "sdiv" | "divsi", Some(by)) if by > 0 => a.divided(by, false),
            ("urem" | "remui" | "srem" | "remsi", Some(by)) if by > 0 => a.divided(by, true),
            ("and" | "andi", Some(mask)) if mask > 0 && (mask + 1) & mask == 0 => a.divided(mask + 1, true),
            ("icmp" | "cmpi", _) => compared(op, &a.minus(&b)),
            ("intr.smin" | "intr.umin" | "minsi" | "minui" | "intr.smax" | "intr.umax" | "maxsi" | "maxui", _) => {
                clamped(&a, &b)
            }
            _ => None,
        };
        match made.or_else(|| by_number(name, &a, &b)) {
            Some(made) if made.is_small() => Some(Rc::new(made)),
            _ => self.of_other(op),
        }
    }

    fn of_address(&mut self, op: Op<'c>) -> Known {
        let mut sum = (*self.form(op.operand(0))?).clone();
        let step = steps(op)?;
        for (index, stride) in step.indices {
            sum = sum.plus(&self.form(index)?.scaled(stride));
        }
        Some(Rc::new(sum.plus(&Form::number(step.bytes))))
    }

    fn of_if(&mut self, op: Op<'c>, value: Value<'c>) -> Known {
        let number = value.result_number()?;
        let yields: Vec<_> = op.regions().into_iter().filter_map(|r| r.first_block()?.terminator()).collect();
        let [then, otherwise] = yields[..] else { return None };
        self.choice(op.operand(0), then.operand(number), otherwise.operand(number))
    }

    fn choice(&mut self, condition: Value<'c>, then: Value<'c>, otherwise: Value<'c>) -> Known {
        let (a, b) = (self.form(then)?, self.form(otherwise)?);
        if a == b {
            return Some(a);
        }
        if self.is_uniform(condition) && a.minus(&b).is_uniform() {
            return Some(Rc::new(a.plus(&self.fresh())));
        }
        match (a.is_uniform(), b.is_uniform()) {
            (true, false) => Some(b),
            (false, true) => Some(a),
            // Neighbours on the other side of a border differ by little.
            (false, false) if a.minus(&b).is_uniform() => Some(a),
            _ => None,
        }
    }

    /// Results of loops: as inside, where all threads leave at once.
    fn of_loop(&mut self, op: Op<'c>, value: Value<'c>) -> Known {
        let number = value.result_number()?;
        if let Some(counting) = Counting::of(op) {
            let together = counting.bounds().into_iter().all(|bound| self.is_uniform(bound));
            let carried = self.form(op.body().arg(1 + number))?;
            return together.then_some(carried);
        }
        let condition = op.region(0).entry().terminator()?;
        let together = self.is_uniform(condition.operand(0));
        let carried = self.form(condition.operand(1 + number))?;
        together.then_some(carried)
    }
}

/// One of two values, the smaller or the larger: a border of what varies.
fn clamped(a: &Form, b: &Form) -> Option<Form> {
    match (a.is_uniform(), b.is_uniform()) {
        (true, false) => Some(b.clone()),
        (false, true) => Some(a.clone()),
        (false, false) if a.minus(b).is_uniform() => Some(a.clone()),
        _ => None,
    }
}

/// A comparison that the difference of its sides decides.
fn compared(op: Op<'_>, difference: &Form) -> Option<Form> {
    let predicate = op.attr("predicate").and_then(|predicate| predicate.as_int())?;
    let holds = move |d: i64| match predicate {
        0 => d == 0,
        1 => d != 0,
        2 | 6 => d < 0,
        3 | 7 => d <= 0,
        4 | 8 => d > 0,
        _ => d >= 0,
    };
    Some(Form::numbers(difference.as_numbers()?.join(&Same(0), |d, _| holds(d).into())))
}

/// Bits and choices of numbers.
fn by_number(name: &str, a: &Form, b: &Form) -> Option<Form> {
    let (a, b) = (a.as_numbers()?, b.as_numbers()?);
    let with: fn(i64, i64) -> i64 = match name {
        "and" | "andi" => |a, b| a & b,
        "or" | "ori" => |a, b| a | b,
        "xor" | "xori" => |a, b| a ^ b,
        "shl" | "shli" => |a, b| if (0..63).contains(&b) { a.wrapping_shl(b as u32) } else { 0 },
        "lshr" | "shrui" | "ashr" | "shrsi" => |a, b| if (0..63).contains(&b) { a >> b } else { 0 },
        "udiv" | "divui" | "sdiv" | "divsi" => |a, b| a.checked_div(b).unwrap_or(0),
        "urem" | "remui" | "srem" | "remsi" => |a, b| a.checked_rem(b).unwrap_or(0),
        _ => return None,
    };
    Some(Form::numbers(a.join(&b, with)))
}
