//! How long isl may take for the nests of a file.
//!
//! A budget of operations bounds what isl does, but not the time of an operation; so there is a limit of time as well. It is generous, as a nest should
//! not be left on a slow or busy machine that is not on others, and only a few nests of a file may use it up.

use std::cell::Cell;
use std::time::Duration;

/// The time of a processor that isl may take for a nest.
pub struct Limits<'p> {
    patience: &'p Patience,
    /// For its dependences and its schedule, thousands of times what most take.
    pub schedule: Duration,
    /// For mapping it in a way that another one stands in for.
    pub way: Duration,
}

impl Limits<'_> {
    /// The nest took so many seconds.
    pub fn spend(&self, seconds: f64) {
        let Patience(left) = self.patience;
        left.set(left.get() - (seconds - USUAL).max(0.0));
    }
}

/// For a nest of which nothing becomes otherwise.
const ALONE: Duration = Duration::from_secs(4);
/// Where something else stands in: its parts, or a simpler way.
const FIRST: Duration = Duration::from_secs(1);
/// Where too much was spent.
const LEAST: Duration = Duration::from_millis(500);

/// What a nest may take without using up anything, in seconds.
const USUAL: f64 = 0.2;
/// What the nests of a file may take beyond that, in seconds.
const ALL: f64 = 4.0;

/// What is left for the nests of a file.
pub struct Patience(Cell<f64>);

impl Default for Patience {
    fn default() -> Self {
        Self(Cell::new(ALL))
    }
}

impl Patience {
    /// What the next nest may take; of a row of nests each is tried alone afterwards.
    pub fn limits(&self, is_row: bool) -> Limits<'_> {
        let is_spent = self.0.get() <= 0.0;
        let of = |usual| if is_spent { LEAST } else { usual };
        Limits { patience: self, schedule: of(if is_row { FIRST } else { ALONE }), way: of(FIRST) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_nests_use_up_nothing() {
        let patience = Patience::default();
        (0..1000).for_each(|_| patience.limits(true).spend(USUAL));
        assert_eq!([true, false].map(|is_row| patience.limits(is_row).schedule), [FIRST, ALONE]);
    }

    #[test]
    fn few_nests_may_be_expensive() {
        let patience = Patience::default();
        patience.limits(false).spend(ALL);
        assert_eq!(patience.limits(false).schedule, ALONE);
        patience.limits(false).spend(3.0 * USUAL);
        assert_eq!(patience.limits(false).schedule, LEAST);
    }
}
