//! The rounds of a loop that the threads of a block do in a piece.

use mlir_bridge::isl::{Context, Error, Set, Term, UnionMap, UnionSet};

use crate::affine::{
    Reason,
    sets::{Range, ranges},
    threads::{Threads, first_of_block},
};

/// Loops of fewer rounds do not go by pieces.
const LEAST_ROUNDS: i64 = 8;

/// The rounds of a piece.
pub(super) struct Window {
    /// The first of them, over all pieces.
    pub range: Range,
    /// All of them, for a piece.
    pub instances: UnionSet,
    /// What is known where a piece is done.
    pub known: Set,
}

impl Threads<'_, '_> {
    /// The instances of the threads of a block.
    pub(super) fn block(&self, domain: &UnionSet) -> Result<UnionSet, Reason> {
        let (names, firsts, bounds) = self.bounds();
        let text = format!("[{}] -> {{ [{}] : {bounds} }}", firsts.join(", "), names.join(", "));
        let block = UnionSet::parse(domain.context(), &text)?;
        Ok(block.apply(&self.times.reverse()?)?.intersect(domain)?)
    }

    /// What is known of the coordinates of a block's threads.
    pub(super) fn known_of_block(&self, context: &Context) -> Result<Set, Error> {
        let (names, firsts, bounds) = self.bounds();
        Set::parse(context, &format!("[{}] -> {{ : {bounds} }}", [names, firsts].concat().join(", ")))
    }

    /// The coordinates of a thread, in the order of its times, and of the first one of its block; and where those of the block are.
    fn bounds(&self) -> (Vec<String>, Vec<String>, String) {
        let names: Vec<String> = (0..self.threads.len()).map(|at| format!("t{at}")).collect();
        let firsts = names.iter().map(|name| first_of_block(name)).collect();
        let sizes = self.threads.iter().zip(&self.shape.block);
        let bounds =
            sizes.map(|(Range { name, .. }, size)| format!("{0} <= {name} < {0} + {size}", first_of_block(name)));
        (names, firsts, bounds.collect::<Vec<_>>().join(" and "))
    }

    /// The rounds that any thread of a block does of a loop, and those of a piece. `None` where they are few.
    pub(super) fn window(&self, rounds: &UnionMap, domain: &UnionSet, number: usize) -> Result<Option<Window>, Reason> {
        let name = format!("k{number}");
        let all = self.block(domain)?.apply(rounds)?.to_set()?.coalesce()?;
        let range = ranges(&all, &self.sets.known, |_| name.clone())?.into_iter().next().ok_or(Reason::Budget)?;
        if let (Term::Number(first), Term::Number(last)) = (&range.first, &range.last)
            && last - first < LEAST_ROUNDS
        {
            return Ok(None);
        }
        let window = format!("[{name}] -> {{ [o] : {name} <= o < {name} + {} }}", self.shape.piece);
        let instances = UnionSet::parse(domain.context(), &window)?;
        // Nothing is done where no thread of the block has any round. A piece begins with a round if there are no gaps.
        let context = domain.context();
        let (behind, before) = (
            UnionMap::parse(context, "{ [a] -> [k] : a <= k }")?,
            UnionMap::parse(context, "{ [a] -> [k] : k <= a }")?,
        );
        let rounds = all.to_union()?;
        let gaps = rounds.apply(&behind)?.intersect(&rounds.apply(&before)?)?.subtract(&rounds)?;
        let mut known = self.sets.known.intersect(&all.params()?)?;
        if gaps.is_empty()? {
            known = known.intersect(
                &rounds.intersect(&UnionSet::parse(context, &format!("[{name}] -> {{ [{name}] }}"))?)?.params()?,
            )?;
        }
        let known = known.coalesce()?;
        Ok(Some(Window { range, instances, known }))
    }
}
