//! The launching thread's part in a grid: which blocks it takes, and when it calls others.

use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::calling::{Credit, Delays, LONGEST_LOOK, glance, nanoseconds};
use super::gate::Gate;
use super::job::Job;
use super::kernel::Kernel;
use super::pace::Price;
use super::parts::Parts;

/// Of how many parts the launching thread runs one before it looks whether the guess of its time was right.
pub const PARTS: u64 = 4;

/// What is known of a grid before its first block.
#[derive(Clone, Copy, Default)]
pub struct Forecast {
    /// What it is to take one thread by launches before, in nanoseconds.
    guess: Option<u64>,
    /// The same where blocks do not wait for one another; those that do are to run side by side.
    time: Option<u64>,
    /// Nobody is called at once, as that did not pay.
    pauses: bool,
    /// It takes so little, and as much as those before, that the launching thread runs it alone.
    pub is_sure: bool,
}

thread_local! {
    /// Whether the next launch is known to take long.
    static IS_LONG: Cell<bool> = const { Cell::new(false) };
}

/// Generated code calls this before a launch of few blocks that it knows to take long: others are called before its first block, as then it would be late, whatever
/// launches before took.
#[unsafe(no_mangle)]
extern "C" fn __regrain_launch_is_long() {
    IS_LONG.set(true);
}

impl Forecast {
    pub fn new(job: &Job, delays: &Delays) -> Self {
        if IS_LONG.take() {
            return Self::default();
        }
        let kernel = job.kernel;
        let guess = kernel.pace.of(job.total, job.threads());
        let Some(time) = guess.filter(|_| !kernel.waits.load(Ordering::Relaxed)) else {
            return Self { guess, ..Self::default() };
        };
        // One thread's own time says whether others help.
        let pauses = kernel.help.pauses_next() || !kernel.pace.is_own();
        let is_small = !delays.pays(time, true) && (pauses || !delays.pays(time, false));
        Self { guess, time: Some(time), pauses, is_sure: is_small && kernel.pace.is_steady() }
    }
}

/// How the launching thread sees that a grid takes longer than foreseen.
pub enum Watch {
    /// By a clock that costs little and goes on every few milliseconds.
    Glance((i64, i64)),
    /// By one that costs as much as a launch, for the sake of launches to come.
    Time(Instant),
}

impl Watch {
    /// Before the first block.
    pub fn new(kernel: &Kernel) -> Self {
        if kernel.pace.times_next() { Self::Time(Instant::now()) } else { Self::Glance(glance()) }
    }

    /// After the first `taken` blocks: whether the others are worth a call.
    pub fn is_late(&self, job: &Job, taken: u64, delays: &Delays) -> bool {
        match self {
            Self::Glance(start) => glance() != *start,
            Self::Time(start) => {
                let time = nanoseconds(start.elapsed());
                job.kernel.pace.learn(time, taken, job.threads());
                delays.pays(time / taken.max(1) * (job.total - taken), true)
            }
        }
    }
}

/// The OS threads of the pool besides the launching one.
#[derive(Clone, Copy)]
pub struct Others<'a> {
    pub gate: &'a Gate,
    pub delays: &'a Delays,
    pub count: u32,
    /// Where blocks are divided among all.
    pub parts: &'static Parts,
}

/// The launching thread at work at a grid that others may be called to.
pub struct Lead<'a> {
    job: &'a Job,
    others: Others<'a>,
    /// When the first block began.
    start: Option<Instant>,
    /// What the grid was to take by launches before, in nanoseconds.
    guess: Option<u64>,
    /// Blocks that this thread took.
    taken: u64,
    called: bool,
    /// Nobody is called, as that did not pay.
    alone: bool,
    /// Others were called for the sake of the launches behind this one, or behind its first part: what they gain here says nothing of a call at once.
    says_nothing: bool,
}

impl<'a> Lead<'a> {
    /// Before the first block; calls others at once unless launches before say that it does not pay.
    pub fn new(job: &'a Job, others: Others<'a>, credit: &mut Credit, forecast: Forecast) -> Self {
        let mut lead = Self { guess: forecast.guess, ..Self::idle(job, others) };
        let Some(time) = forecast.time else {
            lead.call(u64::MAX);
            return lead;
        };
        let delays = others.delays;
        lead.alone = forecast.pauses && lead.is_small(time);
        if !forecast.pauses && delays.pays(time, lead.all_asleep()) {
            lead.call(time);
        } else if !forecast.pauses && lead.nobody_comes() && credit.worth(delays, time) {
            lead.call(time);
            lead.says_nothing = true;
            job.kernel.help.wakes();
        }
        lead
    }

    /// At a grid that takes longer than foreseen: calls others.
    pub fn late(job: &'a Job, others: Others<'a>) -> Self {
        let mut lead = Self::idle(job, others);
        lead.call(u64::MAX);
        lead
    }

    fn idle(job: &'a Job, others: Others<'a>) -> Self {
        Self { job, others, start: None, guess: None, taken: 0, called: false, alone: false, says_nothing: false }
    }

    fn all_asleep(&self) -> bool {
        self.others.gate.asleep() >= self.others.count
    }

    fn nobody_comes(&self) -> bool {
        self.all_asleep() && !self.others.gate.is_somebody_coming()
    }

    /// Whether work of so many nanoseconds is not enough to wake somebody for.
    fn is_small(&self, time: u64) -> bool {
        !self.others.delays.pays(time, true)
    }

    /// Lets others in, for work of so many nanoseconds: as many as have enough of it.
    fn call(&mut self, time: u64) {
        self.called = true;
        let tasks = self.job.total.div_ceil(self.job.chunk);
        let enough = (time / self.others.delays.asleep().max(1)).min(tasks);
        let wake = enough.saturating_sub(1).clamp(1, u64::from(self.others.count));
        self.job.divide(self.others.parts);
        let now = *self.job.called.get_or_init(Instant::now);
        if self.others.gate.open(self.job, wake as u32) {
            self.others.delays.learn_waking(now.elapsed());
        }
    }

    /// Blocks that say how long the grid takes alone, where it was to take so many nanoseconds: of a large one as many as take
    /// as long as a call.
    fn first_part(&self, time: u64) -> u64 {
        let part = self.job.total / PARTS;
        let much = self.job.total.saturating_mul(self.others.delays.asleep()) / time.max(1);
        if self.is_small(time) { part.max(1) } else { much.clamp(1, part.max(1)) }
    }

    /// The next blocks for this thread.
    pub fn next(&mut self) -> Option<Range<u64>> {
        let start = *self.start.get_or_insert_with(Instant::now);
        if !self.called && self.taken != 0 && self.taken < self.job.total {
            self.judge(start);
        }
        let blocks = match self.guess {
            _ if self.called => self.job.next_chunk(0),
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
        if self.others.delays.pays(rest, self.all_asleep()) && !(self.alone && self.is_small(rest)) {
            self.call(rest);
            self.says_nothing = true;
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
        self.others.gate.shut(LONGEST_LOOK);
        if let (Some(guess), Some(called), false) = (self.guess, job.called.get(), self.says_nothing) {
            // A gain that waking somebody would eat up must be a clear one.
            let least = if self.is_small(guess) { guess / 4 * 3 } else { guess };
            let paid = nanoseconds(start.min(*called).elapsed()) < least;
            job.kernel.help.learn(paid, Price { call: self.others.delays.asleep(), time: guess });
        }
    }
}
