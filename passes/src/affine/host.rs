//! What the host does of a nest: launches of kernels, and loops around them.

use mlir_bridge::isl::{Code, Term};
use serde::{Deserialize, Serialize};

use crate::affine::{Description, reductions::Combination, sets::Range, teams::Team, threads::OnChip, waves::Waves};

/// What the host does.
#[derive(Debug, Serialize, Deserialize)]
pub enum Host {
    /// One after the other.
    Sequence(Vec<Host>),
    /// For each value of a variable.
    Loop(Range, Box<Host>),
    /// A launch.
    Launch(Box<Launch>),
    /// A launch for each wave of tiles.
    Waves(Box<Waves>),
}

/// A launch of a kernel: a thread for each point of a box.
#[derive(Debug, Serialize, Deserialize)]
pub struct Launch {
    /// The coordinates of a thread, those of neighbours last; none for a single thread.
    pub threads: Vec<Range>,
    /// The threads of a block in each.
    pub block: Vec<u32>,
    /// When there is anything to do.
    pub exists: Term,
    /// The variables of the host that it is for.
    pub around: Vec<String>,
    /// What a thread does.
    pub code: Code,
    /// What the threads of a block keep on the chip meanwhile.
    pub on_chip: OnChip,
    /// How rows of threads may have a point together.
    pub team: Option<Team>,
    /// Where arrays come to the chip along their rows, though threads go down them: the sectors of memory that 32 threads touch in a round
    /// otherwise, and so.
    pub transposed: Option<[f64; 2]>,
    /// Whether a thread of the machine goes through those of a tile, side by side ([`super::columns`]): the code is theirs.
    pub is_tiled: bool,
    /// What each tile has an array of its own of: the code is that of one thread then, and the next one comes behind.
    pub sums: Vec<Sum>,
    /// For a single thread: that its statement has loops that others may have a part in.
    pub reduces: Option<Reduces>,
}

/// An array that the rounds of a loop combine numbers into.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sum {
    /// The array, of one dimension.
    pub array: usize,
    /// How.
    pub how: Combination,
    /// The elements.
    pub elements: Range,
}

/// A statement with loops whose order is of no matter.
#[derive(Debug, Serialize, Deserialize)]
pub struct Reduces {
    /// Its number.
    pub statement: usize,
    /// The variables of the loops.
    pub rounds: Vec<Range>,
}

impl Host {
    /// The launches of threads in it, in order.
    pub fn banded<'h>(&'h mut self, all: &mut Vec<&'h mut Launch>) {
        match self {
            Host::Sequence(parts) => parts.iter_mut().for_each(|part| part.banded(all)),
            Host::Loop(_, body) => body.banded(all),
            Host::Launch(launch) if !launch.threads.is_empty() => all.push(launch),
            Host::Launch(_) | Host::Waves(_) => {}
        }
    }

    /// Whether a thread has loops all to itself while nothing else is done.
    pub fn has_long_thread(&self, description: &Description<'_>) -> bool {
        match self {
            Host::Sequence(parts) => parts.iter().any(|part| part.has_long_thread(description)),
            Host::Loop(_, body) => body.has_long_thread(description),
            Host::Waves(_) => false,
            Host::Launch(launch) => {
                launch.threads.is_empty() && launch.reduces.is_none() && has_loops(&launch.code, description)
            }
        }
    }
}

fn has_loops(code: &Code, description: &Description<'_>) -> bool {
    match code {
        Code::For { once, body, .. } => !once || has_loops(body, description),
        Code::If { then, otherwise, .. } => {
            has_loops(then, description) || otherwise.as_ref().is_some_and(|code| has_loops(code, description))
        }
        Code::Block(parts) => parts.iter().any(|part| has_loops(part, description)),
        Code::Statement(name, _) => {
            statement_of(name).and_then(|number| description.statements.get(number)).is_some_and(|statement| {
                statement.ops.iter().any(|op| op.is("scf.for") || !op.find_named("scf.for").is_empty())
            })
        }
    }
}

/// The number of a statement from its name in code.
pub fn statement_of(name: &str) -> Option<usize> {
    name.strip_prefix('S').and_then(|number| number.parse().ok())
}

/// The statement of code that does nothing but one instance, under conditions at most.
pub fn one_statement(code: &Code) -> Option<usize> {
    match code {
        Code::For { once: true, body, .. } => one_statement(body),
        Code::If { then, otherwise: None, .. } => one_statement(then),
        Code::Block(parts) if parts.len() == 1 => one_statement(&parts[0]),
        Code::Statement(name, _) => statement_of(name),
        _ => None,
    }
}
