//! What is computed before a thread loop to know whether its version without clamps will do.
//!
//! ```mlir
//! %low = arith.maxsi %zero, %step_plus_1 : i64      // the range of x where the branch around the access is taken
//! %at_least = arith.cmpi sge, %low_less_1, %left : i64
//! %free = llvm.freeze %at_least : i1
//! ```

use std::collections::HashMap;

use mlir_bridge::ir::{Builder, Mapping, Type, Value};

use super::{
    Candidate, Fact, Linear,
    Relation::{Greater, GreaterEqual, Less, LessEqual},
    Row,
};

/// What is computed before the loop.
pub struct Hoisted<'c> {
    row: Row<'c>,
    pub b: Builder<'c>,
    made: HashMap<Value<'c>, Value<'c>>,
}

impl<'c> Hoisted<'c> {
    pub fn new(row: Row<'c>, b: Builder<'c>) -> Self {
        Self { row, b, made: HashMap::new() }
    }

    fn i64(&self) -> Type<'c> {
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

    /// What is added to x, an i64.
    pub fn sum(&mut self, linear: &Linear<'c>) -> Value<'c> {
        let mut total = self.b.const_int(self.i64(), 0);
        for (term, subtracted) in &linear.terms {
            let term = self.wide(*term);
            total = self.b.arith(if *subtracted { "subi" } else { "addi" }, total, term);
        }
        total
    }

    /// Whether all candidates are what they would be without their clamps.
    pub fn all_hold(&mut self, candidates: &[Candidate<'c>]) -> Value<'c> {
        let mut all = self.b.const_int(self.b.ctx().int(1), 1);
        for candidate in candidates {
            let (mut low, mut high) = (self.b.const_int(self.i64(), 0), self.last());
            let mut conditions = Vec::new();
            for fact in &candidate.known {
                // What follows from a value that does not fit is not known.
                conditions.push(self.fits(&fact.left));
                (low, high) = self.narrow(fact, low, high);
            }
            for fact in &candidate.needed.facts {
                conditions.push(self.fits(&fact.left));
                conditions.push(self.holds(fact, low, high));
            }
            for linear in &candidate.needed.linear {
                conditions.push(self.fits(linear));
            }
            for condition in conditions {
                // One that no thread asks for may be made from anything; it must not decide for the others.
                let condition = self.b.value("llvm.freeze", &[condition], condition.ty());
                all = self.b.arith("andi", all, condition);
            }
        }
        all
    }

    /// The last x.
    fn last(&mut self) -> Value<'c> {
        let size = self.b.index_cast(self.row.parallel.operand(3), self.i64());
        self.b.arith("subi", size, self.b.const_int(self.i64(), 1))
    }

    /// Whether x plus the terms stays within 32 bits for all threads.
    fn fits(&mut self, linear: &Linear<'c>) -> Value<'c> {
        let b = self.b;
        if linear.terms.is_empty() {
            return b.const_int(b.ctx().int(1), 1);
        }
        let low = self.sum(linear);
        let high = b.arith("addi", low, self.last());
        let above = b.cmpi("sge", low, b.const_int(self.i64(), i32::MIN.into()));
        let below = b.cmpi("sle", high, b.const_int(self.i64(), i32::MAX.into()));
        b.arith("andi", above, below)
    }

    /// The range of x where a fact holds too.
    fn narrow(&mut self, fact: &Fact<'c>, low: Value<'c>, high: Value<'c>) -> (Value<'c>, Value<'c>) {
        let b = self.b;
        let (right, left) = (self.wide(fact.right), self.sum(&fact.left));
        let bound = b.arith("subi", right, left);
        let one = b.const_int(self.i64(), 1);
        match fact.relation {
            Greater => (b.arith("maxsi", low, b.arith("addi", bound, one)), high),
            GreaterEqual => (b.arith("maxsi", low, bound), high),
            Less => (low, b.arith("minsi", high, b.arith("subi", bound, one))),
            LessEqual => (low, b.arith("minsi", high, bound)),
        }
    }

    /// Whether a fact holds for all x from `low` to `high`.
    fn holds(&mut self, fact: &Fact<'c>, low: Value<'c>, high: Value<'c>) -> Value<'c> {
        let b = self.b;
        let (right, left) = (self.wide(fact.right), self.sum(&fact.left));
        let (predicate, end) = match fact.relation {
            Greater => ("sgt", low),
            GreaterEqual => ("sge", low),
            Less => ("slt", high),
            LessEqual => ("sle", high),
        };
        b.cmpi(predicate, b.arith("addi", end, left), right)
    }
}
