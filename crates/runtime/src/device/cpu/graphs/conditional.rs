//! Conditional nodes: graphs that are done once, again and again, or not at all, as a kernel says.
//!
//! Kernels set the value of a handle (`cudaGraphSetConditional`). A node reads it when its turn comes, and, if it is a loop, after each round.
//! What the node's graphs hold is known when the graph around them is made ready to be launched.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::graph::{Graph, Name, Plan, Registry, fresh};
use super::work::Work;
use crate::device::cpu::failure;
use crate::device::cpu::pool::Way;
use crate::device::seam::Stream;
use crate::error::{CudaError, Result, check};

/// Values of `cudaGraphConditionalNodeType`.
const IF: u32 = 0;
const WHILE: u32 = 1;
const SWITCH: u32 = 2;

/// What a node does that asks for a value.
#[derive(Clone)]
pub struct Condition {
    handle: u64,
    kind: u32,
    bodies: Box<[Name]>,
    /// The bodies, once the graph can be launched.
    plans: Vec<Arc<Plan>>,
}

struct Value {
    now: u32,
    /// What it is at the beginning of each launch.
    first: Option<u32>,
}

fn values() -> MutexGuard<'static, HashMap<u64, Value>> {
    static VALUES: OnceLock<Mutex<HashMap<u64, Value>>> = OnceLock::new();
    VALUES.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

/// A handle, whose value is `first` at the beginning of each launch if that is said.
pub fn handle(first: Option<u32>) -> u64 {
    let name = fresh() as u64;
    values().insert(name, Value { now: first.unwrap_or(0), first });
    name
}

/// Sets the value of a handle.
pub fn set(handle: u64, value: u32) -> Result {
    values().get_mut(&handle).map(|known| known.now = value).ok_or(CudaError::INVALID_VALUE)
}

impl Condition {
    /// A node for `bodies` new graphs of `registry`.
    pub fn new(registry: &mut Registry, handle: u64, kind: u32, bodies: u32) -> Result<Self> {
        check(values().contains_key(&handle))?;
        check(match kind {
            IF => matches!(bodies, 1 | 2),
            WHILE => bodies == 1,
            SWITCH => bodies > 0,
            _ => false,
        })?;
        let bodies = (0..bodies).map(|_| registry.insert(Graph::default())).collect();
        Ok(Self { handle, kind, bodies, plans: Vec::new() })
    }

    /// The handles of its graphs, which stay where they are as long as the node does.
    pub fn bodies(&self) -> *const *mut c_void {
        self.bodies.as_ptr().cast()
    }

    /// The names of its graphs.
    pub fn names(&self) -> &[Name] {
        &self.bodies
    }

    /// The same with what its graphs do.
    pub fn ready(known: &Self, plans: Vec<Arc<Plan>>) -> Self {
        Self { plans, ..known.clone() }
    }

    /// Whether another one asks for the same value, and does as much with it.
    pub fn is_like(&self, other: &Self) -> bool {
        (self.handle, self.kind, self.plans.len()) == (other.handle, other.kind, other.plans.len())
    }

    /// Whether one of its graphs has to do with events.
    pub fn has_events(&self) -> bool {
        self.plans.iter().any(|plan| plan.has_events())
    }

    /// Whether one of its graphs may wait for what the program does next.
    pub fn may_wait(&self) -> bool {
        self.plans.iter().any(|plan| plan.may_wait())
    }

    fn value(&self) -> u32 {
        values().get(&self.handle).map_or(0, |value| value.now)
    }

    /// Does what the value says.
    pub fn run(&self, stream: Stream, way: Way) -> Result {
        let body = |at: usize| self.plans.get(at).map_or(Ok(()), |plan| plan.run(stream, way));
        match self.kind {
            IF => body(usize::from(self.value() == 0)),
            WHILE => {
                while self.value() != 0 && !failure::is_pending() {
                    body(0)?;
                }
                Ok(())
            }
            _ => body(self.value() as usize),
        }
    }
}

fn conditions(plan: &Plan) -> impl Iterator<Item = &Condition> {
    plan.steps.iter().filter_map(|step| match &step.work {
        Work::Conditional(condition) => Some(&**condition),
        _ => None,
    })
}

/// Refuses what cannot be done with a graph that has conditional nodes, or memory: it can be no part of another one.
pub fn refuse(plan: &Plan) -> Result {
    if conditions(plan).next().is_some() || !plan.memory.is_empty() {
        return Err(CudaError::NOT_SUPPORTED);
    }
    Ok(())
}

/// Lets the values of a graph be what they are at the beginning of a launch.
pub fn start(plan: &Plan) {
    for condition in conditions(plan) {
        if let Some(value) = values().get_mut(&condition.handle) {
            value.now = value.first.unwrap_or(value.now);
        }
        condition.plans.iter().for_each(|plan| start(plan));
    }
}
