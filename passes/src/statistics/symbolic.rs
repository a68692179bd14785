//! Values as formulas: `arg3`, `gridDim.x`, `(1 + arg3) / 16`. The index of a loop, a thread or a block stands for its mean.

use std::collections::HashMap;

use mlir_bridge::ir::{Op, Value};
use regrain_tuning::expr::Expr;

use crate::analysis::facts::constant;
use crate::analysis::loops::Counting;
use crate::launch::launch_function::kernel_of;
use regrain_dialects::attributes::kernel_arg;

/// How deep values are looked through.
const DEPTH: u32 = 24;

/// Arguments of launch functions, by number.
const SIZES: [&str; 8] =
    ["", "gridDim.x", "gridDim.y", "gridDim.z", "blockDim.x", "blockDim.y", "blockDim.z", "sharedBytes"];

/// Formulas of the values of one function.
#[derive(Default)]
pub struct Symbolic<'c> {
    known: HashMap<Value<'c>, Option<Expr>>,
}

impl<'c> Symbolic<'c> {
    /// The formula of a value, if it has one.
    pub fn expr(&mut self, value: Value<'c>) -> Option<Expr> {
        self.at(value, DEPTH)
    }

    fn at(&mut self, value: Value<'c>, depth: u32) -> Option<Expr> {
        if let Some(known) = self.known.get(&value) {
            return known.clone();
        }
        if depth == 0 {
            return None;
        }
        let found = match (constant(value), value.defining_op()) {
            (Some(number), _) => Some(Expr::constant(number as f64)),
            (None, Some(op)) => self.of_op(op, depth - 1),
            (None, None) => self.of_argument(value, depth - 1),
        };
        self.known.insert(value, found.clone());
        found
    }

    fn of_op(&mut self, op: Op<'c>, depth: u32) -> Option<Expr> {
        if let Some(number) = kernel_arg(op) {
            return Some(Expr::symbol(format!("arg{number}")));
        }
        let name = op.name();
        let short = name.split_once('.').map_or(name, |(_, rest)| rest);
        if short == "select" {
            // Nothing, or a size: what coarse blocks cover.
            let sides = [1, 2].map(|side| op.operand(side)).into_iter().filter(|side| constant(*side) != Some(0));
            return match sides.collect::<Vec<_>>()[..] {
                [some] => self.at(some, depth),
                _ => None,
            };
        }
        match short {
            "sext" | "zext" | "trunc" | "extsi" | "extui" | "trunci" | "index_cast" | "index_castui" | "freeze" => {
                return self.at(op.operand(0), depth);
            }
            "add" | "addi" | "sub" | "subi" | "mul" | "muli" | "shl" | "shli" | "udiv" | "divui" | "sdiv" | "divsi"
            | "lshr" | "shrui" | "ashr" | "shrsi" => {}
            _ => return None,
        }
        let (a, b) = (self.at(op.operand(0), depth)?, self.at(op.operand(1), depth)?);
        let power = || b.as_constant().filter(|by| (0.0..62.0).contains(by)).map(f64::exp2);
        match short {
            "add" | "addi" => Some(&a + &b),
            "sub" | "subi" => Some(&a - &b),
            "mul" | "muli" => Some(&a * &b),
            "shl" | "shli" => power().map(|power| a.scaled(power)),
            "lshr" | "shrui" | "ashr" | "shrsi" => power().map(|power| a.divided(&Expr::constant(power))),
            _ => Some(a.divided(&b)),
        }
    }

    /// How often a loop runs.
    pub fn trip(&mut self, counting: &Counting<'c>) -> Option<Expr> {
        let (low, high, step) = (self.expr(counting.lower)?, self.expr(counting.upper)?, self.expr(counting.step)?);
        Some((&high - &low).divided_up(&step)).filter(|trip| trip.as_constant().is_none_or(|trip| trip >= 0.0))
    }

    /// The mean of an induction variable.
    fn mean(&mut self, counting: &Counting<'c>, depth: u32) -> Option<Expr> {
        let (low, high) = (self.at(counting.lower, depth)?, self.at(counting.upper, depth)?);
        Some((&(&low + &high) - &self.at(counting.step, depth)?).scaled(0.5))
    }

    fn of_argument(&mut self, value: Value<'c>, depth: u32) -> Option<Expr> {
        if let Some((_, _, counting)) = Counting::of_variable(value) {
            return self.mean(&counting, depth);
        }
        let (block, number) = value.block_arg()?;
        let owner = block.parent_op()?;
        match owner.name() {
            "llvm.func" if kernel_of(owner).is_some() => {
                SIZES.get(number).filter(|name| !name.is_empty()).map(|name| Expr::symbol(*name))
            }
            "llvm.func" | "func.func" => Some(Expr::symbol(format!("arg{number}"))),
            _ => None,
        }
    }
}
