//! What streams have been asked to do and have not done, and what of it may be done now.
//!
//! Everything has a number, in the order that it was asked for. A stream does one thing after the other. What is first in the legacy default
//! stream waits until all other streams that block are past its number, and what is first in one of those until the legacy stream is; further
//! it may wait for an event. Streams that do not block wait for nothing else.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::kept::Kept;
use super::streams::Stream;
use super::trace::Event;

struct Entry {
    number: u64,
    /// None while somebody does it.
    kept: Option<(Kept, Option<Event>)>,
}

/// What one stream has to do: never nothing.
struct Queue {
    stream: Arc<Stream>,
    entries: VecDeque<Entry>,
}

impl Queue {
    fn first(&self) -> u64 {
        self.entries.front().map_or(u64::MAX, |entry| entry.number)
    }
}

/// Something that is taken, to be done at once.
pub struct Taken {
    pub stream: Arc<Stream>,
    pub kept: Kept,
    pub says: Option<Event>,
}

#[derive(Default)]
pub struct Queues {
    queues: Vec<Queue>,
    next: u64,
}

impl Queues {
    /// The number of what is asked for next.
    pub fn next(&self) -> u64 {
        self.next
    }

    pub fn push(&mut self, stream: &Arc<Stream>, kept: Kept, says: Option<Event>) {
        let entry = Entry { number: self.next, kept: Some((kept, says)) };
        self.next += 1;
        stream.queued.fetch_add(1, Ordering::SeqCst);
        match self.queues.iter_mut().find(|queue| Arc::ptr_eq(&queue.stream, stream)) {
            Some(queue) => queue.entries.push_back(entry),
            None => self.queues.push(Queue { stream: stream.clone(), entries: VecDeque::from([entry]) }),
        }
    }

    /// Whether all streams that `which` names are past `number`.
    pub fn are_past(&self, number: u64, which: impl Fn(&Stream) -> bool) -> bool {
        self.queues.iter().all(|queue| queue.first() >= number || !which(&queue.stream))
    }

    /// Whether everything before `number` is done that work of `stream` waits for.
    pub fn is_past(&self, stream: &Stream, number: u64) -> bool {
        self.are_past(number, |other| other.is_waited_for_by(stream))
    }

    fn is_ready(&self, queue: &Queue) -> bool {
        let Some(Entry { number, kept: Some((kept, _)) }) = queue.entries.front() else { return false };
        let others =
            |other: &Stream| !std::ptr::eq(other, &raw const *queue.stream) && other.is_waited_for_by(&queue.stream);
        kept.is_ready() && !queue.stream.busy.load(Ordering::SeqCst) && self.are_past(*number, others)
    }

    /// What may be done now in a stream of those that `which` names: of the highest priority, and then what was asked for first.
    fn ready(&self, which: impl Fn(&Stream) -> bool) -> Option<usize> {
        let ready = |at: &usize| which(&self.queues[*at].stream) && self.is_ready(&self.queues[*at]);
        (0..self.queues.len())
            .filter(ready)
            .min_by_key(|at| (self.queues[*at].stream.priority, self.queues[*at].first()))
    }

    pub fn has_ready(&self) -> bool {
        self.ready(|_| true).is_some()
    }

    /// Takes something that may be done now; its stream is busy from then on.
    pub fn take(&mut self, which: impl Fn(&Stream) -> bool) -> Option<Taken> {
        let queue = self.ready(which).map(|at| &mut self.queues[at])?;
        // Whoever works at a stream without a queue does not ask here.
        if queue.stream.busy.swap(true, Ordering::SeqCst) {
            return None;
        }
        let (kept, says) = queue.entries.front_mut()?.kept.take()?;
        Some(Taken { stream: queue.stream.clone(), kept, says })
    }

    /// What was taken of a stream is done.
    pub fn finish(&mut self, stream: &Arc<Stream>) {
        let Some(at) = self.queues.iter().position(|queue| Arc::ptr_eq(&queue.stream, stream)) else { return };
        self.queues[at].entries.pop_front();
        if self.queues[at].entries.is_empty() {
            self.queues.swap_remove(at);
        }
        stream.queued.fetch_sub(1, Ordering::SeqCst);
        stream.busy.store(false, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::cpu::events::Point;
    use crate::device::cpu::graphs::work::Work;

    fn stream(handle: usize, flags: u32, priority: i32) -> Arc<Stream> {
        Arc::new(Stream { handle, flags, priority, ..Stream::default() })
    }

    fn push(queues: &mut Queues, stream: &Arc<Stream>) {
        queues.push(stream, Kept::Work(Work::Nothing), None);
    }

    /// The handle of the stream that is worked at next.
    fn take(queues: &mut Queues) -> Option<usize> {
        queues.take(|_| true).map(|taken| taken.stream.handle)
    }

    #[test]
    fn a_stream_does_one_thing_after_the_other() {
        let (mut queues, one, other) = (Queues::default(), stream(16, 0, 0), stream(32, 0, 0));
        [&one, &one, &other].into_iter().for_each(|stream| push(&mut queues, stream));
        assert_eq!([take(&mut queues), take(&mut queues), take(&mut queues)], [Some(16), Some(32), None]);
        assert!(!queues.is_past(&one, 1) && queues.is_past(&one, 0));
        queues.finish(&one);
        assert!(queues.is_past(&one, 1) && !queues.is_past(&one, queues.next()));
        assert_eq!(take(&mut queues), Some(16));
        queues.finish(&one);
        queues.finish(&other);
        assert!(queues.are_past(u64::MAX, |_| true) && take(&mut queues).is_none());
    }

    #[test]
    fn the_legacy_stream_waits_for_those_that_block_and_they_for_it() {
        let (mut queues, legacy) = (Queues::default(), stream(0, 0, 0));
        let (blocks, apart) = (stream(16, 0, 0), stream(32, 1, 0));
        [&blocks, &legacy, &blocks, &apart].into_iter().for_each(|stream| push(&mut queues, stream));
        assert_eq!([take(&mut queues), take(&mut queues), take(&mut queues)], [Some(16), Some(32), None]);
        queues.finish(&blocks);
        // The second of the stream that blocks comes behind the legacy one.
        assert_eq!([take(&mut queues), take(&mut queues)], [Some(0), None]);
        queues.finish(&legacy);
        assert_eq!(take(&mut queues), Some(16));
    }

    #[test]
    fn an_event_of_another_stream_is_waited_for() {
        let (mut queues, one, other) = (Queues::default(), stream(16, 1, 0), stream(32, 1, 0));
        let point = Arc::new(Point::new(one.clone()));
        queues.push(&other, Kept::Wait(point.clone()), None);
        push(&mut queues, &one);
        assert_eq!([take(&mut queues), take(&mut queues)], [Some(16), None]);
        point.reach();
        assert_eq!(take(&mut queues), Some(32));
    }

    #[test]
    fn a_higher_priority_goes_first_and_a_busy_stream_not_at_all() {
        let (mut queues, low, high) = (Queues::default(), stream(16, 0, 0), stream(32, 0, -3));
        [&low, &high].into_iter().for_each(|stream| push(&mut queues, stream));
        high.busy.store(true, Ordering::SeqCst);
        assert_eq!(take(&mut queues), Some(16));
        high.busy.store(false, Ordering::SeqCst);
        push(&mut queues, &low);
        assert_eq!(take(&mut queues), Some(32));
    }
}
