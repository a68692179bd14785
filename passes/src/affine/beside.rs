//! What isl does in copies of this process, within a time and beside one another.

use std::io::{PipeReader, Read as _, Write as _, pipe};
use std::thread::available_parallelism;
use std::time::Duration;

use mlir_bridge::isl;
use serde::{Serialize, de::DeserializeOwned};

use crate::affine::Reason;

/// What `work` gives, if that is within `limit` of processor time; and the seconds that it took.
pub fn limited<T: Serialize + DeserializeOwned>(
    limit: Duration,
    work: impl Fn() -> Result<T, Reason>,
) -> (Result<T, Reason>, f64) {
    beside(limit, work, || ()).0
}

/// The same while `own` is done here.
pub fn beside<T: Serialize + DeserializeOwned, U>(
    limit: Duration,
    work: impl Fn() -> Result<T, Reason>,
    own: impl FnOnce() -> U,
) -> ((Result<T, Reason>, f64), U) {
    let computing = isl::begin(limit, || serde_json::to_vec(&work()).unwrap_or_default());
    let own = own();
    let (made, taken) = computing.finish();
    // Where it went wrong there it does so here, where it is told of.
    let result = made.map_or(Err(Reason::Budget), |made| serde_json::from_slice(&made).unwrap_or_else(|_| work()));
    ((result, taken), own)
}

/// More copies than this would be in the way of what else make has processors do.
const MOST_COPIES: usize = 4;

/// What `work` gives for each number below `count`, by a copy for each processor, of which each takes the next number when it is through with one.
/// None of what a copy does that takes longer than `limit`.
pub fn each<T: Serialize + DeserializeOwned>(
    limit: Duration,
    count: u16,
    work: impl Fn(u16) -> Result<T, Reason>,
) -> Vec<Option<T>> {
    let mut results: Vec<Option<T>> = (0..count).map(|_| None).collect();
    let Ok(queue) = Queue::of(count) else { return results };
    let all = || -> Vec<(u16, Option<T>)> { queue.numbers().map(|number| (number, work(number).ok())).collect() };
    let copies = available_parallelism().map_or(1, usize::from).min(MOST_COPIES).min(count.into());
    let begun: Vec<_> =
        (0..copies).map(|_| isl::begin(limit, || serde_json::to_vec(&all()).unwrap_or_default())).collect();
    let mut went_wrong = false;
    for copy in begun {
        let Some(made) = copy.finish().0 else { continue };
        match serde_json::from_slice::<Vec<(u16, Option<T>)>>(&made) {
            Ok(made) => made.into_iter().for_each(|(number, result)| results[usize::from(number)] = result),
            Err(_) => went_wrong = true,
        }
    }
    // It does so here, where it is told of.
    for (number, result) in (0..count).zip(&mut results).filter(|(_, result)| went_wrong && result.is_none()) {
        *result = work(number).ok();
    }
    results
}

/// Numbers that copies of this process share: a pipe that nobody writes to any more.
struct Queue(PipeReader);

impl Queue {
    /// The numbers below `count`, of which a pipe has room for 32768.
    fn of(count: u16) -> std::io::Result<Self> {
        let (from, mut to) = pipe()?;
        let numbers = 0..count.min(1 << 15);
        to.write_all(&numbers.flat_map(u16::to_ne_bytes).collect::<Vec<u8>>())?;
        Ok(Self(from))
    }

    /// Those that nobody has taken.
    fn numbers(&self) -> impl Iterator<Item = u16> {
        std::iter::from_fn(|| {
            let mut number = [0; 2];
            (&self.0).read_exact(&mut number).ok().map(|()| u16::from_ne_bytes(number))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(20);

    #[test]
    fn each_number_is_taken_once() {
        let results = each(LIMIT, 300, |number| Ok(2 * u32::from(number)));
        assert_eq!(results, (0..300).map(|number| Some(2 * number)).collect::<Vec<_>>());
        assert!(each(LIMIT, 0, Ok).is_empty());
    }

    #[test]
    fn what_fails_or_takes_too_long_is_not_there() {
        let results = each(LIMIT, 4, |number| if number == 2 { Err(Reason::Budget) } else { Ok(number) });
        assert_eq!(results, [Some(0), Some(1), None, Some(3)]);
        let endless = each(Duration::from_millis(10), 2, |_| -> Result<u16, Reason> {
            loop {
                std::hint::spin_loop();
            }
        });
        assert_eq!(endless, [None, None]);
    }

    #[test]
    #[should_panic(expected = "a defect")]
    fn a_panic_is_met_here() {
        each(LIMIT, 3, |number| if number == 1 { panic!("a defect") } else { Ok(number) });
    }
}
