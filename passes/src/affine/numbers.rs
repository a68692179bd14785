//! Integers of a nest as functions of its parameters and of the variables of its loops, and what must hold for that.
//!
//! Values are taken for integers without limits. Where an operation is not known to stay within its type, or is of numbers without a sign, it is
//! assumed that it does, for all rounds that get there; whether it does is asked when the program runs.

use std::collections::HashMap;

use mlir_bridge::ir::{Op, Value};

use crate::{
    affine::{
        Reason,
        poly::{Poly, param_name},
    },
    analysis::facts::{constant, is_nsw, is_nuw, width},
};

/// The rounds of loops that get to a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// The variables of the loops around, from the outermost.
    pub variables: Vec<usize>,
    /// What is known of them, as isl has it.
    pub constraints: Vec<String>,
}

impl Scope {
    /// The same where `constraint` holds too.
    pub fn and(&self, constraint: String) -> Self {
        let mut inner = self.clone();
        inner.constraints.push(constraint);
        inner
    }

    /// All constraints, as isl has it.
    pub fn text(&self) -> String {
        if self.constraints.is_empty() { "true".into() } else { self.constraints.join(" and ") }
    }
}

/// What must hold in all rounds that get to a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assumption {
    /// The rounds.
    pub scope: Scope,
    /// What must hold, as isl has it.
    pub holds: String,
}

/// The integers of a nest.
pub struct Numbers<'c> {
    function: Op<'c>,
    /// The parameters: values that are the same all the time.
    pub params: Vec<Value<'c>>,
    /// The variables of loops, by number.
    pub variables: Vec<Value<'c>>,
    /// What must hold.
    pub assumptions: Vec<Assumption>,
    of_variable: HashMap<Value<'c>, usize>,
    of_param: HashMap<Value<'c>, usize>,
    /// Functions of the text.
    invariant: HashMap<Value<'c>, bool>,
}

/// How operands are compared, as `llvm.icmp` numbers it.
const COMPARISONS: [&str; 10] = ["=", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">="];
const FIRST_UNSIGNED: usize = 6;
/// The bits that a parameter may have.
const RANGE: u32 = 41;

impl<'c> Numbers<'c> {
    /// Those of a function, of which none is known yet.
    pub fn of(function: Op<'c>) -> Self {
        Self {
            function,
            params: Vec::new(),
            variables: Vec::new(),
            assumptions: Vec::new(),
            of_variable: HashMap::new(),
            of_param: HashMap::new(),
            invariant: HashMap::new(),
        }
    }

    /// Takes the variable of a loop.
    pub fn add_variable(&mut self, variable: Value<'c>) -> usize {
        self.variables.push(variable);
        self.of_variable.insert(variable, self.variables.len() - 1);
        self.variables.len() - 1
    }

    /// The number of a variable that was taken.
    pub fn variable(&self, value: Value<'c>) -> Option<usize> {
        self.of_variable.get(&value).copied()
    }

    fn param(&mut self, value: Value<'c>) -> Poly {
        let next = self.params.len();
        let number = *self.of_param.entry(value).or_insert(next);
        if number == next {
            self.params.push(value);
        }
        Poly::param(number)
    }

    fn is_argument(&self, value: Value<'c>) -> bool {
        value.block_arg().is_some_and(|(block, _)| block.parent_op() == Some(self.function))
    }

    /// Whether a value is computed of the function's parameters alone, by what never fails.
    pub fn is_invariant(&mut self, value: Value<'c>) -> bool {
        if self.is_argument(value) || constant(value).is_some() {
            return true;
        }
        if let Some(known) = self.invariant.get(&value) {
            return *known;
        }
        let is = value
            .defining_op()
            .is_some_and(|op| is_simple(op) && op.operands().into_iter().all(|operand| self.is_invariant(operand)));
        self.invariant.insert(value, is);
        is
    }

    /// Asks that `value` is in a range in all rounds of `scope`.
    pub fn assume(&mut self, scope: &Scope, value: &Poly, low: &str, high: &str) -> Result<(), Reason> {
        let text = value.text().ok_or(Reason::Wraps)?;
        self.require(scope, format!("{low} <= {text} <= {high}"));
        Ok(())
    }

    /// Asks that `holds` in all rounds of `scope`.
    pub fn require(&mut self, scope: &Scope, holds: String) {
        let assumption = Assumption { scope: scope.clone(), holds };
        if !self.assumptions.contains(&assumption) {
            self.assumptions.push(assumption);
        }
    }

    fn assume_fits(&mut self, scope: &Scope, value: &Poly, bits: u32) -> Result<(), Reason> {
        let bits = bits.clamp(1, 64) - 1;
        let most = (1i128 << bits) - 1;
        self.assume(scope, value, &format!("-{}", most + 1), &most.to_string())
    }

    fn assume_sign(&mut self, scope: &Scope, value: &Poly) -> Result<(), Reason> {
        let text = value.text().ok_or(Reason::Wraps)?;
        self.require(scope, format!("{text} >= 0"));
        Ok(())
    }

    /// An integer as a sum of products.
    ///
    /// # Errors
    /// It is none, or may wrap around.
    pub fn poly(&mut self, value: Value<'c>, scope: &Scope) -> Result<Poly, Reason> {
        if let Some(number) = constant(value) {
            return Ok(Poly::constant(number));
        }
        if let Some(number) = self.variable(value) {
            return Ok(Poly::variable(number));
        }
        if self.is_argument(value) {
            return Ok(self.param(value));
        }
        let found = match value.defining_op() {
            Some(op) => self.operation(op, scope),
            None => Err(Reason::NotAffine),
        };
        match found {
            Err(_) if self.is_invariant(value) => Ok(self.param(value)),
            found => found,
        }
    }

    fn operation(&mut self, op: Op<'c>, scope: &Scope) -> Result<Poly, Reason> {
        let bits = width(op.result(0).ty()).unwrap_or(64);
        let name = op.name().trim_start_matches("llvm.").trim_start_matches("arith.");
        match name {
            "sext" | "extsi" if width(op.operand(0).ty()).is_some_and(|bits| bits > 1) => {
                self.poly(op.operand(0), scope)
            }
            "zext" | "extui" if width(op.operand(0).ty()).is_some_and(|bits| bits > 1) => {
                let value = self.poly(op.operand(0), scope)?;
                self.assume_sign(scope, &value)?;
                Ok(value)
            }
            "trunc" | "trunci" => {
                let value = self.poly(op.operand(0), scope)?;
                self.assume_fits(scope, &value, bits)?;
                Ok(value)
            }
            "add" | "addi" | "sub" | "subi" | "mul" | "muli" => {
                let (left, right) = (self.poly(op.operand(0), scope)?, self.poly(op.operand(1), scope)?);
                let made = match &name[..3] {
                    "add" => left.plus(&right),
                    "sub" => left.minus(&right),
                    _ => left.multiply(&right),
                };
                self.checked(op, made, bits, scope)
            }
            "shl" | "shli" => {
                let amount = constant(op.operand(1)).filter(|amount| (0..31).contains(amount));
                let made = self.poly(op.operand(0), scope)?.times(1 << amount.ok_or(Reason::NotAffine)?);
                self.checked(op, made, bits, scope)
            }
            _ => Err(Reason::NotAffine),
        }
    }

    fn checked(&mut self, op: Op<'c>, made: Option<Poly>, bits: u32, scope: &Scope) -> Result<Poly, Reason> {
        let made = made.ok_or(Reason::NotAffine)?;
        // An object of 2^63 bytes or more, which a product of sizes without a sign would stand for, there is not.
        let is_size = bits == 64 && op.is("llvm.mul") && is_nuw(op) && made.text().is_none();
        if !is_nsw(op) && !is_size {
            self.assume_fits(scope, &made, bits)?;
        }
        Ok(made)
    }

    /// An integer as isl has it: affine, or the least or greatest of such.
    ///
    /// # Errors
    /// It is none of these, or may wrap around.
    pub fn text(&mut self, value: Value<'c>, scope: &Scope) -> Result<String, Reason> {
        if let Some((kind, left, right)) = extreme(value) {
            return Ok(format!("{kind}({}, {})", self.text(left, scope)?, self.text(right, scope)?));
        }
        if let Some(text) = self.poly(value, scope)?.text() {
            return Ok(text);
        }
        if self.is_invariant(value) {
            return self.param(value).text().ok_or(Reason::NotAffine);
        }
        Err(Reason::NotAffine)
    }

    /// A condition as isl has it.
    ///
    /// # Errors
    /// It is not affine.
    pub fn condition(&mut self, value: Value<'c>, scope: &Scope) -> Result<String, Reason> {
        if let Some(known) = constant(value) {
            return Ok(if known != 0 { "true".into() } else { "false".into() });
        }
        let op = value.defining_op().ok_or(Reason::NotAffine)?;
        let name = op.name().trim_start_matches("llvm.").trim_start_matches("arith.");
        let both = |numbers: &mut Self, word: &str, left, right| {
            let left = numbers.condition(left, scope)?;
            Ok(format!("({left} {word} {})", numbers.condition(right, scope)?))
        };
        match name {
            "icmp" | "cmpi" => self.comparison(op, scope),
            "and" | "andi" => both(self, "and", op.operand(0), op.operand(1)),
            "or" | "ori" => both(self, "or", op.operand(0), op.operand(1)),
            "select" if constant(op.operand(2)) == Some(0) => both(self, "and", op.operand(0), op.operand(1)),
            "select" if constant(op.operand(1)).is_some_and(|one| one & 1 == 1) => {
                both(self, "or", op.operand(0), op.operand(2))
            }
            "xor" | "xori" if constant(op.operand(1)).is_some_and(|one| one & 1 == 1) => {
                Ok(format!("not ({})", self.condition(op.operand(0), scope)?))
            }
            _ => Err(Reason::NotAffine),
        }
    }

    fn comparison(&mut self, op: Op<'c>, scope: &Scope) -> Result<String, Reason> {
        let predicate = op.attr("predicate").and_then(|predicate| predicate.as_int()).ok_or(Reason::NotAffine)?;
        let predicate = usize::try_from(predicate).map_err(|_| Reason::NotAffine)?;
        if width(op.operand(0).ty()).is_none_or(|bits| bits < 2) {
            return Err(Reason::NotAffine);
        }
        let (left, right) = (self.text(op.operand(0), scope)?, self.text(op.operand(1), scope)?);
        if predicate >= FIRST_UNSIGNED {
            self.require(scope, format!("{left} >= 0 and {right} >= 0"));
        }
        let sign = COMPARISONS.get(predicate).ok_or(Reason::NotAffine)?;
        Ok(match *sign {
            "!=" => format!("({left} < {right} or {left} > {right})"),
            sign => format!("({left} {sign} {right})"),
        })
    }

    /// The least and the greatest value that a parameter is taken to have.
    pub fn range(&self, number: usize) -> (i64, i64) {
        let bits = width(self.params[number].ty()).unwrap_or(64).min(RANGE);
        (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    }

    /// The range of each parameter, as isl has it. Those of 64 bits are asked to be smaller.
    pub fn ranges(&self) -> String {
        self.within(|bits| Some(bits.min(RANGE)))
    }

    /// The range of each parameter of less than 64 bits, which its type sees to.
    pub fn types(&self) -> String {
        self.within(|bits| Some(bits).filter(|bits| *bits < RANGE))
    }

    fn within(&self, bits: impl Fn(u32) -> Option<u32>) -> String {
        let of = |(number, value): (usize, &Value<'c>)| {
            let most = (1i64 << (bits(width(value.ty()).unwrap_or(64))? - 1)) - 1;
            Some(format!("-{} <= {} <= {most}", most + 1, param_name(number)))
        };
        let all: Vec<String> = self.params.iter().enumerate().filter_map(of).collect();
        if all.is_empty() { "true".into() } else { all.join(" and ") }
    }
}

/// An integer operation that gives the same wherever it is done, and never fails.
fn is_simple(op: Op<'_>) -> bool {
    let name = op.name().trim_start_matches("llvm.").trim_start_matches("arith.");
    let divides = ["sdiv", "udiv", "srem", "urem"].contains(&name) && constant(op.operand(1)).is_some_and(|by| by > 0);
    const SIMPLE: &[&str] = &[
        "add",
        "sub",
        "mul",
        "shl",
        "lshr",
        "ashr",
        "and",
        "or",
        "xor",
        "sext",
        "zext",
        "trunc",
        "select",
        "icmp",
        "intr.smin",
        "intr.smax",
        "intr.umin",
        "intr.umax",
    ];
    let is_integer = op.num_results() == 1 && width(op.result(0).ty()).is_some_and(|bits| bits <= 64);
    is_integer && (divides || SIMPLE.contains(&name)) && op.operands().iter().all(|value| width(value.ty()).is_some())
}

/// The least or the greatest of two integers.
pub fn extreme<'c>(value: Value<'c>) -> Option<(&'static str, Value<'c>, Value<'c>)> {
    let op = value.defining_op()?;
    match op.name() {
        "llvm.intr.smin" | "arith.minsi" => return Some(("min", op.operand(0), op.operand(1))),
        "llvm.intr.smax" | "arith.maxsi" => return Some(("max", op.operand(0), op.operand(1))),
        "llvm.select" | "arith.select" => {}
        _ => return None,
    }
    let test = op.operand(0).defining_op().filter(|test| matches!(test.name(), "llvm.icmp" | "arith.cmpi"))?;
    let (left, right) = (op.operand(1), op.operand(2));
    let is_straight = test.operand(0) == left && test.operand(1) == right;
    let is_crossed = test.operand(0) == right && test.operand(1) == left;
    if !is_straight && !is_crossed {
        return None;
    }
    let kind = match (test.attr("predicate")?.as_int()?, is_straight) {
        (2 | 3, true) | (4 | 5, false) => "min",
        (2 | 3, false) | (4 | 5, true) => "max",
        _ => return None,
    };
    Some((kind, left, right))
}
