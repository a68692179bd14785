//! What the threads of a block have in shared memory while they go through a piece of a tile together.
//!
//! ```text
//!   box of a piece of a[i]: i from b1 - e0 - 1 to e1 - b0 + 1      T0 = a[..]; barrier;
//!                                                                  waves of points: T0[..] = f(T0[..], ..); barrier;
//!                                                                  a[..] = T0[..] where the piece stores; barrier
//! ```
//!
//! The points of a wave lie across the rows of an array, so that each thread touches memory of its own; the box is copied along them. It begins where the
//! piece does, and has as many elements as any piece of such sizes needs: what is accessed between the ends of the piece, by points of the nest or not, where
//! that says it. So the host knows before how much it takes. What is in the box and in no array is not copied, and only what the piece may store is copied
//! back: another block may store what lies beside it.

use mlir_bridge::isl::{Kind, Node, Set, Term, UnionMap, UnionSet, term};
use serde::{Deserialize, Serialize};

use crate::affine::{
    Description, Reason,
    accesses::Access,
    sets::{Sets, asked},
    threads::{value_type, words},
    waves::{Within, ends_of},
};

/// A condition of more words than this is not asked for each element that is copied back.
const MOST_WORDS: usize = 400;
/// The dimensions of a band, and the subscripts of all boxes, that the model of tiles (`tiles.h`) has room for.
const MOST_DIMENSIONS: usize = 6;
const MOST_SUBSCRIPTS: usize = 64;

/// A box of an array in shared memory.
#[derive(Debug, Serialize, Deserialize)]
pub struct Staged {
    /// The array, of which all accesses are to the box.
    pub array: usize,
    /// Its first element, by the ends of the piece in all dimensions.
    pub first: Vec<Term>,
    /// How many elements it has in each subscript, for pieces of at most `z0`, `z1`, .. iterations in the dimensions.
    pub extents: Vec<Term>,
    /// Which elements the piece may store, by their subscripts `s0`, `s1`, ..; `None` where it stores nothing.
    pub stored: Option<Term>,
}

/// What a subscript of an element of a box is called.
pub fn place_name(at: usize) -> String {
    format!("s{at}")
}

/// What the iterations of a piece in a dimension are called.
pub fn size_name(dimension: usize) -> String {
    format!("z{dimension}")
}

/// The boxes of arrays for a piece of a tile.
///
/// # Errors
/// isl's budget is spent.
pub fn staged(description: &Description<'_>, sets: &Sets, node: &Node) -> Result<Vec<Staged>, Reason> {
    let members = node.members()?;
    if members > MOST_DIMENSIONS {
        return Ok(Vec::new());
    }
    let (within, times) = (Within::boxed(&(0..members).collect::<Vec<_>>()), node.band_times()?);
    let all = within.instances(&times, members)?;
    let (instances, known) = (all.intersect(&sets.domain)?, within.known(sets)?);
    let piece = Piece { description, sets, times, members, known, instances, all };
    let (mut made, mut room) = (Vec::new(), MOST_SUBSCRIPTS);
    for array in 0..description.arrays.len() {
        if let Some(staged) = piece.staged(array)?
            && let Some(left) = room.checked_sub(staged.first.len())
        {
            made.push(staged);
            room = left;
        }
    }
    Ok(made)
}

/// Which bounds of accesses count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bounds {
    All,
    /// Those of loops within a statement.
    Inner,
}

/// A piece of a tile.
struct Piece<'p, 'c> {
    description: &'p Description<'c>,
    sets: &'p Sets,
    /// The dimensions of the band.
    times: UnionMap,
    members: usize,
    /// What is known of the parameters and its ends.
    known: Set,
    /// What is in it.
    instances: UnionSet,
    /// That, and what would be if the nest had no other bounds.
    all: UnionSet,
}

impl Piece<'_, '_> {
    fn staged(&self, array: usize) -> Result<Option<Staged>, Reason> {
        let accesses = &self.description.accesses;
        let mine: Vec<&Access<'_>> = accesses.iter().filter(|access| access.array == array).collect();
        let is_plain = |access: &&Access<'_>| {
            let is_one = accesses.iter().filter(|other| other.op == access.op).count() == 1;
            is_one && value_type(access) == self.description.arrays[array].element
        };
        if mine.is_empty() || !mine.iter().all(is_plain) {
            return Ok(None);
        }
        let found = self.boxed(array, &self.all, Bounds::Inner);
        let Ok((first, extents)) = found.or_else(|_| self.boxed(array, &self.instances, Bounds::All)) else {
            return Ok(None);
        };
        if !mine.iter().any(|access| access.writes) {
            return Ok(Some(Staged { array, first, extents, stored: None }));
        }
        let stored = self.instances.apply(&self.elements(array, |access| access.writes, Bounds::All)?)?;
        let names: Vec<String> = (0..first.len()).map(place_name).collect();
        let names = names.join(", ");
        let point = UnionSet::parse(stored.context(), &format!("[{names}] -> {{ A{array}[{names}] }}"))?;
        let stored = asked(&stored.intersect(&point)?.params()?, &self.known)?;
        Ok((words(&stored) <= MOST_WORDS).then_some(Staged { array, first, extents, stored: Some(stored) }))
    }

    /// The first element that `instances` access, and how many there are at most in each subscript.
    fn boxed(&self, array: usize, instances: &UnionSet, bounds: Bounds) -> Result<(Vec<Term>, Vec<Term>), Reason> {
        let (context, count) = (instances.context(), self.description.arrays[array].strides.len());
        let mut elements_of = self.elements(array, |_| true, bounds)?;
        if bounds == Bounds::All {
            elements_of = elements_of.intersect_domain(&self.sets.domain)?;
        }
        let accessed = instances.apply(&elements_of)?.to_set()?.coalesce()?;
        let list = |name: fn(usize) -> String| (0..self.members).map(name).collect::<Vec<_>>();
        let sizes = list(size_name);
        let ends: Vec<String> = (0..self.members).flat_map(ends_of).collect();
        let point = list(|at| format!("x{at}"));
        let within = |at: usize| {
            let ([first, last], size) = (ends_of(at), size_name(at));
            format!("{first} <= x{at} <= {last} and {last} - {first} < {size}")
        };
        let within: Vec<String> = (0..self.members).map(within).collect();
        let pieces = format!(
            "[{}] -> {{ [{}] -> [{}] : {} }}",
            sizes.join(", "),
            ends.join(", "),
            point.join(", "),
            within.join(" and ")
        );
        let pieces =
            UnionMap::parse(context, &pieces)?.apply_range(&self.times.reverse()?)?.apply_range(&elements_of)?;
        let least: Vec<String> = sizes.iter().map(|size| format!("{size} >= 1")).collect();
        let known = format!("[{}] -> {{ : {} }}", sizes.join(", "), least.join(" and "));
        let known = self.sets.known.intersect(&Set::parse(context, &known)?)?;
        let names: Vec<String> = (0..count).map(|at| format!("o{at}")).collect();
        let (mut first, mut extents) = (Vec::new(), Vec::new());
        for (at, name) in names.iter().enumerate() {
            let text = format!("{{ A{array}[{}] -> [{name}] }}", names.join(", "));
            let subscripts = pieces.apply_range(&UnionMap::parse(context, &text)?)?;
            let apart = subscripts.reverse()?.apply_range(&subscripts)?.deltas()?.to_set()?.coalesce()?;
            let most = term(&apart, 0, true, &known)?;
            extents.push(Term::Of(Kind::Add, vec![most, Term::Number(1)]));
            first.push(term(&accessed, at, false, &self.known)?);
        }
        Ok((first, extents))
    }

    /// From instances to the elements that some accesses to an array are to.
    fn elements(&self, array: usize, wanted: impl Fn(&Access<'_>) -> bool, bounds: Bounds) -> Result<UnionMap, Reason> {
        let description = self.description;
        let mut all = Vec::new();
        for (number, statement) in description.statements.iter().enumerate() {
            let around = statement.scope.variables.len();
            for access in description.accesses[statement.accesses.clone()].iter().filter(|access| access.array == array)
            {
                if wanted(access) {
                    let is_free = bounds == Bounds::Inner && access.scope.variables.len() == around;
                    let element = if is_free {
                        let (element, equal) = access.place();
                        format!("{element} : {equal}")
                    } else {
                        description.element(number, access)
                    };
                    all.push(format!("{} -> {element}", description.instance(number)));
                }
            }
        }
        let text = format!("{}{{ {} }}", description.params(), all.join("; "));
        Ok(UnionMap::parse(self.sets.domain.context(), &text)?)
    }
}
