//! Values that differ between threads, passed on by control flow that all threads take: what they were computed of is remembered, where
//! that is the same for all, and each thread computes its own again.
//!
//! ```mlir
//! scf.for %step = ... iter_args(%inside = %false) { %now = %x > %step ; ... barrier ... ; scf.yield %now }
//! use(%inside)
//! ```
//! becomes
//! ```mlir
//! %which, %last = llvm.alloca ...                       // one for the block
//! scf.for %step = ... { ... ; %which = 1, %last = %step }
//! use(select(%which == 1, %x > %last, %false))
//! ```
//! An array with a cell for each thread would be copied in each round, and say nothing of which threads they are.

use mlir_bridge::ir::{Mapping, Type, Value};

use super::{
    choices::{Memory, bit, is_fixed},
    emit::{Emitted, Emitter},
    memory,
};
use crate::analysis::constants::is_undefined;

impl<'c> Emitter<'c, '_> {
    /// Whether a value is remembered.
    pub fn is_remembered(&self, value: Value<'c>) -> bool {
        self.plan.remembered.contains_key(&value)
    }

    /// The memory for a remembered value, made when it has none yet.
    fn memory_of(&mut self, value: Value<'c>) -> Memory<'c> {
        if let Some(memory) = self.memories.get(&value) {
            return memory.clone();
        }
        let b = self.preamble();
        let one = b.const_int(self.i64(), 1);
        let cell = |ty: Type<'c>| memory::new_cells(b, ty, one).base;
        let leaves = self.plan.remembered[&value].leaves.iter().map(|leaf| cell(leaf.ty())).collect();
        let memory = Memory { which: cell(self.i32()), leaves };
        self.memories.insert(value, memory.clone());
        memory
    }

    /// Remembers those of `values` whose `targets` are remembered: all are read before the first is written.
    pub fn remember(&mut self, targets: &[Value<'c>], values: &[Value<'c>]) -> Emitted<()> {
        let plan = self.plan;
        let mut writes = Vec::new();
        for (target, value) in targets.iter().zip(values) {
            let Some(choices) = plan.remembered.get(target) else { continue };
            if is_undefined(*value) || target == value {
                continue;
            }
            let to = self.memory_of(*target);
            if self.is_remembered(*value) {
                let from = self.memory_of(*value);
                let b = self.beside();
                writes.push((b.llvm_load(from.which, self.i32(), None), to.which));
                for ((from, to), leaf) in from.leaves.iter().zip(to.leaves).zip(&choices.leaves) {
                    writes.push((b.llvm_load(*from, leaf.ty(), None), to));
                }
                continue;
            }
            let number = choices.formula(*value).ok_or_else(|| format!("no formula of {value}"))?;
            writes.push((self.beside().const_i32(number as i32), to.which));
            for leaf in &choices.formulas[number].leaves {
                writes.push((self.uniform(choices.leaves[*leaf])?, to.leaves[*leaf]));
            }
        }
        for (value, address) in writes {
            self.beside().llvm_store(value, address, None);
        }
        Ok(())
    }

    /// What a remembered value is in the open loop.
    pub fn recall(&mut self, value: Value<'c>) -> Emitted<Value<'c>> {
        let plan = self.plan;
        let choices = &plan.remembered[&value];
        let memory = self.memory_of(value);
        let mut known = Mapping::new();
        for (leaf, address) in choices.leaves.iter().zip(&memory.leaves) {
            known.map(*leaf, self.beside().llvm_load(*address, leaf.ty(), None));
        }
        let mut made = Vec::new();
        for formula in &choices.formulas {
            made.push(self.formula(formula.value, &mut known)?);
        }
        // Conditions that were made wider for memory are chosen as what they are.
        let b = self.inside();
        let bits: Option<Vec<_>> = made.iter().map(|value| bit(b, *value)).collect();
        let is_wide = bits.is_some() && !value.ty().is_int(1);
        made = bits.unwrap_or(made);
        let mut result = made[0];
        for (number, other) in made.into_iter().enumerate().skip(1) {
            let b = self.beside();
            let this = b.cmpi("eq", b.llvm_load(memory.which, self.i32(), None), b.const_i32(number as i32));
            result = self.inside().value("arith.select", &[this, other, result], result.ty());
        }
        Ok(if is_wide { self.inside().value("arith.extui", &[result], value.ty()) } else { result })
    }

    /// A formula made in the open loop, of leaves that are `known`.
    fn formula(&mut self, value: Value<'c>, known: &mut Mapping<'c>) -> Emitted<Value<'c>> {
        if let Some(made) = known.get(value) {
            return Ok(made);
        }
        let Some(op) = value.defining_op().filter(|_| !is_fixed(value, self.old)) else {
            return self.resolve(value);
        };
        for operand in op.operands() {
            let now = self.formula(operand, known)?;
            known.map(operand, now);
        }
        self.inside().clone_op(op, known);
        known.get(value).ok_or_else(|| format!("no copy of {value}"))
    }
}
