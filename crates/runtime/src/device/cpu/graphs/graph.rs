//! Nodes, what they depend on, and the order that they are done in.

use std::collections::{HashMap, HashSet};
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::conditional;
use super::replay::Prepared;
use super::work::Work;
use crate::device::cpu::pool::Way;
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
}

/// A graph, in the order that its nodes were added.
#[derive(Clone, Default)]
pub struct Graph {
    pub nodes: Vec<Node>,
}

impl Graph {
    pub fn add(&mut self, work: Work, after: &[Name]) -> Result<Name> {
        if !after.iter().all(|name| self.has(*name)) {
            return Err(CudaError::INVALID_VALUE);
        }
        let name = fresh();
        let mut seen = HashSet::new();
        self.nodes.push(Node { name, work, after: after.iter().copied().filter(|name| seen.insert(*name)).collect() });
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
        Ok(Plan { steps, prepared: Prepared::default() })
    }

    /// The same with other names, and what each name became.
    pub fn renamed(&self) -> (Self, HashMap<Name, Name>) {
        let names: HashMap<Name, Name> = self.nodes.iter().map(|node| (node.name, fresh())).collect();
        let nodes = self.nodes.iter().map(|node| Node {
            name: names[&node.name],
            work: node.work.clone(),
            after: node.after.iter().map(|name| names[name]).collect(),
        });
        (Self { nodes: nodes.collect() }, names)
    }
}

/// A graph that can be launched.
#[derive(Clone, Default)]
pub struct Plan {
    pub(super) steps: Vec<Node>,
    prepared: Prepared,
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
        self.steps.iter_mut().find(|step| step.name == name)
    }

    /// Nanoseconds that all of it will keep one OS thread busy, if that is known.
    pub fn cost(&self) -> Option<u64> {
        self.steps.iter().map(|node| node.work.cost()).sum()
    }

    /// Takes over what `other` does, unless it has another shape: then the first node that differs.
    pub fn update(&mut self, other: &Self) -> Option<Name> {
        let place = |plan: &Self| -> HashMap<Name, usize> {
            plan.steps.iter().enumerate().map(|(place, node)| (node.name, place)).collect()
        };
        let (mine, theirs) = (place(self), place(other));
        let shape = |node: &Node, places: &HashMap<Name, usize>| {
            let mut after: Vec<usize> = node.after.iter().map(|name| places[name]).collect();
            after.sort_unstable();
            (node.work.kind(), after)
        };
        let differs = |(place, node): &(usize, &Node)| {
            self.steps.get(*place).is_none_or(|step| shape(step, &mine) != shape(node, &theirs))
        };
        if let Some((_, node)) = other.steps.iter().enumerate().find(differs) {
            return Some(node.name);
        }
        if self.steps.len() != other.steps.len() {
            return Some(0);
        }
        self.prepared = Prepared::default();
        for (step, node) in self.steps.iter_mut().zip(&other.steps) {
            step.work = node.work.clone();
        }
        None
    }
}

/// All that there is.
#[derive(Default)]
pub struct Registry {
    pub graphs: HashMap<Name, Graph>,
    pub instances: HashMap<Name, Arc<Plan>>,
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

    pub fn remove(&mut self, graph: *mut c_void) -> Result {
        let name = graph as Name;
        let gone = self.graphs.remove(&name).ok_or(CudaError::INVALID_VALUE)?;
        self.owners.retain(|_, owner| *owner != name);
        conditional::bodies(&gone).into_iter().try_for_each(|body| self.remove(body as *mut c_void))
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
