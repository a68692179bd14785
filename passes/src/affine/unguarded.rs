//! Pieces of a loop without the guards of threads.
//!
//! ```text
//!   for k0:                                   for k0:
//!     T0 = A[..] where it is read; barrier      T0 = A[..] where it is read, 0 elsewhere; barrier
//!     if (t0 < n && t1 < n)                     for k: r += T0[..][..] * T1[..][..];
//!       for k: r += T0[..][..] * T1[..][..];    barrier
//!     barrier                                 if (t0 < n && t1 < n)
//!   if (t0 < n && t1 < n)                       C[t0][t1] = r;
//!     C[t0][t1] = r;
//! ```
//!
//! Threads beside the points may go through a piece, too, where all that it reads is in boxes, also what they would read, and all that it writes in
//! registers: nobody sees what they compute. A guard is not for free: the rows of a block could not go through the loop side by side, and each row
//! would go through it with a mask and without. Threads with any point do exactly what they did.

use mlir_bridge::ir::Op;
use mlir_bridge::isl::{Code, Error, Node, Set, UnionMap, UnionSet, code_of};

use crate::affine::{
    Reason,
    threads::{Pieces, Register, Threads, Tile, boxed},
};

/// What code is made of.
pub(super) struct Order {
    /// What one thread does.
    pub mine: UnionSet,
    /// In which order.
    pub below: UnionMap,
    /// What is known where it is done.
    pub known: Set,
    /// What else holds of accesses in a piece.
    pub within: String,
    /// Where boxes begin.
    pub firsts: Firsts,
}

/// The first elements of boxes, each with the first access to its box.
pub(super) type Firsts = Vec<(usize, Set)>;

impl Order {
    /// That of a node, without boxes.
    pub fn new(node: &Node, mine: &UnionSet, known: &Set) -> Result<Self, Reason> {
        let (mine, below, known) = (mine.clone(), node.times_below()?, known.clone());
        Ok(Self { mine, below, known, within: String::new(), firsts: Vec::new() })
    }

    /// The code, with all guards.
    pub fn code(&self) -> Result<Code, Reason> {
        Ok(code_of(&self.below.intersect_domain(&self.mine)?, &self.known)?)
    }
}

/// The operations among `before` that others use, directly or not.
pub fn needed<'c>(before: &[Op<'c>], of: &[Op<'c>]) -> Vec<Op<'c>> {
    let mut wanted: Vec<Op<'c>> = of.to_vec();
    let mut at = 0;
    while at < wanted.len() {
        let mut all = wanted[at].find_all(|_| true);
        all.push(wanted[at]);
        for op in all {
            for made in op.operands().into_iter().filter_map(|value| value.defining_op()) {
                if !wanted.contains(&made) {
                    wanted.push(made);
                }
            }
        }
        at += 1;
    }
    before.iter().copied().filter(|op| wanted.contains(op)).collect()
}

/// The operations among `before` that the rounds of a loop use: not what it starts with.
pub fn needed_by_rounds<'c>(before: &[Op<'c>], rounds: Op<'c>) -> Vec<Op<'c>> {
    let bounds = rounds.operands().into_iter().take(3).filter_map(|bound| bound.defining_op());
    let mut all = rounds.find_all(|op| op != rounds);
    all.extend(bounds);
    needed(before, &all)
}

impl Threads<'_, '_> {
    /// What all threads of a block may do in a piece, if threads beside the points may.
    ///
    /// # Errors
    /// isl's budget is spent.
    pub(super) fn without_guards(
        &self,
        pieces: &Pieces,
        order: &Order,
        registers: &[Register],
    ) -> Result<Option<Code>, Reason> {
        let is_register = |array: usize| registers.iter().any(|register| register.array == array);
        let is_on_chip = |access: usize| {
            pieces.tiles.iter().any(|tile| tile.accesses.contains(&access))
                || is_register(self.description.accesses[access].array)
        };
        let statements = match &pieces.inner {
            Some(inner) => vec![inner.statement],
            None => self.statements_of(&order.mine)?,
        };
        if !statements.iter().all(|number| self.is_harmless(*number, pieces.inner.is_some(), &is_on_chip)) {
            return Ok(None);
        }
        let block = order.known.intersect(&self.known_of_block(order.mine.context())?)?;
        let mine = order.mine.gist_params(&self.mine.params()?.simple_hull()?)?;
        let in_block = mine.intersect_params(&block)?;
        for tile in &pieces.tiles {
            if !self.stays_in_box(tile, (pieces, order), &statements, &in_block)? {
                return Ok(None);
            }
        }
        match code_of(&order.below.intersect_domain(&mine)?, &block) {
            Ok(code) => Ok(Some(code)),
            // What threads beside the points would do may have no end.
            Err(Error::Failed(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether a statement, or the rounds of its first loop, does nothing but compute with what is on the chip.
    fn is_harmless(&self, number: usize, of_loop: bool, is_on_chip: &impl Fn(usize) -> bool) -> bool {
        let what = &self.description.statements[number];
        let is_harmless = |op: &Op<'_>| match op.name() {
            "llvm.load" | "llvm.store" => {
                let mut accesses =
                    what.accesses.clone().filter(|access| self.description.accesses[*access].op == *op).peekable();
                accesses.peek().is_some() && accesses.all(is_on_chip)
            }
            _ => op.num_regions() == 0 && (op.is_terminator() || op.is_pure()),
        };
        if !of_loop {
            return what.ops.iter().all(is_harmless);
        }
        let Some(at) = what.ops.iter().position(|op| op.is("scf.for")) else { return false };
        let rounds = what.ops[at];
        let is_computed = |op: &Op<'_>| op.num_regions() == 0 && op.is_pure();
        rounds.find_all(|op| op != rounds).iter().all(is_harmless)
            && needed_by_rounds(&what.ops[..at], rounds).iter().all(is_computed)
    }

    /// Whether what statements read of a tile is in its box, for all threads of a block.
    fn stays_in_box(
        &self,
        tile: &Tile,
        (pieces, order): (&Pieces, &Order),
        statements: &[usize],
        instances: &UnionSet,
    ) -> Result<bool, Reason> {
        let Some((_, first)) = order.firsts.iter().find(|(access, _)| *access == tile.accesses[0]) else {
            return Ok(false);
        };
        let boxed = boxed(tile.array, first, &tile.sizes)?;
        for number in statements {
            let what = &self.description.statements[*number];
            for access in tile.accesses.iter().filter(|access| what.accesses.contains(access)) {
                let instance = self.description.instance(*number);
                let element = self.description.element_of_instance(*number, &self.description.accesses[*access]);
                let further = std::slice::from_ref(&pieces.rounds.name);
                let map = self.with_params(&format!("{{ {instance} -> {element}{} }}", order.within), further);
                let read = instances.apply(&UnionMap::parse(instances.context(), &map)?)?;
                if !read.subtract(&boxed)?.is_empty()? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// The statements with instances in a set.
    fn statements_of(&self, of: &UnionSet) -> Result<Vec<usize>, Reason> {
        let mut found = Vec::new();
        for number in 0..self.description.statements.len() {
            if !self.instances(number, of)?.is_empty()? {
                found.push(number);
            }
        }
        Ok(found)
    }
}
