//! Whether two accesses of one object may touch the same byte: whether the difference of their offsets, a constant and multiples
//! of numbers in ranges, can come within their sizes.
//!
//! `4 (x - x') + 64 (y - y') + 4` with x and y below 16 is never between -4 and 4 for different threads: no number of rows
//! makes up for a step within one.

use crate::analysis::facts::Range;

/// The difference of two offsets: a constant and multiples of numbers in ranges.
pub struct Meeting {
    pub constant: i128,
    digits: Vec<Digit>,
    /// Two threads may differ without that the digits do.
    pub any_thread: bool,
}

#[derive(Clone, Copy)]
struct Digit {
    factor: i128,
    range: Range,
    /// The difference of the threads' numbers in one dimension.
    thread: bool,
}

/// How many cases are looked at before two accesses are taken to meet.
const CASES: u32 = 4096;

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
        let mut cases = CASES;
        self.search(0, self.constant, [-left, right], self.any_thread, &mut cases)
    }

    fn search(&self, at: usize, sum: i128, bounds: [i128; 2], differ: bool, cases: &mut u32) -> bool {
        if *cases == 0 {
            return true;
        }
        *cases -= 1;
        let Some(digit) = self.digits.get(at) else { return differ && bounds[0] < sum && sum < bounds[1] };
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
            return true;
        }
        (first..=last).any(|number| {
            let differ = differ || (digit.thread && number != 0);
            self.search(at + 1, sum + digit.factor * number, bounds, differ, cases)
        })
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
    fn the_search_finds_what_trying_everything_finds() {
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
            let found = meeting.can_be_within(sizes[0], sizes[1]);
            assert_eq!(found, expected, "{digits:?} and sizes {sizes:?}");
        }
        assert!(some > 1000 && none > 1000, "{some} meet and {none} do not");
    }
}
