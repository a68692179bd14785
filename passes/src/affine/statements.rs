//! Cuts a nest into statements: what is done in one go in each round of the loops around it.
//!
//! ```text
//!   for i { a[i] = 0; for j { a[i] += b[i][j]; } }       S0[i0]: a[i] = 0     S1[i0, i1]: a[i] += b[i][j]
//!   for i { s = 0; for j { s += b[i][j]; } a[i] = s; }   S0[i0]: all of the body, the inner loop in it
//! ```
//!
//! What a value that was loaded, or that a loop hands on, is used for belongs to the statement that it was computed in. So values go from
//! one statement to another through memory alone, and what is in a statement stays in its order.

use std::collections::HashMap;

use mlir_bridge::{
    ir::{Block, Op, Value},
    lift::may_approximate,
};

use crate::affine::{
    Reason,
    accesses::{Found, base_of, find},
    numbers::{Numbers, Scope},
    reductions::Reduction,
};

/// A statement.
pub struct Statement<'c> {
    /// The loops around it with what is known of their variables.
    pub scope: Scope,
    /// What it does, in order.
    pub ops: Vec<Op<'c>>,
    /// When: numbers and variables, from the outermost block on.
    pub times: Vec<String>,
    /// Its accesses, by number.
    pub accesses: std::ops::Range<usize>,
    /// The operations of one instance, roughly.
    pub cost: u64,
    /// Loops among its operations that may be done in any order. Before and between them nothing is stored.
    pub reductions: Vec<Reduction<'c>>,
}

/// What a nest is cut into.
pub struct Cut<'c, 'n> {
    numbers: &'n mut Numbers<'c>,
    /// The statements in the order of the text.
    pub statements: Vec<Statement<'c>>,
    /// Their accesses.
    pub found: Vec<Found<'c>>,
    fixed: HashMap<Value<'c>, bool>,
    /// Operations that statements in loops behind them repeat, so that they belong to these.
    repeated: Vec<Op<'c>>,
}

/// So many rounds a loop in a statement is taken to have.
const ROUNDS: u64 = 16;
/// More than this many statements take too long, even of lines.
const MOST_STATEMENTS: usize = 100;

impl<'c, 'n> Cut<'c, 'n> {
    /// Cuts the body of a function.
    ///
    /// # Errors
    /// Something in it is not affine.
    pub fn of(function: Op<'c>, numbers: &'n mut Numbers<'c>) -> Result<Self, Reason> {
        let body = function.region(0).single_block().ok_or(Reason::Control)?;
        let mut cut =
            Self { numbers, statements: Vec::new(), found: Vec::new(), fixed: HashMap::new(), repeated: Vec::new() };
        cut.block(body, &Scope::default(), &[])?;
        Ok(cut)
    }

    fn block(&mut self, block: Block<'c>, scope: &Scope, times: &[String]) -> Result<(), Reason> {
        for (number, ops) in self.clusters(block).into_iter().enumerate() {
            let times = [times, &[number.to_string()]].concat();
            match ops[..] {
                [op] if op.is("scf.for") && op.num_results() == 0 => self.round(op, scope, times)?,
                [op] if op.is("scf.if") && op.num_results() == 0 => self.branch(op, scope, times)?,
                _ => self.statement(ops, scope, times)?,
            }
        }
        Ok(())
    }

    fn round(&mut self, op: Op<'c>, scope: &Scope, mut times: Vec<String>) -> Result<(), Reason> {
        let inner = self.rounds(op, scope)?;
        times.push(crate::affine::poly::variable_name(*inner.variables.last().ok_or(Reason::Loop)?));
        self.block(op.body(), &inner, &times)
    }

    /// The rounds of a loop.
    fn rounds(&mut self, op: Op<'c>, scope: &Scope) -> Result<Scope, Reason> {
        let step = self.numbers.poly(op.operand(2), scope)?.as_constant().filter(|step| (1..1 << 20).contains(step));
        let step = step.ok_or(Reason::Step)?;
        let of_bound = |_| Reason::Bound;
        let low = self.numbers.text(op.operand(0), scope).map_err(of_bound)?;
        let high = self.numbers.text(op.operand(1), scope).map_err(of_bound)?;
        if op.has_attr("unsignedCmp") {
            self.numbers.require(scope, format!("{low} >= 0 and {high} >= 0"));
        }
        let variable = self.numbers.add_variable(op.body().arg(0));
        let name = crate::affine::poly::variable_name(variable);
        let mut inner = scope.and(format!("{low} <= {name} < {high}"));
        if step > 1 {
            // Counted from the lower bound, which is no least or greatest of two then.
            let start = self.numbers.poly(op.operand(0), scope).ok().and_then(|low| low.text()).ok_or(Reason::Step)?;
            inner = inner.and(format!("({name} - ({start})) mod {step} = 0"));
        }
        inner.variables.push(variable);
        Ok(inner)
    }

    fn branch(&mut self, op: Op<'c>, scope: &Scope, times: Vec<String>) -> Result<(), Reason> {
        let is_fixed = self.is_fixed(op.operand(0));
        let condition = if is_fixed { self.numbers.condition(op.operand(0), scope) } else { Err(Reason::NotAffine) };
        let Ok(condition) = condition else { return self.statement(vec![op], scope, times) };
        for (region, holds) in op.regions().into_iter().zip([condition.clone(), format!("not ({condition})")]) {
            if let Some(block) = region.single_block() {
                self.block(block, &scope.and(holds), &times)?;
            }
        }
        Ok(())
    }

    fn statement(&mut self, ops: Vec<Op<'c>>, scope: &Scope, times: Vec<String>) -> Result<(), Reason> {
        let ops = [self.repeated_for(&ops), ops].concat();
        let first = self.found.len();
        let mut cost = 0;
        for op in &ops {
            cost += self.gather(*op, scope, true)?;
        }
        let accesses = first..self.found.len();
        if self.found[accesses.clone()].iter().any(Found::is_write) {
            let reductions = reductions(&ops);
            self.statements.push(Statement { scope: scope.clone(), ops, times, accesses, cost, reductions });
        } else {
            self.found.truncate(first);
        }
        if self.statements.len() > MOST_STATEMENTS { Err(Reason::Large) } else { Ok(()) }
    }

    /// Takes the accesses of an operation and of what is in it; gives what it costs.
    fn gather(&mut self, op: Op<'c>, scope: &Scope, is_certain: bool) -> Result<u64, Reason> {
        match op.name() {
            "llvm.load" | "llvm.store" => {
                self.found.push(find(self.numbers, op, scope, is_certain)?);
                Ok(1)
            }
            "scf.for" => {
                let inner = self.rounds(op, scope)?;
                Ok(self.gather_block(op.body(), &inner, is_certain)? * ROUNDS)
            }
            "scf.if" => {
                let is_fixed = self.is_fixed(op.operand(0));
                let condition = if is_fixed { self.numbers.condition(op.operand(0), scope).ok() } else { None };
                let mut cost = 0;
                for (number, region) in op.regions().into_iter().enumerate() {
                    let Some(block) = region.single_block() else { continue };
                    cost += match (&condition, number) {
                        (Some(holds), 0) => self.gather_block(block, &scope.and(holds.clone()), is_certain)?,
                        (Some(holds), _) => {
                            self.gather_block(block, &scope.and(format!("not ({holds})")), is_certain)?
                        }
                        (None, _) => self.gather_block(block, scope, false)?,
                    };
                }
                Ok(cost)
            }
            "scf.while" => Err(Reason::Loop),
            name if (name == "llvm.call" || is_function(op)) && function(op).is_none() => Err(Reason::Call),
            _ if op.num_regions() > 0 => Err(Reason::Operation),
            _ => Ok(u64::from(!op.is_terminator())),
        }
    }

    fn gather_block(&mut self, block: Block<'c>, scope: &Scope, is_certain: bool) -> Result<u64, Reason> {
        let mut cost: u64 = 0;
        for op in block.ops() {
            cost = cost.saturating_add(self.gather(op, scope, is_certain)?);
        }
        Ok(cost.min(1 << 40))
    }

    /// Whether a value may be computed again wherever it is used: no load and no loop has a part in it.
    pub fn is_fixed(&mut self, value: Value<'c>) -> bool {
        if let Some((block, number)) = value.block_arg() {
            let Some(owner) = block.parent_op() else { return false };
            return owner.is("llvm.func") || (owner.is("scf.for") && number == 0);
        }
        if let Some(known) = self.fixed.get(&value) {
            return *known;
        }
        let is = value.defining_op().is_some_and(|op| {
            op.num_regions() == 0 && op.is_pure() && op.operands().into_iter().all(|operand| self.is_fixed(operand))
        });
        self.fixed.insert(value, is);
        is
    }

    /// Takes the loads of a block whose element nothing behind them in it stores to, and what is computed of them, where a loop behind them uses it.
    fn repeat(&mut self, block: Block<'c>) {
        let ops = block.ops();
        for (place, op) in ops.iter().enumerate() {
            let is_known = |cut: &mut Self, value| {
                cut.is_fixed(value) || value.defining_op().is_some_and(|op: Op<'c>| cut.repeated.contains(&op))
            };
            let may = match op.name() {
                "llvm.load" => {
                    self.is_fixed(op.operand(0)) && is_used_within(*op, block) && is_kept(*op, &ops[place + 1..])
                }
                _ if op.num_regions() > 0 || op.num_results() == 0 || !op.is_pure() => false,
                _ => {
                    op.operands().into_iter().all(|value| is_known(self, value))
                        && !op.results().into_iter().all(|value| self.is_fixed(value))
                }
            };
            if may {
                self.repeated.push(*op);
            }
        }
    }

    /// What is repeated for operations, in order.
    fn repeated_for(&self, ops: &[Op<'c>]) -> Vec<Op<'c>> {
        let mut wanted: Vec<Op<'c>> = ops.to_vec();
        let mut at = 0;
        while at < wanted.len() {
            let all = [wanted[at].find_all(|_| true), vec![wanted[at]]].concat();
            for made in all.into_iter().flat_map(Op::operands).filter_map(|value| value.defining_op()) {
                if self.repeated.contains(&made) && !wanted.contains(&made) {
                    wanted.push(made);
                }
            }
            at += 1;
        }
        self.repeated.iter().copied().filter(|op| wanted.contains(op)).collect()
    }

    /// The operations of a block that have to be done, those together that belong to one statement.
    fn clusters(&mut self, block: Block<'c>) -> Vec<Vec<Op<'c>>> {
        let is_done = |cut: &mut Self, op: &Op<'c>| {
            let is_number = op.num_results() > 0 && op.results().into_iter().all(|value| cut.is_fixed(value));
            !op.is_terminator() && !is_number && !cut.repeated.contains(op)
        };
        self.repeat(block);
        let ops: Vec<Op<'c>> = block.ops().into_iter().filter(|op| is_done(self, op)).collect();
        let places: HashMap<Op<'c>, usize> = ops.iter().copied().zip(0..).collect();
        let mut clusters: Vec<(usize, Vec<Op<'c>>)> = Vec::new();
        for (place, op) in ops.iter().enumerate() {
            let first = first_used(*op, &places).unwrap_or(place);
            let mut joined = (place, vec![*op]);
            while let Some((start, mut before)) = clusters.pop_if(|(start, before)| *start + before.len() > first) {
                before.append(&mut joined.1);
                joined = (start, before);
            }
            clusters.push(joined);
        }
        clusters.into_iter().map(|(_, ops)| ops).collect()
    }
}

/// Whether what is in operations of a block uses a result, or what the block computes of it.
fn is_used_within<'c>(op: Op<'c>, block: Block<'c>) -> bool {
    op.results().into_iter().flat_map(|value| value.uses()).any(|one| {
        let owner = one.owner;
        let is_computed = owner.num_regions() == 0 && owner.num_results() > 0 && owner.is_pure();
        owner.block() != Some(block) || (is_computed && is_used_within(owner, block))
    })
}

/// Whether nothing in operations stores to the array that an operation loads from. Arrays that are stored to are apart from all others.
fn is_kept<'c>(load: Op<'c>, behind: &[Op<'c>]) -> bool {
    let own = base_of(load.operand(0));
    let stores = |op: &Op<'c>| [op.find_named("llvm.store"), vec![*op]].concat();
    own.is_some()
        && behind.iter().flat_map(stores).filter(|op| op.is("llvm.store")).all(|op| {
            let base = base_of(op.operand(1));
            base.is_some() && base != own
        })
}

/// The first of the operations at `places` whose results `op`, or what is in it, uses.
fn first_used<'c>(op: Op<'c>, places: &HashMap<Op<'c>, usize>) -> Option<usize> {
    let used =
        |op: Op<'c>| op.operands().into_iter().filter_map(|value| places.get(&value.defining_op()?).copied()).min();
    let mut first = used(op);
    for inner in op.find_all(|_| true) {
        first = [first, used(inner)].into_iter().flatten().min();
    }
    first
}

/// The reductions before which there are but loads and numbers.
fn reductions<'c>(ops: &[Op<'c>]) -> Vec<Reduction<'c>> {
    let mut found = Vec::new();
    for op in ops {
        match Reduction::of(*op) {
            Some(reduction) => found.push(reduction),
            None if op.is("llvm.store") || !op.find_named("llvm.store").is_empty() => break,
            None if op.is("scf.for") || !op.find_named("scf.for").is_empty() => break,
            None => {}
        }
    }
    found
}

/// Functions whose result is the same, bit by bit, wherever they are computed.
const EXACT: [&str; 12] =
    ["sqrt", "fabs", "floor", "ceil", "trunc", "rint", "nearbyint", "round", "copysign", "fmin", "fmax", "fma"];
/// Those that are so where the program takes what is close to them (`-ffast-math`, `-fapprox-func`).
const CLOSE: [&str; 16] = [
    "exp", "exp2", "log", "log2", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "pow",
    "atan2",
];

/// Whether an operation is a function of floating-point numbers that has a name in C.
fn is_function(op: Op<'_>) -> bool {
    op.name().starts_with("llvm.intr.")
        && !op.is("llvm.intr.fmuladd")
        && op.num_results() == 1
        && op.result(0).ty().is_float()
}

/// The name in C, as that of doubles, of a function that may be computed on the device.
pub fn function<'c>(op: Op<'c>) -> Option<&'static str> {
    let float = op.num_results() == 1 && op.result(0).ty().float_width() == Some(32);
    let name: &'c str = match op.name() {
        "llvm.intr.minnum" => "fmin",
        "llvm.intr.maxnum" => "fmax",
        "llvm.call" => {
            let callee = op.attr("callee").and_then(|callee| callee.as_symbol())?;
            if float { callee.strip_suffix('f')? } else { callee }
        }
        name => name.strip_prefix("llvm.intr.")?,
    };
    let is_number = op.num_results() == 1 && matches!(op.result(0).ty().float_width(), Some(32 | 64));
    let same = |value: &mlir_bridge::ir::Value<'c>| value.ty() == op.result(0).ty();
    if !is_number || !op.operands().iter().all(same) {
        return None;
    }
    let find = |list: &'static [&'static str]| list.iter().copied().find(|known| *known == name);
    find(&EXACT).or_else(|| find(&CLOSE).filter(|_| may_approximate(op)))
}
