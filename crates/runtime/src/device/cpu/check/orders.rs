//! What streams, events and waits of the host order (`REGRAIN_CHECK_RACES=streams`).
//!
//! A checked program does what streams are asked for at once. Whether a program promises that order is told by clocks: each stream counts its
//! work, and keeps of each other stream how much of its work comes before. Events keep what a stream had when they were recorded; the
//! host keeps what it has waited for, and all work that it asks for then comes behind that. Legacy streams wait for those that block, and those for them.
//! One clock is the host's, whatever its threads are; what is not understood orders everything.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::device::cpu::checks::Order;
use crate::device::cpu::streams::Stream;

/// How much of each stream's work comes before; streams by their numbers here.
type Clock = Vec<u32>;

fn join(to: &mut Clock, from: &[u32]) {
    if to.len() < from.len() {
        to.resize(from.len(), 0);
    }
    to.iter_mut().zip(from).for_each(|(to, from)| *to = (*to).max(*from));
}

struct Known {
    is_legacy: bool,
    is_blocking: bool,
    clock: Clock,
}

/// A piece of work: its stream, and which it was there.
#[derive(Clone, Copy, Default)]
struct Work {
    stream: usize,
    count: u32,
}

/// One grid, or one copy.
#[derive(Clone)]
struct Run {
    work: u32,
    /// Something in it tells others what it did, perhaps those of another stream.
    releases: bool,
}

#[derive(Default)]
struct Orders {
    numbers: HashMap<usize, usize>,
    streams: Vec<Known>,
    host: Clock,
    events: HashMap<usize, Clock>,
    works: Vec<Work>,
    runs: Vec<Run>,
}

fn orders() -> MutexGuard<'static, Orders> {
    static ORDERS: OnceLock<Mutex<Orders>> = OnceLock::new();
    ORDERS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

thread_local! {
    /// The work that this thread of the host does, and how deep in it it is: that of a graph is its launch's.
    static WORK: Cell<(u32, u32)> = const { Cell::new((0, 0)) };
}

impl Orders {
    fn number(&mut self, stream: &Stream) -> usize {
        let count = self.streams.len();
        let number = *self.numbers.entry(stream.handle).or_insert(count);
        if number == count {
            let (is_legacy, is_blocking) = (stream.is_legacy(), stream.is_blocking());
            self.streams.push(Known { is_legacy, is_blocking, clock: Vec::new() });
        }
        number
    }

    /// All that comes before what a stream is asked for next.
    fn before(&mut self, stream: &Stream) -> Clock {
        let number = self.number(stream);
        let mut clock = std::mem::take(&mut self.streams[number].clock);
        join(&mut clock, &self.host);
        for other in self.streams.iter().filter(|_| stream.is_blocking()) {
            if other.is_blocking && other.is_legacy != stream.is_legacy() {
                join(&mut clock, &other.clock);
            }
        }
        self.streams[number].clock.clone_from(&clock);
        clock
    }

    fn wait_for_all(&mut self) {
        let Self { streams, host, .. } = self;
        streams.iter().for_each(|stream| join(host, &stream.clock));
    }

    fn begin(&mut self, stream: &Stream) -> u32 {
        if self.works.is_empty() {
            self.works.push(Work::default());
        }
        let number = self.number(stream);
        let mut clock = self.before(stream);
        if clock.len() <= number {
            clock.resize(number + 1, 0);
        }
        clock[number] += 1;
        let count = clock[number];
        self.streams[number].clock = clock;
        self.works.push(Work { stream: number, count });
        self.works.len() as u32 - 1
    }

    fn order(&mut self, order: Order<'_>) {
        match order {
            Order::Records(event, stream) => {
                let clock = self.before(stream);
                self.events.insert(event, clock);
            }
            Order::WaitsForEvent(stream, event) => {
                let number = self.number(stream);
                match self.events.get(&event) {
                    Some(clock) => join(&mut self.streams[number].clock, clock),
                    None => self.wait_for_all(),
                }
            }
            Order::HostWaitsForEvent(event) => match self.events.get(&event) {
                Some(clock) => join(&mut self.host, clock),
                None => self.wait_for_all(),
            },
            Order::HostWaitsFor(stream) => {
                let clock = self.before(stream);
                join(&mut self.host, &clock);
            }
            Order::HostWaitsForAll => self.wait_for_all(),
        }
    }

    fn add(&mut self, work: u32) -> (u32, Clock) {
        if self.runs.is_empty() {
            self.runs.push(Run { work: 0, releases: true });
        }
        let clock = match self.works.get(work as usize) {
            Some(known) if work != 0 => self.streams[known.stream].clock.clone(),
            _ => Vec::new(),
        };
        self.runs.push(Run { work, releases: false });
        (self.runs.len() as u32 - 1, clock)
    }

    fn is_before(&self, past: u32, work: u32, clock: &[u32], acquires: bool) -> bool {
        let Some(run) = self.runs.get(past as usize) else { return true };
        if run.work == work || run.work == 0 || work == 0 || run.releases && acquires {
            return true;
        }
        let Work { stream, count } = self.works[run.work as usize];
        clock.get(stream).is_some_and(|seen| *seen >= count)
    }
}

/// This thread begins to do what a stream is asked for.
pub fn begin(stream: &Stream) {
    let (work, depth) = WORK.get();
    WORK.set(if depth == 0 { (orders().begin(stream), 1) } else { (work, depth + 1) });
}

/// It has done it; `waits`: the host was to wait for it.
pub fn end(stream: &Stream, waits: bool) {
    let (work, depth) = WORK.get();
    WORK.set(if depth == 1 { (0, 0) } else { (work, depth.saturating_sub(1)) });
    if waits && depth == 1 {
        orders().order(Order::HostWaitsFor(stream));
    }
}

pub fn order(order: Order<'_>) {
    orders().order(order);
}

/// A grid, or a copy: what it is asked whether something comes before.
pub struct Place {
    pub run: u32,
    work: u32,
    clock: Clock,
}

/// What this thread of the host begins now, in the work that it does.
pub fn place() -> Arc<Place> {
    let (work, _) = WORK.get();
    let (run, clock) = orders().add(work);
    Arc::new(Place { run, work, clock })
}

impl Place {
    /// Whether a run that was before this one in time had to be; `acquires`: this one looks at what others say.
    pub fn is_behind(&self, past: u32, acquires: bool) -> bool {
        orders().is_before(past, self.work, &self.clock, acquires)
    }

    /// Something in it tells others what it did.
    pub fn releases(&self) {
        if let Some(run) = orders().runs.get_mut(self.run as usize) {
            run.releases = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(handle: usize, flags: u32) -> Stream {
        Stream { handle, flags, ..Stream::default() }
    }

    /// A grid in a stream: its number, work and clock.
    fn run(orders: &mut Orders, on: &Stream) -> (u32, u32, Clock) {
        let work = orders.begin(on);
        let (run, clock) = orders.add(work);
        (run, work, clock)
    }

    fn is_before(orders: &Orders, first: &(u32, u32, Clock), second: &(u32, u32, Clock)) -> bool {
        orders.is_before(first.0, second.1, &second.2, false)
    }

    #[test]
    fn streams_are_apart_until_an_event_or_the_host_orders_them() {
        let (mut orders, one, other) = (Orders::default(), stream(16, 0), stream(32, 0));
        let a = run(&mut orders, &one);
        let b = run(&mut orders, &other);
        let c = run(&mut orders, &one);
        assert!(!is_before(&orders, &a, &b) && is_before(&orders, &a, &c));
        orders.order(Order::Records(7, &one));
        orders.order(Order::WaitsForEvent(&other, 7));
        let d = run(&mut orders, &other);
        assert!(is_before(&orders, &c, &d) && !is_before(&orders, &b, &c));
        let e = run(&mut orders, &one);
        orders.order(Order::HostWaitsFor(&other));
        let third = run(&mut orders, &stream(48, 1));
        assert!(is_before(&orders, &d, &third) && !is_before(&orders, &e, &third));
        orders.order(Order::HostWaitsForAll);
        let last = run(&mut orders, &other);
        assert!(is_before(&orders, &e, &last) && is_before(&orders, &third, &last));
    }

    #[test]
    fn the_legacy_stream_orders_those_that_block() {
        let (mut orders, legacy) = (Orders::default(), stream(0, 0));
        let (blocks, apart) = (stream(16, 0), stream(32, 1));
        let (a, b) = (run(&mut orders, &blocks), run(&mut orders, &apart));
        let c = run(&mut orders, &legacy);
        let (d, e) = (run(&mut orders, &blocks), run(&mut orders, &apart));
        assert!(is_before(&orders, &a, &c) && !is_before(&orders, &b, &c));
        assert!(is_before(&orders, &c, &d) && !is_before(&orders, &c, &e));
        // An event that nobody has seen recorded may be anything.
        orders.order(Order::WaitsForEvent(&apart, 9));
        let f = run(&mut orders, &apart);
        assert!(is_before(&orders, &d, &f));
    }

    #[test]
    fn flags_may_order_grids() {
        let (mut orders, one, other) = (Orders::default(), stream(16, 0), stream(32, 0));
        let (a, b) = (run(&mut orders, &one), run(&mut orders, &other));
        orders.runs[a.0 as usize].releases = true;
        assert!(orders.is_before(a.0, b.1, &b.2, true) && !orders.is_before(a.0, b.1, &b.2, false));
    }
}
