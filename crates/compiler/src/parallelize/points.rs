//! What the points of a band access, and how long each waits for the one before it: what the model of waves of tiles (`tiles.h`) knows of a nest.
//!
//! ```text
//!   a[i][j] = (a[i][j - 1] + a[i][j]) * 0.5     waits for a sum and a product; accesses A0: subscript 0 grows with c1, 1 with c2, 1 apart
//! ```

use std::collections::{HashMap, HashSet};

use mlir_bridge::ir::{Op, Value};
use mlir_bridge::isl::{Code, Kind, Term};
use regrain_passes::affine::Description;
use regrain_passes::affine::accesses::Access;
use regrain_passes::affine::host::statement_of;
use regrain_passes::affine::poly::Poly;
use regrain_passes::affine::statements::Statement;
use regrain_passes::affine::transactions::growth;
use regrain_tuning::calibration::Waits;

/// The subscripts of an array that `tiles.h` has room for, the last ones.
const MOST_SUBSCRIPTS: usize = 4;
/// The dimensions that it has room for.
pub const MOST_DIMENSIONS: usize = 6;

/// Accesses to an array that differ by constants.
pub struct Accesses {
    /// The bytes of an element.
    pub bytes: i64,
    /// How much each subscript grows with each dimension, or shrinks.
    pub growth: Vec<Vec<i64>>,
    /// How far they are apart in each.
    pub apart: Vec<i64>,
}

/// What a point waits for the one before it in the last dimension.
#[derive(Default)]
pub struct Wait {
    /// Nanoseconds.
    pub time: f64,
    /// How many of its operations do.
    pub operations: usize,
    /// Nanoseconds that a row of the last dimension waits for the row before it, or 0.
    pub through: f64,
}

/// An access as sums of the dimensions of a band.
struct Moved<'a, 'c> {
    access: &'a Access<'c>,
    growth: Vec<Vec<i64>>,
    constants: Vec<i64>,
    /// What is added of parameters.
    rest: Vec<Poly>,
}

/// The points of a band of so many dimensions.
pub struct Points<'d, 'c> {
    description: &'d Description<'c>,
    /// The accesses of each statement.
    statements: Vec<Vec<Moved<'d, 'c>>>,
}

impl<'d, 'c> Points<'d, 'c> {
    /// Those that code goes through, in which the dimensions have such names.
    pub fn of(description: &'d Description<'c>, code: &Code, dimensions: &[String]) -> Self {
        let mut places = HashMap::new();
        collect(code, &mut places);
        let of = |(number, statement): (usize, &'d Statement<'c>)| {
            let place = places.get(&number)?;
            let accesses = &description.accesses[statement.accesses.clone()];
            Some(accesses.iter().filter_map(|access| moved(access, statement, place, dimensions)).collect())
        };
        Self { description, statements: description.statements.iter().enumerate().filter_map(of).collect() }
    }

    /// What is accessed.
    pub fn accesses(&self) -> Vec<Accesses> {
        let mut groups: Vec<(&Moved<'d, 'c>, Vec<[i64; 2]>)> = Vec::new();
        for moved in self.statements.iter().flatten() {
            match groups.iter_mut().find(|(other, _)| moved.is_beside(other)) {
                Some((_, ends)) => {
                    for ([first, last], constant) in ends.iter_mut().zip(&moved.constants) {
                        (*first, *last) = ((*first).min(*constant), (*last).max(*constant));
                    }
                }
                None => groups.push((moved, moved.constants.iter().map(|constant| [*constant; 2]).collect())),
            }
        }
        let of = |(moved, ends): (&Moved<'d, 'c>, Vec<[i64; 2]>)| {
            let skipped = ends.len().saturating_sub(MOST_SUBSCRIPTS);
            Accesses {
                bytes: self.description.arrays[moved.access.array].size,
                growth: moved.growth[skipped..].iter().map(|grows| grows.iter().map(|by| by.abs()).collect()).collect(),
                apart: ends[skipped..].iter().map(|[first, last]| last.saturating_sub(*first)).collect(),
            }
        };
        groups.into_iter().map(of).collect()
    }

    /// How much each subscript of an array grows from a point to the next one of the same wave: one on in a dimension, one back in the last.
    pub fn across(&self, array: usize, dimension: usize) -> Option<Vec<i64>> {
        let moved = self.statements.iter().flatten().find(|moved| moved.access.array == array)?;
        moved.growth.iter().map(|grows| grows[dimension].checked_sub(*grows.last()?)).collect()
    }

    /// What a point waits for: the longest way from what a statement loads to what it stores there for a later point, for each point in between; and
    /// all operations that are on such ways. A row waits for what it loads of the row before it: for the way through a point and to memory and back, and for
    /// the points of that row that are ahead.
    pub fn wait(&self, waits: &Waits) -> Wait {
        let mut wait = Wait::default();
        // Of each load from the row before, the way from it, and how many points of that row are ahead.
        let mut rows: Vec<(f64, i64)> = Vec::new();
        for moved in &self.statements {
            for store in moved.iter().filter(|moved| moved.access.writes) {
                let mut waiting = HashSet::new();
                for load in moved.iter().filter(|moved| !moved.access.writes && moved.is_beside(store)) {
                    let points = store.ahead(load, 0).filter(|ahead| *ahead < 0);
                    let ahead = store.ahead(load, 1);
                    if points.or(ahead).is_none() {
                        continue;
                    }
                    let mut known = HashMap::new();
                    let way = way(store.access.op.operand(0), load.access.op, waits, &mut known);
                    rows.extend(way.zip(ahead));
                    if let Some(points) = points {
                        wait.time = wait.time.max(way.unwrap_or(0.0) / -points as f64);
                        let on_way = known.into_iter().filter(|(_, way)| way.is_some()).map(|(value, _)| value);
                        waiting.extend(on_way.filter(|value| !value.defining_op().is_some_and(is_extreme)));
                    }
                }
                wait.operations += waiting.len();
            }
        }
        let through = |(way, ahead): (f64, i64)| way + waits.forward + wait.time * ahead as f64;
        wait.through = rows.into_iter().map(through).fold(0.0, f64::max);
        wait
    }
}

impl Moved<'_, '_> {
    /// Whether another is to elements of the same array that are a constant apart.
    fn is_beside(&self, other: &Self) -> bool {
        self.access.array == other.access.array && self.growth == other.growth && self.rest == other.rest
    }

    /// How many points of the last dimension a load is ahead of a store to the same element so many rows before; less than 0 where it is behind.
    fn ahead(&self, load: &Self, rows: i64) -> Option<i64> {
        let mut ahead = None;
        for ((growth, to), from) in self.growth.iter().zip(&self.constants).zip(&load.constants) {
            let &[.., between, each] = &growth[..] else { return None };
            let apart = from.checked_sub(*to)?.checked_add(between.checked_mul(rows)?)?;
            match each {
                0 if apart == 0 => {}
                0 => return None,
                _ if apart % each == 0 && ahead.is_none_or(|ahead| ahead == apart / each) => ahead = Some(apart / each),
                _ => return None,
            }
        }
        ahead
    }
}

/// The places of statements, the first of each.
fn collect(code: &Code, places: &mut HashMap<usize, Vec<Term>>) {
    match code {
        Code::For { body, .. } => collect(body, places),
        Code::If { then, otherwise, .. } => {
            collect(then, places);
            if let Some(otherwise) = otherwise {
                collect(otherwise, places);
            }
        }
        Code::Block(parts) => parts.iter().for_each(|part| collect(part, places)),
        Code::Statement(name, place) => {
            if let Some(number) = statement_of(name) {
                places.entry(number).or_insert_with(|| place.clone());
            }
        }
    }
}

/// A dimension of a band as loops of code have it.
pub fn dimension(number: usize) -> String {
    format!("c{number}")
}

fn moved<'a, 'c>(
    access: &'a Access<'c>,
    statement: &Statement<'c>,
    place: &[Term],
    dimensions: &[String],
) -> Option<Moved<'a, 'c>> {
    let mut moved = Moved { access, growth: Vec::new(), constants: Vec::new(), rest: Vec::new() };
    for sum in &access.sums {
        let (mut grows, mut constant, mut rest) = (vec![0i64; dimensions.len()], 0i64, Poly::default());
        for (product, factor) in sum.terms() {
            let variable = product.variable.and_then(|variable| {
                statement.scope.variables.iter().position(|other| *other == variable).and_then(|at| place.get(at))
            });
            match variable {
                Some(term) if product.params.is_empty() => {
                    for (name, grows) in dimensions.iter().zip(&mut grows) {
                        *grows = grows.checked_add(growth(term, name)?.checked_mul(factor)?)?;
                    }
                    constant = constant.checked_add(start(term)?.checked_mul(factor)?)?;
                }
                None if product.params.is_empty() && product.variable.is_none() => {
                    constant = constant.checked_add(factor)?;
                }
                None => rest = rest.plus(&Poly::of(product.clone(), factor))?,
                Some(_) => return None,
            }
        }
        moved.growth.push(grows);
        moved.constants.push(constant);
        moved.rest.push(rest);
    }
    Some(moved)
}

/// A number where all names in it are 0.
fn start(term: &Term) -> Option<i64> {
    match term {
        Term::Name(_) => Some(0),
        Term::Number(number) => Some(*number),
        Term::Of(Kind::Add, parts) => parts.iter().try_fold(0i64, |sum, part| sum.checked_add(start(part)?)),
        Term::Of(Kind::Sub, parts) if parts.len() == 2 => start(&parts[0])?.checked_sub(start(&parts[1])?),
        Term::Of(Kind::Minus, parts) if parts.len() == 1 => start(&parts[0])?.checked_neg(),
        Term::Of(Kind::Mul, parts) => parts.iter().try_fold(1i64, |made, part| made.checked_mul(start(part)?)),
        Term::Of(..) => None,
    }
}

/// The longest way from what a load loads to a value.
fn way<'c>(value: Value<'c>, load: Op<'c>, waits: &Waits, known: &mut HashMap<Value<'c>, Option<f64>>) -> Option<f64> {
    let made = value.defining_op()?;
    if made == load {
        return Some(0.0);
    }
    if let Some(known) = known.get(&value) {
        return *known;
    }
    let inner = made.find_all(|_| true);
    let operands = inner.into_iter().flat_map(Op::operands).chain(made.operands());
    let mut longest: Option<f64> = None;
    for operand in operands.filter(|operand| *operand != value) {
        if let Some(way) = way(operand, load, waits, known) {
            longest = Some(longest.unwrap_or(0.0).max(way));
        }
    }
    let longest = if made.is("llvm.load") { None } else { longest.map(|longest| longest + wait(made, waits)) };
    known.insert(value, longest);
    longest
}

/// What an operation keeps the next one waiting.
fn wait(op: Op<'_>, waits: &Waits) -> f64 {
    match op.name() {
        _ if is_extreme(op) => 0.0,
        "llvm.fadd" | "llvm.fsub" | "llvm.fcmp" | "llvm.intr.minnum" | "llvm.intr.maxnum" => waits.add,
        "llvm.fmul" | "llvm.mul" | "llvm.intr.fma" | "llvm.intr.fmuladd" => waits.multiply,
        "llvm.fdiv" | "llvm.frem" | "llvm.sdiv" | "llvm.udiv" | "llvm.srem" | "llvm.urem" | "llvm.intr.sqrt"
        | "llvm.call" => waits.divide,
        _ => waits.other,
    }
}

/// Whether a selection is, together with its comparison, one operation of a processor: the lesser or the greater of two numbers.
fn is_extreme(op: Op<'_>) -> bool {
    let select = Some(op).filter(|op| op.is("llvm.select"));
    let test = select.and_then(|op| op.operand(0).defining_op()).filter(|test| test.is("llvm.fcmp"));
    test.is_some_and(|test| {
        let (one, other) = (test.operand(0), test.operand(1));
        [[one, other], [other, one]].contains(&[op.operand(1), op.operand(2)])
    })
}
