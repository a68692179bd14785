//! Loads that together read all that lies between the lanes.
//!
//! ```mlir
//! %a = llvm.load %p ; %b = llvm.load %p + 4 ; %c = llvm.load %p + 8 ; %d = llvm.load %p + 12     // %p: 16 bytes from lane to lane
//! ```
//! Each of them on its own would load all of it and take a fourth. Once loaded, and transposed as tiles are (`blocks.rs`), it has the vectors
//! of all.

use mlir_bridge::ir::{Op, Value};

use super::{
    classify::is_ordinary,
    emit::Emitter,
    memory::{MOST_APART, kept_attrs, lies_as_array},
    parts::transposed,
    shapes::Shapes,
};
use crate::analysis::addresses::Offsets;

/// The least bytes of a thread: as many vectors of fewer are more than what lies between the lanes in registers.
pub const LEAST: i64 = 16;
/// How many operations further on the last of the loads may stand.
const FARTHEST: usize = 128;

/// The loads of a comb, in the order of what they read.
pub struct Comb<'c> {
    pub loads: Vec<Op<'c>>,
    /// From the address of the load that comes first in its block to the lowest address, in bytes.
    lowest: i64,
    /// From lane to lane.
    stride: i64,
}

impl<'c> Comb<'c> {
    /// The comb that begins with a load, if all of it is read before anything is stored.
    pub fn of(shapes: &Shapes<'c>, lanes: u32, load: Op<'c>) -> Option<Self> {
        let ty = load.result(0).ty();
        let size = ty.layout(load).0.cast_signed();
        let stride =
            shapes.stride(load.operand(0)).filter(|stride| *stride > size && *stride >= LEAST && stride % size == 0)?;
        let width = stride / size;
        if !is_ordinary(load) || !lies_as_array(ty) || width > MOST_APART.min(lanes.into()) || width.count_ones() != 1 {
            return None;
        }
        let offsets = Offsets::default();
        let own = offsets.address(load.operand(0));
        let own_offset = own.offset?;
        let mut found = vec![(0, load)];
        let after = load.block()?.ops().into_iter().skip_while(|op| *op != load).skip(1);
        for op in after.take(FARTHEST) {
            if !op.is("llvm.load") {
                if op.num_regions() > 0 || !op.is_memory_effect_free() {
                    break;
                }
                continue;
            }
            let place = offsets.address(op.operand(0));
            let distance = place.offset.filter(|_| place.root == own.root).and_then(|at| at.distance(&own_offset));
            let Some(distance) = distance.and_then(|distance| i64::try_from(distance).ok()) else { continue };
            let fits = op.result(0).ty() == ty && is_ordinary(op) && shapes.stride(op.operand(0)) == Some(stride);
            let near = distance.abs() < stride && distance % size == 0;
            if fits && near && !found.iter().any(|(other, _)| *other == distance) {
                found.push((distance, op));
            }
        }
        found.sort_unstable_by_key(|(distance, _)| *distance);
        let all = |low: &i64| (0..width).all(|number| found.iter().any(|(at, _)| *at == low + number * size));
        let lowest = (0..width).map(|number| -number * size).find(all)?;
        let loads = found.iter().filter(|(at, _)| (lowest..lowest + stride).contains(at)).map(|(_, op)| *op);
        Some(Self { loads: loads.collect(), lowest, stride })
    }

    /// What each of the loads costs, in slots, where a vector takes so many registers: loading its share, and being transposed.
    pub fn cost(&self, registers: u64) -> u64 {
        4 * registers * (2 + u64::from(self.loads.len().ilog2()))
    }
}

impl<'c> Emitter<'c, '_> {
    /// The vector of a load of a comb: the first one makes those of all.
    pub fn load_in_comb(&mut self, load: Op<'c>) -> Option<Value<'c>> {
        if let Some(made) = self.tile.combed.remove(&load) {
            return Some(made);
        }
        let comb = Comb::of(self.shapes, self.lanes, load).filter(|_| self.mask.is_none())?;
        let ctx = self.b.ctx();
        let width = comb.loads.len();
        let ty = ctx.vector(load.result(0).ty(), width as u32);
        let size = load.result(0).ty().layout(load).0.cast_signed();
        let pointers = self.pointers_from(self.scalar(load.operand(0)), comb.stride, comb.lowest);
        let rows = (0..width).map(|row| {
            let lanes = pointers[row..].iter().step_by(width).map(|pointer| {
                let spec = self.b.op("llvm.load").operands(&[*pointer]).attrs(&kept_attrs(load));
                let spec = spec.attr("alignment", ctx.i64_attr(size)).attr("ordering", ctx.i64_attr(0));
                spec.result(ty).build().result(0)
            });
            self.joined(&lanes.collect::<Vec<_>>())
        });
        let vectors = transposed(self.b, rows.collect());
        self.tile.combed.extend(comb.loads.into_iter().zip(vectors));
        self.tile.combed.remove(&load)
    }
}
