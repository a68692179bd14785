//! Whether two accesses of one object may touch the same byte: whether the difference of their offsets, a constant and multiples
//! of numbers in ranges, can come within their sizes.
//!
//! `4 (x - x') + 64 (y - y') + 4` with x and y below 16 is never between -4 and 4 for different threads: no number of rows
//! makes up for a step within one.
//!
//! A search over the numbers decides nearly all questions; where a range is too wide for it, as in `8 i - 8 j + 4` with any i and
//! j, MLIR's Presburger library does.

use std::{cell::RefCell, collections::HashMap};

use mlir_bridge::transforms::Polyhedron;

use crate::analysis::facts::Range;

/// The difference of two offsets: a constant and multiples of numbers in ranges.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Meeting {
    pub constant: i128,
    digits: Vec<Digit>,
    /// Two threads may differ without that the digits do.
    pub any_thread: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Digit {
    factor: i128,
    range: Range,
    /// The difference of the threads' numbers in one dimension.
    thread: bool,
}

thread_local! {
    /// The same questions come up again, between the accesses of other rounds, barriers and grains.
    static ANSWERS: RefCell<HashMap<(Meeting, [i128; 2]), bool>> = RefCell::default();
}

/// How many answers are kept.
const MOST_ANSWERS: usize = 1 << 16;

fn greatest_divisor(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { greatest_divisor(b, a % b) }
}

/// How many cases the search looks at.
const CASES: u32 = 4096;
/// With more numbers than these, what the search leaves open is taken to meet.
const MOST_VARIABLES: usize = 3;

impl Meeting {
    pub fn new(constant: i128, any_thread: bool) -> Self {
        Self { constant, digits: Vec::new(), any_thread }
    }

    /// Adds a multiple of a number in a range.
    pub fn digit(&mut self, factor: i128, range: Range, thread: bool) {
        if factor != 0 {
            self.digits.push(Digit { factor, range, thread });
        }
    }

    /// Whether the difference can be less than `right`, and more than minus `left` bytes.
    pub fn can_be_within(mut self, left: i128, right: i128) -> bool {
        self.digits.sort_by_key(|digit| std::cmp::Reverse(digit.factor.abs()));
        let reach =
            |digit: &Digit| digit.factor.abs().saturating_mul(digit.range.low.abs().max(digit.range.high.abs()));
        let total = self.digits.iter().map(reach).fold(self.constant.abs(), i128::saturating_add);
        if total >= i128::from(i64::MAX) {
            return true;
        }
        let bounds = [-left, right];
        if self.misses(bounds) {
            return false;
        }
        ANSWERS.with_borrow_mut(|answers| {
            let question = (self, bounds);
            if let Some(known) = answers.get(&question) {
                return *known;
            }
            if answers.len() >= MOST_ANSWERS {
                answers.clear();
            }
            let found = question.0.decide(bounds);
            answers.insert(question, found);
            found
        })
    }

    fn decide(&self, bounds: [i128; 2]) -> bool {
        let mut cases = CASES;
        let found = self.search(0, self.constant, bounds, self.any_thread, &mut cases);
        found.unwrap_or_else(|| self.has_points(bounds))
    }

    /// Whether no sum is between the bounds because of what divides all factors.
    fn misses(&self, bounds: [i128; 2]) -> bool {
        let divisor = self.digits.iter().fold(0, |divisor, digit| greatest_divisor(divisor, digit.factor.abs()));
        if divisor == 0 {
            return false;
        }
        let first = bounds[0] + 1;
        first + (self.constant - first).rem_euclid(divisor) >= bounds[1]
    }

    /// Looks for numbers that bring the sum between the bounds; `None` if that takes too many cases.
    fn search(&self, at: usize, sum: i128, bounds: [i128; 2], differ: bool, cases: &mut u32) -> Option<bool> {
        *cases = cases.checked_sub(1)?;
        let Some(digit) = self.digits.get(at) else { return Some(differ && bounds[0] < sum && sum < bounds[1]) };
        let (mut least, mut most) = (0, 0);
        for rest in &self.digits[at + 1..] {
            let ends = [rest.factor * rest.range.low, rest.factor * rest.range.high];
            least += ends[0].min(ends[1]);
            most += ends[0].max(ends[1]);
        }
        // bounds[0] - most < sum + factor * number < bounds[1] - least
        let (low, high) = (bounds[0] - most - sum + 1, bounds[1] - least - sum - 1);
        let (first, last) = match digit.factor > 0 {
            true => (ceiling(low, digit.factor), high.div_euclid(digit.factor)),
            false => (ceiling(-high, -digit.factor), (-low).div_euclid(-digit.factor)),
        };
        let (first, last) = (first.max(digit.range.low), last.min(digit.range.high));
        if last - first >= i128::from(*cases) {
            return None;
        }
        for number in first..=last {
            let differ = differ || (digit.thread && number != 0);
            if self.search(at + 1, sum + digit.factor * number, bounds, differ, cases)? {
                return Some(true);
            }
        }
        Some(false)
    }

    /// Whether there are such numbers, by Presburger arithmetic.
    fn has_points(&self, bounds: [i128; 2]) -> bool {
        if self.digits.len() > MOST_VARIABLES {
            return true;
        }
        let Some(all) = self.polyhedron(bounds) else { return true };
        if self.any_thread {
            return !all.is_empty();
        }
        // Some thread number differs: it is more than zero, or less.
        let mut unit = vec![0; self.digits.len()];
        for (number, _) in self.digits.iter().enumerate().filter(|(_, digit)| digit.thread) {
            for side in [1, -1] {
                unit[number] = side;
                if !all.clone().with(&unit, -1).is_empty() {
                    return true;
                }
            }
            unit[number] = 0;
        }
        false
    }

    /// The numbers in their ranges whose sum is between the bounds; `None` if 64 bits do not hold it.
    fn polyhedron(&self, bounds: [i128; 2]) -> Option<Polyhedron> {
        let small = |number: i128| i64::try_from(number).ok();
        let factors = self.digits.iter().map(|digit| small(digit.factor)).collect::<Option<Vec<_>>>()?;
        let negated: Vec<_> = factors.iter().map(|factor| -factor).collect();
        let mut made = Polyhedron::new(factors.len())
            .with(&factors, small(self.constant - bounds[0] - 1)?)
            .with(&negated, small(bounds[1] - 1 - self.constant)?);
        let mut unit = vec![0; factors.len()];
        for (number, digit) in self.digits.iter().enumerate() {
            unit[number] = 1;
            made = made.with(&unit, small(-digit.range.low)?);
            unit[number] = -1;
            made = made.with(&unit, small(digit.range.high)?);
            unit[number] = 0;
        }
        Some(made)
    }
}

fn ceiling(number: i128, divisor: i128) -> i128 {
    -(-number).div_euclid(divisor)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tries every value of every digit.
    fn meets(meeting: &Meeting, at: usize, sum: i128, differ: bool, sizes: [i128; 2]) -> bool {
        let Some(digit) = meeting.digits.get(at) else { return differ && -sizes[0] < sum && sum < sizes[1] };
        (digit.range.low..=digit.range.high).any(|number| {
            meets(meeting, at + 1, sum + digit.factor * number, differ || (digit.thread && number != 0), sizes)
        })
    }

    #[test]
    fn search_and_presburger_find_what_trying_everything_finds() {
        let mut state = 1u64;
        let mut random = |count: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            i128::from((state >> 33) % count)
        };
        let (mut some, mut none) = (0, 0);
        for _ in 0..20_000 {
            let mut meeting = Meeting { constant: random(81) - 40, digits: Vec::new(), any_thread: random(4) == 0 };
            for _ in 0..random(4) {
                let (low, extent) = (-random(4), random(8));
                let thread = random(2) == 0;
                let range =
                    if thread { Range { low: -extent, high: extent } } else { Range { low, high: low + extent } };
                meeting.digit(random(61) - 30, range, thread);
            }
            let sizes = [1 + random(8), 1 + random(8)];
            let expected = meets(&meeting, 0, meeting.constant, meeting.any_thread, sizes);
            if expected {
                some += 1
            } else {
                none += 1
            }
            let digits: Vec<_> = meeting.digits.iter().map(|digit| (digit.factor, digit.range, digit.thread)).collect();
            assert_eq!(meeting.has_points([-sizes[0], sizes[1]]), expected, "{digits:?} and sizes {sizes:?}");
            let found = meeting.can_be_within(sizes[0], sizes[1]);
            assert_eq!(found, expected, "{digits:?} and sizes {sizes:?}");
        }
        assert!(some > 1000 && none > 1000, "{some} meet and {none} do not");
    }

    #[test]
    fn wide_ranges_are_decided_by_divisors() {
        let all = Range::of_width(32);
        for (constant, meets) in [(4, false), (8, true)] {
            let mut meeting = Meeting::new(constant, true);
            meeting.digit(8, all, false);
            meeting.digit(-8, all, false);
            assert_eq!(meeting.can_be_within(4, 4), meets, "at a distance of {constant} bytes");
        }
    }
}
