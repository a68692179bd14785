//! What is computed before a thread loop, of facts about the numbers along it.
//!
//! ```mlir
//! %low = arith.maxsi %zero, %step_plus_1 : i64      // the range of x where the branch around the access is taken
//! %at_least = arith.cmpi sge, %low_less_1, %left : i64
//! %free = llvm.freeze %at_least : i1
//! ```

use std::collections::HashMap;

use mlir_bridge::ir::{Builder, Mapping, Type, Value};

use super::{
    Fact, Linear,
    Relation::{Greater, GreaterEqual, Less, LessEqual},
    Row,
};

/// What is computed before the loop.
pub struct Hoisted<'c> {
    row: Row<'c>,
    pub b: Builder<'c>,
    made: HashMap<Value<'c>, Value<'c>>,
}

/// In which rounds of the loops around something has to hold.
#[derive(Clone, Copy)]
pub enum Rounds {
    Some,
    All,
}

impl<'c> Hoisted<'c> {
    pub fn new(row: Row<'c>, b: Builder<'c>) -> Self {
        Self { row, b, made: HashMap::new() }
    }

    pub fn i64(&self) -> Type<'c> {
        self.b.ctx().int(64)
    }

    /// A fixed value, made before the loop.
    fn fixed(&mut self, value: Value<'c>) -> Value<'c> {
        if self.row.is_outside(value) {
            return value;
        }
        if let Some(made) = self.made.get(&value) {
            return *made;
        }
        let Some(op) = value.defining_op() else { return value };
        let mut mapping = Mapping::new();
        for operand in op.operands() {
            let now = self.fixed(operand);
            mapping.map(operand, now);
        }
        let copy = self.b.clone_op(op, &mut mapping);
        let made = copy.result(value.result_number().unwrap_or(0));
        self.made.insert(value, made);
        made
    }

    fn wide(&mut self, value: Value<'c>) -> Value<'c> {
        let value = self.fixed(value);
        self.b.value("arith.extsi", &[value], self.i64())
    }

    /// The least and the most that is added to x, i64.
    fn ends(&mut self, linear: &Linear<'c>) -> [Value<'c>; 2] {
        let mut totals = [self.number(0); 2];
        for (term, subtracted) in &linear.terms {
            let mut ends = self.ends_of(*term);
            if *subtracted {
                ends.reverse();
            }
            for (total, end) in totals.iter_mut().zip(ends) {
                *total = self.b.arith(if *subtracted { "subi" } else { "addi" }, *total, end);
            }
        }
        totals
    }

    /// The least and the most that a term can be.
    fn ends_of(&mut self, term: Value<'c>) -> [Value<'c>; 2] {
        match self.row.counted(term) {
            Some(counting) => {
                let upper = self.wide(counting.upper);
                [self.wide(counting.lower), self.b.arith("subi", upper, self.number(1))]
            }
            None => [self.wide(term); 2],
        }
    }

    /// What is added to x, an i64, at `b`; what loops count is known only there.
    pub fn rest(&mut self, b: Builder<'c>, linear: &Linear<'c>) -> Value<'c> {
        let (counted, fixed): (Vec<_>, Vec<_>) =
            linear.terms.iter().partition(|(term, _)| self.row.counted(*term).is_some());
        let [mut total, _] = self.ends(&Linear { terms: fixed });
        for (term, subtracted) in counted {
            let term = b.value("arith.extsi", &[term], self.i64());
            total = b.arith(if subtracted { "subi" } else { "addi" }, total, term);
        }
        total
    }

    /// One that no thread asks for may be made from anything; it must not decide for the others.
    pub fn frozen(&self, value: Value<'c>) -> Value<'c> {
        self.b.value("llvm.freeze", &[value], value.ty())
    }

    pub fn number(&self, number: i64) -> Value<'c> {
        self.b.const_int(self.i64(), number)
    }

    /// The last x.
    pub fn last(&self) -> Value<'c> {
        let size = self.b.index_cast(self.row.parallel.operand(3 + self.row.axis), self.i64());
        self.b.arith("subi", size, self.b.const_int(self.i64(), 1))
    }

    /// Whether x plus the terms stays within 32 bits for all threads.
    pub fn fits(&mut self, linear: &Linear<'c>) -> Value<'c> {
        let b = self.b;
        if linear.terms.is_empty() {
            return b.const_int(b.ctx().int(1), 1);
        }
        let [low, most] = self.ends(linear);
        let high = b.arith("addi", most, self.last());
        let above = b.cmpi("sge", low, b.const_int(self.i64(), i32::MIN.into()));
        let below = b.cmpi("sle", high, b.const_int(self.i64(), i32::MAX.into()));
        b.arith("andi", above, below)
    }

    /// The range of x where a fact holds too, in some rounds of loops around or in all.
    pub fn narrow(
        &mut self,
        fact: &Fact<'c>,
        rounds: Rounds,
        low: Value<'c>,
        high: Value<'c>,
    ) -> (Value<'c>, Value<'c>) {
        let b = self.b;
        let (right, [least, most]) = (self.wide(fact.right), self.ends(&fact.left));
        let left = match (fact.relation, rounds) {
            (Greater | GreaterEqual, Rounds::All) | (Less | LessEqual, Rounds::Some) => least,
            _ => most,
        };
        let bound = b.arith("subi", right, left);
        let one = self.number(1);
        match fact.relation {
            Greater => (b.arith("maxsi", low, b.arith("addi", bound, one)), high),
            GreaterEqual => (b.arith("maxsi", low, bound), high),
            Less => (low, b.arith("minsi", high, b.arith("subi", bound, one))),
            LessEqual => (low, b.arith("minsi", high, bound)),
        }
    }

    /// Whether a fact holds for all x from `low` to `high`.
    pub fn holds(&mut self, fact: &Fact<'c>, low: Value<'c>, high: Value<'c>) -> Value<'c> {
        let b = self.b;
        let (right, [least, most]) = (self.wide(fact.right), self.ends(&fact.left));
        let (predicate, end) = match fact.relation {
            Greater => ("sgt", b.arith("addi", low, least)),
            GreaterEqual => ("sge", b.arith("addi", low, least)),
            Less => ("slt", b.arith("addi", high, most)),
            LessEqual => ("sle", b.arith("addi", high, most)),
        };
        b.cmpi(predicate, end, right)
    }
}
