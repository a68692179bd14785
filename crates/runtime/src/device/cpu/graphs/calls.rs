//! What the program calls.

use std::ffi::c_void;
use std::sync::Arc;

use super::capture;
use super::conditional::{self, Condition};
use super::embedded::{self, Child};
use super::graph::{Graph, Name, registry};
use super::work::Work;
use super::{changes, dot, memory, objects};
use crate::device::cpu::failure::device_ok;
use crate::device::cpu::kept::Kept;
use crate::device::cpu::later::{self, Choice};
use crate::device::cpu::machine::Cpu;
use crate::device::cpu::{runners, streams};
use crate::device::seam::{Capture, Graphs, Handle, HostFunction, NodeParams, NodeWork, Stream, Update};
use crate::error::{CudaError, Result};
use crate::types::LaunchAttribute;

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

/// Adds a node that allocates: what is free depends on the graph.
fn allocate(graph: Handle, after: &[Handle], size: usize) -> Result<Handle> {
    let behind = names(after);
    let here = |graph: &mut Graph| memory::for_node(graph, &behind, size);
    let region = match capture::in_graph(graph as Name, here) {
        Some(found) => found?,
        None => here(registry().graph(graph)?)?,
    };
    add(graph, after, Work::Allocate(region))
}

/// The graph of a new child node: a copy of one that is there.
fn child(graph: Handle) -> Result<Child> {
    let mut registry = registry();
    conditional::refuse(&embedded::plan(&mut registry, graph)?)?;
    Ok(Child { body: embedded::copy(&mut registry, graph)?, plan: Arc::default() })
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
        embedded::copy(&mut registry(), graph).map(handle)
    }

    fn find_in_clone(&self, node: Handle, clone: Handle) -> Result<Handle> {
        let found = registry().graph(clone)?.came_from.get(&(node as Name)).copied();
        found.map(handle).ok_or(CudaError::INVALID_VALUE)
    }

    fn destroy_graph(&self, graph: Handle) -> Result {
        let gone = embedded::remove(&mut registry(), graph)?;
        drop(gone);
        Ok(())
    }

    unsafe fn add_node(&self, graph: Handle, after: &[Handle], work: NodeWork) -> Result<Handle> {
        device_ok()?;
        if let NodeWork::Allocate(size) = work {
            return allocate(graph, after, size);
        }
        // SAFETY: by contract.
        let work = unsafe { Work::new(work, child)? };
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
        let work = unsafe { Work::new(work, child)? };
        changes::set_node(&mut registry(), node, work)
    }

    fn destroy_node(&self, node: Handle) -> Result {
        let gone = changes::destroy_node(&mut registry(), node)?;
        drop(gone);
        Ok(())
    }

    fn node_kind(&self, node: Handle) -> Result<u32> {
        Ok(registry().node(node)?.work.kind())
    }

    fn node_params(&self, node: Handle) -> Result<NodeParams> {
        super::says::params(&registry().node(node)?.work)
    }

    fn node_attribute(&self, node: Handle, which: u32) -> Result<[u64; 8]> {
        changes::attribute(&mut registry(), node, which)
    }

    fn set_node_attribute(&self, node: Handle, attribute: &LaunchAttribute) -> Result {
        changes::set_attribute(&mut registry(), node, attribute)
    }

    fn copy_node_attributes(&self, to: Handle, from: Handle) -> Result {
        changes::copy_attributes(&mut registry(), to, from)
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
        changes::disconnect(&mut registry(), graph, edges)
    }

    fn instantiate(&self, graph: Handle, flags: u64) -> Result<Handle> {
        device_ok()?;
        changes::instantiate(&mut registry(), graph, flags).map(handle)
    }

    fn instance_flags(&self, instance: Handle) -> Result<u64> {
        registry().instances.get(&(instance as Name)).map(|plan| plan.flags).ok_or(CudaError::INVALID_VALUE)
    }

    fn enable(&self, instance: Handle, node: Handle, enabled: bool) -> Result {
        changes::switch(&mut registry(), instance, node).map(|step| step.is_off = !enabled)
    }

    fn is_enabled(&self, instance: Handle, node: Handle) -> Result<bool> {
        changes::switch(&mut registry(), instance, node).map(|step| !step.is_off)
    }

    fn destroy_instance(&self, instance: Handle) -> Result {
        let mut registry = registry();
        registry.streams.remove(&(instance as Name));
        let gone = registry.instances.remove(&(instance as Name));
        drop(registry);
        gone.map(drop).ok_or(CudaError::INVALID_VALUE)
    }

    unsafe fn set_instance_node(&self, instance: Handle, node: Handle, work: NodeWork) -> Result {
        let ready = |graph: Handle| {
            let plan = embedded::plan(&mut registry(), graph)?;
            Ok(Child { body: 0, plan: Arc::new(plan) })
        };
        // SAFETY: by contract.
        let work = unsafe { Work::new(work, ready)? };
        changes::set_instance_node(&mut registry(), instance, node, &work)
    }

    fn update_instance(&self, instance: Handle, graph: Handle) -> Result<Option<Update>> {
        changes::update(&mut registry(), instance, graph)
    }

    fn describe_graph(&self, graph: Handle, flags: u32) -> Result<String> {
        dot::describe(&mut registry(), graph, flags)
    }

    fn graph_memory(&self, which: u32) -> Result<u64> {
        device_ok()?;
        memory::attribute(which)
    }

    fn reset_graph_memory(&self, which: u32) -> Result {
        device_ok()?;
        memory::reset(which)
    }

    fn trim_graph_memory(&self) -> Result {
        device_ok()?;
        runners::wait_for_all()?;
        memory::trim();
        Ok(())
    }

    fn create_object(&self, data: *mut std::ffi::c_void, destroy: HostFunction, count: u32) -> Result<Handle> {
        Ok(handle(objects::create(data, destroy, count)))
    }

    fn retain_object(&self, object: Handle, count: u32) -> Result {
        objects::retain(object as Name, count)
    }

    fn release_object(&self, object: Handle, count: u32) -> Result {
        objects::release(object as Name, count)
    }

    fn graph_retains(&self, graph: Handle, object: Handle, count: u32, moves: bool) -> Result {
        changes::objects_of(graph, |held| objects::hold(held, object as Name, count, moves))
    }

    fn graph_releases(&self, graph: Handle, object: Handle, count: u32) -> Result {
        let gone = changes::objects_of(graph, |held| objects::let_go(held, object as Name, count))?;
        drop(gone);
        Ok(())
    }

    fn launch_graph(&self, instance: Handle, stream: Stream) -> Result {
        device_ok()?;
        streams::check(stream)?;
        // Nothing is held while it runs: it may call functions of the program.
        let plan = registry().instances.get(&(instance as Name)).cloned().ok_or(CudaError::INVALID_VALUE)?;
        let work = Work::Graph(Child { body: 0, plan: plan.clone() });
        let kept = || changes::as_node(&plan);
        capture::recorded(stream, kept, || {
            memory::begin(&plan)?;
            changes::behind_the_last(instance, stream)?;
            let choice = || Ok(if work.has_events() { Choice::Wait } else { Choice::Later(Kept::Work(work.clone())) });
            let now = |way| work.run(stream, way);
            later::submit(stream, work.may_wait(), || plan.cost(), None, choice, now)
        })
    }
}
