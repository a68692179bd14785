//! Stores to an array of the thread that nobody reads before it is written again, or ever.
//!
//! ```mlir
//! scf.for %i = %c0 to %c15 step %c1 { ... llvm.store %v, %items[%i] }       // goes
//! scf.for %i = %c0 to %c15 step %c1 { ... llvm.store %w, %items[%i] }       // writes all of it
//! use(llvm.load %items[%k])
//! ```
//! Which bytes are read later is found from the end of a block backwards. What a loop reads may be read by a later round; what it writes in
//! rounds of a known number is written.

use std::collections::{HashMap, HashSet};

use mlir_bridge::ir::{Block, Op, Value};

use crate::analysis::{
    accesses::{Access, MemoryAnalysis},
    addresses::Symbol,
    constants::constant,
    loops::Counting,
    objects::{escapes, root},
    synchronisation::STRUCTURES,
};

/// The most bytes of an array, and rounds of a loop.
const MOST: i64 = 4096;

/// Erases what is stored to arrays of a thread for nobody; gives the number of stores.
pub fn erase_unread_items(block: Op<'_>) -> usize {
    if !block.contains(|op| op.is("llvm.alloca")) {
        return 0;
    }
    let memory = MemoryAnalysis::new(block);
    let mut accesses: HashMap<Value<'_>, Vec<Op<'_>>> = HashMap::new();
    for op in block.find_all(|op| op.num_regions() == 0) {
        for array in op.operands().into_iter().filter(|value| value.ty().ptr_space().is_some()).map(root) {
            if array.defining_op().is_some_and(|by| by.is("llvm.alloca") && block.is_ancestor_of(by)) {
                accesses.entry(array).or_default().push(op);
            }
        }
    }
    let mut dead = HashSet::new();
    for (array, accesses) in accesses {
        if let Some(mut items) = Items::of(&memory, array, &accesses) {
            items.block(items.home, vec![false; items.bytes]);
            dead.extend(items.dead);
        }
    }
    dead.iter().for_each(|store| store.erase());
    dead.len()
}

/// For each byte of an array whether it may be read.
type Read = Vec<bool>;

/// An array of a thread.
struct Items<'a, 'c> {
    memory: &'a MemoryAnalysis<'c>,
    array: Value<'c>,
    bytes: usize,
    /// The block that makes it.
    home: Block<'c>,
    /// What accesses it in each block, or holds what does, in order.
    inside: HashMap<Block<'c>, Vec<Op<'c>>>,
    dead: HashSet<Op<'c>>,
}

impl<'a, 'c> Items<'a, 'c> {
    fn of(memory: &'a MemoryAnalysis<'c>, array: Value<'c>, accesses: &[Op<'c>]) -> Option<Self> {
        let by = array.defining_op()?;
        let (size, _) = by.attr("elem_type")?.as_type()?.layout(by);
        let bytes = constant(by.operand(0))?.checked_mul(i64::try_from(size).ok()?)?;
        let home = by.block().filter(|_| (1..=MOST).contains(&bytes) && !escapes(array))?;
        let mut inside: HashMap<Block<'c>, Vec<Op<'c>>> = HashMap::new();
        for access in accesses {
            let mut at = *access;
            loop {
                let block = at.block()?;
                let ops = inside.entry(block).or_default();
                if ops.last() != Some(&at) {
                    ops.push(at);
                }
                if block == home {
                    break;
                }
                at = block.parent_op()?;
            }
        }
        let bytes = usize::try_from(bytes).ok()?;
        Some(Self { memory, array, bytes, home, inside, dead: HashSet::new() })
    }

    /// What may be read where a block begins, given what may be where it ends.
    fn block(&mut self, block: Block<'c>, mut read: Read) -> Read {
        for op in self.inside.get(&block).cloned().unwrap_or_default().into_iter().rev() {
            read = self.step(op, read);
        }
        read
    }

    fn step(&mut self, op: Op<'c>, mut read: Read) -> Read {
        if STRUCTURES.contains(&op.name()) {
            return self.structure(op, read);
        }
        if op.is("llvm.getelementptr") || op.name().starts_with("llvm.intr.lifetime.") {
            return read;
        }
        let effects = self.memory.effects(op);
        if effects.unknown {
            return vec![true; self.bytes];
        }
        for access in effects.accesses.iter().filter(|access| access.address.root == self.array) {
            let (low, high) = self.ends(access);
            if !access.writes {
                read[low..high].fill(true);
            } else if op.is("llvm.store") && !read[low..high].contains(&true) {
                self.dead.insert(op);
            } else if access.size.is_some()
                && access.address.offset.as_ref().is_some_and(|offset| offset.terms().next().is_none())
            {
                read[low..high].fill(false);
            }
        }
        read
    }

    /// The bytes that an access may be of.
    fn ends(&self, access: &Access<'c>) -> (usize, usize) {
        let within = |at: i128| usize::try_from(at.max(0)).map_or(self.bytes, |at| at.min(self.bytes));
        let range = access.address.offset.as_ref().map(|offset| offset.range());
        match range.zip(access.size) {
            Some((range, size)) => (within(range.low), within(range.high.saturating_add(size.into()))),
            None => (0, self.bytes),
        }
    }

    fn structure(&mut self, op: Op<'c>, read: Read) -> Read {
        let blocks: Vec<_> = op.regions().into_iter().flat_map(|region| region.blocks()).collect();
        let is_loop = matches!(op.name(), "scf.for" | "scf.while");
        if !is_loop {
            let may_skip = op.regions().into_iter().any(|region| region.is_empty());
            let ways: Vec<_> = blocks.into_iter().map(|block| self.block(block, read.clone())).collect();
            let mut any = if may_skip { read } else { vec![false; self.bytes] };
            for way in ways {
                any.iter_mut().zip(way).for_each(|(any, way)| *any |= way);
            }
            return any;
        }
        let mut inside = vec![false; self.bytes];
        let effects = self.memory.effects(op);
        for access in effects.reads().filter(|access| access.address.root == self.array) {
            let (low, high) = self.ends(access);
            inside[low..high].fill(true);
        }
        inside.iter_mut().for_each(|byte| *byte |= effects.unknown);
        let end: Read = read.iter().zip(&inside).map(|(later, inside)| later | inside).collect();
        blocks.into_iter().for_each(|block| _ = self.block(block, end.clone()));
        let written = self.written(op);
        (0..self.bytes).map(|byte| inside[byte] || read[byte] && !written[byte]).collect()
    }

    /// The bytes that a loop surely writes.
    fn written(&self, op: Op<'c>) -> Read {
        let mut written = vec![false; self.bytes];
        let rounds =
            |counting: Counting<'c>| counting.rounds().filter(|rounds| *rounds <= MOST).zip(counting.constants());
        let Some((rounds, [first, _, step])) = Counting::of(op).and_then(rounds) else { return written };
        let number = Symbol::Value(op.body().arg(0));
        for store in self.inside.get(&op.body()).into_iter().flatten().filter(|op| op.is("llvm.store")) {
            for access in self.memory.effects(*store).writes().filter(|access| access.address.root == self.array) {
                let (Some(offset), Some(size)) = (&access.address.offset, access.size) else { continue };
                if offset.terms().any(|(unknown, _)| unknown.symbol != number) {
                    continue;
                }
                for round in 0..rounds {
                    let at = offset.constant() + offset.factor(number) * i128::from(first + round * step);
                    let places = usize::try_from(at).ok().zip(usize::try_from(at + i128::from(size)).ok());
                    if let Some((low, high)) = places.filter(|(_, high)| *high <= self.bytes) {
                        written[low..high].fill(true);
                    }
                }
            }
        }
        written
    }
}
