//! What the program calls.

use std::ffi::c_void;
use std::sync::Arc;

use super::capture;
use super::conditional::{self, Condition};
use super::graph::{Graph, Name, Plan, registry};
use super::work::Work;
use crate::device::cpu::failure::device_ok;
use crate::device::cpu::kept::Kept;
use crate::device::cpu::later::{self, Choice};
use crate::device::cpu::machine::Cpu;
use crate::device::cpu::streams;
use crate::device::seam::{Capture, Graphs, Handle, NodeWork, Stream};
use crate::error::{CudaError, Result};

fn handle(name: Name) -> Handle {
    name as *mut c_void
}

fn names(handles: &[Handle]) -> Vec<Name> {
    handles.iter().map(|handle| *handle as Name).collect()
}

/// Adds a node to a graph, which a stream may be recording in.
fn add(graph: Handle, after: &[Handle], work: Work) -> Result<Handle> {
    let after = names(after);
    if let Some(added) = capture::in_graph(graph as Name, |graph| graph.add(work.clone(), &after)) {
        return added.map(handle);
    }
    let mut registry = registry();
    let name = registry.graph(graph)?.add(work, &after)?;
    registry.owners.insert(name, graph as Name);
    Ok(handle(name))
}

fn plan(graph: Handle) -> Result<Arc<Plan>> {
    let mut registry = registry();
    let plan = registry.graph(graph)?.plan()?;
    conditional::resolve(&mut registry, plan).map(Arc::new)
}

impl Graphs for Cpu {
    fn begin_capture(&self, stream: Stream, mode: u32) -> Result {
        device_ok()?;
        capture::begin(stream, mode)
    }

    fn begin_capture_in(&self, stream: Stream, graph: Handle, after: &[Handle], mode: u32) -> Result {
        device_ok()?;
        capture::begin_in(stream, graph, names(after), mode)
    }

    fn record_after(&self, stream: Stream, after: &[Handle], flags: u32) -> Result {
        capture::record_after(stream, names(after), flags)
    }

    fn end_capture(&self, stream: Stream) -> Result<Handle> {
        capture::end(stream)
    }

    fn capture(&self, stream: Stream) -> Result<Option<Capture>> {
        capture::get(stream)
    }

    fn create_graph(&self) -> Result<Handle> {
        device_ok()?;
        Ok(handle(registry().insert(Graph::default())))
    }

    fn clone_graph(&self, graph: Handle) -> Result<Handle> {
        let mut registry = registry();
        let graph = registry.graph(graph)?;
        if !conditional::bodies(graph).is_empty() {
            return Err(CudaError::NOT_SUPPORTED);
        }
        let (copy, _) = graph.renamed();
        Ok(handle(registry.insert(copy)))
    }

    fn destroy_graph(&self, graph: Handle) -> Result {
        registry().remove(graph)
    }

    unsafe fn add_node(&self, graph: Handle, after: &[Handle], work: NodeWork) -> Result<Handle> {
        device_ok()?;
        // SAFETY: by contract.
        let work = unsafe { Work::new(work, plan)? };
        add(graph, after, work)
    }

    fn conditional_handle(&self, graph: Handle, first: Option<u32>) -> Result<u64> {
        if capture::in_graph(graph as Name, |_| ()).is_none() {
            registry().graph(graph)?;
        }
        Ok(conditional::handle(first))
    }

    fn add_conditional(
        &self,
        graph: Handle,
        after: &[Handle],
        handle: u64,
        kind: u32,
        bodies: u32,
    ) -> Result<(Handle, *const Handle)> {
        device_ok()?;
        let condition = Arc::new(Condition::new(&mut registry(), handle, kind, bodies)?);
        let list = condition.bodies().cast();
        Ok((add(graph, after, Work::Conditional(condition))?, list))
    }

    fn beside(&self, node: Handle) -> Result<(Vec<Handle>, Vec<Handle>)> {
        let mut registry = registry();
        let before = registry.node(node)?.after.iter().map(|name| handle(*name)).collect();
        let owner = registry.owners[&(node as Name)];
        let behind = registry.graph(handle(owner))?.nodes.iter().filter(|other| other.after.contains(&(node as Name)));
        Ok((before, behind.map(|other| handle(other.name)).collect()))
    }

    unsafe fn set_node(&self, node: Handle, work: NodeWork) -> Result {
        // SAFETY: by contract.
        let work = unsafe { Work::new(work, plan)? };
        let mut registry = registry();
        let node = registry.node(node)?;
        if node.work.kind() != work.kind() {
            return Err(CudaError::INVALID_VALUE);
        }
        node.work = work;
        Ok(())
    }

    fn destroy_node(&self, node: Handle) -> Result {
        let mut registry = registry();
        let owner = registry.owners.remove(&(node as Name)).ok_or(CudaError::INVALID_VALUE)?;
        let graph = registry.graph(handle(owner))?;
        graph.nodes.retain(|other| other.name != node as Name);
        graph.nodes.iter_mut().for_each(|other| other.after.retain(|name| *name != node as Name));
        Ok(())
    }

    fn node_kind(&self, node: Handle) -> Result<u32> {
        Ok(registry().node(node)?.work.kind())
    }

    fn nodes(&self, graph: Handle, only_roots: bool) -> Result<Vec<Handle>> {
        let mut registry = registry();
        let nodes = registry.graph(graph)?.nodes.iter().filter(|node| !only_roots || node.after.is_empty());
        Ok(nodes.map(|node| handle(node.name)).collect())
    }

    fn edges(&self, graph: Handle) -> Result<Vec<(Handle, Handle)>> {
        let mut registry = registry();
        let nodes = &registry.graph(graph)?.nodes;
        let edges = nodes.iter().flat_map(|node| node.after.iter().map(|from| (handle(*from), handle(node.name))));
        Ok(edges.collect())
    }

    fn connect(&self, graph: Handle, edges: &[(Handle, Handle)]) -> Result {
        let mut registry = registry();
        let graph = registry.graph(graph)?;
        for (from, to) in edges {
            let is_new =
                graph.has(*from as Name) && from != to && !graph.node(*to as Name)?.after.contains(&(*from as Name));
            if !is_new {
                return Err(CudaError::INVALID_VALUE);
            }
            graph.node(*to as Name)?.after.push(*from as Name);
        }
        Ok(())
    }

    fn disconnect(&self, graph: Handle, edges: &[(Handle, Handle)]) -> Result {
        let mut registry = registry();
        let graph = registry.graph(graph)?;
        for (from, to) in edges {
            graph.node(*to as Name)?.after.retain(|name| *name != *from as Name);
        }
        Ok(())
    }

    fn instantiate(&self, graph: Handle) -> Result<Handle> {
        device_ok()?;
        let plan = plan(graph)?;
        let name = super::graph::fresh();
        registry().instances.insert(name, plan);
        Ok(handle(name))
    }

    fn destroy_instance(&self, instance: Handle) -> Result {
        registry().instances.remove(&(instance as Name)).map(drop).ok_or(CudaError::INVALID_VALUE)
    }

    unsafe fn set_instance_node(&self, instance: Handle, node: Handle, work: NodeWork) -> Result {
        // SAFETY: by contract.
        let work = unsafe { Work::new(work, plan)? };
        let mut registry = registry();
        let plan = registry.instances.get_mut(&(instance as Name)).ok_or(CudaError::INVALID_VALUE)?;
        let step = Arc::make_mut(plan).step(node as Name).ok_or(CudaError::INVALID_VALUE)?;
        if step.work.kind() != work.kind() {
            return Err(CudaError::INVALID_VALUE);
        }
        step.work = work;
        Ok(())
    }

    fn update_instance(&self, instance: Handle, graph: Handle) -> Result<Option<Handle>> {
        let other = plan(graph)?;
        let mut registry = registry();
        let plan = registry.instances.get_mut(&(instance as Name)).ok_or(CudaError::INVALID_VALUE)?;
        Ok(Arc::make_mut(plan).update(&other).map(handle))
    }

    fn launch_graph(&self, instance: Handle, stream: Stream) -> Result {
        device_ok()?;
        streams::check(stream)?;
        // Nothing is held while it runs: it may call functions of the program.
        let plan = registry().instances.get(&(instance as Name)).cloned().ok_or(CudaError::INVALID_VALUE)?;
        let work = Work::Graph(plan.clone());
        let kept = || conditional::refuse(&plan).map(|()| work.clone());
        capture::recorded(stream, kept, || {
            let choice = || Ok(if work.has_events() { Choice::Wait } else { Choice::Later(Kept::Work(work.clone())) });
            later::submit(stream, || plan.cost(), None, choice, |way| work.run(stream, way))
        })
    }
}
