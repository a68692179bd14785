//! Kernels of which a row of a block's threads has a point together, as C.
//!
//! ```text
//!   const long t0 = first_t0 + (long)blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x, lanes = blockDim.x;
//!   __shared__ double all0[256];
//!   double r2 = 0; ...
//!   const double start0 = r2;
//!   r2 = -0.0;
//!   for (long c0 = 0L + lane; c0 < n; c0 += lanes) r2 = r2 + ...;
//!   all0[...] = r2;  ... the row's are added up, two by two ...
//!   r2 = start0 + all0[threadIdx.y * blockDim.x];
//! ```

use mlir_bridge::isl::{Code, Term};
use regrain_passes::affine::Reason;
use regrain_passes::affine::host::{Host, Launch, statement_of};
use regrain_passes::affine::poly::variable_name;
use regrain_passes::affine::reductions::{Combination, combining};
use regrain_passes::affine::sets::{Range, Weight};
use regrain_passes::affine::statements::Statement;
use regrain_passes::affine::teams::{LANE, MOST_LANES, Taken, Task, Team};

use super::body::Body;
use super::chip::Writer;
use super::combine::{self, ROW, combine, neutral, numbers};
use super::nest::product;
use super::places::Places;
use super::terms::{Lines, code, term};
use super::types::type_name;

/// A thread among those of the block.
const MINE: &str = "threadIdx.y * blockDim.x + threadIdx.x";
/// The threads of a row, and the rows of a block, where points are many.
const SHORT: [u32; 2] = [32, 8];
/// The rounds from which a row is longer, and up to how many points.
const LONG: [u32; 2] = [512, 4096];
/// The rounds from which a row has a point together.
const LEAST_ROUNDS: u32 = 64;
/// The rounds, and the points, from and up to which a row has one in spite of more transactions.
const FEW: [u32; 2] = [4096, 1024];
/// The most blocks in y and z.
const MOST_BLOCKS: u32 = 65_535;

/// The team that a launch may be of.
pub fn team_of(launch: &Launch) -> Option<&Team> {
    launch.team.as_ref().filter(|team| team.taken != Taken::Never)
}

/// What is to be said of the schedules of launches.
pub fn notes(host: &Host) -> Vec<String> {
    match host {
        Host::Sequence(parts) => parts.iter().flat_map(notes).collect(),
        Host::Loop(_, body) => notes(body),
        Host::Waves(waves) if waves.together => {
            let mut note =
                "waves of tiles: the threads of a block go through a tile together, a wave of points at a time"
                    .to_owned();
            match &waves.staged[..] {
                [] => {}
                [_] => note += ", with an array in shared memory where it has room",
                all => note += &format!(", with {} arrays in shared memory where they have room", all.len()),
            }
            vec![note]
        }
        Host::Waves(_) => Vec::new(),
        Host::Launch(launch) => {
            let staged = |[single, staged]: &[f64; 2]| {
                format!(
                    "superposed schedule: arrays come to the chip along their rows, which takes {staged:.1} transactions of 32 bytes for 32 rounds, \
                     where a single schedule takes {single:.1}"
                )
            };
            launch.team.iter().map(note).chain(launch.transposed.iter().map(staged)).collect()
        }
    }
}

fn note(team: &Team) -> String {
    let [single, lanes] = team.transactions;
    let (alone, together) = (
        format!("a thread for each point takes {single:.1} transactions of 32 bytes for 32 rounds"),
        format!("a row of threads for each point takes {lanes:.1}"),
    );
    match team.taken {
        Taken::Never => format!("single schedule: {alone}, {together}"),
        Taken::Long => format!("superposed schedule from {LEAST_ROUNDS} rounds on, single below: {alone}, {together}"),
        Taken::Few => format!(
            "superposed schedule from {} rounds on and up to {} points, single else: {alone}, {together}",
            FEW[0], FEW[1]
        ),
        Taken::Always => format!("superposed schedule, as it is asked for: {alone}, {together}"),
    }
}

/// The launches of a team's kernel with such arguments; whether there are cases for which a thread for each point is needed, whose block
/// of C is open then.
pub fn launch(lines: &mut Lines, launch: &Launch, team: &Team, name: &str, arguments: &str) -> bool {
    let count = |Range { name, .. }: &Range| format!("(last_{name} - first_{name} + 1L)");
    let last = launch.threads.len() - 1;
    let rounds = product(&Weight { ranges: team.rounds.clone(), cost: 1 });
    lines.line(&format!("const double rounds = {rounds};"));
    let points: Vec<String> = launch.threads.iter().map(|range| format!("(double){}", count(range))).collect();
    lines.line(&format!("const double points = {};", points.join(" * ")));
    let mut conditions: Vec<String> =
        launch.threads[..last].iter().map(|range| format!("{} <= {MOST_BLOCKS}L", count(range))).collect();
    match team.taken {
        Taken::Long => conditions.push(format!("rounds >= {LEAST_ROUNDS}.0")),
        Taken::Few => conditions.push(format!("rounds >= {}.0 && points <= {}.0", FEW[0], FEW[1])),
        Taken::Never | Taken::Always => {}
    }
    let is_long = format!("rounds >= {}.0 && points <= {}.0", LONG[0], LONG[1]);
    let one = |[lanes, rows]: [u32; 2]| {
        let name_of = |at: usize| &launch.threads[at].name;
        let mut grid = vec![format!("(unsigned)((last_{0} - first_{0}) / {rows} + 1)", name_of(last))];
        grid.extend(launch.threads[..last].iter().rev().map(|range| format!("(unsigned){}", count(range))));
        format!("{name}<<<dim3({}), dim3({lanes}, {rows})>>>({arguments});", grid.join(", "))
    };
    if !conditions.is_empty() {
        lines.open(&format!("if ({})", conditions.join(" && ")));
    }
    lines.line(&format!("if ({is_long})"));
    lines.line(&format!("  {}", one([MOST_LANES, 1])));
    lines.line("else");
    lines.line(&format!("  {}", one(SHORT)));
    if !conditions.is_empty() {
        lines.close();
        lines.open("else");
    }
    !conditions.is_empty()
}

impl<'c> Writer<'_, 'c> {
    /// What a row does.
    ///
    /// # Errors
    /// An operation has no counterpart.
    pub fn team(&self, lines: &mut Lines, team: &Team) -> Result<(), Reason> {
        let places = ["blockIdx.x * blockDim.y + threadIdx.y", "blockIdx.y", "blockIdx.z"];
        for (Range { name, .. }, place) in self.launch.threads.iter().rev().zip(places) {
            lines.line(&format!("const long {name} = first_{name} + (long){place};"));
        }
        let [lane, lanes] = LANE;
        lines.line(&format!("const long {lane} = threadIdx.x, {lanes} = blockDim.x;"));
        self.load(lines)?;
        let mut slots = 0;
        for (number, task) in team.tasks.iter().enumerate() {
            let is_last = number + 1 == team.tasks.len();
            match task {
                Task::Each(what) => self.body(lines, what, &[])?,
                Task::First(what) => {
                    lines.line("__syncthreads();");
                    lines.open("if (threadIdx.x == 0)");
                    self.body(lines, what, &[])?;
                    self.end_of_first(lines, is_last);
                }
                Task::Statement(what, number, each) => {
                    self.shared_statement(lines, what, *number, *each, (&mut slots, is_last))?;
                }
                Task::Loop(what, sums) => self.shared_loop(lines, what, sums, &mut slots)?,
            }
        }
        if !self.launch.on_chip.registers.is_empty() {
            lines.open("if (threadIdx.x == 0)");
            self.store(lines)?;
            lines.close();
        }
        Ok(())
    }

    fn end_of_first(&self, lines: &mut Lines, is_last: bool) {
        lines.close();
        if !is_last {
            lines.line("__syncthreads();");
        }
    }

    /// A loop that combines numbers in registers.
    fn shared_loop(
        &self,
        lines: &mut Lines,
        what: &Code,
        sums: &[(usize, Combination)],
        slots: &mut usize,
    ) -> Result<(), Reason> {
        let of = |(at, (array, how)): (usize, &(usize, Combination))| {
            let ty = self.description.arrays[*array].element;
            Some((*slots + at, *array, *how, ty, type_name(ty)?, neutral(*how, ty)?))
        };
        let sums: Option<Vec<_>> = sums.iter().enumerate().map(of).collect();
        let sums = sums.ok_or(Reason::Operation)?;
        *slots += sums.len();
        for (slot, array, _, _, name, neutral) in &sums {
            lines.line(&format!("__shared__ {name} all{slot}[{MOST_LANES}];"));
            lines.line(&format!("const {name} start{slot} = r{array};"));
            lines.line(&format!("r{array} = {neutral};"));
        }
        self.body(lines, what, &[])?;
        for (slot, array, ..) in &sums {
            lines.line(&format!("all{slot}[{MINE}] = r{array};"));
        }
        let numbers: Vec<_> = sums.iter().map(|(slot, _, how, ty, ..)| (*slot, *how, *ty)).collect();
        tree(lines, &numbers).ok_or(Reason::Operation)?;
        for (slot, array, how, ty, ..) in sums {
            let both = combine(how, ty, &format!("start{slot}"), &format!("all{slot}[{ROW}]"));
            lines.line(&format!("r{array} = {};", both.ok_or(Reason::Operation)?));
        }
        Ok(())
    }

    /// A statement that begins with a loop that combines numbers.
    fn shared_statement(
        &self,
        lines: &mut Lines,
        what: &Code,
        number: usize,
        each: bool,
        (slots, is_last): (&mut usize, bool),
    ) -> Result<(), Reason> {
        let reduction = &self.description.statements[number].reductions[0];
        let first = *slots;
        *slots += reduction.results.len();
        let all = numbers(reduction, first);
        for (slot, how, ty) in &all {
            let name = type_name(*ty).ok_or(Reason::Operation)?;
            lines.line(&format!("__shared__ {name} all{slot}[{MOST_LANES}];"));
            lines.line(&format!("{name} p{slot} = {};", neutral(*how, *ty).ok_or(Reason::Operation)?));
        }
        self.body(lines, what, &[(reduction, first, combine::Part::Lane)])?;
        for (slot, ..) in &all {
            lines.line(&format!("all{slot}[{MINE}] = p{slot};"));
        }
        tree(lines, &all).ok_or(Reason::Operation)?;
        let whole = [(reduction, first, combine::Part::Row)];
        if each {
            return self.body(lines, what, &whole);
        }
        lines.open("if (threadIdx.x == 0)");
        self.body(lines, what, &whole)?;
        self.end_of_first(lines, is_last);
        Ok(())
    }

    /// Writes code; a statement of which a thread does its rounds alone ends with its loop.
    fn body(&self, lines: &mut Lines, what: &Code, parts: &[Shared<'_, 'c>]) -> Result<(), Reason> {
        code(lines, what, &mut |lines: &mut Lines, name: &str, place: &[Term]| {
            let number = statement_of(name).filter(|number| *number < self.description.statements.len());
            let statement = &self.description.statements[number.ok_or(Reason::Operation)?];
            lines.open("");
            for (variable, place) in statement.scope.variables.iter().zip(place) {
                let ty = type_name(self.description.numbers.variables[*variable].ty()).ok_or(Reason::Operation)?;
                lines.line(&format!("const {ty} {} = ({ty}){};", variable_name(*variable), term(place)));
            }
            let written = self.operations(lines, statement, parts, self.registers());
            lines.close();
            written.ok_or(Reason::Operation)
        })
    }

    fn operations(
        &self,
        lines: &mut Lines,
        statement: &Statement<'c>,
        parts: &[Shared<'_, 'c>],
        places: Places<'c>,
    ) -> Option<()> {
        let end = match parts {
            [(reduction, _, combine::Part::Lane)] => statement.ops.iter().position(|op| *op == reduction.op)? + 1,
            _ => statement.ops.len(),
        };
        let combines = statement.ops.iter().copied().filter(|op| combining(*op).is_some());
        let mut body = Body::of(self.description, self.fuses)
            .with_parts(parts.to_vec(), 1)
            .with_reordered(combines)
            .with_places(places);
        body.operations(lines, &statement.ops[..end], |_, _| Some(()))
    }
}

/// A reduction, its first slot, and what is done of it.
type Shared<'d, 'c> = (&'d regrain_passes::affine::reductions::Reduction<'c>, usize, combine::Part);

/// The numbers of a row's threads are combined, two by two; all threads of the row may read the first then.
fn tree(lines: &mut Lines, numbers: &[(usize, Combination, mlir_bridge::ir::Type<'_>)]) -> Option<()> {
    lines.open("for (unsigned half = blockDim.x / 2; half > 0; half /= 2)");
    lines.line("__syncthreads();");
    lines.open("if (threadIdx.x < half)");
    for (slot, how, ty) in numbers {
        let (one, other) = (format!("all{slot}[{MINE}]"), format!("all{slot}[{MINE} + half]"));
        lines.line(&format!("{one} = {};", combine(*how, *ty, &one, &other)?));
    }
    lines.close();
    lines.close();
    lines.line("__syncthreads();");
    Some(())
}
