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

use mlir_bridge::isl::{Error, Node, Set, UnionMap, UnionSet, code_of};
use serde::{Deserialize, Serialize};

use crate::affine::{
    Description, Reason,
    plan::Launch,
    poly::variable_name,
    sets::{Range, Sets, ranges},
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
    /// The last where there are more, for what is from `b0` to `e0` and `b1` to `e1`. A thread goes through it by pieces, else through the second.
    pub last: Option<Range>,
    /// What a thread does in a piece: what is in the box from `b0` to `e0`, `b1` to `e1`, and `b2` to `e2` where there are more dimensions. Where the
    /// threads of a block have a tile together: what is at `p0`, `p1`, and `p2`.
    pub launch: Launch,
    /// Whether they have.
    pub together: bool,
}

/// The ends of a box in a dimension.
pub fn ends_of(dimension: usize) -> [String; 2] {
    [format!("b{dimension}"), format!("e{dimension}")]
}

/// The place of a point in a dimension of a box.
pub fn point_of(dimension: usize) -> String {
    format!("p{dimension}")
}

/// The waves of tiles of a band of at least two dimensions that may be tiled.
///
/// # Errors
/// isl fails.
pub fn waves(sets: &Sets, node: &Node, together: bool) -> Result<Waves, Reason> {
    let (members, times, domain) = (node.members()?, node.band_times()?, &sets.domain);
    let all = ranges(&dimensions(sets, &times, domain, members, &[0, 1])?, &sets.known, |at| format!("x{at}"))?;
    let band = <[Range; 2]>::try_from(all).map_err(|_| Reason::Budget)?;
    let inside = |dimensions: &[usize]| boxed(sets, &times, members, dimensions);
    let only = |set: Set, known: &Set| ranges(&set, known, |_| "x".into())?.pop().ok_or(Reason::Budget);
    let (strip, known) = inside(&[0])?;
    let strip = only(dimensions(sets, &times, &strip, members, &[1])?, &known)?;
    let (mut last, mut box_dimensions) = (None, vec![0, 1]);
    if members > 2 {
        let (tile, known) = inside(&[0, 1])?;
        last = Some(only(dimensions(sets, &times, &tile, members, &[members - 1])?, &known)?);
        box_dimensions.push(members - 1);
    }
    let (piece, known) =
        if together { point(sets, &times, members, &box_dimensions)? } else { inside(&box_dimensions)? };
    let code = code_of(&node.times_below()?.intersect_domain(&piece)?, &known)?;
    let launch = Launch {
        threads: Vec::new(),
        block: vec![1],
        exists: band[0].exists.clone(),
        around: Vec::new(),
        code,
        on_chip: OnChip::default(),
        team: None,
        transposed: None,
        reduces: None,
    };
    Ok(Waves { dimensions: members, band, strip, last, launch, together })
}

/// Some dimensions of the times of instances.
fn dimensions(
    sets: &Sets,
    times: &UnionMap,
    instances: &UnionSet,
    members: usize,
    wanted: &[usize],
) -> Result<Set, Reason> {
    let list =
        |numbers: &mut dyn Iterator<Item = usize>| numbers.map(|at| format!("x{at}")).collect::<Vec<_>>().join(", ");
    let text = format!("{{ [{}] -> [{}] }}", list(&mut (0..members)), list(&mut wanted.iter().copied()));
    let some = UnionMap::parse(sets.domain.context(), &text)?;
    Ok(instances.apply(&times.apply_range(&some)?)?.to_set()?.coalesce()?)
}

/// The instances in a box of some dimensions, and what is known of the parameters and its ends: it is not empty.
fn boxed(sets: &Sets, times: &UnionMap, members: usize, wanted: &[usize]) -> Result<(UnionSet, Set), Reason> {
    let (mut names, mut within, mut known) = (Vec::new(), Vec::new(), Vec::new());
    for (number, at) in wanted.iter().enumerate() {
        let [first, last] = ends_of(number);
        within.push(format!("{first} <= x{at} <= {last}"));
        known.push(format!("{first} <= {last}"));
        names.extend([first, last]);
    }
    let instances = instances(sets, times, members, &names, &within)?;
    let known = format!("[{}] -> {{ : {} }}", names.join(", "), known.join(" and "));
    Ok((instances, sets.known.intersect(&Set::parse(sets.domain.context(), &known)?)?))
}

/// The instances at a point of some dimensions, and what is known of the parameters.
fn point(sets: &Sets, times: &UnionMap, members: usize, wanted: &[usize]) -> Result<(UnionSet, Set), Reason> {
    let names: Vec<String> = (0..wanted.len()).map(point_of).collect();
    let within: Vec<String> = wanted.iter().zip(&names).map(|(at, name)| format!("x{at} = {name}")).collect();
    Ok((instances(sets, times, members, &names, &within)?, sets.known.clone()))
}

/// The instances whose times are `within`, with further parameters.
fn instances(
    sets: &Sets,
    times: &UnionMap,
    members: usize,
    names: &[String],
    within: &[String],
) -> Result<UnionSet, Reason> {
    let all: Vec<String> = (0..members).map(|at| format!("x{at}")).collect();
    let text = format!("[{}] -> {{ [{}] : {} }}", names.join(", "), all.join(", "), within.join(" and "));
    let wanted = UnionSet::parse(sets.domain.context(), &text)?;
    Ok(wanted.apply(&times.reverse()?)?.intersect(&sets.domain)?)
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
