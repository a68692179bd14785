//! Stores of a thread side by side, whose lanes lie anywhere, go two at a time.
//!
//! ```mlir
//! llvm.store %key, %p : i32 ; %q = llvm.getelementptr %p[4] : i8 ; llvm.store %value, %q : i32      // %p varying
//! ```
//! becomes
//! ```mlir
//! %both = llvm.bitcast (llvm.shufflevector %keys, %values [0, 8, 1, 9, ...]) : vector<16xi32> to vector<8xi64>
//! llvm.intr.masked.scatter %both, %ps, %mask
//! ```
//! A processor stores lane by lane, and each lane's address has to be taken from its vector: half as many do. The first store waits for the second,
//! which only computation may stand before.

use mlir_bridge::ir::Op;

use super::{
    classify::{Kind, kind},
    emit::{Emitted, Emitter},
    memory::{Scalar, lies_as_array},
    shapes::Shape,
    ways::Way,
};
use crate::analysis::{
    addresses::Offsets,
    objects::{escapes, root},
};

/// The widest of two stores that go as one, in bytes.
const WIDEST: u64 = 4;

impl<'c> Emitter<'c, '_> {
    /// A store that goes with this one, which is to wait for it: the one that comes next in the block, and both, the one of the lower address
    /// first.
    pub fn partner(&self, first: Op<'c>) -> Option<(Op<'c>, [Op<'c>; 2])> {
        if !self.goes_anywhere(first) {
            return None;
        }
        let computes =
            |op: &Op<'c>| matches!(kind(*op), Kind::Constant | Kind::Aggregate | Kind::Elementwise | Kind::Nothing);
        let reads_elsewhere = |op: &Op<'c>| {
            let own = root(op.operand(0));
            own.defining_op().is_some_and(|op| op.is("llvm.alloca")) && !escapes(own) && own != root(first.operand(1))
        };
        let may_be_between = |op: &Op<'c>| computes(op) || kind(*op) == Kind::Load && reads_elsewhere(op);
        let second = std::iter::successors(first.next(), |op| op.next()).find(|op| !may_be_between(op))?;
        if kind(second) != Kind::Store || !self.goes_anywhere(second) || self.is_in_tile(second) {
            return None;
        }
        let size = |store: Op<'c>| store.operand(0).ty().layout(store).0;
        let offsets = Offsets::default();
        let [one, other] = [first, second].map(|store| offsets.address(store.operand(1)));
        let distance = other.offset.as_ref().zip(one.offset.as_ref()).and_then(|(to, from)| to.distance(from))?;
        if one.root != other.root || size(first) != size(second) || distance.unsigned_abs() != u128::from(size(first)) {
            return None;
        }
        let (low, high) = if distance > 0 { (first, second) } else { (second, first) };
        Some((second, [low, high]))
    }

    /// Whether each lane of a store goes by itself.
    fn goes_anywhere(&self, store: Op<'c>) -> bool {
        let (value, address) = (store.operand(0), store.operand(1));
        let ty = value.ty();
        let plain =
            || !store.has_attr("volatile_") && store.attr("ordering").and_then(|o| o.as_int()).unwrap_or(0) == 0;
        lies_as_array(ty)
            && ty.ptr_space().is_none()
            && ty.layout(store).0 <= WIDEST
            && self.shape(address) == Shape::Varying
            && plain()
    }

    /// Makes two stores at once.
    pub fn store_pair(&mut self, [low, high]: [Op<'c>; 2]) -> Emitted<()> {
        let ctx = self.b.ctx();
        [low, high].iter().for_each(|store| self.shapes.report.note(*store, Way::Gathered));
        let scalar = *self.scalars(low, low.operand(0).ty())?.first().ok_or("a store of nothing")?;
        let bits = 8 * low.operand(0).ty().layout(low).0 as u32;
        let [first, second] = [low, high].map(|store| {
            let (value, half) = (store.operand(0), ctx.int(bits));
            let vector = self.lane_vector(value);
            if value.ty() == half { vector } else { self.lanewise("llvm.bitcast", &[vector], half) }
        });
        let lanes = self.lanes as i32;
        let in_turn: Vec<_> = (0..lanes).flat_map(|lane| [lane, lanes + lane]).collect();
        let whole = ctx.int(2 * bits);
        let both = self.lanewise("llvm.bitcast", &[self.shuffled(first, second, &in_turn)], whole);
        self.scatter(low.operand(1), &Scalar { ty: whole, ..scalar }, both);
        Ok(())
    }
}
