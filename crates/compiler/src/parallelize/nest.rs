//! A nest whose plan is to be written as CUDA C++, and what kernels and the host say alike of it.

use regrain_passes::affine::plan::Plan;
use regrain_passes::affine::sets::{Range, Weight};
use regrain_passes::affine::{Description, Reason};
use regrain_tuning::calibration::Calibration;

use super::constant::Constants;
use super::terms::{Lines, term};
use super::types::type_name;

/// A nest whose plan is to be written.
pub struct Nest<'d, 'c> {
    /// A name that no other has.
    pub name: String,
    /// What it is.
    pub description: &'d Description<'c>,
    /// What becomes of it.
    pub plan: &'d Plan,
    /// For pairs of arrays, by number, that they do not overlap.
    pub apart: Vec<(usize, usize)>,
    /// Whether the host rounds a product and a sum once.
    pub fuses: bool,
    /// How many operations a launch is to have, if that is stated.
    pub least_work: Option<u64>,
    /// What things take on the machine.
    pub calibration: Calibration,
    /// The iterations of tiles of waves in the first two dimensions, and of pieces, if they are stated.
    pub tiles: Option<([i64; 2], Option<i64>)>,
    /// What goes to constant memory.
    pub constants: Constants,
    /// The threads of a block that has a part of a loop.
    pub part_threads: u32,
    /// Whether arrays may stay on the device from one call to the next.
    pub may_stay: bool,
}

impl Nest<'_, '_> {
    /// The parameters of all functions: arguments that are no pointers, and arrays.
    pub(super) fn parameters(&self, arrays: &str) -> Result<Vec<(String, String)>, Reason> {
        let mut parameters = Vec::new();
        for (number, value) in self.description.function.region(0).entry().args().into_iter().enumerate() {
            if value.ty().ptr_space().is_none() {
                let ty = type_name(value.ty()).ok_or(Reason::Operation)?;
                parameters.push((ty.to_owned(), format!("a{number}")));
            }
        }
        for (number, array) in self.description.arrays.iter().enumerate() {
            let ty = type_name(array.element).ok_or(Reason::Element)?;
            parameters.push((format!("{ty} *"), format!("{arrays}{number}")));
        }
        Ok(parameters)
    }
}

/// How many workers the device has, as `workers`.
pub(super) fn workers(lines: &mut Lines) {
    lines.line("int workers = 1;");
    lines.line("cudaDeviceGetAttribute(&workers, cudaDevAttrMultiProcessorCount, device);");
}

/// How many operations weights are together, as C.
pub(super) fn sum(weights: &[Weight]) -> String {
    let parts: Vec<String> = weights.iter().map(product).collect();
    if parts.is_empty() { "0.0".into() } else { parts.join(" + ") }
}

/// How many operations a weight is, as C.
pub fn product(weight: &Weight) -> String {
    let of = |Range { first, last, exists, .. }: &Range| {
        format!("({} ? (double)({} - {} + 1L) : 0.0)", term(exists), term(last), term(first))
    };
    let factors = weight.ranges.iter().map(of);
    format!("{}.0{}", weight.cost, factors.map(|factor| format!(" * {factor}")).collect::<String>())
}
