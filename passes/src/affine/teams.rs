//! Superposed schedules: blocks go by the loops that carry nothing, the threads of a row by another loop of the same statements (paper 000,
//! section 4), whose numbers they combine in the end (its template of reductions, section 6).
//!
//! ```text
//!   for i { y[i] = 0; for j y[i] += A[i][j] * x[j]; }      a row of threads for each i:   r = 0;
//!                                                          each thread, every 32nd j:     p += A[i][j] * x[j];
//!                                                          a tree in shared memory:       r += p of all;
//!                                                          the first thread:              y[i] = r;
//! ```
//!
//! Right by lemma 1 of the paper: the dimensions of blocks carry no dependence, so they are permutable, and within a row the order changes for
//! operations alone whose order is of no matter. What the first thread stores, others read behind a barrier alone. Neighbours are
//! in the inner loop then: rows of memory are read as they lie. Declines where a part of a point is long and shared by nobody, and
//! where an array is both in registers and not.

use std::collections::BTreeSet;

use mlir_bridge::{
    ir::Op,
    isl::{Code, Kind, Term},
};
use serde::{Deserialize, Serialize};

use crate::affine::{
    Description, Reason,
    accesses::Access,
    host::{one_statement, statement_of},
    reductions::{Combination, combining},
    sets::{Range, ranges},
    threads::{OnChip, Phase, Threads, Tile, value_type},
    transactions::{Growth, copied, growth, names, sectors},
};

/// When a row of threads has a point together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Superposition {
    /// Nowhere: one schedule for blocks and threads.
    Single,
    /// Where that takes fewer transactions.
    #[default]
    Auto,
    /// Wherever it is right.
    Superposed,
}

/// What the number of a thread in its row is called, and how many a row has.
pub const LANE: [&str; 2] = ["lane", "lanes"];
/// The most threads of a row.
pub const MOST_LANES: u32 = 256;

/// Rows of threads that have a point of a launch together.
#[derive(Debug, Serialize, Deserialize)]
pub struct Team {
    /// What they do, one after the other.
    pub tasks: Vec<Task>,
    /// The rounds of the loops that they share.
    pub rounds: Vec<Range>,
    /// The sectors of memory that 32 threads touch in a round: a point for each, and a point for all.
    pub transactions: [f64; 2],
    /// When it is taken.
    pub taken: Taken,
}

/// When a launch is of teams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Taken {
    /// Never: another schedule is better.
    Never,
    /// Where rows have many rounds.
    Long,
    /// Where points are few, and rows very long.
    Few,
    /// Always.
    Always,
}

/// Something that a row does, one after the other.
#[derive(Debug, Serialize, Deserialize)]
pub enum Task {
    /// Each thread does it, for it has a copy of all that is changed.
    Each(Code),
    /// The first thread does it.
    First(Code),
    /// A statement that begins with a loop that combines numbers, its number, and whether each thread does what is behind the loop.
    Statement(Code, usize, bool),
    /// A loop that combines numbers in registers, an array each.
    Loop(Code, Vec<(usize, Combination)>),
}

/// A loop that is shared, as it is found: the statements of its rounds, and how what they access grows.
struct Shared {
    statement: usize,
    single: Growth,
    lanes: Growth,
}

/// A team in the making.
struct Making<'m, 't, 'c> {
    threads: &'m Threads<'t, 'c>,
    on_chip: &'m OnChip,
    tasks: Vec<Task>,
    rounds: Vec<Range>,
    shared: Vec<Shared>,
}

impl Team {
    /// The team of a launch, if it may be of one. `code` is what a point does, `on_chip` what threads would keep otherwise.
    ///
    /// # Errors
    /// isl's budget is spent.
    pub fn of(
        threads: &Threads<'_, '_>,
        code: &Code,
        on_chip: &OnChip,
        wanted: Superposition,
    ) -> Result<Option<Self>, Reason> {
        if wanted == Superposition::Single {
            return Ok(None);
        }
        let mut making = Making { threads, on_chip, tasks: Vec::new(), rounds: Vec::new(), shared: Vec::new() };
        for piece in pieces(code) {
            if !making.piece(piece)? {
                return Ok(None);
            }
        }
        if making.shared.is_empty() {
            return Ok(None);
        }
        let transactions = making.transactions();
        let taken = match (wanted, transactions) {
            (Superposition::Superposed, _) => Taken::Always,
            (_, [single, lanes]) if 3.0 * lanes <= 2.0 * single => Taken::Long,
            (_, [single, lanes]) if lanes <= 4.0 * single => Taken::Few,
            _ => Taken::Never,
        };
        Ok(Some(Self { tasks: making.tasks, rounds: making.rounds, transactions, taken }))
    }
}

/// What threads keep on the chip where rows of memory come there along themselves, though threads go down them; and the sectors of memory that 32
/// threads touch in a round otherwise and so. `on_chip` is what they keep otherwise. `None` where that is no better.
///
/// # Errors
/// isl's budget is spent.
pub fn transposed(
    threads: &Threads<'_, '_>,
    code: &Code,
    on_chip: &OnChip,
    wanted: Superposition,
) -> Result<Option<(OnChip, [f64; 2])>, Reason> {
    if wanted == Superposition::Single || !on_chip.phases.is_empty() || !has_long_part(threads.description, code) {
        return Ok(None);
    }
    let made = threads.on_chip()?;
    let description = threads.description;
    let last = threads.threads.last().map(|range| range.name.clone()).unwrap_or_default();
    let (mut single, mut staged) = (0.0, 0.0);
    for tile in made.phases.iter().flat_map(Phase::tiles) {
        staged += copied(tile, description.arrays[tile.array].size, threads.shape.rounds());
        for number in &tile.accesses {
            let of = |(statement, _): &(usize, &[Term])| description.statements[*statement].accesses.contains(number);
            let Some((statement, place)) = places(code).into_iter().find(of) else { return Ok(None) };
            let growth = growths(description, statement, place, &last);
            let access = &description.accesses[*number];
            single += sectors(access, description.arrays[tile.array].size, &growth) as f64;
        }
    }
    let is_better = single > 0.0 && (wanted == Superposition::Superposed || 3.0 * staged <= 2.0 * single);
    Ok(is_better.then_some((made, [single, staged])))
}

/// Whether code has a loop of several rounds.
pub fn has_rounds(code: &Code) -> bool {
    match code {
        Code::For { once, body, .. } => !once || has_rounds(body),
        Code::If { then, otherwise, .. } => has_rounds(then) || otherwise.as_ref().is_some_and(|code| has_rounds(code)),
        Code::Block(parts) => parts.iter().any(has_rounds),
        Code::Statement(..) => false,
    }
}

/// Whether code has loops, in statements or around them.
fn has_long_part(description: &Description<'_>, code: &Code) -> bool {
    let has_loop = |(number, _): &(usize, &[Term])| {
        description.statements[*number].ops.iter().any(|op| op.is("scf.for") || contains(*op, "scf.for"))
    };
    has_rounds(code) || places(code).iter().any(has_loop)
}

/// How the variables of a statement grow with a name.
pub fn growths(description: &Description<'_>, statement: usize, place: &[Term], name: &str) -> Growth {
    let variables = description.statements[statement].scope.variables.iter();
    variables.zip(place).map(|(variable, place)| (*variable, growth(place, name))).collect()
}

impl<'c> Making<'_, '_, 'c> {
    fn description(&self) -> &Description<'c> {
        self.threads.description
    }

    /// Adds a piece of what a point does; whether a team may do it.
    fn piece(&mut self, code: Code) -> Result<bool, Reason> {
        let statements: BTreeSet<usize> = places(&code).into_iter().map(|(number, _)| number).collect();
        if has_rounds(&code) {
            return self.sums(&code, &statements);
        }
        let Some(each) = self.is_each(&statements) else { return Ok(false) };
        let has_loop = |number: &usize| {
            self.description().statements[*number].ops.iter().any(|op| op.is("scf.for") || contains(*op, "scf.for"))
        };
        if statements.iter().any(has_loop) {
            let Some(number) = one_statement(&code) else { return Ok(false) };
            return self.statement(code, number, each);
        }
        self.tasks.push(if each { Task::Each(code) } else { Task::First(code) });
        Ok(true)
    }

    /// Whether all that statements change is in registers, or nothing.
    fn is_each(&self, statements: &BTreeSet<usize>) -> Option<bool> {
        let mut written = statements.iter().flat_map(|number| self.accesses(*number)).filter(|access| access.writes);
        let is_register = |access: &Access<'_>| self.on_chip.registers.iter().any(|one| one.array == access.array);
        let first = written.next().map(is_register)?;
        written.all(|access| is_register(access) == first).then_some(first)
    }

    fn accesses(&self, statement: usize) -> &[Access<'c>] {
        let description = self.description();
        &description.accesses[description.statements[statement].accesses.clone()]
    }

    /// A statement whose only loop combines numbers.
    fn statement(&mut self, code: Code, number: usize, each: bool) -> Result<bool, Reason> {
        let statement = &self.description().statements[number];
        let [reduction] = &statement.reductions[..] else { return Ok(false) };
        let is_other = |op: &&Op<'_>| **op != reduction.op && (op.is("scf.for") || contains(**op, "scf.for"));
        if statement.ops.iter().any(|op| is_other(&op)) {
            return Ok(false);
        }
        let Some(variable) = self.description().numbers.variable(reduction.inner.body().arg(0)) else {
            return Ok(false);
        };
        let single = places(&code).first().map(|(_, place)| self.growth(number, place, &self.last()));
        let single = single.unwrap_or_default();
        self.shared.push(Shared { statement: number, single, lanes: Growth::from([(variable, Some(1))]) });
        let rounds = self.threads.sets.rounds(self.description(), number)?;
        self.rounds.extend(rounds);
        self.tasks.push(Task::Statement(code, number, each));
        Ok(true)
    }

    /// Loops whose statements do nothing but combine numbers in registers.
    fn sums(&mut self, code: &Code, statements: &BTreeSet<usize>) -> Result<bool, Reason> {
        let mut sums: Vec<(usize, Combination)> = Vec::new();
        for number in statements {
            let Some((array, how)) = self.sum(*number) else { return Ok(false) };
            if sums.iter().any(|(other, _)| *other == array) {
                return Ok(false);
            }
            sums.push((array, how));
        }
        // A sum is read by itself alone.
        for number in statements {
            let others =
                self.accesses(*number).iter().filter(|access| sums.iter().any(|(sum, _)| *sum == access.array));
            if others.count() != 2 {
                return Ok(false);
            }
        }
        let Some((strided, iterator)) = strided(code) else { return Ok(false) };
        for (number, place) in places(&strided) {
            let (single, lanes) = (self.growth(number, place, &self.last()), self.growth(number, place, &iterator));
            self.shared.push(Shared { statement: number, single, lanes });
        }
        if let Some((number, place)) = places(&strided).first() {
            let rounds = self.rounds(*number, place)?;
            self.rounds.extend(rounds);
        }
        self.tasks.push(Task::Loop(strided, sums));
        Ok(true)
    }

    /// The ranges of the variables of a statement that are not those of points.
    fn rounds(&self, statement: usize, place: &[Term]) -> Result<Vec<Range>, Reason> {
        let instances = self.threads.instances(statement, self.threads.domain)?.to_set()?;
        let all = ranges(&instances, &self.threads.sets.known, |at| format!("w{at}"))?;
        let is_of_point = |place: &Term| self.threads.threads.iter().any(|range| names(place, &range.name));
        Ok(all.into_iter().zip(place).filter(|(_, place)| !is_of_point(place)).map(|(range, _)| range).collect())
    }

    /// The array of which a statement combines a register with something else, and how.
    fn sum(&self, number: usize) -> Option<(usize, Combination)> {
        let what = &self.description().statements[number];
        let is_flat = what.ops.iter().all(|op| op.num_regions() == 0);
        let mut stores = what.ops.iter().filter(|op| op.is("llvm.store"));
        let (store, None) = (stores.next().filter(|_| is_flat)?, stores.next()) else { return None };
        let of = |op: Op<'_>| self.accesses(number).iter().find(|access| access.op == op);
        let array = of(*store)?.array;
        let made = store.operand(0);
        let op = made.defining_op().filter(|_| made.uses().len() == 1)?;
        let (how, operands) = combining(op)?;
        let is_own = |at: &&usize| {
            let value = op.operand(**at);
            let load = value.defining_op().filter(|load| load.is("llvm.load") && value.uses().len() == 1);
            load.and_then(of).is_some_and(|access| access.array == array && value_type(access) == made.ty())
        };
        operands.iter().find(is_own)?;
        self.on_chip.registers.iter().any(|one| one.array == array).then_some((array, how))
    }

    /// The name of the coordinate in which neighbours differ if each has a point of its own.
    fn last(&self) -> String {
        self.threads.threads.last().map(|range| range.name.clone()).unwrap_or_default()
    }

    fn growth(&self, statement: usize, place: &[Term], name: &str) -> Growth {
        growths(self.description(), statement, place, name)
    }

    /// The sectors of both ways, for all accesses of a round but those of registers.
    fn transactions(&self) -> [f64; 2] {
        let (mut single, mut lanes) = (0.0, 0.0);
        let tiles: Vec<&Tile> = self.on_chip.phases.iter().flat_map(Phase::tiles).collect();
        for tile in &tiles {
            single += copied(tile, self.description().arrays[tile.array].size, self.threads.shape.rounds());
        }
        for Shared { statement, single: alone, lanes: together } in &self.shared {
            let first = self.description().statements[*statement].accesses.start;
            for (at, access) in self.accesses(*statement).iter().enumerate() {
                let is_within = together.keys().any(|variable| access.scope.variables.contains(variable));
                if !is_within || self.on_chip.registers.iter().any(|one| one.array == access.array) {
                    continue;
                }
                let size = self.description().arrays[access.array].size;
                lanes += sectors(access, size, together) as f64;
                if !tiles.iter().any(|tile| tile.accesses.contains(&(first + at))) {
                    single += sectors(access, size, alone) as f64;
                }
            }
        }
        [single, lanes]
    }
}

fn contains(op: Op<'_>, name: &str) -> bool {
    !op.find_named(name).is_empty()
}

/// The instances of code, with the numbers of their statements.
pub fn places(code: &Code) -> Vec<(usize, &[Term])> {
    match code {
        Code::For { body, .. } => places(body),
        Code::If { then, otherwise, .. } => {
            [places(then), otherwise.as_ref().map_or(Vec::new(), |code| places(code))].concat()
        }
        Code::Block(parts) => parts.iter().flat_map(places).collect(),
        Code::Statement(name, place) => statement_of(name).map(|number| (number, &place[..])).into_iter().collect(),
    }
}

/// What code does one after the other, each with the conditions that it is under.
fn pieces(code: &Code) -> Vec<Code> {
    match code {
        Code::Block(parts) => parts.iter().flat_map(pieces).collect(),
        Code::If { condition, then, otherwise: None } => {
            let of = |then| Code::If { condition: condition.clone(), then: Box::new(then), otherwise: None };
            pieces(then).into_iter().map(of).collect()
        }
        Code::For { once: true, body, .. } => {
            let of = |inner| {
                let mut one = code.clone();
                if let Code::For { body, .. } = &mut one {
                    **body = inner;
                }
                one
            };
            pieces(body).into_iter().map(of).collect()
        }
        _ => vec![code.clone()],
    }
}

/// Code whose innermost loop goes by the lanes of a row, and the variable of that loop. `None` where there is not one such loop.
fn strided(code: &Code) -> Option<(Code, String)> {
    match code {
        Code::For { iterator, first, condition, step, body, once } => {
            let (body, inner, first, step) = if *once || has_rounds(body) {
                let (body, inner) = strided(body)?;
                (body, inner, first.clone(), step.clone())
            } else {
                let [lane, lanes] = LANE.map(|name| Term::Name(name.into()));
                let first = Term::Of(Kind::Add, vec![first.clone(), Term::Of(Kind::Mul, vec![lane, step.clone()])]);
                ((**body).clone(), iterator.clone(), first, Term::Of(Kind::Mul, vec![lanes, step.clone()]))
            };
            let (iterator, condition, body) = (iterator.clone(), condition.clone(), Box::new(body));
            Some((Code::For { iterator, first, condition, step, body, once: *once }, inner))
        }
        Code::If { condition, then, otherwise: None } => {
            let (then, inner) = strided(then)?;
            Some((Code::If { condition: condition.clone(), then: Box::new(then), otherwise: None }, inner))
        }
        Code::Block(parts) => match &parts[..] {
            [part] => strided(part),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(iterator: &str, body: Code) -> Code {
        let (first, step) = (Term::Number(0), Term::Number(2));
        let condition = Term::Of(Kind::Lt, vec![Term::Name(iterator.into()), Term::Name("n".into())]);
        Code::For { iterator: iterator.into(), first, condition, step, body: Box::new(body), once: false }
    }

    #[test]
    fn pieces_keep_their_conditions() {
        let one = |name: &str| Code::Statement(name.into(), vec![]);
        let code = |then| Code::If { condition: Term::Number(1), then: Box::new(then), otherwise: None };
        let both = code(Code::Block(vec![one("S0"), round("c0", one("S1"))]));
        assert_eq!(pieces(&both), [code(one("S0")), code(round("c0", one("S1")))]);
    }

    #[test]
    fn the_innermost_loop_is_shared() {
        let statement = Code::Statement("S0".into(), vec![]);
        let (made, iterator) = strided(&round("c0", round("c1", statement.clone()))).unwrap();
        let Code::For { first, body, .. } = made else { panic!("a loop") };
        assert_eq!((first, iterator.as_str()), (Term::Number(0), "c1"));
        let Code::For { step, .. } = *body else { panic!("a loop") };
        assert_eq!(step, Term::Of(Kind::Mul, vec![Term::Name("lanes".into()), Term::Number(2)]));
        let two = Code::Block(vec![round("c1", statement.clone()), statement.clone()]);
        assert!(strided(&round("c0", two)).is_none());
        assert!(strided(&statement).is_none());
    }
}
