//! A graph in the language of Graphviz, for people to look at.

use std::fmt::Write as _;

use super::graph::{Graph, Name, Registry};
use super::says;
use super::work::Work;
use crate::device::seam::NodeParams;
use crate::error::Result;

/// Values of `cudaGraphDebugDotFlags`.
const VERBOSE: u32 = 1;
const HANDLES: u32 = 1 << 10;

fn kind(work: &Work) -> &'static str {
    match work {
        Work::Kernel(_) => "KERNEL",
        Work::Fill(_) | Work::Fill2d(_) | Work::Fill3d(..) => "MEMSET",
        Work::Host(..) => "HOST",
        Work::Graph(_) => "GRAPH",
        Work::Conditional(_) => "CONDITIONAL",
        Work::Nothing => "EMPTY",
        Work::Wait(_) => "EVENT_WAIT",
        Work::Record(_) => "EVENT_RECORD",
        Work::Allocate(_) => "MEM_ALLOC",
        Work::Free(_) => "MEM_FREE",
        _ => "MEMCPY",
    }
}

/// What is said of a node beside its kind; `flags` have a bit for each kind.
fn details(work: &Work, flags: u32) -> String {
    let wanted = |bit: u32| flags & (VERBOSE | 1 << bit) != 0;
    match says::params(work) {
        Ok(NodeParams::Kernel(function, launch)) => {
            let mut text = format!("|{}", function.name.to_string_lossy());
            if wanted(2) {
                let [grid, block] = [launch.grid, launch.block].map(|dim| dim.array());
                let _ = write!(text, "|{{grid|{grid:?}}}|{{block|{block:?}}}|{{shared bytes|{}}}", launch.shared);
            }
            text
        }
        Ok(NodeParams::Copy(copy)) if wanted(3) => {
            let extent = copy.extent;
            format!("|{{extent|{} x {} x {}}}|{{kind|{}}}", extent.width, extent.height, extent.depth, copy.kind)
        }
        Ok(NodeParams::Fill(fill)) if wanted(4) => {
            format!("|{{value|{}}}|{{extent|{} x {} of {}}}", fill.value, fill.width, fill.height, fill.element)
        }
        Ok(NodeParams::Host(_, data)) if wanted(5) => format!("|{{data|{data:?}}}"),
        Ok(NodeParams::Wait(event) | NodeParams::Record(event)) if wanted(6) => format!("|{{event|{event:?}}}"),
        Ok(NodeParams::Allocate(pointer, size)) => format!("|{{address|{pointer:?}}}|{{bytes|{size}}}"),
        Ok(NodeParams::Free(pointer)) => format!("|{{address|{pointer:?}}}"),
        _ => String::new(),
    }
}

fn insides(work: &Work) -> Vec<Name> {
    match work {
        Work::Graph(child) => vec![child.body],
        Work::Conditional(condition) => condition.names().to_vec(),
        _ => Vec::new(),
    }
}

/// One graph, and those inside of its nodes; `next` numbers them.
fn cluster(registry: &Registry, graph: &Graph, flags: u32, next: &mut usize, text: &mut String) {
    let number = *next;
    *next += 1;
    let _ = writeln!(text, "subgraph cluster_{number} {{\nlabel=\"graph_{number}\" graph[style=\"dashed\"];");
    let place = |name: &Name| graph.nodes.iter().position(|node| node.name == *name).unwrap_or_default();
    for (at, node) in graph.nodes.iter().enumerate() {
        let shape = if matches!(node.work, Work::Kernel(_)) { "octagon" } else { "rectangle" };
        let handle =
            if flags & (VERBOSE | HANDLES) == 0 { String::new() } else { format!("|{{handle|{:#x}}}", node.name) };
        // What is in the braces of a record must not be taken for its parts.
        let label = format!("{at}|{}{}{handle}", kind(&node.work), details(&node.work, flags));
        let shape = if label.contains('{') { "record" } else { shape };
        let label = label.replace('"', "'").replace(['<', '>'], " ");
        let label = if shape == "record" { label } else { label.replace('|', "\\n") };
        let _ = writeln!(text, "\"graph_{number}_node_{at}\"[shape=\"{shape}\" label=\"{label}\"];");
    }
    for (at, node) in graph.nodes.iter().enumerate() {
        for from in &node.after {
            let from = place(from);
            let _ = writeln!(text, "\"graph_{number}_node_{from}\" -> \"graph_{number}_node_{at}\";");
        }
    }
    let inside = graph.nodes.iter().flat_map(|node| insides(&node.work));
    for body in inside.filter_map(|name| registry.graphs.get(&name)) {
        cluster(registry, body, flags, next, text);
    }
    text.push_str("}\n");
}

/// The text for a graph.
pub fn describe(registry: &mut Registry, graph: *mut std::ffi::c_void, flags: u32) -> Result<String> {
    registry.graph(graph)?;
    let mut text = "digraph dot {\n".to_owned();
    if let Some(found) = registry.graphs.get(&(graph as Name)) {
        cluster(registry, found, flags, &mut 1, &mut text);
    }
    text.push_str("}\n");
    Ok(text)
}
