//! The launching thread's part in a grid: which blocks it takes, and when it calls others.

use std::ops::Range;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::calling::{Credit, Delays, LONGEST_LOOK, nanoseconds};
use super::gate::Gate;
use super::job::Job;

/// Of how many parts the launching thread runs one before it looks whether the guess of its time was right.
pub const PARTS: u64 = 4;

/// Whether a grid is one that the launching thread runs alone without a look at the time, which would cost as much as its launch: those before
/// took little, and about the same, and help gains nothing.
pub fn is_foreseen(job: &Job, delays: &Delays) -> bool {
    let kernel = job.kernel;
    let Some(time) = kernel.pace.of(job.total, job.threads()) else { return false };
    let is_small = !delays.pays(time, true) && !kernel.waits.load(Ordering::Relaxed);
    is_small && kernel.pace.is_steady() && (!delays.pays(time, false) || kernel.help.is_off())
}

/// The launching thread at work at a grid that others may be called to.
pub struct Lead<'a> {
    job: &'a Job,
    gate: &'a Gate,
    delays: &'a Delays,
    /// OS threads of the pool besides this one.
    others: u32,
    /// When the first block began.
    start: Option<Instant>,
    /// What the grid was to take by launches before, in nanoseconds.
    guess: Option<u64>,
    /// Blocks that this thread took.
    taken: u64,
    called: bool,
    /// Nobody is called, as that did not pay.
    alone: bool,
}

impl<'a> Lead<'a> {
    /// Before the first block; calls others at once unless launches before say that it does not pay.
    pub fn new(job: &'a Job, gate: &'a Gate, delays: &'a Delays, credit: &mut Credit, others: u32) -> Self {
        let guess = job.kernel.pace.of(job.total, job.threads());
        let mut lead = Self { guess, ..Self::idle(job, gate, delays, others) };
        match guess {
            // Blocks that wait for one another are to run side by side.
            Some(time) if !job.kernel.waits.load(Ordering::Relaxed) => {
                let is_off = job.kernel.help.is_off();
                lead.alone = is_off && lead.is_small(time);
                let mut wakes = || lead.all_asleep() && credit.worth(delays, time);
                if !is_off && (delays.pays(time, lead.all_asleep()) || wakes()) {
                    lead.call(time);
                }
            }
            _ => lead.call(u64::MAX),
        }
        lead
    }

    /// At a grid that takes longer than foreseen: calls others.
    pub fn late(job: &'a Job, gate: &'a Gate, delays: &'a Delays, others: u32) -> Self {
        let mut lead = Self::idle(job, gate, delays, others);
        lead.call(u64::MAX);
        lead
    }

    fn idle(job: &'a Job, gate: &'a Gate, delays: &'a Delays, others: u32) -> Self {
        Self { job, gate, delays, others, start: None, guess: None, taken: 0, called: false, alone: false }
    }

    fn all_asleep(&self) -> bool {
        self.gate.asleep() >= self.others
    }

    /// Whether work of so many nanoseconds is not enough to wake somebody for.
    fn is_small(&self, time: u64) -> bool {
        !self.delays.pays(time, true)
    }

    /// Lets others in, for work of so many nanoseconds: as many as have enough of it.
    fn call(&mut self, time: u64) {
        self.called = true;
        let tasks = self.job.total.div_ceil(self.job.chunk);
        let enough = (time / self.delays.asleep().max(1)).min(tasks);
        let wake = enough.saturating_sub(1).clamp(1, u64::from(self.others));
        let now = *self.job.called.get_or_init(Instant::now);
        if self.gate.open(self.job, wake as u32) {
            self.delays.learn_waking(now.elapsed());
        }
    }

    /// Blocks that say how long the grid takes alone, where it was to take so many nanoseconds: of a large one as many as take
    /// as long as a call.
    fn first_part(&self, time: u64) -> u64 {
        let part = self.job.total / PARTS;
        let much = self.job.total.saturating_mul(self.delays.asleep()) / time.max(1);
        if self.is_small(time) { part.max(1) } else { much.clamp(1, part.max(1)) }
    }

    /// The next blocks for this thread.
    pub fn next(&mut self) -> Option<Range<u64>> {
        let start = *self.start.get_or_insert_with(Instant::now);
        if !self.called && self.taken != 0 && self.taken < self.job.total {
            self.judge(start);
        }
        let blocks = match self.guess {
            _ if self.called => self.job.next_chunk(),
            Some(time) if self.taken == 0 => self.job.take_alone(self.job.whole(self.first_part(time))),
            Some(_) => self.job.take_alone(self.job.total),
            None => self.job.take_alone(self.job.whole(self.taken.max(1))),
        }?;
        self.taken += blocks.end - blocks.start;
        Some(blocks)
    }

    /// Looks how long the blocks took that this thread has run, and what that says of the rest.
    fn judge(&mut self, start: Instant) {
        let (time, total) = (nanoseconds(start.elapsed()), self.job.total);
        self.job.kernel.pace.learn(time, self.taken, self.job.threads());
        let all = (time / self.taken.max(1)).saturating_mul(total);
        let rest = all / total.max(1) * (total - self.taken);
        if self.delays.pays(rest, self.all_asleep()) && !(self.alone && self.is_small(rest)) {
            self.call(rest);
        } else if self.guess.is_some_and(|guess| all / 2 > guess) {
            // Far from the guess: parts of twice the size, one after the other, until it is clear.
            self.guess = None;
        }
    }

    /// After the last block: waits for those who were called.
    pub fn finish(self) {
        if !self.called {
            return;
        }
        let (job, start) = (self.job, self.start.unwrap_or_else(Instant::now));
        if self.taken != 0 {
            job.kernel.pace.learn_beside(nanoseconds(start.elapsed()), self.taken, job.threads());
        }
        self.gate.shut(LONGEST_LOOK);
        if let (Some(guess), Some(called)) = (self.guess, job.called.get()) {
            // A gain that waking somebody would eat up must be a clear one.
            let least = if self.is_small(guess) { guess / 4 * 3 } else { guess };
            job.kernel.help.learn(nanoseconds(start.min(*called).elapsed()) < least);
        }
    }
}
