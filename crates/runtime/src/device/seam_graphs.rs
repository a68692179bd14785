//! The part of the seam about graphs: see `seam.rs`.

use std::ffi::c_void;

use super::seam::{HostFunction, Launch, Stream, no};
use crate::error::Result;
use crate::images::registry::Function;
use crate::types::{Copy3d, LaunchAttribute, MemsetNode};

/// A graph, one that can be launched, or a node of either.
pub type Handle = *mut c_void;

/// What a node of a graph does.
pub enum NodeWork<'a> {
    Nothing,
    Kernel(&'static Function, Launch<'a>),
    Copy {
        to: *mut c_void,
        from: *const c_void,
        count: usize,
        kind: u32,
    },
    Copy3d(&'a Copy3d),
    Fill(&'a MemsetNode),
    Host(HostFunction, *mut c_void),
    Graph(Handle),
    Wait(*mut c_void),
    Record(*mut c_void),
    /// Memory of so many bytes, at an address that is known at once.
    Allocate(usize),
    Free(*mut c_void),
}

/// What a node does, as the program reads it back. What a kernel's arguments are stays where it is until the node is changed.
pub enum NodeParams {
    Nothing,
    Kernel(&'static Function, Launch<'static>),
    Copy(Copy3d),
    Fill(MemsetNode),
    Host(HostFunction, *mut c_void),
    Graph(Handle),
    Wait(*mut c_void),
    Record(*mut c_void),
    Allocate(*mut c_void, usize),
    Free(*mut c_void),
}

/// Why an instance cannot do what a graph does: a value of `cudaGraphExecUpdateResult`, and the node of the graph.
pub struct Update {
    pub result: u32,
    pub node: Handle,
    /// What the node depends on in one of the two alone.
    pub from: Handle,
}

/// What is known of a stream that records.
pub struct Capture {
    /// The value of `cudaStreamCaptureStatus`.
    pub status: u32,
    pub id: u64,
    pub graph: Handle,
    /// What the next node will depend on.
    pub last: Vec<Handle>,
    /// Whether the graph was there before.
    pub goes_on: bool,
}

/// Graphs of work, and streams that record work in one instead of doing it.
pub trait Graphs {
    fn begin_capture(&self, _stream: Stream, _mode: u32) -> Result {
        no()
    }
    /// Goes on in a graph that is there, behind `after`.
    fn begin_capture_in(&self, _stream: Stream, _graph: Handle, _after: &[Handle], _mode: u32) -> Result {
        no()
    }
    /// Lets the next node depend on `after` too, or on that alone; `flags` as CUDA's.
    fn record_after(&self, _stream: Stream, _after: &[Handle], _flags: u32) -> Result {
        no()
    }
    fn end_capture(&self, _stream: Stream) -> Result<Handle> {
        no()
    }
    /// `None` where the stream does not record.
    fn capture(&self, _stream: Stream) -> Result<Option<Capture>> {
        no()
    }
    fn create_graph(&self) -> Result<Handle> {
        no()
    }
    fn clone_graph(&self, _graph: Handle) -> Result<Handle> {
        no()
    }
    /// What a node of a graph became in a copy of that.
    fn find_in_clone(&self, _node: Handle, _clone: Handle) -> Result<Handle> {
        no()
    }
    fn destroy_graph(&self, _graph: Handle) -> Result {
        no()
    }
    /// # Safety
    /// Pointers in the work are valid, as the caller of the CUDA function promises.
    unsafe fn add_node(&self, _graph: Handle, _after: &[Handle], _work: NodeWork) -> Result<Handle> {
        no()
    }
    /// # Safety
    /// As [`Graphs::add_node`].
    unsafe fn set_node(&self, _node: Handle, _work: NodeWork) -> Result {
        no()
    }
    fn destroy_node(&self, _node: Handle) -> Result {
        no()
    }
    /// A value that kernels set; `first` at the beginning of each launch.
    fn conditional_handle(&self, _graph: Handle, _first: Option<u32>) -> Result<u64> {
        no()
    }
    /// A node with graphs of its own that are done as a value says, and the list of these.
    fn add_conditional(
        &self,
        _graph: Handle,
        _after: &[Handle],
        _handle: u64,
        _kind: u32,
        _bodies: u32,
    ) -> Result<(Handle, *const Handle)> {
        no()
    }
    /// What a node depends on, and what depends on it.
    fn beside(&self, _node: Handle) -> Result<(Vec<Handle>, Vec<Handle>)> {
        no()
    }
    /// The value of `cudaGraphNodeType`.
    fn node_kind(&self, _node: Handle) -> Result<u32> {
        no()
    }
    fn node_params(&self, _node: Handle) -> Result<NodeParams> {
        no()
    }
    /// The value of a `cudaLaunchAttribute` of a kernel's node.
    fn node_attribute(&self, _node: Handle, _which: u32) -> Result<[u64; 8]> {
        no()
    }
    fn set_node_attribute(&self, _node: Handle, _attribute: &LaunchAttribute) -> Result {
        no()
    }
    fn copy_node_attributes(&self, _to: Handle, _from: Handle) -> Result {
        no()
    }
    /// The nodes of a graph, or those that depend on no other.
    fn nodes(&self, _graph: Handle, _only_roots: bool) -> Result<Vec<Handle>> {
        no()
    }
    /// Each node that depends on another, behind that other.
    fn edges(&self, _graph: Handle) -> Result<Vec<(Handle, Handle)>> {
        no()
    }
    fn connect(&self, _graph: Handle, _edges: &[(Handle, Handle)]) -> Result {
        no()
    }
    fn disconnect(&self, _graph: Handle, _edges: &[(Handle, Handle)]) -> Result {
        no()
    }
    fn instantiate(&self, _graph: Handle, _flags: u64) -> Result<Handle> {
        no()
    }
    fn instance_flags(&self, _instance: Handle) -> Result<u64> {
        no()
    }
    /// Lets a node be done, or left out.
    fn enable(&self, _instance: Handle, _node: Handle, _enabled: bool) -> Result {
        no()
    }
    fn is_enabled(&self, _instance: Handle, _node: Handle) -> Result<bool> {
        no()
    }
    fn destroy_instance(&self, _instance: Handle) -> Result {
        no()
    }
    /// # Safety
    /// As [`Graphs::add_node`].
    unsafe fn set_instance_node(&self, _instance: Handle, _node: Handle, _work: NodeWork) -> Result {
        no()
    }
    /// Takes over what the nodes of `graph` do, unless something forbids it.
    fn update_instance(&self, _instance: Handle, _graph: Handle) -> Result<Option<Update>> {
        no()
    }
    fn launch_graph(&self, _instance: Handle, _stream: Stream) -> Result {
        no()
    }
    /// A graph in the language of Graphviz; `flags` are those of `cudaGraphDebugDotPrint`.
    fn describe_graph(&self, _graph: Handle, _flags: u32) -> Result<String> {
        no()
    }
    /// The value of a `cudaGraphMemAttributeType`.
    fn graph_memory(&self, _which: u32) -> Result<u64> {
        no()
    }
    /// Begins anew with the highest value of an attribute.
    fn reset_graph_memory(&self, _which: u32) -> Result {
        no()
    }
    /// Gives the system back what no graph uses.
    fn trim_graph_memory(&self) -> Result {
        no()
    }
    /// Something of the program's that `destroy` is called for once nobody has it.
    fn create_object(&self, _data: *mut c_void, _destroy: HostFunction, _count: u32) -> Result<Handle> {
        no()
    }
    fn retain_object(&self, _object: Handle, _count: u32) -> Result {
        no()
    }
    fn release_object(&self, _object: Handle, _count: u32) -> Result {
        no()
    }
    /// Lets a graph have an object, of which the caller has as much less if it `moves`.
    fn graph_retains(&self, _graph: Handle, _object: Handle, _count: u32, _moves: bool) -> Result {
        no()
    }
    fn graph_releases(&self, _graph: Handle, _object: Handle, _count: u32) -> Result {
        no()
    }
}
