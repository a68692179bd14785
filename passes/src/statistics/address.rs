//! Addresses: what memory a pointer is into, and how the addresses of a warp lie.

use std::collections::{BTreeSet, HashMap};

use mlir_bridge::ir::Value;
use regrain_dialects::attributes::KERNEL_ARG;
use regrain_dialects::ops::{DynamicShared, Shared};
use regrain_tuning::statistics::{Pattern, Space};

use super::lanes::{Form, Lanes, WARP};
use crate::analysis::loops::first;

/// Bytes of a sector of global memory.
const SECTOR: i64 = 32;
/// Bytes of a line of the first-level cache.
const LINE: i64 = 128;
/// Banks of shared memory, a word wide each.
const BANKS: i64 = 32;
/// Shorter runs of neighbours are not coalesced.
const RUN: usize = 8;
/// How deep a pointer is followed.
const DEPTH: u32 = 16;

/// What memory a pointer is into.
pub fn space(pointer: Value<'_>) -> Space {
    space_at(pointer, DEPTH).unwrap_or(Space::Global)
}

fn space_at(pointer: Value<'_>, depth: u32) -> Option<Space> {
    match pointer.ty().ptr_space() {
        Some(3) => return Some(Space::Shared),
        Some(4) => return Some(Space::Constant),
        Some(5) => return Some(Space::Local),
        Some(1) => return Some(Space::Global),
        _ => {}
    }
    if depth == 0 {
        return None;
    }
    let Some(op) = pointer.defining_op() else {
        return space_at(first(pointer)?, depth - 1);
    };
    match op.name() {
        "llvm.alloca" => Some(Space::Local),
        Shared::NAME | DynamicShared::NAME => Some(Space::Shared),
        // A pointer to the argument itself, and not a pointer that is an argument.
        "llvm.load" if op.has_attr(KERNEL_ARG) => {
            let of_slot = op.operand(0).defining_op().is_some_and(|slot| slot.is("llvm.getelementptr"));
            Some(if of_slot { Space::Constant } else { Space::Global })
        }
        "llvm.getelementptr" | "llvm.addrspacecast" | "llvm.bitcast" | "llvm.freeze" => {
            space_at(op.operand(0), depth - 1)
        }
        "llvm.select" | "arith.select" => {
            space_at(op.operand(1), depth - 1).or_else(|| space_at(op.operand(2), depth - 1))
        }
        "scf.if" => {
            let yields = op.region(0).first_block()?.terminator()?;
            space_at(yields.operand(pointer.result_number()?), depth - 1)
        }
        "scf.for" => space_at(op.operand(3 + pointer.result_number()?), depth - 1),
        _ => None,
    }
}

/// Where the access of a thread begins: its part of each symbol, and a number of bytes.
type Place = (Vec<i64>, i64);

/// The addresses of all threads that are looked at.
fn places(form: &Form, threads: usize) -> Vec<Place> {
    let offset = form.offset();
    let symbolic: Vec<_> = form.symbolic().map(|(_, value)| value).collect();
    (0..threads).map(|thread| (symbolic.iter().map(|value| value.of(thread)).collect(), offset.of(thread))).collect()
}

/// How the addresses of a warp lie.
pub struct Layout {
    pub pattern: Pattern,
    /// Sectors, or passes over the banks of shared memory, for each access of a warp on average.
    pub transactions: f64,
    /// Lines of the first-level cache, likewise.
    pub lines: f64,
}

/// How the addresses of the warps lie.
pub fn layout(form: Option<&Form>, space: Space, bytes: u32, lanes: &Lanes<'_>) -> Layout {
    let threads = lanes.threads();
    let active = threads.min(WARP);
    let Some(form) = form else {
        let transactions = if space == Space::Shared { 4.0 } else { active as f64 };
        return Layout { pattern: Pattern::Gather, transactions, lines: transactions };
    };
    if space == Space::Local {
        // The words of a warp are interleaved: the same word of all threads lies side by side.
        let pattern = if form.is_uniform() { Pattern::Coalesced } else { Pattern::Gather };
        let sectors = active as f64 * f64::from(bytes) / SECTOR as f64;
        let transactions = if form.is_uniform() { sectors.max(1.0) } else { active as f64 };
        return Layout { pattern, transactions, lines: (transactions / 4.0).max(1.0) };
    }
    let places = places(form, threads);
    let warps: Vec<&[Place]> = places.chunks(WARP).collect();
    let mean = |of: &dyn Fn(&[Place]) -> usize| {
        let sum: usize = warps.iter().map(|warp| of(warp)).sum();
        sum as f64 / warps.len().max(1) as f64
    };
    let pattern = warps.first().map_or(Pattern::Gather, |warp| pattern(warp, i64::from(bytes)));
    match space {
        Space::Shared => Layout { pattern, transactions: mean(&|warp| passes(warp, bytes)), lines: 1.0 },
        _ => Layout {
            pattern,
            transactions: mean(&|warp| units(warp, bytes, SECTOR)),
            lines: mean(&|warp| units(warp, bytes, LINE)),
        },
    }
}

/// Sectors or lines of `unit` bytes that a warp touches. Places with different parts of symbols are far from each other, and all
/// begin aligned.
fn units(warp: &[Place], bytes: u32, unit: i64) -> usize {
    let mut first: HashMap<&[i64], i64> = HashMap::new();
    for (part, offset) in warp {
        let least = first.entry(part).or_insert(*offset);
        *least = (*least).min(*offset);
    }
    let mut touched = BTreeSet::new();
    for (part, offset) in warp {
        let at = offset - first[part.as_slice()];
        for number in at / unit..=(at + i64::from(bytes.max(1)) - 1) / unit {
            touched.insert((part, number));
        }
    }
    touched.len()
}

/// How many times the busiest bank is asked for different words, for words that a warp may ask for at once.
fn passes(warp: &[Place], bytes: u32) -> usize {
    // Wide accesses go by parts of the warp.
    let at_once = (WARP * 4 / bytes.max(4) as usize).max(1);
    let most = |part: &[Place]| {
        let mut banks: HashMap<(&[i64], i64), BTreeSet<i64>> = HashMap::new();
        for (symbols, offset) in part {
            for word in 0..i64::from(bytes.max(4)) / 4 {
                let word = offset.div_euclid(4) + word;
                banks.entry((symbols, word.rem_euclid(BANKS))).or_default().insert(word);
            }
        }
        banks.values().map(BTreeSet::len).max().unwrap_or(1)
    };
    let parts: Vec<usize> = warp.chunks(at_once).map(most).collect();
    let sum: usize = parts.iter().sum();
    sum.div_ceil(parts.len().max(1))
}

fn pattern(warp: &[Place], bytes: i64) -> Pattern {
    let steps: Vec<Option<i64>> =
        warp.windows(2).map(|pair| (pair[0].0 == pair[1].0).then(|| pair[1].1 - pair[0].1)).collect();
    if steps.iter().all(|step| *step == Some(0)) {
        return Pattern::Uniform;
    }
    let beside = |step: &Option<i64>| matches!(step, Some(step) if *step == 0 || step.abs() == bytes);
    let breaks = steps.iter().filter(|step| !beside(step)).count();
    if (breaks + 1) * RUN <= warp.len().max(RUN) {
        let moves = steps.iter().flatten().any(|step| step.abs() == bytes);
        return if moves { Pattern::Coalesced } else { Pattern::Uniform };
    }
    let mut counts: HashMap<i64, usize> = HashMap::new();
    steps.iter().flatten().for_each(|step| *counts.entry(*step).or_default() += 1);
    match counts.into_iter().max_by_key(|(step, count)| (*count, *step)) {
        Some((step, count)) if count * 4 >= steps.len() * 3 => Pattern::Strided(step),
        Some(_) => Pattern::Gather,
        None => regular(warp),
    }
}

/// No two neighbours are in reach of each other: whether they are at least equally far apart.
fn regular(warp: &[Place]) -> Pattern {
    let difference = |pair: &[Place]| -> Vec<i64> { pair[0].0.iter().zip(&pair[1].0).map(|(a, b)| b - a).collect() };
    let differences: Vec<_> = warp.windows(2).map(difference).collect();
    if differences.iter().all(|one| Some(one) == differences.first()) { Pattern::Strided(0) } else { Pattern::Gather }
}

/// The sectors that all threads together have touched already, by array.
#[derive(Default)]
pub struct Touched {
    sectors: BTreeSet<(Vec<u32>, Vec<i64>, i64)>,
}

impl Touched {
    /// Remembers an access of all threads, whose warps touch `transactions` sectors each; gives the part of them, 0 to 1, that was
    /// touched before or that another warp touches as well.
    pub fn touch(&mut self, form: &Form, bytes: u32, threads: usize, transactions: f64) -> f64 {
        let names: Vec<u32> =
            form.symbolic().flat_map(|(monomial, _)| monomial.iter().copied().chain([u32::MAX])).collect();
        let before = self.sectors.len();
        for (part, offset) in places(form, threads) {
            for sector in offset.div_euclid(SECTOR)..=(offset + i64::from(bytes.max(1)) - 1).div_euclid(SECTOR) {
                self.sectors.insert((names.clone(), part.clone(), sector));
            }
        }
        let fresh = (self.sectors.len() - before) as f64;
        (1.0 - fresh / (transactions * threads.div_ceil(WARP) as f64).max(1.0)).clamp(0.0, 1.0)
    }
}
