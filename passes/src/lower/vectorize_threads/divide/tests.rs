//! What is made of a division gives what the division gives, computed as the row computes it.

use super::*;
use crate::{analysis::facts::Range, lower::vectorize_threads::division::SINGLE};

/// Numbers at the edges of what integers of so many bits are, of what a format has exactly, and of what single precision serves.
fn edges(bits: u32, signed: bool) -> Vec<i128> {
    let all = if signed { Range::of_width(bits) } else { Range { low: 0, high: (1 << bits) - 1 } };
    let powers = (0..=bits).flat_map(|power| (-2..=2).map(move |more| (1i128 << power) + more));
    let mut found: Vec<_> = powers.flat_map(|number| [number, -number]).collect();
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    for _ in 0..300 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // Of all sizes alike, or nearly all would be large.
        let size = state % u64::from(bits) + 1;
        let number = i128::from(state >> 20) & ((1 << size) - 1);
        found.extend([number, -number]);
    }
    found.retain(|number| all.low <= *number && *number <= all.high);
    found.sort_unstable();
    found.dedup();
    found
}

/// What the row computes; a result that does not fit its type is none of a division that is defined.
fn row(how: Division, a: i128, b: i128) -> i128 {
    match (how.single, how.uniform) {
        (true, false) => (a as f32 / b as f32).trunc() as i128,
        (false, false) => (a as f64 / b as f64).trunc() as i128,
        (true, true) => ((a as f32 + 0.5f32.copysign(a as f32)) * (1.0 / b as f32)).trunc() as i128,
        (false, true) => ((a as f64 + 0.5f64.copysign(a as f64)) * (1.0 / b as f64)).trunc() as i128,
    }
}

/// The same of large numbers that are not negative; whether the processor rounds between a multiplication and an addition is left to it.
fn nearest(a: i128, b: i128) -> [i128; 2] {
    let (moved, factor) = (a as f64 + (0.5 - b as f64 * 0.5), 1.0 / b as f64);
    let integer = |sum: f64| i128::from(sum.to_bits().wrapping_sub(ONES.to_bits()).cast_signed());
    [integer(moved * factor + ONES), integer(moved.mul_add(factor, ONES))]
}

#[test]
fn large_positive_integers() {
    let small: Vec<_> = edges(64, false).into_iter().filter(|number| *number < DOUBLE).collect();
    let near = |b: i128, a: i128| [a / b * b - 1, a / b * b, a / b * b + b - 1].map(|a| a.clamp(0, DOUBLE - 1));
    for b in small.iter().filter(|b| **b != 0) {
        for a in small.iter().flat_map(|a| near(*b, *a).into_iter().chain([*a])) {
            assert_eq!(nearest(a, *b), [a / b; 2], "{a} / {b}");
        }
    }
}

fn check(bits: u32, signed: bool, dividends: &[i128], divisors: &[i128]) {
    let hull = |numbers: &[i128]| Range { low: numbers[0], high: numbers[numbers.len() - 1] };
    let how = Division::of_ranges(bits, signed, hull(dividends), hull(divisors)).expect("a division that rows have");
    for uniform in [false, true] {
        let how = Division { uniform, ..how };
        for a in dividends {
            for b in divisors.iter().filter(|b| **b != 0) {
                assert_eq!(row(how, *a, *b), a / b, "{a} / {b}, {how:?}");
            }
        }
    }
}

#[test]
fn all_bytes() {
    for signed in [false, true] {
        let all: Vec<_> = if signed { (-128..128).collect() } else { (0..256).collect() };
        check(8, signed, &all, &all);
    }
}

#[test]
fn all_short_dividends() {
    for signed in [false, true] {
        let all: Vec<_> = if signed { (-32768..32768).collect() } else { (0..65536).collect() };
        check(16, signed, &all, &edges(16, signed));
    }
}

#[test]
fn words() {
    for signed in [false, true] {
        check(32, signed, &edges(32, signed), &edges(32, signed));
    }
}

#[test]
fn small_dividends_go_in_single_precision() {
    let small: Vec<_> = edges(32, true).into_iter().filter(|a| a.abs() < SINGLE).collect();
    let how = |signed, numbers: &[i128]| {
        let hull = Range { low: numbers[0], high: numbers[numbers.len() - 1] };
        Division::of_ranges(32, signed, hull, Range::of_width(32)).expect("a division that rows have")
    };
    assert!(how(true, &small).single && !how(true, &edges(32, true)).single);
    check(32, true, &small, &edges(32, true));
    let positive: Vec<_> = small.iter().copied().filter(|a| *a >= 0).collect();
    assert!(how(false, &positive).single && !how(false, &small).single, "a small negative number is a large one");
    check(32, false, &positive, &edges(32, false));
}

#[test]
fn wide_integers_that_are_known_to_be_small() {
    let of = |signed, a: Range, b: Range| Division::of_ranges(64, signed, a, b);
    let (word, positive) = (Range::of_width(32), Range { low: 0, high: (1 << 32) - 1 });
    assert!(of(true, word, word).is_some_and(|how| how.wide && how.signed));
    assert!(of(false, positive, positive).is_some_and(|how| how.wide && !how.signed));
    assert_eq!(of(false, word, word), None, "negative numbers are large ones");
    assert_eq!(of(true, Range::of_width(64), word), None);
    assert_eq!(row(of(true, word, word).expect("seen above"), -1 << 31, -1), 1 << 31);
}

#[test]
fn large_integers_below_the_limit() {
    let small: Vec<_> = edges(64, true).into_iter().filter(|number| number.abs() < DOUBLE).collect();
    let all = Range::of_width(64);
    for uniform in [false, true] {
        let how = Division { uniform, ..Division::of_large(true, all, all) };
        assert_eq!(how.asked, Some([true, true]));
        for a in &small {
            let bits = f64::from_bits(ONES.to_bits().wrapping_add_signed(*a as i64));
            assert_eq!(bits - ONES, *a as f64);
            assert_eq!((*a as f64 + ONES).to_bits().wrapping_sub(ONES.to_bits()).cast_signed(), *a as i64);
            for b in small.iter().filter(|b| **b != 0) {
                assert_eq!(row(how, *a, *b), a / b, "{a} / {b}, {how:?}");
            }
        }
    }
    let byte = Range { low: 0, high: 255 };
    assert_eq!(Division::of_large(false, byte, all).asked, Some([false, true]));
}
