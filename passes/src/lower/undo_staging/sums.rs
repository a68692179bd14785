//! Sums of products of values that are the same for all threads of a block, as the numbers of one thread are.
//!
//! ```mlir
//! %row = %block_y * 16 + %y ; %at = %row * %cols + %x      // 16 block_y cols + 3 cols + 5 in the thread (5, 3)
//! ```

use std::collections::{BTreeMap, HashMap, HashSet};

use mlir_bridge::ir::{Builder, Op, Value};
use regrain_tuning::polynomial::{Monomial as _, Polynomial, Product};

use crate::analysis::facts::{Range, range, width};

/// A sum of products of [`Symbols`].
pub type Sum = Polynomial<Product<usize>, i128>;

/// The products of a sum by their symbols, each with its coefficient.
type Terms = Vec<(Vec<usize>, i128)>;

/// Where a thread is, and in which rounds of the loops around.
pub type Place = Vec<i64>;

/// What a number of a block is guessed to be: one in the middle of a large grid, and sizes of large problems. No result depends on it,
/// only which blocks are worth a version of their own.
const BLOCK: i128 = 1000;
const SIZE: i128 = 1 << 20;

/// No size that a program asks for is larger, and no sum of a few has more than 64 bits.
const MODERATE: i128 = 1 << 48;

/// The most products of a sum.
const MOST_TERMS: usize = 24;
/// Sums stay far from the limits of 128 bits.
const LARGEST: i128 = 1 << 100;

/// The values that sums are of, integers and indices.
pub struct Symbols<'c> {
    grid: Op<'c>,
    values: Vec<Value<'c>>,
    numbers: HashMap<Value<'c>, usize>,
    /// Those of 64 bits that are taken to be [`MODERATE`].
    moderate: HashSet<usize>,
    /// Those that count the rounds of a loop, with the first and the last of them.
    rounds: HashMap<usize, [Sum; 2]>,
}

impl<'c> Symbols<'c> {
    /// Of the blocks of a grid.
    pub fn new(grid: Op<'c>) -> Self {
        Self { grid, values: Vec::new(), numbers: HashMap::new(), moderate: HashSet::new(), rounds: HashMap::new() }
    }

    /// Takes numbers of 64 bits in a sum to be moderate; gives what has to be at least 0 for that.
    pub fn moderate(&mut self, sum: &Sum) -> Vec<Sum> {
        let factors: Vec<_> = sum.terms().iter().flat_map(|term| term.monomial.factors().to_vec()).collect();
        let mut demands = Vec::new();
        for factor in factors {
            if range_of(self.values[factor]).high > MODERATE && self.moderate.insert(factor) {
                let symbol = Sum::term(Product::of(factor), 1);
                demands.extend([1, -1].map(|sign| Sum::constant(MODERATE).plus(&symbol, &sign)));
            }
        }
        demands
    }

    /// A value as a sum, read as a signed number.
    pub fn of(&mut self, value: Value<'c>) -> Sum {
        let next = self.values.len();
        let number = *self.numbers.entry(value).or_insert(next);
        if number == next {
            self.values.push(value);
        }
        Sum::term(Product::of(number), 1)
    }

    /// The variable of a loop that counts by ones, from the first to the last round, as a sum; nothing if it was said to count otherwise.
    pub fn round(&mut self, variable: Value<'c>, ends: [Sum; 2]) -> Option<Sum> {
        let sum = self.of(variable);
        let known = self.rounds.entry(self.numbers[&variable]).or_insert_with(|| ends.clone());
        (*known == ends).then_some(sum)
    }

    /// How many more rounds there are behind the next one.
    pub fn rounds_left(&self, variable: Value<'c>) -> Option<Sum> {
        let number = self.numbers.get(&variable)?;
        let [_, last] = self.rounds.get(number)?;
        Some(last.plus(&Sum::term(Product::of(*number), 1), &-1).plus(&Sum::constant(1), &-1))
    }

    /// Whether a sum changes from round to round.
    pub fn names_round(&self, sum: &Sum) -> bool {
        sum.terms().iter().any(|term| term.monomial.factors().iter().any(|factor| self.rounds.contains_key(factor)))
    }

    /// A sum without its rounds, and what each round of which loop adds; nothing where that is not even.
    pub fn by_rounds(&self, sum: &Sum) -> Option<(Sum, BTreeMap<usize, Sum>)> {
        let (mut rest, mut steps) = (Sum::default(), BTreeMap::new());
        for term in sum.terms() {
            let (rounds, others): (Vec<usize>, Vec<usize>) =
                term.monomial.factors().iter().partition(|factor| self.rounds.contains_key(factor));
            let product = others.into_iter().fold(Product::one(), |all, other| all.times(&Product::of(other)));
            let own = Sum::term(product, term.coefficient);
            match rounds.as_slice() {
                [] => rest = rest.plus(&own, &1),
                [round] => {
                    let step: &mut Sum = steps.entry(*round).or_default();
                    *step = step.plus(&own, &1);
                }
                _ => return None,
            }
        }
        Some((rest, steps))
    }

    /// What a round of a loop adds to a sum.
    pub fn growth(&self, sum: &Sum, variable: Value<'c>) -> Option<Sum> {
        let (_, mut steps) = self.by_rounds(sum)?;
        Some(steps.remove(self.numbers.get(&variable)?).unwrap_or_default())
    }

    /// The variable of the loop whose rounds a symbol counts, and the first and the last round.
    pub fn counted(&self, round: usize) -> Option<(Value<'c>, &[Sum; 2])> {
        Some((self.values[round], self.rounds.get(&round)?))
    }

    /// A sum in the first and in the last round of each loop.
    pub fn in_outer_rounds(&self, sum: &Sum) -> Option<Vec<Sum>> {
        let (rest, steps) = self.by_rounds(sum)?;
        let mut ends = vec![rest];
        for (round, step) in steps {
            let (_, rounds) = self.counted(round)?;
            let at = |end: &Sum| rounds.iter().map(|at| end.plus(&step.times(at), &1)).collect::<Vec<_>>();
            ends = ends.iter().flat_map(at).collect();
        }
        Some(ends)
    }

    /// What a sum can be.
    pub fn range(&self, sum: &Sum) -> Range {
        let mut found = Range { low: 0, high: 0 };
        for term in sum.terms() {
            let mut product = (term.coefficient, term.coefficient);
            for factor in term.monomial.factors() {
                let own = match self.moderate.contains(factor) {
                    true => Range { low: -MODERATE, high: MODERATE },
                    false => range_of(self.values[*factor]),
                };
                let ends =
                    [product.0, product.1].map(|end| [end.saturating_mul(own.low), end.saturating_mul(own.high)]);
                let ends = ends.concat();
                let [low, high] = [ends.iter().min(), ends.iter().max()].map(|end| end.copied().unwrap_or(0));
                product = (low.clamp(-LARGEST, LARGEST), high.clamp(-LARGEST, LARGEST));
            }
            found = Range { low: found.low.saturating_add(product.0), high: found.high.saturating_add(product.1) };
        }
        found
    }

    /// What a sum is guessed to be.
    pub fn guess(&self, sum: &Sum) -> i128 {
        let guess = |value: Value<'c>| if self.is_block_number(value) { BLOCK } else { SIZE };
        let product = |factors: &[usize]| factors.iter().map(|factor| guess(self.values[*factor])).product::<i128>();
        let terms = sum.terms().iter();
        terms
            .map(|term| term.coefficient.saturating_mul(product(term.monomial.factors())))
            .fold(0, i128::saturating_add)
    }

    fn is_block_number(&self, value: Value<'c>) -> bool {
        value.block_arg().is_some_and(|(block, _)| block == self.grid.body())
    }

    /// Whether a sum grows or falls evenly from each block to the next in x.
    pub fn is_even_in_x(&self, sum: &Sum) -> bool {
        let x = self.numbers.get(&self.grid.body().arg(0));
        sum.terms().iter().all(|term| term.monomial.factors().iter().filter(|factor| Some(*factor) == x).count() <= 1)
    }

    /// Whether the number of the block in x is in a sum.
    pub fn names_x(&self, sum: &Sum) -> bool {
        let x = self.numbers.get(&self.grid.body().arg(0));
        sum.terms().iter().any(|term| term.monomial.factors().iter().any(|factor| Some(factor) == x))
    }
}

/// Makes sums, each part of one once.
pub struct Emitter<'a, 'c> {
    pub symbols: &'a Symbols<'c>,
    pub b: Builder<'c>,
    numbers: HashMap<i64, Value<'c>>,
    products: HashMap<Vec<usize>, Value<'c>>,
    terms: HashMap<(Vec<usize>, i128), Value<'c>>,
    /// Sums without what is added, and with it.
    sums: HashMap<Terms, Value<'c>>,
    shifted: HashMap<(Terms, i64), Value<'c>>,
}

impl<'a, 'c> Emitter<'a, 'c> {
    pub fn new(symbols: &'a Symbols<'c>, b: Builder<'c>) -> Self {
        let (numbers, products) = (HashMap::new(), HashMap::new());
        Self { symbols, b, numbers, products, terms: HashMap::new(), sums: HashMap::new(), shifted: HashMap::new() }
    }

    /// A sum as an i64, modulo 2 to the 64; nothing where a factor has no room there.
    pub fn sum(&mut self, sum: &Sum) -> Option<Value<'c>> {
        let (symbolic, constant) = parts(sum);
        let constant = i64::try_from(constant).ok()?;
        let Some(total) = self.symbolic(&symbolic)? else { return Some(self.number(constant)) };
        if constant == 0 {
            return Some(total);
        }
        let key = (symbolic, constant);
        if let Some(made) = self.shifted.get(&key) {
            return Some(*made);
        }
        let made = self.b.arith("addi", total, self.number(constant));
        self.shifted.insert(key, made);
        Some(made)
    }

    /// The part of a sum with symbols, if there is one.
    fn symbolic(&mut self, terms: &[(Vec<usize>, i128)]) -> Option<Option<Value<'c>>> {
        if let Some(made) = self.sums.get(terms) {
            return Some(Some(*made));
        }
        let mut total: Option<Value<'c>> = None;
        for term in terms {
            let made = self.term(term)?;
            total = Some(total.map_or(made, |total| self.b.arith("addi", total, made)));
        }
        self.sums.extend(total.map(|total| (terms.to_vec(), total)));
        Some(total)
    }

    fn term(&mut self, term: &(Vec<usize>, i128)) -> Option<Value<'c>> {
        if let Some(made) = self.terms.get(term) {
            return Some(*made);
        }
        let (factors, coefficient) = (&term.0, i64::try_from(term.1).ok()?);
        let product = self.product(factors);
        let made = match coefficient {
            1 => product,
            _ => self.b.arith("muli", product, self.number(coefficient)),
        };
        self.terms.insert(term.clone(), made);
        Some(made)
    }

    fn product(&mut self, factors: &[usize]) -> Value<'c> {
        if let Some(made) = self.products.get(factors) {
            return *made;
        }
        let made = match factors {
            [first] => self.wide(self.symbols.values[*first]),
            [rest @ .., last] => {
                let (rest, last) = (self.product(rest), self.product(&[*last]));
                self.b.arith("muli", rest, last)
            }
            [] => self.number(1),
        };
        self.products.insert(factors.to_vec(), made);
        made
    }

    pub fn number(&mut self, number: i64) -> Value<'c> {
        let b = self.b;
        *self.numbers.entry(number).or_insert_with(|| b.const_int(b.ctx().int(64), number))
    }

    fn wide(&self, value: Value<'c>) -> Value<'c> {
        let i64 = self.b.ctx().int(64);
        match value.ty() {
            ty if ty.is_index() => self.b.index_cast(value, i64),
            ty if ty == i64 => value,
            _ => self.b.value("arith.extsi", &[value], i64),
        }
    }
}

fn range_of(value: Value<'_>) -> Range {
    range(value).unwrap_or_else(|| Range::of_width(width(value.ty()).unwrap_or(64)))
}

/// Whether a sum is small enough to go on with.
pub fn is_small(sum: &Sum) -> bool {
    sum.terms().len() <= MOST_TERMS && sum.terms().iter().all(|term| term.coefficient.abs() < 1 << 62)
}

/// The part of a sum with symbols, and the number that is added.
pub fn parts(sum: &Sum) -> (Terms, i128) {
    let symbolic = sum.symbolic().map(|term| (term.monomial.factors().to_vec(), term.coefficient));
    (symbolic.collect(), sum.constant_part())
}

/// Sums that grow evenly from place to place: a base, and what each step in each direction adds.
#[derive(Clone)]
pub struct Even {
    pub base: Sum,
    pub steps: Vec<Sum>,
    /// The first and the last place in each direction.
    pub low: Place,
    pub high: Place,
}

impl Even {
    /// Of sums at places; nothing if they do not grow evenly.
    pub fn of(points: &[(Place, Sum)]) -> Option<Self> {
        let (origin, first) = points.first()?;
        let at: HashMap<&[i64], &Sum> = points.iter().map(|(place, sum)| (place.as_slice(), sum)).collect();
        let (mut low, mut high) = (origin.clone(), origin.clone());
        for (place, _) in points {
            for (number, value) in place.iter().enumerate() {
                low[number] = low[number].min(*value);
                high[number] = high[number].max(*value);
            }
        }
        let mut made = Self { base: first.clone(), steps: Vec::new(), low, high };
        for number in 0..origin.len() {
            let step = made.step(origin, first, &at, number);
            made.base = made.base.plus(&step, &-i128::from(origin[number]));
            made.steps.push(step);
        }
        points.iter().all(|(place, sum)| made.at(place) == *sum).then_some(made)
    }

    /// What a step in one direction adds, by the nearest place in that direction; nothing where there is none, or it is no whole number.
    fn step(&self, origin: &[i64], first: &Sum, at: &HashMap<&[i64], &Sum>, number: usize) -> Sum {
        let mut place = origin.to_vec();
        for value in origin[number] + 1..=self.high[number] {
            place[number] = value;
            if let Some(other) = at.get(place.as_slice()) {
                let whole = i128::from(value - origin[number]);
                let difference = other.plus(first, &-1);
                let even = difference.terms().iter().all(|term| term.coefficient % whole == 0);
                let divided = |sum: Sum, term: &regrain_tuning::polynomial::Term<Product<usize>, i128>| {
                    sum.plus(&Sum::term(term.monomial.clone(), term.coefficient / whole), &1)
                };
                return if even { difference.terms().iter().fold(Sum::default(), divided) } else { Sum::default() };
            }
        }
        Sum::default()
    }

    /// The sum at a place.
    pub fn at(&self, place: &[i64]) -> Sum {
        let steps = self.steps.iter().zip(place);
        steps.fold(self.base.clone(), |sum, (step, number)| sum.plus(step, &i128::from(*number)))
    }

    /// The directions in which the sum changes at all.
    pub fn directions(&self) -> impl Iterator<Item = usize> {
        (0..self.steps.len()).filter(|number| self.low[*number] != self.high[*number] && !self.steps[*number].is_zero())
    }

    /// The sums at the corners of all places, the least of those that differ by a number.
    pub fn corners(&self) -> Vec<Sum> {
        let mut corners = vec![self.low.clone()];
        for number in self.directions() {
            let other = |corner: &Place| {
                let mut corner = corner.clone();
                corner[number] = self.high[number];
                corner
            };
            let others: Vec<_> = corners.iter().map(other).collect();
            corners.extend(others);
        }
        least(corners.iter().map(|corner| self.at(corner)))
    }
}

/// Of sums that differ by a number the least.
pub fn least(sums: impl Iterator<Item = Sum>) -> Vec<Sum> {
    let mut found: BTreeMap<Terms, Sum> = BTreeMap::new();
    for sum in sums {
        let (key, number) = parts(&sum);
        match found.get(&key) {
            Some(known) if known.constant_part() <= number => {}
            _ => {
                found.insert(key, sum);
            }
        }
    }
    found.into_values().collect()
}
