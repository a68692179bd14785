//! Which dimension of a launch neighbouring threads are to differ in: the one in which most accesses go from an element to its neighbour.
//!
//! ```text
//!   for i, j: a[j][i] = b[j][i]      threads of a row differ in i: they access neighbours
//! ```

use mlir_bridge::isl::{Error, UnionMap, UnionSet};

use crate::affine::{Description, accesses::Access, sets::Sets};

/// More accesses than this are not asked about.
const MOST: usize = 32;

/// For `count` dimensions of `times`, how many accesses of the instances in `domain` go on by one element in each.
///
/// # Errors
/// isl's budget is spent.
pub fn scores(
    description: &Description<'_>,
    sets: &Sets,
    domain: &UnionSet,
    times: &UnionMap,
    count: usize,
) -> Result<Vec<usize>, Error> {
    let context = domain.context();
    let names: Vec<String> = (0..count).map(|at| format!("t{at}")).collect();
    let next: Vec<UnionMap> = (0..count)
        .map(|at| {
            let moved = names.iter().enumerate().map(|(number, name)| match number == at {
                true => format!("{name} + 1"),
                false => name.clone(),
            });
            let moved: Vec<String> = moved.collect();
            UnionMap::parse(context, &format!("{{ [{}] -> [{}] }}", names.join(", "), moved.join(", ")))
        })
        .collect::<Result<_, _>>()?;
    let instances = times.intersect_domain(domain)?.reverse()?;
    let mut scores = vec![0; count];
    for (access, element) in description.accesses.iter().zip(&sets.accesses).take(MOST) {
        let elements = instances.apply_range(element)?;
        if elements.is_empty()? {
            continue; // Of a statement that the launch has nothing of.
        }
        let beside = elements.apply_range(&UnionMap::parse(context, &neighbour(access))?)?;
        for (score, next) in scores.iter_mut().zip(&next) {
            let moves = !next.apply_range(&elements)?.intersect(&beside)?.is_empty()?;
            *score += usize::from(moves) * if access.writes { 2 } else { 1 };
        }
    }
    Ok(scores)
}

/// From elements of an array to those beside them.
fn neighbour(access: &Access<'_>) -> String {
    let names: Vec<String> = (0..access.subscripts.len()).map(|at| format!("o{at}")).collect();
    let all = names.join(", ");
    format!("{{ A{}[{all}] -> A{}[{all} + 1] }}", access.array, access.array)
}
