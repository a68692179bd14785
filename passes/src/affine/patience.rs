//! How long isl may take for the nests of a file.
//!
//! A budget of operations bounds what isl does, but not the time of an operation; so there is a limit of time as well. It is generous, as a nest should
//! not be left on a slow or busy machine that is not on others, and only a few nests of a file may use it up.

use std::cell::Cell;

/// Seconds of a processor that isl may take for a nest.
pub struct Limits {
    /// For its dependences and its schedule, thousands of times what most take.
    pub schedule: u64,
    /// For mapping it in a way that another one stands in for.
    pub way: u64,
    /// For the last way, which decides whether anything becomes of it.
    pub last: u64,
}

const GENEROUS: Limits = Limits { schedule: 8, way: 2, last: 4 };
const SPENT: Limits = Limits { schedule: 1, way: 1, last: 1 };

/// What a nest may take without using up anything, in seconds.
const USUAL: f64 = 0.5;
/// What the nests of a file may take beyond that, in seconds.
const ALL: f64 = 8.0;

/// What is left for the nests of a file.
pub struct Patience(Cell<f64>);

impl Default for Patience {
    fn default() -> Self {
        Self(Cell::new(ALL))
    }
}

impl Patience {
    /// What the next nest may take.
    pub fn limits(&self) -> Limits {
        if self.0.get() > 0.0 { GENEROUS } else { SPENT }
    }

    /// A nest took so many seconds.
    pub fn spend(&self, seconds: f64) {
        self.0.set(self.0.get() - (seconds - USUAL).max(0.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_nests_use_up_nothing() {
        let patience = Patience::default();
        (0..1000).for_each(|_| patience.spend(USUAL));
        assert_eq!(patience.limits().schedule, GENEROUS.schedule);
    }

    #[test]
    fn few_nests_may_be_expensive() {
        let patience = Patience::default();
        patience.spend(ALL);
        assert_eq!(patience.limits().schedule, GENEROUS.schedule);
        patience.spend(2.0 * USUAL);
        assert_eq!(patience.limits().schedule, SPENT.schedule);
    }
}
