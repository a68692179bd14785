//! How long isl may take for the nests of a file.
//!
//! A budget of operations bounds what isl does, but not the time of an operation; so there is a limit of time as well. It is generous, as a nest should
//! not become another one on a slow or busy machine, and only a few nests of a file may use it up. What stands in for a schedule has a longer one, so
//! that no nest stays sequential for its time.

use std::cell::Cell;
use std::time::Duration;

/// The time of a processor that isl may take for a nest.
pub struct Limits<'p> {
    patience: &'p Patience,
    /// For a schedule that isl finds, hundreds of times what most take: lines and what is written stand in for it.
    pub schedule: Duration,
    /// For what stands in.
    pub simple: Duration,
    /// For mapping it in a way that another one stands in for.
    pub way: Duration,
}

impl Limits<'_> {
    /// The nest took so many seconds.
    pub fn spend(&self, seconds: f64) {
        let Patience(left) = self.patience;
        left.set(left.get() - (seconds - FREE).max(0.0));
    }
}

/// The limits of [`Limits::schedule`] and [`Limits::way`].
const USUAL: [Duration; 2] = [Duration::from_millis(600), Duration::from_secs(1)];
/// The same where too much was spent.
const LEAST: [Duration; 2] = [Duration::from_millis(250), Duration::from_millis(500)];
/// That of [`Limits::simple`].
const SIMPLE: Duration = Duration::from_secs(4);

/// What a nest may take without using up anything, in seconds.
const FREE: f64 = 0.2;
/// What the nests of a file may take beyond that, in seconds.
const ALL: f64 = 2.0;

/// What is left for the nests of a file.
pub struct Patience(Cell<f64>);

impl Default for Patience {
    fn default() -> Self {
        Self(Cell::new(ALL))
    }
}

impl Patience {
    /// What the next nest may take.
    pub fn limits(&self) -> Limits<'_> {
        let [schedule, way] = if self.0.get() <= 0.0 { LEAST } else { USUAL };
        Limits { patience: self, schedule, simple: SIMPLE, way }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_nests_use_up_nothing() {
        let patience = Patience::default();
        (0..1000).for_each(|_| patience.limits().spend(FREE));
        assert_eq!(patience.limits().schedule, USUAL[0]);
    }

    #[test]
    fn few_nests_may_be_expensive() {
        let patience = Patience::default();
        patience.limits().spend(ALL);
        assert_eq!(patience.limits().schedule, USUAL[0]);
        patience.limits().spend(2.0 * FREE);
        assert_eq!(patience.limits().schedule, LEAST[0]);
    }
}
