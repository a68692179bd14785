//! What has to stay in order: pairs of instances of which one stores to what the other accesses.
//!
//! ```text
//!   for t: for i: b[i] = f(a[i - 1], a[i + 1]);      S0[t, i] before S1[t', i - 1] and S1[t', i + 1]: t' >= t
//!          for i: a[i] = b[i];                       S1[t, i] before S0[t', i + 1] and S0[t', i - 1]: t' > t
//! ```

use std::collections::{BTreeSet, HashMap, hash_map::Entry};

use mlir_bridge::isl::{Context, Error, UnionMap, UnionSet};

use crate::affine::{Description, accesses::Access};

/// What must stay in order.
pub struct Dependences {
    /// From writes to reads of the same element.
    pub flow: UnionMap,
    /// All of them: from writes to reads, from reads to writes and from writes to writes.
    pub all: UnionMap,
    /// The statements that they are from and to.
    statements: BTreeSet<[usize; 2]>,
}

/// The accesses of a statement to one element in each round.
pub struct Place {
    statement: usize,
    array: usize,
    /// Which elements, as isl has it.
    elements: String,
    reads: bool,
    /// Whether one of them stores.
    pub writes: bool,
    /// From instances to the element.
    pub relation: UnionMap,
}

impl Dependences {
    /// The dependences of the instances in `domain`, with what each access is to. Pairs of accesses stay apart: said together in fewer words they have
    /// faces that a schedule takes isl many times as long for.
    ///
    /// # Errors
    /// isl's budget is spent.
    pub fn of(description: &Description<'_>, domain: &UnionSet, accesses: &[UnionMap]) -> Result<Self, Error> {
        let context = domain.context();
        let places = places(description, domain, accesses, |_, _| true)?;
        let mut orders = HashMap::new();
        let none = UnionMap::parse(context, "{ }")?;
        let (mut flow, mut all, mut statements) = (none.clone(), none, BTreeSet::new());
        for (from, to) in places.iter().flat_map(|from| places.iter().map(move |to| (from, to))) {
            if from.array != to.array || !(from.writes || to.writes) {
                continue;
            }
            let order = match orders.entry([from.statement, to.statement]) {
                Entry::Occupied(order) => order.into_mut(),
                Entry::Vacant(place) => {
                    let order = order(context, description, *place.key())?;
                    place.insert(order)
                }
            };
            let Some(order) = order else { continue };
            let pairs = from.relation.apply_range(&to.relation.reverse()?)?.intersect(order)?;
            if pairs.is_empty()? {
                continue;
            }
            statements.insert([from.statement, to.statement]);
            all = all.union(&pairs)?;
            if from.writes && to.reads {
                flow = flow.union(&pairs)?;
            }
        }
        Ok(Self { flow, all, statements })
    }

    /// Whether each of `count` statements is before as well as behind each other one, by way of further ones: a strongly connected component.
    pub fn are_circular(&self, count: usize) -> bool {
        let reached = |[from, to]: [usize; 2]| {
            let mut reached = BTreeSet::from([0]);
            let mut left = vec![0];
            while let Some(statement) = left.pop() {
                let next = self.statements.iter().filter(|pair| pair[from] == statement).map(|pair| pair[to]);
                left.extend(next.filter(|next| reached.insert(*next)).collect::<Vec<_>>());
            }
            reached.len()
        };
        reached([0, 1]) == count && reached([1, 0]) == count
    }
}

/// Some accesses of statements, those of a statement to the same elements together.
///
/// # Errors
/// isl's budget is spent.
pub fn places(
    description: &Description<'_>,
    domain: &UnionSet,
    accesses: &[UnionMap],
    some: impl Fn(usize, &Access<'_>) -> bool,
) -> Result<Vec<Place>, Error> {
    let mut places: Vec<Place> = Vec::new();
    for (statement, what) in description.statements.iter().enumerate() {
        for number in what.accesses.clone().filter(|number| some(statement, &description.accesses[*number])) {
            let access = &description.accesses[number];
            let elements = description.element_of_instance(statement, access);
            let same = places.iter_mut().find(|place| place.statement == statement && place.elements == elements);
            if let Some(place) = same {
                place.reads |= !access.writes;
                place.writes |= access.writes;
                continue;
            }
            let relation = accesses[number].intersect_domain(domain)?;
            let (array, reads, writes) = (access.array, !access.writes, access.writes);
            places.push(Place { statement, array, elements, reads, writes, relation });
        }
    }
    Ok(places)
}

/// From instances of the first statement to those of the second one that come later, if any do.
fn order(context: &Context, description: &Description<'_>, [from, to]: [usize; 2]) -> Result<Option<UnionMap>, Error> {
    let later = later(&description.statements[from].times, &description.statements[to].times);
    let renamed = description.instance(to).replace('i', "j");
    let pairs: Vec<String> =
        later.iter().map(|holds| format!("{} -> {renamed} : {holds}", description.instance(from))).collect();
    let text = format!("{{ {} }}", pairs.join("; "));
    (!pairs.is_empty()).then(|| UnionMap::parse(context, &text)).transpose()
}

/// When one time is before another, whose variables are named `j0`, `j1`, ..: any of these.
fn later(from: &[String], to: &[String]) -> Vec<String> {
    let (mut same, mut all): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    let mut or_same = None;
    let at = |time: &[String], place: usize| time.get(place).cloned().unwrap_or_else(|| "0".into());
    for place in 0..from.len().max(to.len()) {
        let (earlier, later) = (at(from, place), at(to, place).replace('i', "j"));
        if let (Ok(earlier), Ok(later)) = (earlier.parse::<i64>(), later.parse::<i64>()) {
            if earlier == later {
                continue;
            }
            if earlier < later {
                // With the same rounds of the loop before it is one conjunction.
                all.pop();
                all.push(or_same.unwrap_or_else(|| "true".into()));
            }
            break;
        }
        let with = |last: String| [&same[..], &[last]].concat().join(" and ");
        or_same = Some(with(format!("{earlier} <= {later}")));
        all.push(with(format!("{earlier} < {later}")));
        same.push(format!("{earlier} = {later}"));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::later;

    #[test]
    fn times_are_compared_place_by_place() {
        let time = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let of = |from: &str, to: &str| later(&time(from), &time(to));
        assert_eq!(of("0 i0 1", "0 i0 1"), ["i0 < j0"]);
        assert_eq!(of("0 i0 1", "0 i0 2 i4"), ["i0 <= j0"]);
        assert_eq!(of("0 i0 2 i4", "0 i0 1"), ["i0 < j0"]);
        assert_eq!(of("0", "1 i0"), ["true"]);
        assert_eq!(of("1 i0", "0"), [""; 0]);
        assert_eq!(of("0 i0 0 i1", "0 i0 0 i1"), ["i0 < j0", "i0 = j0 and i1 < j1"]);
        assert_eq!(of("0 i0 0 i1 0", "0 i0 0 i1 1"), ["i0 < j0", "i0 = j0 and i1 <= j1"]);
    }
}
