//! MLIR's own transformations of one operation, and its sets of integers.

use crate::{ffi, ir::Op};

/// Merges equal computations in an operation (`cse`); whether something changed. Handles to merged operations are dead.
pub fn eliminate_common_subexpressions(op: Op<'_>) -> bool {
    // SAFETY: the operation is live.
    unsafe { ffi::regrainEliminateCommonSubexpressions(op.raw) }
}

/// Moves what computes the same in every round before a loop, where it cannot fault; gives the number of operations.
pub fn move_loop_invariant_code(nest: Op<'_>) -> usize {
    // SAFETY: the operation is live; what is no loop is left alone.
    unsafe { ffi::regrainMoveLoopInvariantCode(nest.raw) }
}

/// A set of integer points: those for which all inequalities hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Polyhedron {
    variables: usize,
    /// The coefficients of the variables and a constant, one row after the other.
    rows: Vec<i64>,
}

impl Polyhedron {
    /// All points of so many variables.
    pub fn new(variables: usize) -> Self {
        Self { variables, rows: Vec::new() }
    }

    /// Only the points where the sum of `coefficients` times the variables plus `constant` is not negative.
    #[must_use]
    pub fn with(mut self, coefficients: &[i64], constant: i64) -> Self {
        assert_eq!(coefficients.len(), self.variables, "coefficients of an inequality");
        self.rows.extend_from_slice(coefficients);
        self.rows.push(constant);
        self
    }

    /// Whether no integer point is left.
    pub fn is_empty(&self) -> bool {
        let width = self.variables + 1;
        // SAFETY: the rows hold whole inequalities, which are read during the call.
        unsafe { ffi::regrainIsIntegerEmpty(self.variables, self.rows.as_ptr(), self.rows.len() / width) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parity_leaves_no_point() {
        // 0 <= 4x + 6y - 1 <= 0 has rational points and no integer one.
        let odd = Polyhedron::new(2).with(&[4, 6], -1).with(&[-4, -6], 1);
        assert!(odd.is_empty());
        let even = Polyhedron::new(2).with(&[4, 6], -2).with(&[-4, -6], 2);
        assert!(!even.is_empty());
    }
}
