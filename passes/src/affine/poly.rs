//! Sums of products: integers as functions of parameters and of the variables of loops.

use std::collections::BTreeMap;

/// A product of parameters, by number in ascending order, and of at most one variable of a loop.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Product {
    /// The parameters.
    pub params: Vec<usize>,
    /// The variable.
    pub variable: Option<usize>,
}

/// A sum of such products, each so many times. All arithmetic is that of integers without limits; `None` where it takes too large numbers, or
/// products of variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Poly {
    terms: BTreeMap<Product, i64>,
}

impl Poly {
    /// A number.
    pub fn constant(value: i64) -> Self {
        Self::of(Product::default(), value)
    }

    /// A parameter.
    pub fn param(number: usize) -> Self {
        Self::of(Product { params: vec![number], variable: None }, 1)
    }

    /// A variable of a loop.
    pub fn variable(number: usize) -> Self {
        Self::of(Product { params: Vec::new(), variable: Some(number) }, 1)
    }

    /// A product, so many times.
    pub fn of(product: Product, factor: i64) -> Self {
        let terms = if factor == 0 { BTreeMap::new() } else { BTreeMap::from([(product, factor)]) };
        Self { terms }
    }

    /// The products with their factors.
    pub fn terms(&self) -> impl Iterator<Item = (&Product, i64)> {
        self.terms.iter().map(|(product, factor)| (product, *factor))
    }

    /// The number, if it is one.
    pub fn as_constant(&self) -> Option<i64> {
        match self.terms.len() {
            0 => Some(0),
            1 => self.terms.get(&Product::default()).copied(),
            _ => None,
        }
    }

    /// The sum.
    pub fn plus(&self, other: &Self) -> Option<Self> {
        let mut sum = self.clone();
        for (product, factor) in &other.terms {
            let old = sum.terms.remove(product).unwrap_or(0);
            let new = old.checked_add(*factor)?;
            if new != 0 {
                sum.terms.insert(product.clone(), new);
            }
        }
        Some(sum)
    }

    /// So many times.
    pub fn times(&self, factor: i64) -> Option<Self> {
        self.multiply(&Self::constant(factor))
    }

    /// The difference.
    pub fn minus(&self, other: &Self) -> Option<Self> {
        self.plus(&other.times(-1)?)
    }

    /// The product.
    pub fn multiply(&self, other: &Self) -> Option<Self> {
        let mut made = Self::default();
        for (left, a) in &self.terms {
            for (right, b) in &other.terms {
                let variable = match (left.variable, right.variable) {
                    (Some(_), Some(_)) => return None,
                    (one, other) => one.or(other),
                };
                let mut params = [&left.params[..], &right.params[..]].concat();
                params.sort_unstable();
                made = made.plus(&Self::of(Product { params, variable }, a.checked_mul(*b)?))?;
            }
        }
        Some(made)
    }

    /// As isl has it, if it is affine; `None` where it has products of parameters, or numbers that leave no room for sums of them.
    pub fn text(&self) -> Option<String> {
        const MOST: i64 = 1 << 40;
        let mut text = String::new();
        for (product, factor) in &self.terms {
            let name = match (&product.params[..], product.variable) {
                ([], None) => String::new(),
                ([param], None) => param_name(*param),
                ([], Some(variable)) => variable_name(variable),
                _ => return None,
            };
            if factor.checked_abs().is_none_or(|size| size > MOST) {
                return None;
            }
            let sign = if *factor < 0 { " - " } else { " + " };
            let size = factor.abs();
            text += sign;
            match (name.is_empty(), size) {
                (true, _) => text += &size.to_string(),
                (false, 1) => text += &name,
                (false, _) => text += &format!("{size}*{name}"),
            }
        }
        Some(match text.strip_prefix(" + ") {
            Some(rest) => rest.to_owned(),
            None if text.is_empty() => "0".into(),
            None => text.trim_start().to_owned(),
        })
    }
}

/// What a parameter is called.
pub fn param_name(number: usize) -> String {
    format!("n{number}")
}

/// What a variable of a loop is called.
pub fn variable_name(number: usize) -> String {
    format!("i{number}")
}

#[cfg(test)]
mod tests {
    use super::Poly;

    #[test]
    fn sums_and_products_are_collected() {
        let (n, i) = (Poly::param(0), Poly::variable(0));
        let row = i.plus(&Poly::constant(1)).and_then(|row| row.multiply(&n)).expect("a product");
        assert_eq!(row.text(), None);
        assert_eq!(row.terms().count(), 2);
        assert_eq!(i.multiply(&i), None);
        let sum = i.times(3).and_then(|sum| sum.minus(&n)).and_then(|sum| sum.plus(&Poly::constant(-2)));
        assert_eq!(sum.and_then(|sum| sum.text()).as_deref(), Some("- 2 + 3*i0 - n0"));
        assert_eq!(n.minus(&n).map(|none| none.text()), Some(Some("0".into())));
    }

    #[test]
    fn large_numbers_are_not_affine() {
        assert_eq!(Poly::constant(i64::MIN).text(), None);
        assert_eq!(Poly::constant(i64::MAX).plus(&Poly::constant(1)), None);
    }
}
