//! Whether what a thread loop does can be done by rows.

use mlir_bridge::ir::Op;

use super::{
    apart::Apart,
    classify::{Kind, is_known_address, kind, lane_types},
};

/// Whether all operations of a loop have forms for rows, but for those that `apart` says go before.
pub fn check<'c>(parallel: Op<'c>, apart: impl Fn(Op<'c>) -> bool) -> Result<(), Apart> {
    for op in parallel.find_all(|op| op != parallel && !op.is_terminator()) {
        let regions_fit = op.regions().into_iter().all(|region| region.is_empty() || region.single_block().is_some());
        let results_fit = op.results().into_iter().all(|result| lane_types(result.ty()).is_some());
        let fits = match kind(op) {
            _ if apart(op) => true,
            Kind::Structure => regions_fit && results_fit,
            Kind::Elementwise if op.is("llvm.getelementptr") => is_known_address(op),
            Kind::Aggregate => {
                op.attr("position").and_then(|p| p.as_i64_array()).is_none_or(|p| p.len() == 1) && results_fit
            }
            Kind::Serial => op.num_regions() == 0 && results_fit && !op.is("llvm.alloca"),
            _ => true,
        };
        if !fits {
            return Err(Apart::Operation(op.name().to_owned()));
        }
    }
    Ok(())
}
