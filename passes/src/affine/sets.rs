//! Instances of statements, what they access and when, as sets of isl; and what is asked of such sets: ranges, sizes, conditions.

use mlir_bridge::isl::{Context, Error, Set, Term, UnionMap, UnionSet, condition, term};

use serde::{Deserialize, Serialize};

use crate::affine::{
    Array, Description, Reason,
    accesses::Base,
    numbers::Assumption,
    poly::variable_name,
    sizes::{Sizes, is_of_types},
};

/// The values of a variable, if there are any.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Range {
    /// The variable.
    pub name: String,
    /// Its first value.
    pub first: Term,
    /// Its last value.
    pub last: Term,
    /// When there are any.
    pub exists: Term,
}

/// The elements of an array that are accessed.
#[derive(Debug, Serialize, Deserialize)]
pub struct Footprint {
    /// When there are any that are known.
    pub exists: Term,
    /// The subscripts of the first.
    pub first: Vec<Term>,
    /// The subscripts of the last.
    pub last: Vec<Term>,
    /// Whether it is stored to.
    pub writes: bool,
    /// Whether the program accesses all that is counted in: else the first and the last may not be there at all.
    pub is_certain: bool,
}

/// So many instances, at most, each of so many operations.
#[derive(Debug, Serialize, Deserialize)]
pub struct Weight {
    /// The ranges that they are counted by.
    pub ranges: Vec<Range>,
    /// The operations of one.
    pub cost: u64,
}

/// A description as isl has it.
#[derive(Clone)]
pub struct Sets {
    /// What is known of the parameters where the plan is right.
    pub known: Set,
    /// When it is.
    pub holds: Term,
    /// The instances of statements.
    pub domain: UnionSet,
    /// Each of the description's accesses, of all instances that can be named: isl takes long to read text.
    pub accesses: Vec<UnionMap>,
}

impl Sets {
    /// The sets of a description.
    ///
    /// # Errors
    /// What is assumed never holds, or isl's budget is spent.
    pub fn of(context: &Context, description: &Description<'_>) -> Result<Self, Reason> {
        let params = description.params();
        let ranges = Set::parse(context, &format!("{params}{{ : {} }}", description.numbers.ranges()))?;
        let right = right(context, description, &Sizes::default(), |_| true)?.coalesce()?;
        let known = ranges.intersect(&right)?.coalesce()?;
        if known.is_empty()? {
            return Err(Reason::Never);
        }
        let types = Set::parse(context, &format!("{params}{{ : {} }}", description.numbers.types()))?;
        let holds = condition(&known.gist(&types)?.coalesce()?, &types)?;
        let (domain, accesses) = instances(context, description, &Sizes::default(), &right)?;
        Ok(Self { known, holds, domain, accesses })
    }

    /// The elements of each array. On processors, which copy nothing, it is of no matter where those of variables end: no two of these overlap.
    ///
    /// # Errors
    /// isl's budget is spent.
    pub fn footprints(&self, description: &Description<'_>, for_processors: bool) -> Result<Vec<Footprint>, Reason> {
        let are_variables = description.arrays.iter().all(|array| matches!(array.base, Base::Variable(_)));
        let none = self.domain.context().no_instances()?;
        let of = |(number, array): (usize, &Array<'_>)| {
            let names: Vec<String> = (0..array.strides.len()).map(|at| format!("o{at}")).collect();
            let accesses = || {
                let all = description.accesses.iter().zip(&self.accesses);
                all.filter(move |(access, _)| access.array == number)
            };
            let (writes, is_certain) =
                (accesses().any(|(access, _)| access.writes), accesses().all(|(access, _)| access.is_certain));
            let mine = if for_processors && are_variables {
                none.clone()
            } else {
                accesses().try_fold(none.clone(), |all, (_, elements)| {
                    all.union(&elements.intersect_domain(&self.domain)?.range()?)
                })?
            };
            if mine.is_empty()? {
                let exists = Term::Number(0);
                return Ok(Footprint { exists, first: vec![], last: vec![], writes, is_certain });
            }
            let mine = mine.to_set()?.coalesce()?;
            let exists = asked(&mine.params()?, &self.known)?;
            let ends = |set: Set, greatest| {
                names.iter().enumerate().map(|(at, _)| term(&set, at, greatest, &self.known)).collect::<Result<_, _>>()
            };
            Ok(Footprint {
                exists,
                first: ends(mine.first()?, false)?,
                last: ends(mine.last()?, true)?,
                writes,
                is_certain,
            })
        };
        description.arrays.iter().enumerate().map(of).collect()
    }

    /// What the statements do.
    ///
    /// # Errors
    /// isl's budget is spent.
    pub fn work(&self, description: &Description<'_>) -> Result<Vec<Weight>, Reason> {
        let context = self.domain.context();
        let mut work = Vec::new();
        for (number, statement) in description.statements.iter().enumerate() {
            let all = UnionSet::parse(context, &format!("{{ {} }}", description.instance(number)))?;
            let instances = self.domain.intersect(&all)?;
            if instances.is_empty()? {
                continue;
            }
            let mut ranges = ranges(&instances.to_set()?, &self.known, |at| format!("w{at}"))?;
            let rounds = self.rounds(description, number)?;
            let cost = (statement.cost >> (4 * rounds.len()).min(63)).max(1);
            ranges.extend(rounds);
            work.push(Weight { ranges, cost });
        }
        Ok(work)
    }

    /// The variables of the loops within a statement with reductions, of those around the access that most are around.
    ///
    /// # Errors
    /// isl's budget is spent.
    pub fn rounds(&self, description: &Description<'_>, number: usize) -> Result<Vec<Range>, Reason> {
        let statement = &description.statements[number];
        let accesses = &description.accesses[statement.accesses.clone()];
        let deepest = accesses.iter().map(|access| &access.scope).max_by_key(|scope| scope.variables.len());
        let Some(scope) = deepest.filter(|_| !statement.reductions.is_empty()) else { return Ok(Vec::new()) };
        let names: Vec<String> = scope.variables.iter().copied().map(variable_name).collect();
        let text = format!("{}{{ [{}] : {} }}", description.params(), names.join(", "), scope.text());
        let points = Set::parse(self.domain.context(), &text)?;
        if points.is_empty()? {
            return Ok(Vec::new());
        }
        let around = statement.scope.variables.len();
        Ok(ranges(&points, &self.known, |at| format!("w{at}"))?.split_off(around))
    }
}

/// The instances of statements, and what each access is to, with parameters in place of sizes, for parameters in `right`.
fn instances(
    context: &Context,
    description: &Description<'_>,
    sizes: &Sizes,
    right: &Set,
) -> Result<(UnionSet, Vec<UnionMap>), Reason> {
    let params = sizes.params(description);
    let text = |list: &[String]| format!("{params}{{ {} }}", sizes.general(&list.join("; ")));
    let (mut domain, mut accesses) = (vec![], vec![]);
    for (number, statement) in description.statements.iter().enumerate() {
        let instance = description.instance(number);
        domain.push(format!("{instance} : {}", statement.scope.text()));
        for access in &description.accesses[statement.accesses.clone()] {
            let access_of = format!("{instance} -> {}", description.element_of_instance(number, access));
            accesses.push(UnionMap::parse(context, &text(&[access_of]))?);
        }
    }
    // Without the ranges of types: isl would take their ends for coefficients of schedules.
    let domain = UnionSet::parse(context, &text(&domain))?.intersect_params(right)?;
    Ok((domain, accesses))
}

/// The same for all sizes in place of those that there are, and for types of any width.
///
/// # Errors
/// isl's budget is spent.
pub fn in_general(
    context: &Context,
    description: &Description<'_>,
    sizes: &Sizes,
) -> Result<(UnionSet, Vec<UnionMap>), Reason> {
    let range = Set::parse(context, &format!("{}{{ : {} }}", sizes.params(description), sizes.range()))?;
    let right = right(context, description, sizes, |assumption| !is_of_types(&assumption.holds))?;
    instances(context, description, sizes, &right.coalesce()?.intersect(&range)?)
}

/// Parameters for which what is assumed holds, of which some. Of those that leave the rounds of an assumption empty some are left out, where what is
/// left is one conjunction: of a nest's, any disjunction would be in all that isl makes.
///
/// ```text
///   0 <= i1 < 900 where 0 <= i0 < n0 and 0 <= i1 < n1      n1 <= 900 or n0 <= 0      n1 <= 900
/// ```
fn right(
    context: &Context,
    description: &Description<'_>,
    sizes: &Sizes,
    some: impl Fn(&Assumption) -> bool,
) -> Result<Set, Reason> {
    let params = sizes.params(description);
    let mut right = Set::parse(context, &format!("{params}{{ : }}"))?;
    for assumption in description.numbers.assumptions.iter().filter(|assumption| some(assumption)) {
        let names: Vec<String> = assumption.scope.variables.iter().copied().map(variable_name).collect();
        let rounds = |further: &str| {
            let text = format!("[{}] : {}{further}", names.join(", "), assumption.scope.text());
            Set::parse(context, &format!("{params}{{ {} }}", sizes.general(&text)))?.params()
        };
        let wrong = rounds(&format!(" and not ({})", assumption.holds))?;
        let all = right.subtract(&wrong)?;
        right = if all.parts()? <= right.parts()? {
            all
        } else {
            let exists = rounds("")?;
            let simple = exists.subtract(&wrong)?.gist(&exists)?.coalesce()?;
            if simple.parts()? == 1 && simple.intersect(&wrong)?.is_empty()? { right.intersect(&simple)? } else { all }
        };
    }
    Ok(right)
}

/// From instances of statements to the values of variables of loops around them.
///
/// # Errors
/// isl's budget is spent.
pub fn rounds_of(
    context: &Context,
    description: &Description<'_>,
    statements: &[usize],
    names: &[String],
) -> Result<UnionMap, Error> {
    let all =
        statements.iter().map(|statement| format!("{} -> [{}]", description.instance(*statement), names.join(", ")));
    UnionMap::parse(context, &format!("{{ {} }}", all.collect::<Vec<_>>().join("; ")))
}

/// What of `domain` has times that are parameters with such names.
///
/// # Errors
/// isl's budget is spent.
pub fn points_at(times: &UnionMap, names: &[String], domain: &UnionSet) -> Result<UnionSet, Error> {
    let names = names.join(", ");
    let point = UnionSet::parse(domain.context(), &format!("[{names}] -> {{ [{names}] }}"))?;
    point.apply(&times.reverse()?)?.intersect(domain)
}

/// When parameters that are known to be in `known` are in `set`.
///
/// # Errors
/// isl's budget is spent.
pub fn asked(set: &Set, known: &Set) -> Result<Term, Error> {
    condition(&set.gist(known)?.coalesce()?, known)
}

/// Ranges that each dimension of a set is in, which may be wider than those of its points and take isl far less.
///
/// # Errors
/// A dimension has none, or isl's budget is spent.
pub fn hull(set: &Set, known: &Set, name: impl Fn(usize) -> String) -> Result<Vec<Range>, Reason> {
    ranges(&set.remove_divs()?, known, &name).or_else(|_| ranges(set, known, name))
}

/// What holds of numbers that are not below the least one of a dimension: of those that `names` has for it. It is said in one conjunction, so there may
/// be more to say.
///
/// # Errors
/// isl's budget is spent.
pub fn not_below(set: &Set, names: impl Fn(usize) -> Vec<String>) -> Result<Set, Error> {
    beside(set, "<=", names)
}

/// The same of those that are not above the greatest one.
///
/// # Errors
/// isl's budget is spent.
pub fn not_above(set: &Set, names: impl Fn(usize) -> Vec<String>) -> Result<Set, Error> {
    beside(set, ">=", names)
}

fn beside(set: &Set, relation: &str, names: impl Fn(usize) -> Vec<String>) -> Result<Set, Error> {
    let (context, points) = (set.context(), set.remove_divs()?.simple_hull()?);
    let dimensions: Vec<String> = (0..points.dimensions()?).map(|at| format!("p{at}")).collect();
    let (all, points) = (dimensions.join(", "), points.to_union()?);
    let mut known = Set::parse(context, "{ : }")?;
    for (at, dimension) in dimensions.iter().enumerate() {
        for name in names(at) {
            let related = format!("[{name}] -> {{ [{all}] -> [{name}] : {dimension} {relation} {name} }}");
            known = known.intersect(&points.apply(&UnionMap::parse(context, &related)?)?.params()?)?;
        }
    }
    Ok(known)
}

/// The range of each dimension of a set, over all of its points.
///
/// # Errors
/// A dimension has none, or isl's budget is spent.
pub fn ranges(set: &Set, known: &Set, name: impl Fn(usize) -> String) -> Result<Vec<Range>, Reason> {
    let exists = asked(&set.params()?, known)?;
    let of = |at| {
        let (first, last) = (term(set, at, false, known)?, term(set, at, true, known)?);
        Ok(Range { name: name(at), first, last, exists: exists.clone() })
    };
    (0..set.dimensions()?).map(of).collect()
}
