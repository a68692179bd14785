//! Polynomials over values that are the same for all threads, whose coefficients are numbers, one for each thread.

use std::rc::Rc;

use regrain_tuning::polynomial::{self, Monomial, Polynomial, Product};

/// Threads that are looked at where the shape of the block is not constant.
pub const WARP: usize = 32;
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

    pub(super) fn each(numbers: Vec<i64>) -> Self {
        match numbers.first() {
            Some(first) if numbers.iter().all(|number| number == first) => Same(*first),
            _ => Each(numbers.into()),
        }
    }

    pub(super) fn join(&self, other: &Self, with: impl Fn(i64, i64) -> i64) -> Self {
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

    pub(super) fn numbers(value: Coefficient) -> Self {
        Self(Polynomial::constant(value))
    }

    pub(super) fn symbol(symbol: u32) -> Self {
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

    pub(super) fn is_small(&self) -> bool {
        self.0.terms().len() <= MOST_TERMS
    }

    pub(super) fn times(&self, other: &Self) -> Option<Self> {
        let terms = self.0.terms().len() * other.0.terms().len();
        (terms <= MOST_TERMS).then(|| Self(self.0.times(&other.0)))
    }

    pub fn scaled(&self, by: i64) -> Self {
        Self(self.0.scaled(&Same(by)))
    }

    /// Divided by a number (`rest`: what is left over) where the symbols' coefficients are multiples of it.
    pub(super) fn divided(&self, by: i64, rest: bool) -> Option<Self> {
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
