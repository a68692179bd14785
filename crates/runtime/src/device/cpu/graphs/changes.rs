//! Changes of graphs that are there, and of their instances.

use std::ffi::c_void;
use std::sync::Arc;

use super::embedded::{self, Child};
use super::graph::{Graph, Name, Node, Plan, Registry, fresh, registry};
use super::objects::Held;
use super::work::{Recorded, Work};
use super::{capture, conditional};
use crate::device::cpu::events::Point;
use crate::device::cpu::kept::Kept;
use crate::device::cpu::{runners, streams};
use crate::device::seam::{Handle, Stream, Update};
use crate::error::{CudaError, Result, check};
use crate::types::LaunchAttribute;

fn is_of_memory(work: &Work) -> bool {
    matches!(work, Work::Allocate(_) | Work::Free(_))
}

/// Lets a node do something else of its kind.
pub fn set_node(registry: &mut Registry, node: Handle, work: Work) -> Result {
    let found = registry.node(node)?;
    check(found.work.kind() == work.kind() && !is_of_memory(&work))?;
    let before = std::mem::replace(&mut found.work, work);
    embedded::remove_bodies(registry, &before);
    Ok(())
}

/// Takes a node away; what is returned is to be dropped while nothing is locked.
///
/// # Errors
/// Nodes for memory stay, as CUDA has it.
pub fn destroy_node(registry: &mut Registry, node: Handle) -> Result<(Node, Vec<Graph>)> {
    let name = node as Name;
    if is_of_memory(&registry.node(node)?.work) {
        return Err(CudaError::NOT_SUPPORTED);
    }
    let owner = registry.owners.remove(&name).ok_or(CudaError::INVALID_VALUE)?;
    let graph = registry.graph(owner as *mut c_void)?;
    let at = graph.nodes.iter().position(|other| other.name == name).ok_or(CudaError::INVALID_VALUE)?;
    let gone = graph.nodes.remove(at);
    graph.nodes.iter_mut().for_each(|other| other.after.retain(|before| *before != name));
    let inside = embedded::remove_bodies(registry, &gone.work);
    Ok((gone, inside))
}

/// Takes edges away, where there are no nodes for memory.
pub fn disconnect(registry: &mut Registry, graph: Handle, edges: &[(Handle, Handle)]) -> Result {
    let graph = registry.graph(graph)?;
    if !edges.is_empty() && graph.nodes.iter().any(|node| is_of_memory(&node.work)) {
        return Err(CudaError::NOT_SUPPORTED);
    }
    for (from, to) in edges {
        graph.node(*to as Name)?.after.retain(|name| *name != *from as Name);
    }
    Ok(())
}

fn kernel(registry: &mut Registry, node: Handle) -> Result<&mut Recorded> {
    match &mut registry.node(node)?.work {
        Work::Kernel(launch) => Ok(launch),
        _ => Err(CudaError::INVALID_VALUE),
    }
}

pub fn attribute(registry: &mut Registry, node: Handle, which: u32) -> Result<[u64; 8]> {
    Ok(kernel(registry, node)?.attribute(which))
}

pub fn set_attribute(registry: &mut Registry, node: Handle, attribute: &LaunchAttribute) -> Result {
    kernel(registry, node)?.set_attribute(attribute)
}

pub fn copy_attributes(registry: &mut Registry, to: Handle, from: Handle) -> Result {
    let from = kernel(registry, from)?.clone();
    kernel(registry, to)?.copy_attributes(&from);
    Ok(())
}

/// Makes an instance.
///
/// # Errors
/// Memory has one address, so a graph that allocates some has one instance at a time.
pub fn instantiate(registry: &mut Registry, graph: Handle, flags: u64) -> Result<Name> {
    let mut plan = embedded::plan(registry, graph)?;
    plan.flags = flags;
    if registry.instances.values().any(|other| other.memory.shares(&plan.memory)) {
        return Err(CudaError::NOT_SUPPORTED);
    }
    let name = fresh();
    registry.instances.insert(name, Arc::new(plan));
    Ok(name)
}

fn instance(registry: &mut Registry, instance: Handle) -> Result<&mut Arc<Plan>> {
    registry.instances.get_mut(&(instance as Name)).ok_or(CudaError::INVALID_VALUE)
}

/// The step of a node that can be left out: of a kernel, a copy or a fill.
pub fn switch(registry: &mut Registry, of: Handle, node: Handle) -> Result<&mut Node> {
    const LAST: u32 = 2;
    let step = Arc::make_mut(instance(registry, of)?).step(node as Name).ok_or(CudaError::INVALID_VALUE)?;
    check(step.work.kind() <= LAST)?;
    Ok(step)
}

/// Lets a node of an instance do something else of its kind; a graph inside of it must have the same shape.
pub fn set_instance_node(registry: &mut Registry, of: Handle, node: Handle, work: &Work) -> Result {
    let step = Arc::make_mut(instance(registry, of)?).step(node as Name).ok_or(CudaError::INVALID_VALUE)?;
    check(step.work.kind() == work.kind() && !is_of_memory(work))?;
    match (&mut step.work, work) {
        (Work::Graph(mine), Work::Graph(theirs)) => {
            check(Arc::make_mut(&mut mine.plan).update(&theirs.plan).is_none())?;
        }
        (mine, theirs) => *mine = theirs.clone(),
    }
    Ok(())
}

/// Lets an instance do what a graph does, if its shape allows that.
pub fn update(registry: &mut Registry, of: Handle, graph: Handle) -> Result<Option<Update>> {
    let other = embedded::plan(registry, graph)?;
    let found = Arc::make_mut(instance(registry, of)?).update(&other);
    Ok(found.map(|found| Update {
        result: found.result,
        node: found.node as *mut c_void,
        from: found.from as *mut c_void,
    }))
}

/// What an instance does now as a graph of its own.
fn from_plan(registry: &mut Registry, plan: &Plan) -> Name {
    let (mut copy, _) = Graph { nodes: plan.steps.clone(), held: plan.held.clone(), ..Graph::default() }.renamed();
    for (node, step) in copy.nodes.iter_mut().zip(&plan.steps) {
        match &mut node.work {
            work if step.is_off => *work = Work::Nothing,
            Work::Graph(child) => child.body = from_plan(registry, &child.plan),
            _ => (),
        }
    }
    registry.insert(copy)
}

/// What a stream records that launches an instance: a graph with what that does now.
pub fn as_node(plan: &Plan) -> Result<Work> {
    conditional::refuse(plan)?;
    Ok(Work::Graph(Child { body: from_plan(&mut registry(), plan), plan: Arc::default() }))
}

/// Lets what is asked of a stream next wait for the last launch of an instance, which is launched there: launches of one never overlap.
pub fn behind_the_last(instance: Handle, stream: Stream) -> Result {
    let target = streams::get(stream)?;
    let before = registry().streams.insert(instance as Name, target.clone());
    let Some(before) = before.filter(|before| !Arc::ptr_eq(before, &target) && !runners::is_done(before)) else {
        return Ok(());
    };
    let point = Arc::new(Point::new(before.clone()));
    runners::push(&before, Kept::Record(point.clone()), None)?;
    runners::push(&target, Kept::Wait(point), None)
}

/// Changes what objects a graph has, which a stream may be recording in.
pub fn objects_of<T>(graph: Handle, mut change: impl FnMut(&mut Vec<Held>) -> Result<T>) -> Result<T> {
    if let Some(changed) = capture::in_graph(graph as Name, |graph| change(&mut graph.held)) {
        return changed;
    }
    change(&mut registry().graph(graph)?.held)
}
