//! Loads that together read all that lies between the lanes, and stores that write all of it.
//!
//! ```mlir
//! %a = llvm.load %p ; %b = llvm.load %p + 4 ; %c = llvm.load %p + 8 ; %d = llvm.load %p + 12     // %p: 16 bytes from lane to lane
//! ```
//! Each of them on its own would load all of it and take a fourth. Once loaded, and transposed as tiles are (`blocks.rs`), it has the vectors
//! of all. Stores on their own would go lane by lane; here they wait for the last of them, which only computation may stand before.

use mlir_bridge::ir::{Attr, Op, Value};

use super::{
    classify::is_ordinary,
    emit::Emitter,
    memory::{MOST_APART, kept_attrs, lies_as_array},
    parts::transposed,
    shapes::Shapes,
    ways::Way,
};
use crate::analysis::addresses::Offsets;

/// The least bytes of a thread that are loaded so: as many vectors of fewer are more than what lies between the lanes in registers. What a thread
/// stores of fewer is put in turn with that of the others.
pub const LEAST: i64 = 16;
/// How many operations further on the last of the accesses may stand.
const FARTHEST: usize = 128;

/// The accesses of a comb, in the order of the memory that they are of.
pub struct Comb<'c> {
    pub accesses: Vec<Op<'c>>,
    /// The one that comes first in its block.
    first: Op<'c>,
    /// From its address to the lowest one, in bytes.
    lowest: i64,
    /// From lane to lane.
    stride: i64,
}

/// The value that a load gives or a store takes, and the address of either.
fn parts(access: Op<'_>) -> (Value<'_>, Value<'_>) {
    if access.is("llvm.store") { (access.operand(0), access.operand(1)) } else { (access.result(0), access.operand(0)) }
}

impl<'c> Comb<'c> {
    /// The comb that begins with an access, if all of it is read before anything is stored, or stored before anything else is accessed.
    pub fn of(shapes: &Shapes<'c>, lanes: u32, first: Op<'c>) -> Option<Self> {
        let stores = first.is("llvm.store");
        let (value, address) = parts(first);
        let ty = value.ty();
        let size = ty.layout(first).0.cast_signed();
        let least = if stores { 0 } else { LEAST };
        let stride =
            shapes.stride(address).filter(|stride| *stride > size && *stride >= least && stride % size == 0)?;
        let width = stride / size;
        if !is_ordinary(first) || !lies_as_array(ty) || width > MOST_APART.min(lanes.into()) || width.count_ones() != 1
        {
            return None;
        }
        let offsets = Offsets::default();
        let own = offsets.address(address);
        let own_offset = own.offset?;
        let mut found = vec![(0, first)];
        let lowest = |found: &[(i64, Op<'c>)]| {
            let all = |low: &i64| (0..width).all(|number| found.iter().any(|(at, _)| *at == low + number * size));
            (0..width).map(|number| -number * size).find(all)
        };
        let after = first.block()?.ops().into_iter().skip_while(|op| *op != first).skip(1);
        for op in after.take(FARTHEST) {
            if op.name() != first.name() {
                if op.num_regions() > 0 || !op.is_memory_effect_free() {
                    break;
                }
                continue;
            }
            let (value, address) = parts(op);
            let place = offsets.address(address);
            let distance = place.offset.filter(|_| place.root == own.root).and_then(|at| at.distance(&own_offset));
            let distance = distance.and_then(|distance| i64::try_from(distance).ok());
            let fits = value.ty() == ty && is_ordinary(op) && shapes.stride(address) == Some(stride);
            let near = |distance: &i64| distance.abs() < stride && distance % size == 0;
            let new = |distance: &i64| !found.iter().any(|(other, _)| other == distance);
            match distance.filter(|distance| fits && near(distance) && new(distance)) {
                Some(distance) => found.push((distance, op)),
                // What it writes may be what one before it wrote.
                None if stores => break,
                None => continue,
            }
            if stores && lowest(&found).is_some() {
                break;
            }
        }
        found.sort_unstable_by_key(|(distance, _)| *distance);
        let lowest = lowest(&found)?;
        let accesses = found.iter().filter(|(at, _)| (lowest..lowest + stride).contains(at)).map(|(_, op)| *op);
        Some(Self { accesses: accesses.collect(), first, lowest, stride })
    }

    /// What each of the accesses costs, in slots, where a vector takes so many registers: its share of the memory, and being transposed.
    pub fn cost(&self, registers: u64) -> u64 {
        4 * registers * (2 + u64::from(self.accesses.len().ilog2()))
    }

    /// What is true of all accesses.
    fn attrs(&self) -> Vec<(&'c str, Attr<'c>)> {
        let of_all = |(name, attr): &(&str, Attr<'c>)| self.accesses.iter().all(|op| op.attr(name) == Some(*attr));
        kept_attrs(self.first).into_iter().filter(of_all).collect()
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
        let width = comb.accesses.len();
        let ty = ctx.vector(load.result(0).ty(), width as u32);
        let attrs = comb.attrs();
        let size = load.result(0).ty().layout(load).0.cast_signed();
        let pointers = self.pointers_from(self.scalar(load.operand(0)), comb.stride, comb.lowest);
        let rows = (0..width).map(|row| {
            let lanes = pointers[row..].iter().step_by(width).map(|pointer| {
                let spec = self.b.op("llvm.load").operands(&[*pointer]).attrs(&attrs);
                let spec = spec.attr("alignment", ctx.i64_attr(size)).attr("ordering", ctx.i64_attr(0));
                spec.result(ty).build().result(0)
            });
            self.joined(&lanes.collect::<Vec<_>>())
        });
        let vectors = transposed(self.b, rows.collect());
        self.tile.combed.extend(comb.accesses.into_iter().zip(vectors));
        self.tile.combed.remove(&load)
    }

    /// Whether a store is one of a comb: the last one makes them all.
    pub fn store_in_comb(&mut self, store: Op<'c>) -> bool {
        if let Some(first) = self.tile.combing.remove(&store) {
            if let Some(comb) = first.and_then(|first| Comb::of(self.shapes, self.lanes, first)) {
                self.store_comb(&comb);
            }
        } else {
            let alone = |comb: &Comb<'c>| self.mask.is_none() && !comb.accesses.iter().any(|op| self.is_in_tile(*op));
            let Some(comb) = Comb::of(self.shapes, self.lanes, store).filter(alone) else { return false };
            let later = || comb.accesses.iter().copied().filter(|op| *op != store);
            let last = later().reduce(|one, other| if one.is_before(other) { other } else { one });
            self.tile.combing.extend(later().map(|op| (op, (Some(op) == last).then_some(store))));
        }
        self.shapes.report.note(store, Way::Transposed);
        true
    }

    fn store_comb(&self, comb: &Comb<'c>) {
        let ctx = self.b.ctx();
        let vectors: Vec<_> = comb.accesses.iter().map(|store| self.lane_vector(store.operand(0))).collect();
        let (width, attrs) = (vectors.len(), comb.attrs());
        let size = comb.stride / width as i64;
        let base = self.scalar(comb.first.operand(1));
        let store = |vector: Value<'c>, pointer: Value<'c>| {
            let spec = self.b.op("llvm.store").operands(&[vector, pointer]).attrs(&attrs);
            spec.attr("alignment", ctx.i64_attr(size)).attr("ordering", ctx.i64_attr(0)).build();
        };
        if comb.stride < LEAST {
            store(self.in_turn(&vectors), self.moved(base, comb.lowest));
            return;
        }
        let pointers = self.pointers_from(base, comb.stride, comb.lowest);
        let rows = transposed(self.b, vectors);
        for (lane, pointer) in pointers.into_iter().enumerate() {
            let (row, square) = (rows[lane % width], lane / width * width);
            let own: Vec<_> = (square as i32..).take(width).collect();
            store(if width == self.lanes as usize { row } else { self.shuffled(row, row, &own) }, pointer);
        }
    }

    /// The first lanes of all vectors, a power of two of them, then the second ones, and so on.
    fn in_turn(&self, vectors: &[Value<'c>]) -> Value<'c> {
        if let [one] = vectors {
            return *one;
        }
        let each = |from: usize| vectors.iter().skip(from).step_by(2).copied().collect::<Vec<_>>();
        let (even, odd) = (self.in_turn(&each(0)), self.in_turn(&each(1)));
        let lanes = even.ty().vector_parts().map_or(0, |(_, lanes)| lanes as i32);
        let lanes: Vec<_> = (0..lanes).flat_map(|lane| [lane, lanes + lane]).collect();
        self.shuffled(even, odd, &lanes)
    }
}
