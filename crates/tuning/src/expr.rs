//! Counts in closed form: sums of products of symbols and constants, as in `12 + 4*(arg3 / 16)`.
//!
//! Symbols are names of what is only known at the launch: `arg3` (kernel argument number 3), `blockDim.x`, `gridDim.y`,
//! `sharedBytes`, or `trip.2` (how often loop 2 runs, where no formula says it).

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub};

use serde::{Deserialize, Serialize};

use crate::polynomial::{Polynomial, Product};

/// A sum of products.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Expr(Polynomial<Product<Atom>, f64>);

/// What a product is made of.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Atom {
    Symbol(String),
    /// A quotient, rounded down or up.
    Quotient {
        of: Box<Expr>,
        by: Box<Expr>,
        up: bool,
    },
}

/// Values of symbols.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bindings {
    values: BTreeMap<String, f64>,
    /// The value of all other symbols.
    fallback: f64,
}

impl Bindings {
    /// Nothing is bound; every symbol has the value `fallback`.
    pub fn new(fallback: f64) -> Self {
        Self { values: BTreeMap::new(), fallback }
    }

    /// Binds a symbol.
    #[must_use]
    pub fn with(mut self, symbol: &str, value: f64) -> Self {
        self.values.insert(symbol.to_owned(), value);
        self
    }

    /// The value of a symbol.
    pub fn value(&self, symbol: &str) -> f64 {
        self.values.get(symbol).copied().unwrap_or(self.fallback)
    }
}

impl Expr {
    /// Nothing.
    pub fn zero() -> Self {
        Self::default()
    }

    /// A number.
    pub fn constant(value: f64) -> Self {
        Self(Polynomial::constant(value))
    }

    /// A symbol.
    pub fn symbol(name: impl Into<String>) -> Self {
        Self::atom(Atom::Symbol(name.into()))
    }

    fn atom(atom: Atom) -> Self {
        Self(Polynomial::term(Product::of(atom), 1.0))
    }

    /// The value, if it is a number.
    pub fn as_constant(&self) -> Option<f64> {
        self.0.as_constant()
    }

    /// Whether it is nothing.
    pub fn is_zero(&self) -> bool {
        self.0.is_zero()
    }

    /// Times a number.
    #[must_use]
    pub fn scaled(&self, by: f64) -> Self {
        Self(self.0.scaled(&by))
    }

    /// Divided, and rounded down.
    #[must_use]
    pub fn divided(&self, by: &Self) -> Self {
        self.quotient(by, false)
    }

    /// Divided, and rounded up.
    #[must_use]
    pub fn divided_up(&self, by: &Self) -> Self {
        self.quotient(by, true)
    }

    fn quotient(&self, by: &Self, up: bool) -> Self {
        match (self.as_constant(), by.as_constant()) {
            (_, Some(1.0)) => self.clone(),
            (Some(a), Some(b)) if b != 0.0 => Self::constant(if up { (a / b).ceil() } else { (a / b).floor() }),
            _ => Self::atom(Atom::Quotient { of: Box::new(self.clone()), by: Box::new(by.clone()), up }),
        }
    }

    /// The value where symbols have these values.
    pub fn evaluate(&self, bindings: &Bindings) -> f64 {
        let value = |factors: &[Atom]| factors.iter().map(|atom| atom.evaluate(bindings)).product::<f64>();
        self.0.terms().iter().map(|term| term.coefficient * value(term.monomial.factors())).sum()
    }

    /// All symbols, each once.
    pub fn symbols(&self) -> Vec<&str> {
        let mut found = Vec::new();
        for atom in self.0.terms().iter().flat_map(|term| term.monomial.factors()) {
            match atom {
                Atom::Symbol(name) => found.push(name.as_str()),
                Atom::Quotient { of, by, .. } => found.extend(of.symbols().into_iter().chain(by.symbols())),
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

impl Atom {
    fn evaluate(&self, bindings: &Bindings) -> f64 {
        match self {
            Self::Symbol(name) => bindings.value(name),
            Self::Quotient { of, by, up } => {
                let (of, by) = (of.evaluate(bindings), by.evaluate(bindings));
                match (by == 0.0, up) {
                    (true, _) => 0.0,
                    (false, true) => (of / by).ceil(),
                    (false, false) => (of / by).floor(),
                }
            }
        }
    }
}

/// By their text, as sums show them.
impl Ord for Atom {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Symbol(a), Self::Symbol(b)) => a.cmp(b),
            _ => self.to_string().cmp(&other.to_string()),
        }
    }
}

impl PartialOrd for Atom {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Atom {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Atom {}

impl From<f64> for Expr {
    fn from(value: f64) -> Self {
        Self::constant(value)
    }
}

impl Add<&Expr> for &Expr {
    type Output = Expr;

    fn add(self, other: &Expr) -> Expr {
        Expr(self.0.plus(&other.0, &1.0))
    }
}

impl AddAssign<&Expr> for Expr {
    fn add_assign(&mut self, other: &Expr) {
        *self = &*self + other;
    }
}

impl Sub<&Expr> for &Expr {
    type Output = Expr;

    fn sub(self, other: &Expr) -> Expr {
        Expr(self.0.plus(&other.0, &-1.0))
    }
}

impl Mul<&Expr> for &Expr {
    type Output = Expr;

    fn mul(self, other: &Expr) -> Expr {
        Expr(self.0.times(&other.0))
    }
}

/// A number with at most four digits behind the point.
pub fn number(value: f64) -> String {
    let rounded = (value * 1e4).round() / 1e4;
    // Never `-0`.
    format!("{}", rounded + 0.0)
}

impl fmt::Display for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Symbol(name) => f.write_str(name),
            Self::Quotient { of, by, up } => {
                let name = if *up { "ceil" } else { "" };
                let by = match by.0.terms().len() {
                    1 => by.to_string(),
                    _ => format!("({by})"),
                };
                match of.0.terms().len() {
                    1 => write!(f, "{name}({of} / {by})"),
                    _ => write!(f, "{name}(({of}) / {by})"),
                }
            }
        }
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_zero() {
            return f.pad("0");
        }
        let mut text = String::new();
        for (index, term) in self.0.terms().iter().enumerate() {
            let size = term.coefficient.abs();
            text += match (index, term.coefficient < 0.0) {
                (0, false) => "",
                (0, true) => "-",
                (_, false) => " + ",
                (_, true) => " - ",
            };
            let factors = term.monomial.factors().iter().map(ToString::to_string).collect::<Vec<_>>().join("*");
            text += &match (factors.is_empty(), number(size).as_str()) {
                (true, size) => size.to_owned(),
                (false, "1") => factors,
                (false, size) => format!("{size}*{factors}"),
            };
        }
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n() -> Expr {
        Expr::symbol("arg3")
    }

    #[test]
    fn sums_are_joined() {
        let count = &Expr::constant(12.0) + &n().divided(&16.0.into()).scaled(4.0);
        assert_eq!(count.to_string(), "12 + 4*(arg3 / 16)");
        assert_eq!((&count - &count).to_string(), "0");
        assert_eq!((&(&n() + &n()) + &Expr::constant(0.5)).to_string(), "0.5 + 2*arg3");
        assert_eq!((&n() - &Expr::constant(1.0)).to_string(), "-1 + arg3");
    }

    #[test]
    fn products_are_expanded() {
        let sum = &n() + &Expr::constant(1.0);
        assert_eq!((&sum * &sum).to_string(), "1 + 2*arg3 + arg3*arg3");
        assert_eq!((&sum * &Expr::zero()).as_constant(), Some(0.0));
    }

    #[test]
    fn quotients_are_rounded() {
        let up = (&n() - &Expr::constant(1.0)).divided_up(&Expr::symbol("blockDim.x"));
        assert_eq!(up.to_string(), "ceil((-1 + arg3) / blockDim.x)");
        let bindings = Bindings::new(7.0).with("arg3", 34.0).with("blockDim.x", 32.0);
        assert_eq!(up.evaluate(&bindings), 2.0);
        assert_eq!(n().divided(&16.0.into()).evaluate(&bindings), 2.0);
        assert_eq!(Expr::symbol("trip.0").evaluate(&bindings), 7.0);
        assert_eq!(Expr::constant(7.0).divided_up(&2.0.into()).as_constant(), Some(4.0));
        assert_eq!(up.symbols(), ["arg3", "blockDim.x"]);
    }

    #[test]
    fn expressions_are_kept_as_data() {
        let count = n().divided(&16.0.into()).scaled(0.5);
        let text = serde_json::to_string(&count).unwrap_or_default();
        assert_eq!(serde_json::from_str::<Expr>(&text).ok(), Some(count));
    }
}
