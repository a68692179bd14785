//! What is known of the alternatives of each launch, as data to choose by.

use mlir_bridge::ir::{Op, Region, Walk};
use regrain_dialects::ops::{Alternatives, GpuWrapper};
use regrain_tuning::{Grain, statistics::Statistics};

use crate::{
    coarsening::EPILOGUE,
    content_hash::CONTENT,
    launch_function::kernel_of_launch,
    statistics::statistics,
};

/// A launch with alternatives.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The host function.
    pub symbol: String,
    /// The original kernel.
    pub kernel: String,
    /// Block shape, where it is constant.
    pub shape: Option<[u32; 3]>,
    /// Hash of what the kernel does; empty where it was not marked.
    pub content: String,
    /// The alternatives in their order; the first is the original.
    pub candidates: Vec<Candidate>,
}

/// One alternative.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub grain: Grain,
    /// Of the launch that does most of the work; `None` if it has no loops that can be counted.
    pub statistics: Option<Statistics>,
    /// Further launches for what is left over.
    pub epilogues: u32,
}

/// The launches of a module that have alternatives, in parallel form.
pub fn launches(module: Op<'_>) -> Vec<Launch> {
    module.find_named("regrain.alternatives").into_iter().filter_map(launch).collect()
}

fn launch(op: Op<'_>) -> Option<Launch> {
    let alternatives = Alternatives::cast(op)?;
    let function = op.parent_of_name("llvm.func")?;
    let symbol = function.symbol_name()?;
    let (kernel, shape) = kernel_of_launch(symbol)?;
    let regions = alternatives.choices().into_iter().zip(alternatives.descriptions());
    Some(Launch {
        symbol: symbol.to_owned(),
        kernel: kernel.to_owned(),
        shape,
        content: function.attr(CONTENT).and_then(|hash| hash.as_str()).unwrap_or_default().to_owned(),
        candidates: regions.filter_map(|(region, name)| candidate(region, name.parse().ok()?)).collect(),
    })
}

fn candidate(region: Region<'_>, grain: Grain) -> Option<Candidate> {
    let mut wrappers = Vec::new();
    for op in region.entry().ops() {
        op.walk_pre(|inner| {
            wrappers.extend(GpuWrapper::cast(inner));
            Walk::Advance
        });
    }
    let is_epilogue = |wrapper: &&GpuWrapper<'_>| wrapper.op().has_attr(EPILOGUE);
    let main = wrappers.iter().find(|wrapper| !is_epilogue(wrapper))?;
    Some(Candidate { grain, statistics: statistics(*main), epilogues: wrappers.iter().filter(is_epilogue).count() as u32 })
}
