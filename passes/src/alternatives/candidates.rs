//! What is known of the alternatives of each launch, as data to choose by.

use std::collections::BTreeMap;

use mlir_bridge::ir::{Op, Region, Walk};
use regrain_dialects::{
    attributes::{self, CONTENT, EPILOGUE},
    ops::{Alternatives, GpuWrapper},
};
use regrain_tuning::{Grain, statistics::Statistics};

use crate::{
    launch::{isolate_launches::Handles, launch_function::kernel_of},
    statistics::statistics,
};

/// A launch with alternatives.
#[derive(Clone, Debug)]
pub struct LaunchCandidates {
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
pub fn launches(module: Op<'_>) -> Vec<LaunchCandidates> {
    Alternatives::all(module).into_iter().filter_map(launch).collect()
}

fn launch(alternatives: Alternatives<'_>) -> Option<LaunchCandidates> {
    let function = alternatives.op().parent_of_name("llvm.func")?;
    let symbol = function.symbol_name()?;
    let kernel = kernel_of(function)?;
    let regions = alternatives.choices().into_iter().zip(alternatives.descriptions());
    Some(LaunchCandidates {
        symbol: symbol.to_owned(),
        kernel: kernel.to_owned(),
        shape: attributes::block_shape(function),
        content: attributes::text(function, CONTENT).unwrap_or_default().to_owned(),
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
    Some(Candidate {
        grain,
        statistics: statistics(*main),
        epilogues: wrappers.iter().filter(is_epilogue).count() as u32,
    })
}

/// The kernel that does most of the work of each alternative in host code, by the host function's name and the grain. The
/// original is not among them.
pub fn main_kernels(host: Op<'_>) -> Vec<(String, Grain, String)> {
    let handles = Handles::of(host);
    let mut found = Vec::new();
    for alternatives in Alternatives::all(host) {
        let Some(function) = alternatives.op().parent_of_name("llvm.func") else { continue };
        let (Some(symbol), Some(kernel)) = (function.symbol_name(), kernel_of(function)) else { continue };
        for (region, name) in alternatives.choices().into_iter().zip(alternatives.descriptions()) {
            let Ok(grain) = name.parse() else { continue };
            let mut launched = Vec::new();
            for op in region.entry().ops() {
                op.walk_pre(|inner| {
                    launched.extend(handles.launched(inner).filter(|_| !handles.is_rest(inner)));
                    Walk::Advance
                });
            }
            let main = launched.into_iter().find(|name| *name != kernel);
            found.extend(main.map(|main| (symbol.to_owned(), grain, main.to_owned())));
        }
    }
    found
}

/// Which alternatives stay, by the host function's name: their grains. With one left there is nothing to choose any more.
pub type Kept = BTreeMap<String, Vec<Grain>>;

/// Drops the alternatives that are not kept. Launches that are not in `kept` keep the original alone.
pub fn retain(module: Op<'_>, kept: &Kept) {
    // Those within first: one that is not kept takes them along.
    for alternatives in Alternatives::all(module).into_iter().rev() {
        let symbol = alternatives.op().parent_of_name("llvm.func").and_then(Op::symbol_name).unwrap_or_default();
        let wanted = kept.get(symbol).map_or(&[][..], Vec::as_slice);
        let stays = |at: usize, name: &str| match wanted {
            [] => at == 0,
            wanted => name.parse().is_ok_and(|grain: Grain| wanted.contains(&grain)),
        };
        if !alternatives.descriptions().iter().enumerate().any(|(at, name)| stays(at, name)) {
            alternatives.select(0);
            continue;
        }
        let left = alternatives.retain(stays);
        if left.choices().len() == 1 {
            left.select(0);
        }
    }
}
