//! Graphs inside of graphs: those of child nodes and those of conditional ones.
//!
//! Each is a graph of its own, so that the program can look at its nodes and change them. What it holds is known when the graph around it is made
//! ready to be launched.

use std::ffi::c_void;
use std::sync::Arc;

use super::conditional::Condition;
use super::graph::{Graph, Name, Plan, Registry};
use super::memory::Use;
use super::work::Work;
use crate::error::{CudaError, Result};

/// The graph of a child node: its name, and what it does once that is known.
#[derive(Clone)]
pub struct Child {
    pub body: Name,
    pub plan: Arc<Plan>,
}

/// Makes a graph ready to be launched, and those inside of it.
pub fn plan(registry: &mut Registry, graph: *mut c_void) -> Result<Plan> {
    let found = registry.graph(graph)?;
    let mut plan = found.plan()?;
    plan.held = found.held.clone();
    for step in &mut plan.steps {
        let mut ready = |body: Name| {
            let plan = self::plan(registry, body as *mut c_void)?;
            // Whoever launches the graph around it would not know.
            if plan.memory.is_empty() { Ok(Arc::new(plan)) } else { Err(CudaError::NOT_SUPPORTED) }
        };
        let work = match &step.work {
            Work::Graph(child) => Work::Graph(Child { body: child.body, plan: ready(child.body)? }),
            Work::Conditional(condition) => {
                let plans = condition.names().iter().map(|body| ready(*body)).collect::<Result<Vec<_>>>()?;
                Work::Conditional(Arc::new(Condition::ready(condition, plans)))
            }
            _ => continue,
        };
        step.work = work;
    }
    plan.memory = Use::of(plan.steps.iter().map(|step| &step.work));
    Ok(plan)
}

/// The graphs of a node.
fn bodies(work: &Work) -> Vec<Name> {
    match work {
        Work::Conditional(condition) => condition.names().to_vec(),
        Work::Graph(child) => vec![child.body],
        _ => Vec::new(),
    }
}

/// Takes a graph and those inside of it away; they are to be dropped while nothing is locked.
pub fn remove(registry: &mut Registry, graph: *mut c_void) -> Result<Vec<Graph>> {
    let name = graph as Name;
    let gone = registry.graphs.remove(&name).ok_or(CudaError::INVALID_VALUE)?;
    registry.owners.retain(|_, owner| *owner != name);
    let mut all = Vec::new();
    for node in &gone.nodes {
        all.extend(remove_bodies(registry, &node.work));
    }
    all.push(gone);
    Ok(all)
}

/// The same for what is inside of a node.
pub fn remove_bodies(registry: &mut Registry, work: &Work) -> Vec<Graph> {
    bodies(work).into_iter().filter_map(|body| remove(registry, body as *mut c_void).ok()).flatten().collect()
}

/// A copy of a graph with other names, and of those inside of it; its name.
///
/// # Errors
/// Conditional nodes and memory belong to one graph.
pub fn copy(registry: &mut Registry, graph: *mut c_void) -> Result<Name> {
    let found = registry.graph(graph)?;
    if found.nodes.iter().any(|node| matches!(node.work, Work::Conditional(_) | Work::Allocate(_) | Work::Free(_))) {
        return Err(CudaError::NOT_SUPPORTED);
    }
    let (mut copy, became) = found.renamed();
    for node in &mut copy.nodes {
        if let Work::Graph(child) = &mut node.work {
            child.body = self::copy(registry, child.body as *mut c_void)?;
        }
    }
    copy.came_from = became;
    Ok(registry.insert(copy))
}
