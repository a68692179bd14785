//! Streams that record what they are asked to do as nodes of a graph (CUDA C++ Programming Guide, *Creating a Graph Using Stream Capture*).
//!
//! A capture begins on one stream and takes others in that wait for its events. What cannot be recorded is refused with CUDA's code, and
//! the capture is invalid from then on, so that it cannot end in a graph that lacks something.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::ThreadId;

use super::graph::{Graph, Name, registry};
use super::work::Work;
use crate::device::cpu::{events, streams};
use crate::device::seam::{Capture, Stream};
use crate::error::{CudaError, Result, check};

/// Values of `cudaStreamCaptureMode`.
const GLOBAL: u32 = 0;
const RELAXED: u32 = 2;
/// Values of `cudaStreamCaptureStatus`.
const ACTIVE: u32 = 1;
const INVALIDATED: u32 = 2;
/// `cudaStreamNonBlocking`
const NON_BLOCKING: u32 = 1;

struct Recording {
    id: u64,
    origin: usize,
    thread: ThreadId,
    mode: u32,
    graph: Graph,
    /// The name that the graph has, or will have.
    name: Name,
    /// The nodes that were there before; none where the graph is a new one.
    known: Option<HashSet<Name>>,
    is_valid: bool,
    /// What the next node of each of its streams depends on.
    last: HashMap<usize, Vec<Name>>,
    /// What is to be waited for by who waits for an event.
    events: HashMap<usize, Vec<Name>>,
}

thread_local! {
    /// What `cudaThreadExchangeStreamCaptureMode` sets.
    static MODE: Cell<u32> = const { Cell::new(GLOBAL) };
}

impl Recording {
    /// Whether what this thread does on the legacy stream would spoil it.
    fn forbids_the_rest(&self) -> bool {
        self.mode == GLOBAL || self.is_strict_here()
    }

    /// Whether this thread began it, and not so that anything goes.
    fn is_strict_here(&self) -> bool {
        self.mode != RELAXED && self.thread == std::thread::current().id()
    }

    /// Whether this thread must not do what might wait for it.
    fn forbids_unsafe_calls(&self) -> bool {
        match MODE.get() {
            GLOBAL => self.forbids_the_rest(),
            mode => mode != RELAXED && self.is_strict_here(),
        }
    }
}

/// How many there are, for those who only want to know that there are none.
static COUNT: AtomicUsize = AtomicUsize::new(0);

fn recordings() -> MutexGuard<'static, Vec<Recording>> {
    static RECORDINGS: OnceLock<Mutex<Vec<Recording>>> = OnceLock::new();
    RECORDINGS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

fn there_are_none() -> bool {
    COUNT.load(Ordering::Acquire) == 0
}

fn of(recordings: &mut [Recording], stream: Stream) -> Option<&mut Recording> {
    recordings.iter_mut().find(|recording| recording.last.contains_key(&(stream as usize)))
}

/// Whether work on the legacy stream waits for that of the stream, as for that of all that are not made otherwise.
fn is_blocking(stream: usize) -> bool {
    streams::get(stream as Stream).is_ok_and(|known| known.flags & NON_BLOCKING == 0)
}

fn is_legacy(stream: Stream) -> bool {
    (stream as usize) < 2
}

/// Does `now` unless `stream` records: then `work` becomes a node.
pub fn recorded(stream: Stream, work: impl FnOnce() -> Result<Work>, now: impl FnOnce() -> Result) -> Result {
    recorded_in(stream, |_, _| work(), now)
}

/// The same, where `work` asks for the graph and what the node will depend on.
pub fn recorded_in(
    stream: Stream,
    work: impl FnOnce(&Graph, &[Name]) -> Result<Work>,
    now: impl FnOnce() -> Result,
) -> Result {
    if there_are_none() {
        return now();
    }
    let mut recordings = recordings();
    if is_legacy(stream) {
        spoil_implicit(&mut recordings)?;
        drop(recordings);
        return now();
    }
    let Some(recording) = of(&mut recordings, stream) else {
        drop(recordings);
        return now();
    };
    if !recording.is_valid {
        return Err(CudaError::CAPTURE_INVALIDATED);
    }
    let after = recording.last[&(stream as usize)].clone();
    let added = work(&recording.graph, &after).and_then(|work| recording.graph.add(work, &after));
    match added {
        Ok(name) => {
            recording.last.insert(stream as usize, vec![name]);
            Ok(())
        }
        Err(error) => {
            recording.is_valid = false;
            Err(error)
        }
    }
}

/// Work on the legacy stream would wait for that of the streams that record.
fn spoil_implicit(recordings: &mut [Recording]) -> Result {
    let spoilt =
        recordings.iter_mut().filter(|one| one.forbids_the_rest() && one.last.keys().any(|key| is_blocking(*key)));
    let mut result = Ok(());
    for recording in spoilt {
        recording.is_valid = false;
        result = Err(CudaError::CAPTURE_IMPLICIT);
    }
    result
}

/// Refuses what cannot be recorded on `stream`; the capture is invalid then.
pub fn refuse_on(stream: Stream) -> Result {
    if there_are_none() {
        return Ok(());
    }
    let mut recordings = recordings();
    match of(&mut recordings, stream) {
        Some(recording) => {
            recording.is_valid = false;
            Err(CudaError::CAPTURE_UNSUPPORTED)
        }
        None if is_legacy(stream) => spoil_implicit(&mut recordings),
        None => Ok(()),
    }
}

/// Refuses what might wait for all streams, as allocation does, while a capture goes on that does not allow it.
pub fn refuse() -> Result {
    if there_are_none() {
        return Ok(());
    }
    let mut result = Ok(());
    for recording in recordings().iter_mut().filter(|recording| recording.forbids_unsafe_calls()) {
        recording.is_valid = false;
        result = Err(CudaError::CAPTURE_UNSUPPORTED);
    }
    result
}

/// Whether an event was last recorded by a stream that records: it says nothing of what is done.
pub fn refuse_event(event: *mut c_void) -> Result {
    if there_are_none() {
        return Ok(());
    }
    match recordings().iter_mut().find(|recording| recording.events.contains_key(&(event as usize))) {
        Some(recording) => {
            recording.is_valid = false;
            Err(CudaError::CAPTURED_EVENT)
        }
        None => Ok(()),
    }
}

/// Records an event, in the graph if the stream records.
pub fn record_event(event: *mut c_void, stream: Stream, now: impl FnOnce() -> Result) -> Result {
    if there_are_none() {
        return now();
    }
    let mut recordings = recordings();
    recordings.iter_mut().for_each(|recording| drop(recording.events.remove(&(event as usize))));
    let Some(recording) = of(&mut recordings, stream) else {
        drop(recordings);
        return now();
    };
    events::check(event)?;
    let last = recording.last[&(stream as usize)].clone();
    recording.events.insert(event as usize, last);
    Ok(())
}

/// Lets `stream` wait for an event; one of a capture takes the stream into that.
pub fn wait_event(stream: Stream, event: *mut c_void, now: impl FnOnce() -> Result) -> Result {
    if there_are_none() {
        return now();
    }
    let mut recordings = recordings();
    let from = recordings.iter().position(|recording| recording.events.contains_key(&(event as usize)));
    let to = recordings.iter().position(|recording| recording.last.contains_key(&(stream as usize)));
    match (from, to) {
        (None, None) => {
            drop(recordings);
            now()
        }
        (None, Some(to)) => {
            recordings[to].is_valid = false;
            Err(CudaError::CAPTURE_ISOLATION)
        }
        (Some(from), Some(to)) if from != to => {
            recordings[from].is_valid = false;
            recordings[to].is_valid = false;
            Err(CudaError::CAPTURE_MERGE)
        }
        (Some(from), _) if is_legacy(stream) => {
            recordings[from].is_valid = false;
            Err(CudaError::CAPTURE_IMPLICIT)
        }
        (Some(from), _) => {
            let recording = &mut recordings[from];
            let waits_for = recording.events[&(event as usize)].clone();
            let last = recording.last.entry(stream as usize).or_default();
            let mut seen: HashSet<Name> = last.iter().copied().collect();
            last.extend(waits_for.into_iter().filter(|name| seen.insert(*name)));
            Ok(())
        }
    }
}

/// Changes a graph that a stream records in, if there is one of this name.
pub fn in_graph<T>(name: Name, change: impl FnOnce(&mut Graph) -> T) -> Option<T> {
    if there_are_none() {
        return None;
    }
    recordings().iter_mut().find(|recording| recording.name == name).map(|recording| change(&mut recording.graph))
}

/// Lets what `stream` records next depend on `after` too, or on that alone (`cudaStreamSetCaptureDependencies`).
pub fn record_after(stream: Stream, after: Vec<Name>, flags: u32) -> Result {
    check(flags <= 1)?;
    streams::check(stream)?;
    let mut recordings = recordings();
    let recording = of(&mut recordings, stream).ok_or(CudaError::INVALID_VALUE)?;
    check(after.iter().all(|name| recording.graph.has(*name)))?;
    let last = recording.last.entry(stream as usize).or_default();
    if flags == 1 {
        last.clear();
    }
    let mut seen: HashSet<Name> = last.iter().copied().collect();
    last.extend(after.into_iter().filter(|name| seen.insert(*name)));
    Ok(())
}

/// Lets `stream` record in a new graph.
pub fn begin(stream: Stream, mode: u32) -> Result {
    begin_with(stream, mode, (super::graph::fresh(), Graph::default(), None), Vec::new())
}

/// Lets `stream` record in a graph that is there, behind `after`.
pub fn begin_in(stream: Stream, graph: *mut c_void, after: Vec<Name>, mode: u32) -> Result {
    let known = registry().graph(graph)?.clone();
    check(after.iter().all(|name| known.has(*name)))?;
    let nodes = known.nodes.iter().map(|node| node.name).collect();
    begin_with(stream, mode, (graph as Name, known, Some(nodes)), after)
}

fn begin_with(
    stream: Stream,
    mode: u32,
    (name, graph, known): (Name, Graph, Option<HashSet<Name>>),
    after: Vec<Name>,
) -> Result {
    static IDS: AtomicUsize = AtomicUsize::new(1);
    streams::check(stream)?;
    check(mode <= RELAXED)?;
    if is_legacy(stream) {
        return Err(CudaError::CAPTURE_UNSUPPORTED);
    }
    let mut recordings = recordings();
    if of(&mut recordings, stream).is_some() || recordings.iter().any(|recording| recording.name == name) {
        return Err(CudaError::INVALID_VALUE);
    }
    recordings.push(Recording {
        id: IDS.fetch_add(1, Ordering::Relaxed) as u64,
        origin: stream as usize,
        thread: std::thread::current().id(),
        mode,
        graph,
        name,
        known,
        is_valid: true,
        last: HashMap::from([(stream as usize, after)]),
        events: HashMap::new(),
    });
    COUNT.store(recordings.len(), Ordering::Release);
    Ok(())
}

/// Ends the capture that began on `stream`, and gives its graph.
pub fn end(stream: Stream) -> Result<*mut c_void> {
    streams::check(stream)?;
    let mut recordings = recordings();
    let recording = of(&mut recordings, stream).ok_or(CudaError::INVALID_VALUE)?;
    if recording.origin != stream as usize {
        recording.is_valid = false;
        return Err(CudaError::CAPTURE_UNMATCHED);
    }
    if recording.mode != RELAXED && recording.thread != std::thread::current().id() {
        recording.is_valid = false;
        return Err(CudaError::CAPTURE_WRONG_THREAD);
    }
    let at = recordings.iter().position(|recording| recording.origin == stream as usize).unwrap_or_default();
    let recording = recordings.swap_remove(at);
    COUNT.store(recordings.len(), Ordering::Release);
    drop(recordings);
    if !recording.is_valid {
        return Err(CudaError::CAPTURE_INVALIDATED);
    }
    let joined: HashSet<Name> = recording.last[&recording.origin].iter().copied().collect();
    let known = recording.known.unwrap_or_default();
    if !recording.graph.leaves().iter().all(|leaf| joined.contains(leaf) || known.contains(leaf)) {
        return Err(CudaError::CAPTURE_UNJOINED);
    }
    let mut registry = registry();
    registry.owners.extend(recording.graph.nodes.iter().map(|node| (node.name, recording.name)));
    registry.graphs.insert(recording.name, recording.graph);
    Ok(recording.name as *mut c_void)
}

/// What is known of a stream that records.
pub fn get(stream: Stream) -> Result<Option<Capture>> {
    streams::check(stream)?;
    if there_are_none() {
        return Ok(None);
    }
    let mut recordings = recordings();
    if is_legacy(stream) {
        return spoil_implicit(&mut recordings).map(|()| None);
    }
    Ok(of(&mut recordings, stream).map(|recording| Capture {
        status: if recording.is_valid { ACTIVE } else { INVALIDATED },
        id: recording.id,
        graph: recording.name as *mut c_void,
        last: recording.last[&(stream as usize)].iter().map(|name| *name as *mut c_void).collect(),
        goes_on: recording.known.is_some(),
    }))
}

/// The calling thread's `cudaThreadExchangeStreamCaptureMode`.
pub fn exchange_mode(mode: u32) -> Result<u32> {
    check(mode <= RELAXED)?;
    Ok(MODE.replace(mode))
}
