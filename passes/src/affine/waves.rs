//! Waves of tiles: how iterations that wait for one another in every dimension run in parallel.
//!
//! ```text
//!   for t: for i: a[i] = f(a[i - 1], a[i], a[i + 1])      the band [t, t + i] may be tiled: no dependence goes back in any dimension
//!   host: for w: launch, a thread for each tile T1 + T2 = w
//!   a thread: for each piece of the last dimension: all of the tile that is in it, in the order of the band
//! ```
//!
//! A tile depends on tiles that are behind it in no dimension and before it in one at least, so on those of waves before; a piece likewise. So
//! any sizes are right, and they are told when the program runs: what a thread does is computed for a box of which only the ends have names. In pieces
//! of few iterations a processor has several of their rows under way at once. Only where isl finds nothing to do in parallel but waves of single
//! iterations, launches of which take longer than what they do.
//!
//! Where a block has several threads they go through a tile together, a wave of points at a time, with a barrier behind each: of points whose places
//! in the box have the same sum none waits for another. A thread is at the points of a column, which the last dimension of the box runs along.
//! Such a box has ends in all dimensions, so that what a piece accesses may be in shared memory meanwhile ([`super::staged`]).

use std::time::Duration;

use mlir_bridge::isl::{Error, Node, Set, UnionMap, UnionSet, code_of};
use serde::{Deserialize, Serialize};

use crate::affine::{
    Description, Reason,
    beside::beside,
    host::Launch,
    poly::variable_name,
    sets::{Range, Sets, ranges},
    staged::Staged,
    threads::OnChip,
};

/// The most iterations of a tile in a dimension.
pub const MOST_SIZE: i64 = 1 << 20;

/// The tiles that waves are made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tiling {
    /// None.
    #[default]
    Never,
    /// Where there is a band: a thread goes through a tile.
    Usual,
    /// There, too: the threads of a block do so together.
    Together,
}

/// Waves of tiles in the first two dimensions of a band.
#[derive(Debug, Serialize, Deserialize)]
pub struct Waves {
    /// The dimensions of the band, of the last of which pieces are.
    pub dimensions: usize,
    /// The first two, over all instances.
    pub band: [Range; 2],
    /// The second where the first is from `b0` to `e0`.
    pub strip: Range,
    /// Further ones that a box has ends in, for what is from `b0` to `e0` and `b1` to `e1`: the last, or all where the threads of a block have a tile
    /// together. They go through these by pieces; a thread alone does so through the second where there is none.
    pub inner: Vec<Range>,
    /// What a thread does in a piece: what is in the box from `b0` to `e0`, `b1` to `e1`, and `b2` to `e2` where there are more dimensions. Where the
    /// threads of a block have a tile together: what is at `p0`, `p1` and the last one's point, and within the ends of those in between.
    pub launch: Launch,
    /// Whether they have.
    pub together: bool,
    /// What is in shared memory meanwhile.
    pub staged: Vec<Staged>,
}

impl Waves {
    /// The number of the last dimension of a box.
    pub fn last(&self) -> usize {
        1 + self.inner.len()
    }
}

/// The ends of a box in a dimension.
pub fn ends_of(dimension: usize) -> [String; 2] {
    [format!("b{dimension}"), format!("e{dimension}")]
}

/// The place of a point in a dimension of a box.
pub fn point_of(dimension: usize) -> String {
    format!("p{dimension}")
}

/// The waves of tiles of a band of at least two dimensions that may be tiled. A tile's code may take so long.
///
/// # Errors
/// isl fails, or takes longer.
pub fn waves(sets: &Sets, node: &Node, together: bool, limit: Duration) -> Result<Waves, Reason> {
    let (members, times, domain) = (node.members()?, node.band_times()?, &sets.domain);
    let further: Vec<usize> = (if together { 2 } else { 2.max(members - 1) }..members).collect();
    let tile = || {
        let within = if together { Within::point(members) } else { Within::boxed(&[&[0, 1], &further[..]].concat()) };
        let piece = within.instances(&times, members)?.intersect(domain)?;
        Ok(code_of(&node.times_below()?.intersect_domain(&piece)?, &within.known(sets)?)?)
    };
    let boxes = || {
        let all = ranges(&dimensions(sets, &times, domain, members, &[0, 1])?, &sets.known, |at| format!("x{at}"))?;
        let band = <[Range; 2]>::try_from(all).map_err(|_| Reason::Budget)?;
        // Of a box that has ends in some dimensions, the ranges of others.
        let inside = |ends: &[usize], wanted: &[usize]| {
            let within = Within::boxed(ends);
            let instances = within.instances(&times, members)?.intersect(domain)?;
            let all = dimensions(sets, &times, &instances, members, wanted)?;
            ranges(&all, &within.known(sets)?, |at| format!("x{at}"))
        };
        let strip = inside(&[0], &[1])?.pop().ok_or(Reason::Budget)?;
        let inner = if further.is_empty() { Vec::new() } else { inside(&[0, 1], &further)? };
        Ok::<_, Reason>((band, strip, inner))
    };
    let ((code, _), boxes) = beside(limit, tile, boxes);
    let (code, (band, strip, inner)) = (code?, boxes?);
    let launch = Launch {
        threads: Vec::new(),
        block: vec![1],
        exists: band[0].exists.clone(),
        around: Vec::new(),
        code,
        on_chip: OnChip::default(),
        team: None,
        transposed: None,
        is_tiled: false,
        sums: Vec::new(),
        reduces: None,
    };
    Ok(Waves { dimensions: members, band, strip, inner, launch, together, staged: Vec::new() })
}

/// Some dimensions of the times of instances.
fn dimensions(
    sets: &Sets,
    times: &UnionMap,
    instances: &UnionSet,
    members: usize,
    wanted: &[usize],
) -> Result<Set, Reason> {
    let wanted: Vec<String> = wanted.iter().map(|at| format!("x{at}")).collect();
    let text = format!("{{ [{}] -> [{}] }}", all_dimensions(members), wanted.join(", "));
    let some = UnionMap::parse(sets.domain.context(), &text)?;
    Ok(instances.apply(&times.apply_range(&some)?)?.to_set()?.coalesce()?)
}

fn all_dimensions(members: usize) -> String {
    (0..members).map(|at| format!("x{at}")).collect::<Vec<_>>().join(", ")
}

/// Conditions on the dimensions of a band, by further parameters.
#[derive(Default)]
pub(super) struct Within {
    /// The parameters.
    names: Vec<String>,
    conditions: Vec<String>,
    /// What is known of them.
    known: Vec<String>,
}

impl Within {
    /// A box that is not empty, with ends in some dimensions: `b0` and `e0` are those of the first that is named.
    pub(super) fn boxed(dimensions: &[usize]) -> Self {
        let mut within = Self::default();
        for (number, at) in dimensions.iter().enumerate() {
            within.between(number, *at);
        }
        within
    }

    /// A point of the first two dimensions and the last, within the ends of those in between.
    fn point(members: usize) -> Self {
        let mut within = Self::default();
        (2..members - 1).for_each(|at| within.between(at, at));
        for at in [0, 1].into_iter().chain((members > 2).then_some(members - 1)) {
            within.conditions.push(format!("x{at} = {}", point_of(at)));
            within.names.push(point_of(at));
        }
        within
    }

    fn between(&mut self, number: usize, dimension: usize) {
        let [first, last] = ends_of(number);
        self.conditions.push(format!("{first} <= x{dimension} <= {last}"));
        self.known.push(format!("{first} <= {last}"));
        self.names.extend([first, last]);
    }

    /// What is known of all parameters.
    pub(super) fn known(&self, sets: &Sets) -> Result<Set, Error> {
        let known = format!("[{}] -> {{ : {} }}", self.names.join(", "), self.known.join(" and "));
        sets.known.intersect(&Set::parse(sets.domain.context(), &known)?)
    }

    /// All instances with such times, whether the nest has them or not.
    pub(super) fn instances(&self, times: &UnionMap, members: usize) -> Result<UnionSet, Error> {
        let conditions = self.conditions.join(" and ");
        let text = format!("[{}] -> {{ [{}] : {conditions} }}", self.names.join(", "), all_dimensions(members));
        UnionSet::parse(times.context(), &text)?.apply(&times.reverse()?)
    }
}

/// Whether the first dimension of a band goes through several loops of a statement at a time: a wave of iterations.
///
/// # Errors
/// isl's budget is spent.
pub fn is_wave(description: &Description<'_>, node: &Node) -> Result<bool, Error> {
    let band = if node.members()? > 1 { node.split(1)? } else { node.clone() };
    let domain = node.domain()?;
    let times = band.band_times()?.intersect_domain(&domain)?;
    let context = domain.context();
    let same = UnionMap::parse(context, "{ [o] -> [o] }")?;
    for (number, statement) in description.statements.iter().enumerate() {
        let names: Vec<String> = statement.scope.variables.iter().copied().map(variable_name).collect();
        let mut moving = 0;
        for at in 0..names.len() {
            let next = names.iter().enumerate();
            let next = next.map(|(other, name)| if other == at { format!("{name} + 1") } else { name.clone() });
            let next =
                format!("{{ {} -> S{number}[{}] }}", description.instance(number), next.collect::<Vec<_>>().join(", "));
            let moved = times.reverse()?.apply_range(&UnionMap::parse(context, &next)?)?.apply_range(&times)?;
            moving += usize::from(!moved.is_subset(&same)?);
        }
        if moving > 1 {
            return Ok(true);
        }
    }
    Ok(false)
}
