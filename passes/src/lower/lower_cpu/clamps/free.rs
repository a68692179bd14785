//! Which threads of a loop meet no clamp, as known before it.

use mlir_bridge::ir::Value;

use super::Candidate;
use crate::lower::lower_cpu::along::hoisted::{Hoisted, Rounds};

/// Threads that meet no clamp.
pub struct Free<'c> {
    /// Whether there may be such at all: all sums stay within 32 bits.
    pub fits: Value<'c>,
    /// The first x and the last, i64.
    pub first: Value<'c>,
    pub last: Value<'c>,
}

impl<'c> Hoisted<'c> {
    /// Whether all candidates are what they would be without their clamps.
    pub fn all_hold(&mut self, candidates: &[Candidate<'c>]) -> Value<'c> {
        let mut all = self.b.const_int(self.b.ctx().int(1), 1);
        for candidate in candidates {
            let (mut low, mut high) = (self.b.const_int(self.i64(), 0), self.last());
            let mut conditions = Vec::new();
            for fact in &candidate.known {
                // What follows from a value that does not fit is not known.
                conditions.push(self.fits(&fact.left));
                (low, high) = self.narrow(fact, Rounds::Some, low, high);
            }
            for fact in &candidate.needed.facts {
                conditions.push(self.fits(&fact.left));
                conditions.push(self.holds(fact, low, high));
            }
            for linear in &candidate.needed.linear {
                conditions.push(self.fits(linear));
            }
            for condition in conditions {
                all = self.b.arith("andi", all, self.frozen(condition));
            }
        }
        all
    }

    /// Whether all candidates are what they would be without their clamps from the one x up to the other.
    pub fn free(&mut self, candidates: &[Candidate<'c>]) -> Free<'c> {
        let b = self.b;
        let (mut fits, mut first, mut last) = (b.const_int(b.ctx().int(1), 1), self.number(0), self.last());
        for candidate in candidates {
            let (mut low, mut high) = (self.number(0), self.last());
            let known = candidate.known.iter().map(|fact| &fact.left);
            let needed = candidate.needed.facts.iter().map(|fact| &fact.left);
            for linear in known.chain(needed).chain(&candidate.needed.linear) {
                let fit = self.fits(linear);
                fits = b.arith("andi", fits, self.frozen(fit));
            }
            for fact in &candidate.known {
                (low, high) = self.narrow(fact, Rounds::Some, low, high);
            }
            for fact in &candidate.needed.facts {
                let (least, most) = self.narrow(fact, Rounds::All, self.number(0), self.last());
                // Threads that do not come there need nothing.
                let (early, late) = (b.cmpi("sle", least, low), b.cmpi("sge", most, high));
                let least = b.value("arith.select", &[early, self.number(0), least], self.i64());
                let most = b.value("arith.select", &[late, self.last(), most], self.i64());
                first = b.arith("maxsi", first, self.frozen(least));
                last = b.arith("minsi", last, self.frozen(most));
            }
        }
        Free { fits, first, last }
    }
}
