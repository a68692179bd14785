//! How the accesses of a row are made: emission notes it as it makes them, so that what is said is what runs.

use std::{
    cell::{Ref, RefCell},
    collections::HashMap,
};

use mlir_bridge::ir::Op;

/// How the threads of a row make an access, the cheapest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// Once, for all threads.
    Uniform,
    Contiguous,
    Reversed,
    /// Each thread's of several rounds at once, transposed.
    Tiled,
    /// With others, which together read or write all that lies between the threads.
    Transposed,
    /// From elements near one another, permuted.
    Permuted,
    /// At addresses that differ evenly: by a gather or scatter, or with all that lies between them.
    Strided,
    Gathered,
    /// By one thread after the other.
    Serial,
}

impl Way {
    const ALL: [Self; 9] = [
        Self::Uniform,
        Self::Contiguous,
        Self::Reversed,
        Self::Tiled,
        Self::Transposed,
        Self::Permuted,
        Self::Strided,
        Self::Gathered,
        Self::Serial,
    ];

    /// The word of remarks.
    pub fn text(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Contiguous => "contiguous",
            Self::Reversed => "reversed",
            Self::Tiled => "tiled",
            Self::Transposed => "transposed",
            Self::Permuted => "permuted",
            Self::Strided => "strided",
            Self::Gathered => "gathered",
            Self::Serial => "lane by lane",
        }
    }
}

/// How the accesses of a thread loop are made.
#[derive(Default)]
pub struct Report<'c> {
    ways: RefCell<HashMap<Op<'c>, Way>>,
    tiles: RefCell<HashMap<Op<'c>, u32>>,
}

impl<'c> Report<'c> {
    /// Notes that `op`, or a part of it, is made in this way; of several ways the most expensive counts. Of what is made by tiles, the last
    /// rounds are not.
    pub fn note(&self, op: Op<'c>, way: Way) {
        let tiled = self.tiles.borrow().contains_key(&op);
        let mut ways = self.ways.borrow_mut();
        let known = ways.entry(op).or_insert(way);
        *known = if tiled { *known } else { way.max(*known) };
    }

    /// Notes that `op` is made by tiles of so many rounds.
    pub fn note_tile(&self, op: Op<'c>, rounds: u32) {
        self.ways.borrow_mut().insert(op, Way::Tiled);
        self.tiles.borrow_mut().insert(op, rounds);
    }

    /// The rounds of the tiles that an access is made by.
    pub fn rounds(&self, op: Op<'c>) -> Option<u32> {
        self.tiles.borrow().get(&op).copied()
    }

    /// The ways noted so far.
    pub fn ways(&self) -> Ref<'_, HashMap<Op<'c>, Way>> {
        self.ways.borrow()
    }

    /// How many accesses are made in each way, as in `2 accesses contiguous, 1 strided`.
    pub fn counts(&self) -> String {
        let ways = self.ways.borrow();
        let count = |way: Way| ways.values().filter(|known| **known == way).count();
        let mut parts: Vec<_> = Way::ALL
            .into_iter()
            .filter(|way| count(*way) > 0)
            .map(|way| format!("{} {}", count(way), way.text()))
            .collect();
        if let Some(first) = parts.first_mut() {
            let noun = if first.starts_with("1 ") { " access " } else { " accesses " };
            *first = first.replacen(' ', noun, 1);
        }
        parts.join(", ")
    }
}
