//! Threads that go down columns of memory, on processors: those of a tile side by side, a row of memory at a time.
//!
//! ```text
//!   thread t:  for c: s[t] += a[c][t]            goes down a column: another page of memory in each round
//!   a tile:    for c: for t: s[t] += a[c][t]     goes along rows
//! ```
//!
//! Threads of a launch do not wait for one another, so each may be anywhere meanwhile: their loop may go inside of those that all of them share. What a
//! thread has in a register otherwise is in memory then, in a cache for as many threads as a tile has. A column that a thread reads again is not there any
//! more when the tile's whole rows have come in between: then each goes down its own.

use std::collections::HashMap;

use mlir_bridge::isl::{Code, Kind, Term};

use crate::affine::{
    Description,
    host::statement_of,
    teams::{growths, has_rounds},
    transactions::{SECTOR, WARP, names, sectors},
};

/// The first and the last thread of a tile.
pub fn ends_of_tile(thread: &str) -> [String; 2] {
    [format!("low_{thread}"), format!("high_{thread}")]
}

/// Whether threads go down columns, once: in loops neighbours access neighbouring elements or the same ones, some of them another row in each round.
pub fn goes_down(description: &Description<'_>, code: &Code, thread: &str) -> bool {
    let mut walk = Walk { description, thread, rounds: Vec::new(), loops: 0, columns: HashMap::new(), is_along: true };
    walk.code(code);
    !walk.columns.is_empty() && walk.is_along
}

struct Walk<'w, 'c> {
    description: &'w Description<'c>,
    thread: &'w str,
    /// The variables of loops around, the inner ones last.
    rounds: Vec<String>,
    /// How many loops there were.
    loops: usize,
    /// The arrays that threads go down, in which of the loops.
    columns: HashMap<usize, usize>,
    is_along: bool,
}

impl Walk<'_, '_> {
    fn code(&mut self, code: &Code) {
        match code {
            Code::For { once: true, body, .. } => self.code(body),
            Code::For { iterator, body, .. } => {
                self.rounds.push(iterator.clone());
                self.loops += 1;
                self.code(body);
                self.rounds.pop();
            }
            Code::If { then, otherwise, .. } => {
                self.code(then);
                otherwise.iter().for_each(|code| self.code(code));
            }
            Code::Block(parts) => parts.iter().for_each(|part| self.code(part)),
            Code::Statement(name, place) => self.statement(name, place),
        }
    }

    fn statement(&mut self, name: &str, place: &[Term]) {
        let number = statement_of(name).filter(|number| *number < self.description.statements.len());
        let Some(number) = number else { return self.is_along = false };
        let statement = &self.description.statements[number];
        self.is_along = self.is_along && statement.ops.iter().all(|op| op.num_regions() == 0);
        let Some(round) = self.rounds.last() else { return };
        let [own, next] = [self.thread, round].map(|name| growths(self.description, number, place, name));
        for access in &self.description.accesses[statement.accesses.clone()] {
            let size = self.description.arrays[access.array].size;
            self.is_along = self.is_along && sectors(access, size, &own) <= (WARP * size / SECTOR).max(1);
            // Elements that fill a sector are in as many as there are.
            if sectors(access, SECTOR, &own) > 1 && sectors(access, size, &next) == WARP {
                let before = self.columns.insert(access.array, self.loops);
                // Several loops may come to a column again.
                let is_once = self.rounds.len() == 1 && before.is_none_or(|before| before == self.loops);
                self.is_along = self.is_along && is_once;
            }
        }
    }
}

/// What the threads of a tile do, by what one of them does: none where loops are not the same for all.
pub fn along_rows(code: &Code, thread: &str) -> Option<Code> {
    let rows = Rows { thread };
    if rows.is_shared(code) { rows.code(code) } else { None }
}

struct Rows<'r> {
    thread: &'r str,
}

impl Rows<'_> {
    /// Whether all threads come to a loop in it, and make the same rounds of it.
    fn is_shared(&self, code: &Code) -> bool {
        let same = |terms: &[&Term]| terms.iter().all(|term| !names(term, self.thread));
        match code {
            Code::For { first, condition, step, body, once, .. } => {
                same(&[first, condition, step]) && (!once || self.is_shared(body))
            }
            Code::If { condition, then, otherwise } => {
                same(&[condition]) && (self.is_shared(then) || otherwise.iter().any(|code| self.is_shared(code)))
            }
            Code::Block(parts) => parts.iter().any(|part| self.is_shared(part)),
            Code::Statement(..) => false,
        }
    }

    fn code(&self, code: &Code) -> Option<Code> {
        if !self.is_shared(code) {
            return self.row(vec![code.clone()]);
        }
        let boxed = |code: &Code| self.code(code).map(Box::new);
        Some(match code {
            Code::For { iterator, first, condition, step, body, once } => Code::For {
                iterator: iterator.clone(),
                first: first.clone(),
                condition: condition.clone(),
                step: step.clone(),
                body: boxed(body)?,
                once: *once,
            },
            Code::If { condition, then, otherwise } => {
                let otherwise = match otherwise {
                    Some(code) => Some(boxed(code)?),
                    None => None,
                };
                Code::If { condition: condition.clone(), then: boxed(then)?, otherwise }
            }
            Code::Block(parts) => {
                let (mut made, mut apart) = (Vec::new(), Vec::new());
                for part in parts {
                    if self.is_shared(part) {
                        made.extend(self.rest(&mut apart)?);
                        made.push(self.code(part)?);
                    } else {
                        apart.push(part.clone());
                    }
                }
                made.extend(self.rest(&mut apart)?);
                Code::Block(made)
            }
            Code::Statement(..) => return None,
        })
    }

    /// The row of what came before a loop, if anything did.
    fn rest(&self, apart: &mut Vec<Code>) -> Option<Vec<Code>> {
        if apart.is_empty() { Some(Vec::new()) } else { self.row(std::mem::take(apart)).map(|row| vec![row]) }
    }

    /// The threads of a tile one after the other. Not where they have loops of their own.
    fn row(&self, parts: Vec<Code>) -> Option<Code> {
        if parts.iter().any(has_rounds) {
            return None;
        }
        let [first, last] = ends_of_tile(self.thread).map(Term::Name);
        Some(Code::For {
            iterator: self.thread.to_owned(),
            first,
            condition: Term::Of(Kind::Le, vec![Term::Name(self.thread.to_owned()), last]),
            step: Term::Number(1),
            body: Box::new(Code::Block(parts)),
            once: false,
        })
    }
}
