//! How far apart accesses are that go on in the same steps.
//!
//! ```mlir
//! %in[%column + %row * %pitch - %pitch] , %in[%column + %row * %pitch + 2 * %pitch]    // 3 steps in y from one to the other
//! ```
//! Addresses that are told apart by steps have the rest in common, where they are computed and where they are compared.

use std::collections::BTreeMap;

use regrain_tuning::polynomial::{Product, Term};

use super::sums::{Even, Sum, Symbols};

/// From one access to another: steps in each direction and rounds of each loop, and bytes besides.
#[derive(Clone, Default)]
pub struct Distance {
    pub steps: Vec<i64>,
    pub rounds: BTreeMap<usize, i64>,
    pub bytes: i64,
}

impl Distance {
    /// From one access to another; nothing where they go on in other steps, or the distance is no number of them.
    pub fn between(symbols: &Symbols<'_>, from: &Even, to: &Even) -> Option<Self> {
        let (base, rounds) = symbols.by_rounds(&from.base)?;
        let (other, same) = symbols.by_rounds(&to.base)?;
        if from.steps != to.steps || rounds != same {
            return None;
        }
        let mut found = Self { steps: vec![0; from.steps.len()], ..Self::default() };
        let mut rest = other.plus(&base, &-1);
        let of_rounds = rounds.iter().map(|(round, step)| (Err(*round), step));
        let mut steps: Vec<_> = from.steps.iter().enumerate().map(|(number, step)| (Ok(number), step)).collect();
        steps.extend(of_rounds);
        // A plane is many rows: what is left of planes may be told by rows.
        let product = |step: &Sum| longest(step).map(|term| term.monomial.clone());
        steps.sort_by_key(|(_, step)| std::cmp::Reverse(product(step)));
        for (which, step) in steps {
            let times = how_often(&rest, step);
            rest = rest.plus(step, &-i128::from(times));
            match which {
                Ok(number) => found.steps[number] = times,
                Err(round) => _ = found.rounds.insert(round, times),
            }
        }
        found.bytes = rest.as_constant()?.try_into().ok()?;
        Some(found)
    }
}

/// The longest product of symbols in a sum.
fn longest(sum: &Sum) -> Option<&Term<Product<usize>, i128>> {
    sum.symbolic().max_by(|one, other| one.monomial.cmp(&other.monomial))
}

/// How often a step with symbols is in a sum, by the longest of its products.
fn how_often(sum: &Sum, step: &Sum) -> i64 {
    let times = longest(step).map(|term| (sum.coefficient(&term.monomial), term.coefficient));
    times.filter(|(number, one)| number % one == 0).map_or(0, |(number, one)| (number / one).try_into().unwrap_or(0))
}

/// Accesses that are told apart by steps, as one.
pub struct Together {
    pub at: Even,
    pub bytes: i128,
    /// The first and the last round of each loop are so many further.
    pub rounds: BTreeMap<usize, [i64; 2]>,
}

impl Together {
    /// Of accesses of so many bytes.
    pub fn all<'a>(symbols: &Symbols<'_>, accesses: impl Iterator<Item = (&'a Even, u64)>) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        for (at, bytes) in accesses {
            let near = found.iter_mut().find_map(|other| Some((Distance::between(symbols, &other.at, at)?, other)));
            match near {
                Some((distance, other)) => other.take(at, bytes, &distance),
                None => found.push(Self { at: at.clone(), bytes: bytes.into(), rounds: BTreeMap::new() }),
            }
        }
        found
    }

    fn take(&mut self, at: &Even, bytes: u64, distance: &Distance) {
        for (number, further) in distance.steps.iter().enumerate() {
            self.at.low[number] = self.at.low[number].min(at.low[number] + further);
            self.at.high[number] = self.at.high[number].max(at.high[number] + further);
        }
        for (round, further) in &distance.rounds {
            let [first, last] = self.rounds.entry(*round).or_default();
            (*first, *last) = ((*first).min(*further), (*last).max(*further));
        }
        let apart = i128::from(distance.bytes);
        self.bytes = self.bytes.max(apart + i128::from(bytes)) - apart.min(0);
        self.at.base = self.at.base.plus(&Sum::constant(apart.min(0)), &1);
    }
}
