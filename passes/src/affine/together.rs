//! Arrays of which neighbouring threads read one element at a time: what memory that hands out one number to all of them is for (paper 003, section
//! 4.2, "exploiting constant memory").
//!
//! ```text
//!   thread j: for a: sum += charge[a] / f(j, x[a])      neighbours differ in j: charge and x
//! ```
//!
//! This says nothing of what is right, which any memory is for an array that is not written meanwhile.

use std::collections::BTreeMap;

use mlir_bridge::{
    ir::Value,
    isl::{Code, Term},
};

use crate::affine::{
    Description,
    host::{Launch, statement_of},
    poly::Poly,
    threads::{Phase, value_type},
    transactions::{WARP, names},
};

/// The arrays that a thread for each point reads so, several elements of each, and that are neither written in the launch nor in shared memory.
pub fn together(description: &Description<'_>, launch: &Launch) -> Vec<usize> {
    let rows = launch.block.last().is_some_and(|size| i64::from(*size) % WARP == 0);
    let Some(last) = launch.threads.last().filter(|_| rows) else { return Vec::new() };
    let mut walk = Walk { description, varying: vec![last.name.clone()], rounds: Vec::new(), arrays: BTreeMap::new() };
    for phase in &launch.on_chip.phases {
        match phase {
            Phase::Alone(code) => walk.code(code),
            Phase::Pieces(pieces) => walk.round(&pieces.rounds.name, false, &pieces.code),
        }
        for tile in phase.tiles() {
            walk.array(tile.array).is_together = false;
        }
    }
    if launch.on_chip.phases.is_empty() {
        walk.code(&launch.code);
    }
    walk.arrays.into_iter().filter(|(_, found)| found.is_together && found.has_rounds).map(|(array, _)| array).collect()
}

/// What is found of an array.
struct Found {
    is_together: bool,
    has_rounds: bool,
}

struct Walk<'w, 'c> {
    description: &'w Description<'c>,
    /// The names that differ from a thread to its neighbour.
    varying: Vec<String>,
    /// Those of loops of a thread.
    rounds: Vec<String>,
    arrays: BTreeMap<usize, Found>,
}

impl Walk<'_, '_> {
    fn array(&mut self, array: usize) -> &mut Found {
        self.arrays.entry(array).or_insert(Found { is_together: true, has_rounds: false })
    }

    fn code(&mut self, code: &Code) {
        match code {
            Code::For { iterator, first, step, body, once, .. } => {
                let varies = self.varies(first) || self.varies(step);
                if *once && !varies { self.code(body) } else { self.round(iterator, varies, body) }
            }
            Code::If { then, otherwise, .. } => {
                self.code(then);
                otherwise.iter().for_each(|code| self.code(code));
            }
            Code::Block(parts) => parts.iter().for_each(|part| self.code(part)),
            Code::Statement(name, place) => self.statement(name, place),
        }
    }

    fn round(&mut self, name: &str, varies: bool, body: &Code) {
        let list = if varies { &mut self.varying } else { &mut self.rounds };
        list.push(name.to_owned());
        self.code(body);
        let list = if varies { &mut self.varying } else { &mut self.rounds };
        list.pop();
    }

    fn varies(&self, term: &Term) -> bool {
        self.varying.iter().any(|name| names(term, name))
    }

    fn statement(&mut self, name: &str, place: &[Term]) {
        let description = self.description;
        let Some(statement) = statement_of(name).and_then(|number| description.statements.get(number)) else { return };
        let variables = statement.scope.variables.iter().map(|number| description.numbers.variables[*number]);
        let around: Vec<_> = variables.clone().zip(place.iter().map(|term| self.varies(term))).collect();
        let in_rounds = |term: &Term| self.rounds.iter().any(|name| names(term, name));
        let of_round: Vec<_> =
            variables.zip(place).filter(|(_, term)| !in_rounds(term)).map(|(value, _)| value).collect();
        let mut seen = Vec::new();
        for access in &description.accesses[statement.accesses.clone()] {
            let is_plain = !access.writes && access.is_certain;
            let used = access.sums.iter().flat_map(Poly::terms).filter_map(|(product, _)| product.variable);
            let used: Vec<_> = used.map(|number| description.numbers.variables[number]).collect();
            let is_together = is_plain
                && value_type(access) == description.arrays[access.array].element
                && !used.iter().any(|value| differs(*value, &around));
            seen.push((access.array, is_together, used.iter().any(|value| !of_round.contains(value))));
        }
        for (array, is_together, has_rounds) in seen {
            let found = self.array(array);
            found.is_together &= is_together;
            found.has_rounds |= has_rounds;
        }
    }
}

/// Whether a number differs from a thread to its neighbour in the same round. `around` has the variables of a statement and whether they do; others
/// do where their loops start at what does.
fn differs<'c>(value: Value<'c>, around: &[(Value<'c>, bool)]) -> bool {
    if let Some((_, differs)) = around.iter().find(|(other, _)| *other == value) {
        return *differs;
    }
    let of_loop = value.block_arg().and_then(|(block, _)| block.parent_op()).filter(|op| op.is("scf.for"));
    match of_loop {
        Some(op) => differs(op.operand(0), around),
        None => value.defining_op().is_some_and(|op| op.operands().into_iter().any(|used| differs(used, around))),
    }
}
