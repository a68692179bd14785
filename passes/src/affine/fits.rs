//! Whether all numbers of a plan stay within 64 bits, for all parameters that it is for.
//!
//! isl's numbers have no limits, C's have. Each operation is done with the ranges of its operands, those of variables by the bounds of
//! their loops.

use std::collections::HashMap;

use mlir_bridge::isl::{Code, Kind, Term};

use crate::affine::{
    columns::ends_of_tile,
    host::{Host, Launch},
    numbers::Numbers,
    plan::Plan,
    poly::param_name,
    sets::{Range, Weight},
    staged::{Staged, place_name, size_name},
    teams::{LANE, MOST_LANES, Task, Team},
    threads::{OnChip, Phase, Pieces, Register, Tile, first_of_block, subscript_name},
    waves::{MOST_SIZE, Waves, ends_of, point_of},
};

/// The least and the greatest value.
type Ends = (i128, i128);

/// What numbers may be: room for what is computed of them further, sizes in bytes above all.
const MOST: i128 = 1 << 60;

/// Whether all numbers of a plan fit.
pub fn plan(plan: &Plan, numbers: &Numbers<'_>) -> bool {
    let ranges = (0..numbers.params.len()).map(|number| (param_name(number), numbers.range(number)));
    let known = Known(ranges.map(|(name, (low, high))| (name, (low.into(), high.into()))).collect());
    let footprint = |footprint: &super::sets::Footprint| {
        footprint.first.iter().chain(&footprint.last).all(|term| known.fits(term)) && known.fits(&footprint.exists)
    };
    let grids = plan.grids.iter().map(|(weight, _)| weight);
    let mut weights = plan.work.iter().chain(&plan.launches).chain(grids);
    known.fits(&plan.holds)
        && plan.footprints.iter().all(footprint)
        && weights.all(|weight: &Weight| known.and(&weight.ranges).is_some())
        && known.host(&plan.host)
}

#[derive(Clone)]
struct Known(HashMap<String, Ends>);

impl Known {
    fn fits(&self, term: &Term) -> bool {
        self.ends(term).is_some()
    }

    /// The same with further variables; none where a bound does not fit.
    fn and(&self, ranges: &[Range]) -> Option<Self> {
        let mut inner = self.clone();
        for Range { name, first, last, exists } in ranges {
            self.ends(exists)?;
            inner.0.insert(name.clone(), hull(self.ends(first)?, self.ends(last)?));
        }
        Some(inner)
    }

    fn host(&self, host: &Host) -> bool {
        match host {
            Host::Sequence(parts) => parts.iter().all(|part| self.host(part)),
            Host::Loop(range, body) => self.and(std::slice::from_ref(range)).is_some_and(|inner| inner.host(body)),
            Host::Launch(launch) => {
                let Launch { threads, exists, code, on_chip, team, sums, .. } = &**launch;
                // The last block has threads behind the last one that is wanted.
                let inner = self.and(threads).map(|mut inner| {
                    for Range { name, .. } in threads {
                        let ends = inner.0.entry(name.clone()).and_modify(|ends| ends.1 += 1024);
                        let ends = *ends.or_default();
                        inner.0.extend(ends_of_tile(name).map(|name| (name, ends)));
                    }
                    inner
                });
                let fits = |inner: Self| {
                    inner.code(code) && inner.on_chip(threads, on_chip) && team.iter().all(|team| inner.team(team))
                };
                let elements: Vec<Range> = sums.iter().map(|sum| sum.elements.clone()).collect();
                self.fits(exists) && self.and(&elements).is_some() && inner.is_some_and(fits)
            }
            Host::Waves(waves) => self.waves(waves).is_some(),
        }
    }

    /// What is computed of boxes, which reach over the ends of the band by less than a tile.
    fn waves(&self, waves: &Waves) -> Option<()> {
        let mut known = self.and(&waves.band)?;
        for (number, range) in waves.band.iter().enumerate() {
            known.insert_box(number, *known.0.get(&range.name)?);
        }
        let mut inner = known.and(std::slice::from_ref(&waves.strip))?.and(&waves.inner)?;
        for (number, range) in waves.inner.iter().enumerate() {
            inner.insert_box(2 + number, *inner.0.get(&range.name)?);
        }
        let fits = inner.fits(&waves.launch.exists) && inner.code(&waves.launch.code);
        (fits && waves.staged.iter().all(|staged| inner.staged(staged, waves.dimensions))).then_some(())
    }

    fn staged(&self, staged: &Staged, dimensions: usize) -> bool {
        let mut known = self.clone();
        for dimension in 0..dimensions {
            known.0.insert(size_name(dimension), (1, MOST_SIZE.into()));
        }
        for (at, (first, extent)) in staged.first.iter().zip(&staged.extents).enumerate() {
            let (Some(first), Some(extent)) = (known.ends(first), known.ends(extent)) else { return false };
            known.0.insert(place_name(at), (first.0, first.1 + extent.1));
        }
        staged.stored.as_ref().is_none_or(|stored| known.fits(stored))
    }

    fn insert_box(&mut self, dimension: usize, (low, high): Ends) {
        let [first, last] = ends_of(dimension);
        for name in [first, last, point_of(dimension)] {
            self.0.insert(name, (low - i128::from(MOST_SIZE), high + i128::from(MOST_SIZE)));
        }
    }

    fn on_chip(&self, threads: &[Range], what: &OnChip) -> bool {
        let mut known = self.clone();
        for Range { name, .. } in threads {
            let Some(ends) = self.0.get(name) else { return false };
            known.0.insert(first_of_block(name), *ends);
        }
        let register = |register: &Register| {
            known.fits(&register.exists) && register.subscripts.iter().all(|subscript| known.fits(subscript))
        };
        what.registers.iter().all(register)
            && what.phases.iter().all(|phase| match phase {
                Phase::Alone(code) => known.code(code),
                Phase::Pieces(pieces) => known.pieces(pieces),
            })
    }

    fn team(&self, team: &Team) -> bool {
        let mut known = self.clone();
        for name in LANE {
            known.0.insert(name.into(), (0, MOST_LANES.into()));
        }
        self.and(&team.rounds).is_some()
            && team.tasks.iter().all(|task| match task {
                Task::Each(code) | Task::First(code) | Task::Statement(code, ..) | Task::Loop(code, _) => {
                    known.code(code)
                }
            })
    }

    fn pieces(&self, pieces: &Pieces) -> bool {
        let Some(known) = self.and(std::slice::from_ref(&pieces.rounds)) else { return false };
        let tile = |tile: &Tile| {
            let mut inner = known.clone();
            for (at, (first, size)) in tile.first.iter().zip(&tile.sizes).enumerate() {
                let Some((low, high)) = known.ends(first) else { return false };
                inner.0.insert(subscript_name(at), (low, high + i128::from(*size)));
            }
            inner.fits(&tile.holds)
        };
        let inner = pieces.inner.iter().all(|inner| known.code(&inner.code));
        known.code(&pieces.code) && inner && pieces.tiles.iter().all(tile)
    }

    fn code(&self, code: &Code) -> bool {
        match code {
            Code::For { iterator, first, condition, step, body, once } => {
                let Some(start) = self.ends(first) else { return false };
                let Some(step) = self.ends(step) else { return false };
                let mut inner = self.clone();
                // Until the condition is known to be of something that fits, the variable is anywhere.
                inner.0.insert(iterator.clone(), start);
                let end = if *once { Some(start.1) } else { inner.upper(condition, iterator) };
                let Some(end) = end else { return false };
                inner.0.insert(iterator.clone(), (start.0, end.max(start.1) + step.1));
                inner.code(body)
            }
            Code::If { condition, then, otherwise } => {
                self.fits(condition) && self.code(then) && otherwise.as_ref().is_none_or(|code| self.code(code))
            }
            Code::Block(parts) => parts.iter().all(|part| self.code(part)),
            Code::Statement(_, arguments) => arguments.iter().all(|term| self.fits(term)),
        }
    }

    /// The greatest value that a variable has while a condition holds; none where that is not known or does not fit.
    fn upper(&self, condition: &Term, variable: &str) -> Option<i128> {
        let Term::Of(kind, parts) = condition else { return None };
        match (kind, &parts[..]) {
            (Kind::Le | Kind::Lt, [Term::Name(name), bound]) if name == variable => Some(self.ends(bound)?.1),
            (Kind::And, parts) => {
                let each: Vec<Option<i128>> = parts.iter().map(|part| self.upper(part, variable)).collect();
                each.into_iter().flatten().min()
            }
            _ => None,
        }
    }

    /// What a number may be; of a condition 0 or 1. None where an operation of it may not fit.
    fn ends(&self, term: &Term) -> Option<Ends> {
        let found = match term {
            Term::Name(name) => *self.0.get(name)?,
            Term::Number(number) => ((*number).into(), (*number).into()),
            Term::Of(kind, arguments) => {
                let arguments: Option<Vec<Ends>> = arguments.iter().map(|argument| self.ends(argument)).collect();
                operation(*kind, &arguments?)?
            }
        };
        (found.0 >= -MOST && found.1 <= MOST).then_some(found)
    }
}

fn hull(left: Ends, right: Ends) -> Ends {
    (left.0.min(right.0), left.1.max(right.1))
}

fn operation(kind: Kind, arguments: &[Ends]) -> Option<Ends> {
    let each = |fold: fn(Ends, Ends) -> Ends| arguments.iter().copied().reduce(fold);
    Some(match (kind, arguments) {
        (Kind::Max, _) => each(|a, b| (a.0.max(b.0), a.1.max(b.1)))?,
        (Kind::Min, _) => each(|a, b| (a.0.min(b.0), a.1.min(b.1)))?,
        (Kind::Minus, [a]) => (-a.1, -a.0),
        (Kind::Add, _) => each(|a, b| (a.0 + b.0, a.1 + b.1))?,
        (Kind::Sub, [a, b]) => (a.0 - b.1, a.1 - b.0),
        (Kind::Mul, [a, b]) => {
            let all = [a.0 * b.0, a.0 * b.1, a.1 * b.0, a.1 * b.1];
            (all.into_iter().min()?, all.into_iter().max()?)
        }
        // By a number: nothing gets larger but by the one that is rounded.
        (Kind::Div | Kind::Floor | Kind::Quotient | Kind::Remainder | Kind::ZeroRemainder, [a, b]) => {
            let most = a.0.abs().max(a.1.abs()).max(b.1.abs()) + b.1.abs();
            (-most, most)
        }
        (Kind::Select, [_, a, b]) => hull(*a, *b),
        (Kind::And | Kind::Or | Kind::Eq | Kind::Le | Kind::Lt | Kind::Ge | Kind::Gt, _) => (0, 1),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n() -> Term {
        Term::Name("n".into())
    }

    fn of(kind: Kind, arguments: &[Term]) -> Term {
        Term::Of(kind, arguments.to_vec())
    }

    fn known(most: i128) -> Known {
        Known(HashMap::from([("n".into(), (0, most))]))
    }

    #[test]
    fn operations_have_ends() {
        let known = known(10);
        let ends = |kind, arguments: &[Term]| known.ends(&of(kind, arguments));
        assert_eq!(ends(Kind::Mul, &[Term::Number(-3), n()]), Some((-30, 0)));
        assert_eq!(ends(Kind::Sub, &[n(), Term::Number(2)]), Some((-2, 8)));
        assert_eq!(ends(Kind::Select, &[n(), n(), Term::Number(-1)]), Some((-1, 10)));
        assert_eq!(ends(Kind::Add, &[n(), Term::Name("m".into())]), None);
    }

    #[test]
    fn large_numbers_do_not_fit() {
        let large = of(Kind::Mul, &[Term::Number(1 << 30), n()]);
        assert!(known(1 << 20).fits(&large));
        assert!(!known(1 << 40).fits(&large));
        let gone = of(Kind::Sub, &[large.clone(), large]);
        assert!(!known(1 << 40).fits(&gone));
    }

    #[test]
    fn variables_have_the_bounds_of_their_loops() {
        let code = |condition, factor| Code::For {
            iterator: "c0".into(),
            first: Term::Number(0),
            condition,
            step: Term::Number(1),
            body: Box::new(Code::Statement(
                "S0".into(),
                vec![of(Kind::Mul, &[Term::Number(factor), Term::Name("c0".into())])],
            )),
            once: false,
        };
        let below = |bound| of(Kind::Lt, &[Term::Name("c0".into()), bound]);
        assert!(known(1 << 30).code(&code(below(n()), 1 << 20)));
        assert!(!known(1 << 30).code(&code(below(n()), 1 << 40)));
        let both = of(Kind::And, &[below(Term::Number(8)), below(n())]);
        assert!(known(1 << 30).code(&code(both, 1 << 40)));
        assert!(!known(8).code(&code(of(Kind::Ge, &[n(), Term::Number(0)]), 1)));
    }
}
