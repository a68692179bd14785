//! Nodes, what they depend on, and the order that they are done in.

use std::collections::{HashMap, HashSet};
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::memory::Use;
use super::objects::Held;
use super::replay::Prepared;
use super::work::Work;
use crate::device::cpu::pool::Way;
use crate::device::cpu::streams;
use crate::device::seam::Stream;
use crate::error::{CudaError, Result};

/// Names a graph, one that can be launched, or a node. Never used again, so that a stale one is recognised.
pub type Name = usize;

/// A name that nothing has yet.
pub fn fresh() -> Name {
    static NEXT: AtomicUsize = AtomicUsize::new(0x4752_0010);
    NEXT.fetch_add(16, Ordering::Relaxed)
}

#[derive(Clone)]
pub struct Node {
    pub name: Name,
    pub work: Work,
    pub after: Vec<Name>,
    /// It is left out.
    pub is_off: bool,
}

impl Node {
    /// Does what it is to do.
    pub fn run(&self, stream: Stream, way: Way) -> Result {
        if self.is_off { Ok(()) } else { self.work.run(stream, way) }
    }
}

/// A graph, in the order that its nodes were added.
#[derive(Clone, Default)]
pub struct Graph {
    pub nodes: Vec<Node>,
    /// The program's objects that it has.
    pub held: Vec<Held>,
    /// What each node of the graph that it is a copy of became.
    pub came_from: HashMap<Name, Name>,
}

impl Graph {
    pub fn add(&mut self, work: Work, after: &[Name]) -> Result<Name> {
        if !after.iter().all(|name| self.has(*name)) {
            return Err(CudaError::INVALID_VALUE);
        }
        let name = fresh();
        let mut seen = HashSet::new();
        let after = after.iter().copied().filter(|name| seen.insert(*name)).collect();
        self.nodes.push(Node { name, work, after, is_off: false });
        Ok(name)
    }

    pub fn has(&self, name: Name) -> bool {
        self.nodes.iter().any(|node| node.name == name)
    }

    pub fn node(&mut self, name: Name) -> Result<&mut Node> {
        self.nodes.iter_mut().find(|node| node.name == name).ok_or(CudaError::INVALID_VALUE)
    }

    /// The nodes that no other depends on.
    pub fn leaves(&self) -> HashSet<Name> {
        let inner: HashSet<Name> = self.nodes.iter().flat_map(|node| node.after.iter().copied()).collect();
        self.nodes.iter().map(|node| node.name).filter(|name| !inner.contains(name)).collect()
    }

    /// The nodes in an order that respects what they depend on (A. B. Kahn, CACM 5(11), 1962), the earlier added first.
    ///
    /// # Errors
    /// They depend on one another in a circle.
    pub fn plan(&self) -> Result<Plan> {
        let mut done = HashSet::new();
        let mut left: Vec<&Node> = self.nodes.iter().collect();
        let mut steps = Vec::new();
        while !left.is_empty() {
            let before = left.len();
            left.retain(|node| {
                let ready = node.after.iter().all(|name| done.contains(name));
                if ready {
                    done.insert(node.name);
                    steps.push((*node).clone());
                }
                !ready
            });
            if left.len() == before {
                return Err(CudaError::INVALID_VALUE);
            }
        }
        Ok(Plan { steps, ..Plan::default() })
    }

    /// The same with other names, and what each name became.
    pub fn renamed(&self) -> (Self, HashMap<Name, Name>) {
        let names: HashMap<Name, Name> = self.nodes.iter().map(|node| (node.name, fresh())).collect();
        let nodes = self.nodes.iter().map(|node| Node {
            name: names[&node.name],
            work: node.work.clone(),
            after: node.after.iter().map(|name| names[name]).collect(),
            is_off: false,
        });
        (Self { nodes: nodes.collect(), held: self.held.clone(), came_from: HashMap::new() }, names)
    }
}

/// A graph that can be launched.
#[derive(Clone, Default)]
pub struct Plan {
    pub(super) steps: Vec<Node>,
    prepared: Prepared,
    pub(super) memory: Use,
    pub(super) held: Vec<Held>,
    /// What its instance was made with.
    pub(super) flags: u64,
}

/// Values of `cudaGraphExecUpdateResult`.
const TOPOLOGY_CHANGED: u32 = 2;
const KIND_CHANGED: u32 = 3;
const PARAMETERS_CHANGED: u32 = 5;
const NOT_SUPPORTED: u32 = 6;

/// Why a plan cannot do what another one does: a node of the other one, and what that depends on.
pub struct Difference {
    pub result: u32,
    pub node: Name,
    pub from: Name,
}

impl Plan {
    pub fn run(&self, stream: Stream, way: Way) -> Result {
        self.prepared.run(&self.steps, stream, way)
    }

    /// Whether it has to do with events.
    pub fn has_events(&self) -> bool {
        self.steps.iter().any(|node| node.work.has_events())
    }

    /// The step of a node, to be changed: nothing is prepared any more.
    pub fn step(&mut self, name: Name) -> Option<&mut Node> {
        self.prepared = Prepared::default();
        if let Some(at) = self.steps.iter().position(|step| step.name == name) {
            return Some(&mut self.steps[at]);
        }
        self.steps.iter_mut().find_map(|step| match &mut step.work {
            Work::Graph(child) => Arc::make_mut(&mut child.plan).step(name),
            _ => None,
        })
    }

    /// Nanoseconds that all of it will keep one OS thread busy, if that is known.
    pub fn cost(&self) -> Option<u64> {
        self.steps.iter().map(|node| node.work.cost()).sum()
    }

    /// Whether any of it may wait for what the program does next.
    pub fn may_wait(&self) -> bool {
        self.steps.iter().any(|node| node.work.may_wait())
    }

    /// Whether it can do what `other` does, and why not.
    fn difference(&self, other: &Self) -> Option<Difference> {
        let place = |plan: &Self| -> HashMap<Name, usize> {
            plan.steps.iter().enumerate().map(|(place, node)| (node.name, place)).collect()
        };
        let (mine, theirs) = (place(self), place(other));
        let before = |node: &Node, places: &HashMap<Name, usize>| -> HashSet<usize> {
            node.after.iter().map(|name| places[name]).collect()
        };
        for (at, node) in other.steps.iter().enumerate() {
            let differs = |result| Some(Difference { result, node: node.name, from: 0 });
            let Some(step) = self.steps.get(at) else { return differs(TOPOLOGY_CHANGED) };
            let (old, new) = (before(step, &mine), before(node, &theirs));
            if let Some(from) = new.difference(&old).next() {
                let from = other.steps[*from].name;
                return Some(Difference { result: TOPOLOGY_CHANGED, node: node.name, from });
            }
            if old != new {
                return differs(TOPOLOGY_CHANGED);
            }
            if step.work.kind() != node.work.kind() {
                return differs(KIND_CHANGED);
            }
            let inside = match (&step.work, &node.work) {
                (Work::Graph(one), Work::Graph(other)) => one.plan.difference(&other.plan),
                (Work::Conditional(one), Work::Conditional(other)) if !one.is_like(other) => {
                    differs(PARAMETERS_CHANGED)
                }
                (Work::Allocate(one), Work::Allocate(other)) | (Work::Free(one), Work::Free(other))
                    if !Arc::ptr_eq(one, other) =>
                {
                    differs(NOT_SUPPORTED)
                }
                _ => None,
            };
            if inside.is_some() {
                return inside;
            }
        }
        let is_longer = self.steps.len() > other.steps.len();
        is_longer.then_some(Difference { result: TOPOLOGY_CHANGED, node: 0, from: 0 })
    }

    /// Takes over what `other` does, unless something forbids it.
    pub fn update(&mut self, other: &Self) -> Option<Difference> {
        let found = self.difference(other);
        if found.is_none() {
            self.take_over(other);
        }
        found
    }

    fn take_over(&mut self, other: &Self) {
        self.prepared = Prepared::default();
        self.held.clone_from(&other.held);
        for (step, node) in self.steps.iter_mut().zip(&other.steps) {
            match (&mut step.work, &node.work) {
                // The program knows the nodes inside by their names here.
                (Work::Graph(mine), Work::Graph(theirs)) => Arc::make_mut(&mut mine.plan).take_over(&theirs.plan),
                (mine, theirs) => *mine = theirs.clone(),
            }
        }
    }
}

/// All that there is.
#[derive(Default)]
pub struct Registry {
    pub graphs: HashMap<Name, Graph>,
    pub instances: HashMap<Name, Arc<Plan>>,
    /// The stream that each was launched in last.
    pub streams: HashMap<Name, Arc<streams::Stream>>,
    /// The graph of each node.
    pub owners: HashMap<Name, Name>,
}

impl Registry {
    pub fn graph(&mut self, graph: *mut c_void) -> Result<&mut Graph> {
        self.graphs.get_mut(&(graph as Name)).ok_or(CudaError::INVALID_VALUE)
    }

    pub fn insert(&mut self, graph: Graph) -> Name {
        let name = fresh();
        self.owners.extend(graph.nodes.iter().map(|node| (node.name, name)));
        self.graphs.insert(name, graph);
        name
    }

    pub fn node(&mut self, node: *mut c_void) -> Result<&mut Node> {
        let owner = *self.owners.get(&(node as Name)).ok_or(CudaError::INVALID_VALUE)?;
        self.graph(owner as *mut c_void)?.node(node as Name)
    }
}

pub fn registry() -> MutexGuard<'static, Registry> {
    static REGISTRY: OnceLock<Mutex<Registry>> = OnceLock::new();
    REGISTRY.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}
