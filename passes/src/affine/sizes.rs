//! Constant sizes as parameters, for isl to schedule: its linear programs compute with the numbers in what they are made of, and take seconds where arrays
//! have 800 rows, but milliseconds where they have any number of rows.
//!
//! ```text
//!   { S0[i0, i1] : 0 <= i0 < 800 and 1 <= i1 < 899 }      [k0, k1] -> { S0[i0, i1] : 0 <= i0 < (k0 + 0) and 1 <= i1 < (k1 + 0) }
//! ```
//!
//! A schedule that is right for all sizes is so for these. Its bands and sequences are then taken for what there is.

use std::collections::BTreeSet;

use mlir_bridge::isl::{Error, Node, Schedule, Set, Step, UnionMap, UnionSet};

use crate::affine::{Description, Reason};

/// Numbers that are sizes. Larger ones are ends of types.
const SIZES: std::ops::Range<i64> = 16..1 << 24;
/// Sizes that are at most so far apart belong together.
const BESIDE: i64 = 8;

/// The constant sizes of a nest: of those that belong together the least.
#[derive(Debug, Default)]
pub struct Sizes(Vec<i64>);

impl Sizes {
    /// Those of a description.
    pub fn of(description: &Description<'_>) -> Self {
        let Description { statements, accesses, numbers: all, .. } = description;
        let of_statements = statements.iter().flat_map(|statement| &statement.scope.constraints);
        let of_accesses = accesses.iter().flat_map(|access| access.scope.constraints.iter().chain(&access.subscripts));
        let assumed = all.assumptions.iter().flat_map(|one| one.scope.constraints.iter().chain([&one.holds]));
        let mut found = BTreeSet::new();
        for text in of_statements.chain(of_accesses).chain(assumed) {
            numbers(text, |number| {
                found.extend(SIZES.contains(&number).then_some(number));
                None
            });
        }
        let mut sizes: Vec<i64> = Vec::new();
        for number in found {
            if sizes.last().is_none_or(|last| number - last > BESIDE) {
                sizes.push(number);
            }
        }
        Self(sizes)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Text of isl with parameters in place of sizes.
    pub fn general(&self, text: &str) -> String {
        numbers(text, |number| {
            let at =
                self.0.iter().rposition(|size| SIZES.contains(&number) && (0..=BESIDE).contains(&(number - size)))?;
            Some(format!("({} + {})", name(at), number - self.0[at]))
        })
    }

    /// The parameters as isl has them in front of a set, behind those of a description.
    pub fn params(&self, description: &Description<'_>) -> String {
        let own = (0..description.numbers.params.len()).map(crate::affine::poly::param_name);
        let names: Vec<String> = own.chain((0..self.0.len()).map(name)).collect();
        format!("[{}] -> ", names.join(", "))
    }

    /// What parameters are in general.
    pub fn range(&self) -> String {
        let all: Vec<String> = (0..self.0.len()).map(|at| format!("{} >= {}", name(at), SIZES.start)).collect();
        if all.is_empty() { "true".into() } else { all.join(" and ") }
    }

    /// A schedule for all sizes as one of `domain`, which has these.
    ///
    /// # Errors
    /// isl's budget is spent.
    pub fn schedule(&self, general: &Schedule, domain: &UnionSet) -> Result<Schedule, Reason> {
        let values: Vec<String> =
            self.0.iter().enumerate().map(|(at, size)| format!("{} = {size}", name(at))).collect();
        let names: Vec<String> = (0..self.0.len()).map(name).collect();
        let text = format!("[{}] -> {{ : {} }}", names.join(", "), values.join(" and "));
        let copy = Copy { values: Set::parse(domain.context(), &text)?, names };
        let place = Schedule::unordered(domain)?.root()?.child()?;
        Ok(copy.below(&general.root()?.child()?, place)?.schedule()?)
    }
}

/// Whether something is said of the ends of types, which schedules have nothing to do with.
pub fn is_of_types(text: &str) -> bool {
    let mut is = false;
    numbers(text, |number| {
        is |= number >= SIZES.end;
        None
    });
    is
}

/// A parameter in place of a size.
fn name(at: usize) -> String {
    format!("k{at}")
}

/// Calls `with` for each number of a text that is a size or more, and gives the text with what that gave in their place.
fn numbers(text: &str, mut with: impl FnMut(i64) -> Option<String>) -> String {
    let (mut made, mut rest) = (String::new(), text);
    while let Some(start) = rest.find(|letter: char| letter.is_ascii_digit()) {
        let end =
            rest[start..].find(|letter: char| !letter.is_ascii_digit()).map_or(rest.len(), |length| start + length);
        let (before, digits, behind) = (&rest[..start], &rest[start..end], &rest[end..]);
        made += before;
        // Part of a name, a factor, or a divisor.
        let around = made.trim_end();
        let is_part = made.ends_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '_')
            || around.ends_with(['*', '/'])
            || around.ends_with("mod")
            || behind.trim_start().starts_with('*');
        let number = digits.parse().ok().filter(|number| !is_part && *number >= SIZES.start);
        made += &number.and_then(&mut with).unwrap_or_else(|| digits.to_owned());
        rest = behind;
    }
    made + rest
}

/// Copies what is below a node of a schedule with further parameters.
pub(super) struct Copy {
    /// The values for which it is copied.
    pub(super) values: Set,
    /// The parameters, which the copy does not have.
    pub(super) names: Vec<String>,
}

impl Copy {
    /// Inserts at `place` what is at `node`; gives the place again.
    pub(super) fn below(&self, node: &Node, place: Node) -> Result<Node, Reason> {
        match node.step() {
            Step::Leaf => Ok(place),
            Step::Band => {
                let coincident =
                    (0..node.members()?).map(|member| node.is_coincident(member)).collect::<Result<Vec<_>, _>>()?;
                let band = place.insert_band(&self.fixed(node.band_times()?)?, &coincident, node.is_permutable()?)?;
                Ok(self.below(&node.child()?, band.child()?)?.parent()?)
            }
            Step::Sequence | Step::Set => {
                let children = node.children()?;
                let filters = children.iter().map(|child| self.fixed(child.filter()?.identity()?)?.domain());
                let filters = filters.collect::<Result<Vec<_>, Error>>()?;
                let mut parts = place.insert_parts(&filters, node.step() == Step::Sequence)?;
                for (at, child) in children.iter().enumerate() {
                    let below = parts.child_at(at)?.child()?;
                    parts = self.below(&child.child()?, below)?.parent()?.parent()?;
                }
                Ok(parts)
            }
            Step::Domain | Step::Filter | Step::Other => Err(Reason::Budget),
        }
    }

    fn fixed(&self, map: UnionMap) -> Result<UnionMap, Error> {
        self.names.iter().try_fold(map.intersect_params(&self.values)?, |map, name| map.without_param(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_told_from_factors_and_names() {
        let sizes = Sizes(vec![99, 800]);
        let general = |text| sizes.general(text);
        assert_eq!(
            general("0 <= i800 < 800 and A800[o0] : o0 = - 799 + 800*i0"),
            "0 <= i800 < (k1 + 0) and A800[o0] : o0 = - 799 + 800*i0"
        );
        assert_eq!(
            general("(i0 - (100)) mod 100 = 0 and floor(i1 / 800) < 15"),
            "(i0 - ((k0 + 1))) mod 100 = 0 and floor(i1 / 800) < 15"
        );
    }
}
