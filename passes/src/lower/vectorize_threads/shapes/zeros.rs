//! Zero bits at the end of numbers: where a row begins, nothing that counts up its lanes carries beyond them.

use mlir_bridge::ir::{Block, Op, Value};

use super::Shapes;
use crate::analysis::facts::constant;

impl<'c> Shapes<'c> {
    /// Zero bits at the end of what a value is in the first lane (all lanes, if it is uniform).
    pub(super) fn trailing_zeros(&mut self, value: Value<'c>) -> u32 {
        if let Some(known) = self.zeros.get(&value) {
            return *known;
        }
        // What is being asked for is not known to have any, which ends circles.
        self.zeros.insert(value, 0);
        let found = self.find_zeros(value);
        self.zeros.insert(value, found);
        found
    }

    fn find_zeros(&mut self, value: Value<'c>) -> u32 {
        if let Some(number) = constant(value) {
            return number.trailing_zeros();
        }
        if let Some((block, number)) = value.block_arg() {
            return self.zeros_of_argument(block, number);
        }
        let Some(op) = value.defining_op() else { return 0 };
        let name = op.name();
        let short = name.split_once('.').map_or(name, |(_, rest)| rest);
        match short {
            "add" | "addi" | "sub" | "subi" | "or" | "ori" => {
                self.trailing_zeros(op.operand(0)).min(self.trailing_zeros(op.operand(1)))
            }
            "and" | "andi" => self.trailing_zeros(op.operand(0)).max(self.trailing_zeros(op.operand(1))),
            "mul" | "muli" => (self.trailing_zeros(op.operand(0)) + self.trailing_zeros(op.operand(1))).min(64),
            "shl" | "shli" => match constant(op.operand(1)) {
                Some(amount) if (0..64).contains(&amount) => {
                    (self.trailing_zeros(op.operand(0)) + amount as u32).min(64)
                }
                _ => 0,
            },
            "sext" | "extsi" | "zext" | "extui" | "index_cast" | "index_castui" | "trunc" | "trunci" | "freeze" => {
                self.trailing_zeros(op.operand(0))
            }
            "select" => self.trailing_zeros(op.operand(1)).min(self.trailing_zeros(op.operand(2))),
            _ => 0,
        }
    }

    /// Loops whose body stands in this thread loop count in steps; a dimension of one thread is always 0.
    fn zeros_of_argument(&mut self, block: Block<'c>, number: usize) -> u32 {
        let Some(owner) = block.parent_op() else { return 0 };
        if owner == self.parallel {
            return if constant(owner.operand(owner.body().num_args() + number)) == Some(1) { 64 } else { 0 };
        }
        if !owner.is("scf.for") {
            return 0;
        }
        match number {
            0 => self.trailing_zeros(owner.operand(0)).min(self.trailing_zeros(owner.operand(2))),
            _ => {
                let first = self.trailing_zeros(owner.operand(2 + number));
                first.min(Self::step_zeros(owner, number))
            }
        }
    }

    /// Of a carried value that a constant is added to.
    fn step_zeros(owner: Op<'c>, number: usize) -> u32 {
        let next = || {
            let op = owner.body().terminator()?.operand(number - 1).defining_op()?;
            let own = owner.body().arg(number);
            let adds = matches!(op.name(), "llvm.add" | "arith.addi") && op.operand(0) == own;
            adds.then(|| constant(op.operand(1))).flatten()
        };
        next().map_or(0, i64::trailing_zeros)
    }
}
