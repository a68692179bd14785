//! Waves of tiles: how iterations that wait for one another in every dimension run in parallel.
//!
//! ```text
//!   for t: for i: a[i] = f(a[i - 1], a[i], a[i + 1])      the band [t, t + i] may be tiled: no dependence goes back in any dimension
//!   host: for w: launch, a thread for each tile T1 + T2 = w; a thread goes through its tile in the order of the band
//! ```
//!
//! A tile depends on tiles that are behind it in no dimension and before it in one at least, so on those of waves before. Only where isl finds
//! nothing to do in parallel but waves of single iterations, launches of which take longer than what they do.

use mlir_bridge::isl::{Error, Node, UnionMap, UnionSet};

use crate::affine::{Description, poly::variable_name};

/// The tiles that waves are made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Tiling {
    /// None.
    #[default]
    Never,
    /// Of the usual size.
    Usual,
    /// Of so many iterations in each dimension, the last for all that follow.
    Of(Vec<i64>),
}

/// The iterations of a tile where there are two dimensions, and where there are more, all of which but the first two are in a tile as a whole.
const USUAL: [[i64; 2]; 2] = [[32, 1024], [1, 16]];

impl Tiling {
    /// The sizes for a band of so many dimensions: for the first two. isl takes too long with more.
    pub fn sizes(&self, members: usize) -> Option<Vec<i64>> {
        match self {
            _ if members < 2 => None,
            Tiling::Never => None,
            // Waves of iterations are rows of lanes where one loop goes through a wave; measured, tiles are slower there.
            Tiling::Usual if members == 3 => None,
            Tiling::Usual => Some(USUAL[usize::from(members > 2)].to_vec()),
            Tiling::Of(sizes) => {
                let at = |at: usize| sizes.get(at).or(sizes.last()).copied().unwrap_or(1);
                Some((0..2).map(at).collect())
            }
        }
    }
}

/// The waves of a band.
pub struct Waves {
    /// From times of the band to the numbers of waves.
    pub waves: UnionMap,
    /// From times of the band to tiles of a wave: all coordinates but the first.
    pub tiles: UnionMap,
}

/// The waves of a band's tiles.
///
/// # Errors
/// isl fails.
pub fn waves(domain: &UnionSet, members: usize, sizes: &[i64]) -> Result<Waves, Error> {
    let times: Vec<String> = (0..members).map(|at| format!("x{at}")).collect();
    let tiles: Vec<String> = (0..sizes.len()).map(|at| format!("y{at}")).collect();
    let within =
        times.iter().zip(&tiles).zip(sizes).map(|((x, y), size)| format!("{size}*{y} <= {x} < {size}*{y} + {size}"));
    let within = within.collect::<Vec<_>>().join(" and ");
    let (times, all) = (times.join(", "), tiles.join(", "));
    let context = domain.context();
    let wave = format!("{{ [{times}] -> [w] : exists {all} : w = {} and {within} }}", tiles.join(" + "));
    let tile = format!("{{ [{times}] -> [{}] : exists y0 : {within} }}", tiles[1..].join(", "));
    Ok(Waves { waves: UnionMap::parse(context, &wave)?, tiles: UnionMap::parse(context, &tile)? })
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

#[cfg(test)]
mod tests {
    use super::Tiling;

    #[test]
    fn a_tile_has_all_of_further_dimensions() {
        assert_eq!(Tiling::Of(vec![4, 5]).sizes(2), Some(vec![4, 5]));
        assert_eq!(Tiling::Of(vec![4]).sizes(3), Some(vec![4, 4]));
        assert_eq!(Tiling::Usual.sizes(3), None);
        assert_eq!(Tiling::Usual.sizes(6), Some(vec![1, 16]));
        assert_eq!(Tiling::Usual.sizes(1), None);
        assert_eq!(Tiling::Never.sizes(3), None);
    }
}
