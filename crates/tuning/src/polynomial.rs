//! Polynomials: sums of products of unknowns, each with a coefficient.
//!
//! What a product and a coefficient are is left open. Counts have formulas over the sizes of a launch and `f64` ([`crate::expr`]);
//! offsets of addresses are linear, over values and `i128`; addresses of a warp have a coefficient for each thread.

use serde::{Deserialize, Serialize};

/// What coefficients can do.
pub trait Coefficient: Clone + PartialEq {
    /// Nothing.
    fn zero() -> Self;
    /// The sum.
    fn plus(&self, other: &Self) -> Self;
    /// The product.
    fn times(&self, other: &Self) -> Self;
}

impl Coefficient for f64 {
    fn zero() -> Self {
        0.0
    }

    fn plus(&self, other: &Self) -> Self {
        self + other
    }

    fn times(&self, other: &Self) -> Self {
        self * other
    }
}

impl Coefficient for i128 {
    fn zero() -> Self {
        0
    }

    fn plus(&self, other: &Self) -> Self {
        self + other
    }

    fn times(&self, other: &Self) -> Self {
        self * other
    }
}

/// A product of unknowns; the order is that of terms in a sum.
pub trait Monomial: Clone + Ord {
    /// The product of nothing, the number 1.
    fn one() -> Self;
}

/// At most one unknown, in linear sums.
impl<S: Clone + Ord> Monomial for Option<S> {
    fn one() -> Self {
        None
    }
}

/// Any number of unknowns, sorted; may repeat. Short ones come first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Product<S>(Vec<S>);

impl<S: Clone + Ord> Product<S> {
    /// One unknown.
    pub fn of(unknown: S) -> Self {
        Self(vec![unknown])
    }

    /// The unknowns.
    pub fn factors(&self) -> &[S] {
        &self.0
    }

    /// The product of both.
    #[must_use]
    pub fn times(&self, other: &Self) -> Self {
        let mut factors: Vec<S> = self.0.iter().chain(&other.0).cloned().collect();
        factors.sort();
        Self(factors)
    }
}

impl<S: Ord> Ord for Product<S> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.cmp(&other.0))
    }
}

impl<S: Ord> PartialOrd for Product<S> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<S: Clone + Ord> Monomial for Product<S> {
    fn one() -> Self {
        Self(Vec::new())
    }
}

/// A product of unknowns and its coefficient.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Term<M, C> {
    pub coefficient: C,
    #[serde(rename = "factors")]
    pub monomial: M,
}

/// A sum of terms, sorted; no two with the same product, none that is zero.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Polynomial<M, C> {
    terms: Vec<Term<M, C>>,
}

impl<M, C> Default for Polynomial<M, C> {
    fn default() -> Self {
        Self { terms: Vec::new() }
    }
}

impl<M: Monomial, C: Coefficient> Polynomial<M, C> {
    /// One product with a coefficient.
    pub fn term(monomial: M, coefficient: C) -> Self {
        let mut made = Self::default();
        made.add(&monomial, &coefficient);
        made
    }

    /// A number.
    pub fn constant(value: C) -> Self {
        Self::term(M::one(), value)
    }

    /// The terms, in order.
    pub fn terms(&self) -> &[Term<M, C>] {
        &self.terms
    }

    /// The terms with unknowns.
    pub fn symbolic(&self) -> impl Iterator<Item = &Term<M, C>> {
        self.terms.iter().filter(|term| term.monomial != M::one())
    }

    /// The coefficient of a product.
    pub fn coefficient(&self, monomial: &M) -> C {
        self.find(monomial).map_or_else(|_| C::zero(), |at| self.terms[at].coefficient.clone())
    }

    /// The part without unknowns.
    pub fn constant_part(&self) -> C {
        self.coefficient(&M::one())
    }

    /// The value, if there are no unknowns.
    pub fn as_constant(&self) -> Option<C> {
        self.symbolic().next().is_none().then(|| self.constant_part())
    }

    /// Whether it is nothing.
    pub fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    fn find(&self, monomial: &M) -> Result<usize, usize> {
        self.terms.binary_search_by(|term| term.monomial.cmp(monomial))
    }

    /// Adds a term.
    fn add(&mut self, monomial: &M, coefficient: &C) {
        match self.find(monomial) {
            Ok(at) => {
                let sum = self.terms[at].coefficient.plus(coefficient);
                if sum == C::zero() {
                    self.terms.remove(at);
                } else {
                    self.terms[at].coefficient = sum;
                }
            }
            Err(at) if *coefficient != C::zero() => {
                self.terms.insert(at, Term { coefficient: coefficient.clone(), monomial: monomial.clone() });
            }
            Err(_) => {}
        }
    }

    /// `self + factor * other`.
    #[must_use]
    pub fn plus(&self, other: &Self, factor: &C) -> Self {
        let mut sum = self.clone();
        for term in &other.terms {
            sum.add(&term.monomial, &term.coefficient.times(factor));
        }
        sum
    }

    /// Times a number.
    #[must_use]
    pub fn scaled(&self, by: &C) -> Self {
        Self::default().plus(self, by)
    }
}

impl<S: Clone + Ord, C: Coefficient> Polynomial<Product<S>, C> {
    /// The product of both.
    #[must_use]
    pub fn times(&self, other: &Self) -> Self {
        let mut product = Self::default();
        for a in &self.terms {
            for b in &other.terms {
                product.add(&a.monomial.times(&b.monomial), &a.coefficient.times(&b.coefficient));
            }
        }
        product
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Test = Polynomial<Product<char>, i128>;

    fn x(name: char) -> Test {
        Test::term(Product::of(name), 1)
    }

    #[test]
    fn equal_terms_are_joined_and_zeros_dropped() {
        let sum = x('a').plus(&x('b'), &2).plus(&x('a'), &3);
        assert_eq!(sum.coefficient(&Product::of('a')), 4);
        assert_eq!(sum.terms().len(), 2);
        assert!(sum.plus(&sum, &-1).is_zero());
        assert!(Test::constant(0).is_zero());
    }

    #[test]
    fn products_are_expanded_and_short_ones_come_first() {
        let sum = x('b').plus(&Test::constant(1), &1);
        let square = sum.times(&sum).plus(&x('c'), &1);
        let factors: Vec<_> = square.terms().iter().map(|term| term.monomial.factors().to_vec()).collect();
        assert_eq!(factors, [vec![], vec!['b'], vec!['c'], vec!['b', 'b']]);
        assert_eq!(square.coefficient(&Product::of('b')), 2);
        assert_eq!((square.constant_part(), square.as_constant()), (1, None));
    }

    #[test]
    fn linear_sums_have_one_unknown_a_term() {
        let sum: Polynomial<Option<u32>, i128> = Polynomial::term(Some(7), 4).plus(&Polynomial::constant(9), &2);
        assert_eq!((sum.coefficient(&Some(7)), sum.constant_part()), (4, 18));
        assert_eq!(sum.symbolic().count(), 1);
    }
}
