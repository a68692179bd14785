//! Operations of a warp, whose lanes are the lanes of the row.
//!
//! ```mlir
//! %r, %ok = regrain.shuffle bfly %v, %offset, %clamp mask %all(%x, %y, %z)
//! ```
//! becomes, where the offset is the same for all lanes,
//! ```mlir
//! %r = scf.index_switch %offset case 1 { llvm.shufflevector %v [1, 0, 3, 2, ...] } case 2 { ... } default { through memory }
//! ```
//! so that the optimiser, once it has unrolled the loop over offsets, is left with one permutation for each. The meaning is that of
//! `split_barriers/warp.rs`: a lane that is masked off or not named gives 0, one out of range gives the reader its own.

use mlir_bridge::ir::{Builder, Op, Value};
use regrain_dialects::ops::{
    ActiveMask, Match, MatchKind, Shuffle, ShuffleKind, Vote, VoteKind, WarpBarrier, WarpCall, WarpReduce,
    WarpReduceKind,
};

use regrain_targets::device_language::matrices;

use super::{
    classify::is_ordinary,
    emit::{Emitted, Emitter, Row},
    machine::WARP,
    shapes::Shape,
};
use crate::{
    analysis::{
        addresses::Offsets,
        facts::{constant, width},
    },
    lower::{stack::cell_type, warp_functions},
};

/// Distances over which programs shuffle.
const USUAL: [i64; 5] = [1, 2, 4, 8, 16];

/// Where a shuffle reads, lane by lane.
struct Source<'c> {
    lane: Value<'c>,
    /// Whether it is within range; else the lane is the reader's own.
    ok: Value<'c>,
}

/// A half of a number of 64 bits.
struct Half<'c> {
    whole: Value<'c>,
    high: bool,
}

impl<'c> Half<'c> {
    fn of(value: Value<'c>) -> Option<Self> {
        let is_64 = |value: Value<'c>| width(value.ty()) == Some(64) && !value.ty().is_index();
        let op = value.defining_op().filter(|op| matches!(op.name(), "llvm.trunc" | "arith.trunci"))?;
        let whole = op.operand(0);
        (width(value.ty()) == Some(32) && is_64(whole)).then_some(())?;
        let shift = whole.defining_op().filter(|op| matches!(op.name(), "llvm.lshr" | "arith.shrui"));
        match shift.filter(|shift| constant(shift.operand(1)) == Some(32)) {
            Some(shift) => Some(Self { whole: shift.operand(0), high: true }),
            None => Some(Self { whole, high: false }),
        }
    }
}

/// Drops barriers of warps that no access of memory stands before, or after: a thread loop begins and ends for all threads together.
pub fn drop_outer_barriers(parallel: Op<'_>) {
    let mut ops = parallel.body().ops();
    ops.pop();
    for _ in 0..2 {
        let outer = ops.iter().take_while(|op| op.is(WarpBarrier::NAME) || op.is_pure()).count();
        let is_outer = |op: &Op<'_>| op.is(WarpBarrier::NAME);
        ops.drain(..outer).filter(is_outer).for_each(Op::erase);
        ops.reverse();
    }
}

impl<'c> Emitter<'c, '_> {
    pub fn warp(&mut self, op: Op<'c>) -> Emitted<()> {
        match op.name() {
            Shuffle::NAME => self.shuffle(Shuffle::of(op)),
            Vote::NAME => self.vote(Vote::of(op)),
            Match::NAME => self.match_lanes(Match::of(op)),
            WarpReduce::NAME => self.warp_reduce(WarpReduce::of(op)),
            WarpCall::NAME => {
                self.warp_call(WarpCall::of(op));
                Ok(())
            }
            ActiveMask::NAME => {
                let bits = self.bits(self.mask_vector());
                self.set(op.result(0), Row::Scalar(bits));
                Ok(())
            }
            name => Err(format!("{name} is not known")),
        }
    }

    /// All lanes lay their values side by side, and find there what the function made of them.
    fn warp_call(&mut self, call: WarpCall<'c>) {
        let (values, results) = (call.values(), call.op().results());
        let (word, ctx) = (results[0].ty(), self.b.ctx());
        self.slots.release();
        let mut area = |words: usize| self.slots.take(ctx.llvm_array(word, words as u32), self.lanes);
        let (made, given) = (area(results.len()), area(values.len()));
        let place = |b: Builder<'c>, area, number: usize| {
            let first = b.const_int(ctx.int(64), number as i64 * WARP as i64);
            b.llvm_element_at(area, word, first)
        };
        match self.loaded_by_lane(call) {
            Some(address) => {
                let parts = values.len() as i64;
                // Each lane's words are a vector.
                for lane in 0..i64::from(self.lanes) * results.len() as i64 / parts {
                    let from = self.of_lane(address, self.b.const_i32(lane as i32));
                    let loaded = self.b.llvm_load(from, ctx.vector(word, parts as u32), Some(4));
                    let at = self.b.llvm_element_at(made, word, self.b.const_int(ctx.int(64), lane * parts));
                    self.b.llvm_store(loaded, at, Some(16));
                }
            }
            None => {
                for (number, value) in values.iter().enumerate() {
                    let at = place(self.b, given, number);
                    self.store_vector(self.lane_vector(*value), word, at);
                }
                warp_functions::call(self.b, call, made, given);
            }
        }
        for (number, result) in results.iter().enumerate() {
            let vector = self.load_lanes(word, place(self.b, made, number));
            self.set(*result, Row::Vectors(vec![vector]));
        }
    }

    /// The address of the first of four words that each lane has loaded side by side, just before a call that leaves them in this order.
    fn loaded_by_lane(&self, call: WarpCall<'c>) -> Option<Value<'c>> {
        if self.mask.is_some() || !matrices::is_by_lane(call.function()) {
            return None;
        }
        let load = |value: Value<'c>| value.defining_op().filter(|op| op.is("llvm.load") && is_ordinary(*op));
        let mut loads = call.values().into_iter().map(load).collect::<Option<Vec<_>>>()?;
        let address = loads.first()?.operand(0);
        let offsets = Offsets::default();
        let first = offsets.address(address);
        let start = first.offset?;
        for (number, load) in (0..).zip(&loads) {
            let place = offsets.address(load.operand(0));
            (place.root == first.root && place.offset?.distance(&start) == Some(4 * number)).then_some(())?;
        }
        let before = call.op().block()?.ops().into_iter().take_while(|op| *op != call.op());
        for op in before.collect::<Vec<_>>().into_iter().rev() {
            loads.retain(|load| *load != op);
            if loads.is_empty() {
                return Some(address);
            }
            (op.num_regions() == 0 && (op.is("llvm.load") || op.is_memory_effect_free())).then_some(())?;
        }
        None
    }

    fn lanes_i32(&self) -> Value<'c> {
        self.constants(self.b.ctx().int(32), 0..i64::from(self.lanes))
    }

    fn numbers(&self, number: i64) -> Value<'c> {
        self.splat_int(self.b.ctx().int(32), number)
    }

    /// Whether bit `number` of a word is set, lane by lane.
    fn bit(&self, word: Value<'c>, number: Value<'c>) -> Value<'c> {
        let shifted = self.b.arith("shrui", word, number);
        self.lanewise("arith.trunci", &[shifted], self.i1())
    }

    fn source(&self, kind: ShuffleKind, offset: Value<'c>, clamp: Value<'c>) -> Source<'c> {
        let b = self.b;
        let (own, five) = (self.lanes_i32(), self.numbers(i64::from(WARP) - 1));
        let distance = b.arith("andi", offset, five);
        let segment = b.arith("andi", b.arith("shrui", clamp, self.numbers(8)), five);
        let within = b.arith("xori", segment, five);
        let start = b.arith("andi", own, segment);
        let bound = b.arith("ori", start, b.arith("andi", clamp, within));
        let (source, predicate) = match kind {
            ShuffleKind::Idx => (b.arith("ori", start, b.arith("andi", distance, within)), "sle"),
            ShuffleKind::Up => (b.arith("subi", own, distance), "sge"),
            ShuffleKind::Down => (b.arith("addi", own, distance), "sle"),
            ShuffleKind::Bfly => (b.arith("xori", own, distance), "sle"),
        };
        let ok = self.compare(predicate, source, bound);
        Source { lane: self.select(ok, source, own), ok }
    }

    fn shuffle(&mut self, shuffle: Shuffle<'c>) -> Emitted<()> {
        let (value, ok) = (shuffle.op().result(0), shuffle.op().result(1));
        if self.shapes.is_uniform(value) {
            self.broadcast(shuffle);
            return Ok(());
        }
        let source = self.source(shuffle.kind(), self.lane_vector(shuffle.offset()), self.lane_vector(shuffle.clamp()));
        let vectors = self.vectors(shuffle.value());
        let mut made = Vec::new();
        for vector in vectors {
            let moved = self.permuted(&shuffle, vector, &source)?;
            made.push(self.of_live(&shuffle, &source, moved));
        }
        self.set(value, Row::Vectors(made));
        self.set(ok, Row::Vectors(vec![source.ok]));
        Ok(())
    }

    /// 0 where the source takes no part.
    fn of_live(&self, shuffle: &Shuffle<'c>, source: &Source<'c>, moved: Value<'c>) -> Value<'c> {
        let named = constant(shuffle.mask()) != Some(-1);
        if self.mask.is_none() && !named {
            return moved;
        }
        let own = self.compare("eq", source.lane, self.lanes_i32());
        let mut live = match self.mask {
            Some(mask) => {
                let bits = self.bits(mask);
                self.bit(self.splat(bits), source.lane)
            }
            None => self.splat_int(self.i1(), 1),
        };
        if named {
            live = self.both(live, self.bit(self.lane_vector(shuffle.mask()), source.lane));
        }
        let zero = self.b.value("llvm.mlir.zero", &[], moved.ty());
        self.select(self.b.arith("ori", live, own), moved, zero)
    }

    /// A shuffle that gives all lanes what one has.
    fn broadcast(&mut self, shuffle: Shuffle<'c>) {
        let b = self.b;
        let (value, ok) = (shuffle.op().result(0), shuffle.op().result(1));
        self.set(ok, Row::Scalar(b.const_int(self.i1(), 1)));
        let lane = b.arith("andi", self.scalar(shuffle.offset()), b.const_i32(WARP as i32 - 1));
        let one = self.of_lane(shuffle.value(), lane);
        let live = match self.mask {
            Some(mask) => {
                let shifted = b.arith("shrui", self.bits(mask), lane);
                b.value("arith.trunci", &[shifted], self.i1())
            }
            None => b.const_int(self.i1(), 1),
        };
        let zero = b.value("llvm.mlir.zero", &[], one.ty());
        self.set(value, Row::Scalar(self.select(live, one, zero)));
    }

    /// `vector` with the lanes of `source`.
    fn permuted(&mut self, shuffle: &Shuffle<'c>, vector: Value<'c>, source: &Source<'c>) -> Emitted<Value<'c>> {
        if let Some(clamp) = constant(shuffle.clamp()) {
            return self.permuted_within(shuffle, vector, source, clamp);
        }
        // The bound says who keeps its own, and for other kinds not where the others read.
        let widest = match shuffle.kind() {
            ShuffleKind::Idx => return Ok(self.through_memory(shuffle.op(), vector, source.lane)),
            ShuffleKind::Up => 0,
            ShuffleKind::Down | ShuffleKind::Bfly => i64::from(WARP) - 1,
        };
        let moved = self.permuted_within(shuffle, vector, source, widest)?;
        Ok(self.select(source.ok, moved, vector))
    }

    /// The same with this bound, or this one or a narrower one.
    fn permuted_within(
        &mut self,
        shuffle: &Shuffle<'c>,
        vector: Value<'c>,
        source: &Source<'c>,
        clamp: i64,
    ) -> Emitted<Value<'c>> {
        if let Some(offset) = constant(shuffle.offset()) {
            return Ok(self.fixed_half(shuffle, vector, offset, clamp));
        }
        if !self.shapes.is_uniform(shuffle.offset()) {
            return Ok(self.through_memory(shuffle.op(), vector, source.lane));
        }
        let ctx = self.b.ctx();
        let offset = self.b.index_cast(self.scalar(shuffle.offset()), ctx.index());
        let spec = self.b.op("scf.index_switch").operands(&[offset]).attr("cases", ctx.i64_array_attr(&USUAL));
        let made = spec.result(vector.ty()).regions(1 + USUAL.len()).build();
        for number in 0..=USUAL.len() {
            let block = made.region(number).append_block(&[], self.b.loc);
            let mask = self.mask;
            self.within(block, mask, |this| {
                let moved = match number {
                    0 => this.through_memory(shuffle.op(), vector, source.lane),
                    _ => this.fixed(shuffle.kind(), vector, USUAL[number - 1], clamp),
                };
                this.b.scf_yield(&[moved]);
                Ok(())
            })?;
        }
        Ok(made.result(0))
    }

    /// A permutation that is known, of `vector`. Numbers of 64 bits are shuffled in halves: where it is one, both are of one permutation.
    fn fixed_half(&self, shuffle: &Shuffle<'c>, vector: Value<'c>, offset: i64, clamp: i64) -> Value<'c> {
        let half = Half::of(shuffle.value()).and_then(|half| match self.known.get(&half.whole) {
            Some(Row::Vectors(vectors)) => Some((half, vectors[0])),
            _ => None,
        });
        let Some((half, whole)) = half else { return self.fixed(shuffle.kind(), vector, offset, clamp) };
        let moved = self.fixed(shuffle.kind(), whole, offset, clamp);
        let i64 = self.b.ctx().int(64);
        let wanted = if half.high { self.b.arith("shrui", moved, self.splat_int(i64, 32)) } else { moved };
        self.lanewise("arith.trunci", &[wanted], self.b.ctx().int(32))
    }

    /// A permutation that is known.
    fn fixed(&self, kind: ShuffleKind, vector: Value<'c>, offset: i64, clamp: i64) -> Value<'c> {
        let five = i64::from(WARP) - 1;
        let (distance, segment) = (offset & five, (clamp >> 8) & five);
        let within = segment ^ five;
        let lanes = (0..i64::from(WARP)).map(|own| {
            let start = own & segment;
            let bound = start | (clamp & within);
            let (source, ok) = match kind {
                ShuffleKind::Idx => (start | (distance & within), (start | (distance & within)) <= bound),
                ShuffleKind::Up => (own - distance, own - distance >= bound),
                ShuffleKind::Down => (own + distance, own + distance <= bound),
                ShuffleKind::Bfly => (own ^ distance, (own ^ distance) <= bound),
            };
            if ok { source as i32 } else { own as i32 }
        });
        let mask = self.b.ctx().i32_array_attr(&lanes.collect::<Vec<_>>());
        let spec = self.b.op("llvm.shufflevector").operands(&[vector, vector]).attr("mask", mask);
        spec.result(vector.ty()).build().result(0)
    }

    /// A permutation by numbers that are known only when it runs.
    fn through_memory(&mut self, op: Op<'c>, vector: Value<'c>, lanes: Value<'c>) -> Value<'c> {
        let ctx = self.b.ctx();
        let (ty, _) = vector.ty().vector_parts().expect("a vector of the row");
        self.slots.release();
        let cell = cell_type(ctx, ty);
        let slot = self.slots.take(cell, self.lanes);
        self.store_vector(vector, ty, slot);
        let pointers = self.b.llvm_element_at(slot, cell, lanes);
        let all = self.splat_int(self.i1(), 1);
        let none = self.poison(self.vector(cell));
        let alignment = ctx.i32_attr(cell.layout(op).0 as i32);
        let spec = self.b.op("llvm.intr.masked.gather").operands(&[pointers, all, none]).attr("alignment", alignment);
        let raw = spec.result(self.vector(cell)).build().result(0);
        if cell == ty { raw } else { self.lanewise("arith.trunci", &[raw], ty) }
    }

    /// The lanes that take part and are named, each for itself if names differ, and those of them whose predicate holds.
    fn vote(&mut self, vote: Vote<'c>) -> Emitted<()> {
        let result = vote.op().result(0);
        let predicate = self.lane_vector(vote.predicate());
        let yes = self.bits(self.and_mask(predicate));
        let live = self.bits(self.mask_vector());
        let row = match self.shape(result) {
            Shape::Uniform => {
                let named = self.scalar(vote.mask());
                let compare = |a, b| self.b.cmpi("eq", a, b);
                Row::Scalar(self.counted(vote.kind(), yes, live, named, compare, self.b.const_i32(0), |v| self.not(v)))
            }
            _ => {
                let named = self.lane_vector(vote.mask());
                let compare = |a, b| self.compare("eq", a, b);
                let (yes, live) = (self.splat(yes), self.splat(live));
                let made = self.counted(vote.kind(), yes, live, named, compare, self.numbers(0), |v| self.not(v));
                Row::Vectors(vec![made])
            }
        };
        self.set(result, row);
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "the same on scalars and on vectors")]
    fn counted(
        &self,
        kind: VoteKind,
        yes: Value<'c>,
        live: Value<'c>,
        named: Value<'c>,
        equal: impl Fn(Value<'c>, Value<'c>) -> Value<'c>,
        zero: Value<'c>,
        not: impl Fn(Value<'c>) -> Value<'c>,
    ) -> Value<'c> {
        let b = self.b;
        let yes = b.arith("andi", yes, named);
        let all = || equal(yes, b.arith("andi", live, named));
        match kind {
            VoteKind::Ballot => yes,
            VoteKind::Any => not(equal(yes, zero)),
            VoteKind::All => all(),
            VoteKind::Uni => b.arith("ori", all(), equal(yes, zero)),
        }
    }

    /// Which lanes have the value of a lane: one comparison of all lanes for each.
    fn match_lanes(&mut self, found: Match<'c>) -> Emitted<()> {
        let ctx = self.b.ctx();
        let i32 = ctx.int(32);
        let value = self.lane_vector(found.value());
        let (ty, _) = value.ty().vector_parts().ok_or("a value of lanes")?;
        let live = self.bits(self.mask_vector());
        self.slots.release();
        let (values, words) = (self.slots.take(cell_type(ctx, ty), self.lanes), self.slots.take(i32, self.lanes));
        self.store_vector(value, ty, values);
        let [low, high, step] = [0, WARP as i32, 1].map(|number| self.b.const_i32(number));
        let each = self.b.scf_for(low, high, step, &[]);
        self.within(each.body(), None, |this| {
            let lane = each.body().arg(0);
            let address = this.b.llvm_element_at(values, cell_type(ctx, ty), lane);
            let own = this
                .b
                .op("llvm.load")
                .operands(&[address])
                .attr("ordering", ctx.i64_attr(0))
                .result(ty)
                .build()
                .result(0);
            let same = this.compare("eq", value, this.splat(own));
            let bits = this.bits(same);
            let at = this.b.llvm_element_at(words, i32, lane);
            this.b.op("llvm.store").operands(&[bits, at]).attr("ordering", ctx.i64_attr(0)).build();
            this.b.scf_yield(&[]);
            Ok(())
        })?;
        let spec = self.b.op("llvm.load").operands(&[words]).attr("ordering", ctx.i64_attr(0));
        let equal = spec.attr("alignment", ctx.i64_attr(64)).result(self.vector(i32)).build().result(0);
        let present = self.b.arith("andi", self.splat(live), self.lane_vector(found.mask()));
        let equal = self.b.arith("andi", equal, present);
        let all = self.compare("eq", equal, present);
        let lanes = match found.kind() {
            MatchKind::Any => equal,
            MatchKind::All => self.select(all, present, self.numbers(0)),
        };
        self.set(found.op().result(0), Row::Vectors(vec![lanes]));
        self.set(found.op().result(1), Row::Vectors(vec![all]));
        Ok(())
    }

    fn warp_reduce(&mut self, reduction: WarpReduce<'c>) -> Emitted<()> {
        let result = reduction.op().result(0);
        let (name, neutral) = match reduction.kind() {
            WarpReduceKind::Add => ("add", 0),
            WarpReduceKind::Umin => ("umin", -1),
            WarpReduceKind::Umax => ("umax", 0),
            WarpReduceKind::Min => ("smin", i64::from(i32::MAX)),
            WarpReduceKind::Max => ("smax", i64::from(i32::MIN)),
            WarpReduceKind::And => ("and", -1),
            WarpReduceKind::Or => ("or", 0),
            WarpReduceKind::Xor => ("xor", 0),
        };
        let i32 = self.b.ctx().int(32);
        let value = self.lane_vector(reduction.value());
        let reduce = |this: &Self, named: Value<'c>| {
            let live = this.and_mask(this.bit(named, this.lanes_i32()));
            let taken = this.select(live, value, this.numbers(neutral));
            this.b.value(&format!("llvm.intr.vector.reduce.{name}"), &[taken], i32)
        };
        if self.shapes.is_uniform(result) {
            let named = self.splat(self.scalar(reduction.mask()));
            let total = reduce(self, named);
            self.set(result, Row::Scalar(total));
            return Ok(());
        }
        // Lanes name different ones: each has its own sum.
        self.slots.release();
        let (names, sums) = (self.slots.take(i32, self.lanes), self.slots.take(i32, self.lanes));
        self.store_vector(self.lane_vector(reduction.mask()), i32, names);
        let mask = self.mask;
        self.for_each_lane(|this, lane| {
            let ctx = this.b.ctx();
            let address = this.b.llvm_element_at(names, i32, lane);
            let own = this
                .b
                .op("llvm.load")
                .operands(&[address])
                .attr("ordering", ctx.i64_attr(0))
                .result(i32)
                .build()
                .result(0);
            let outer = std::mem::replace(&mut this.mask, mask);
            let total = reduce(this, this.splat(own));
            this.mask = outer;
            let at = this.b.llvm_element_at(sums, i32, lane);
            this.b.op("llvm.store").operands(&[total, at]).attr("ordering", ctx.i64_attr(0)).build();
            Ok(())
        })?;
        let ctx = self.b.ctx();
        let spec = self.b.op("llvm.load").operands(&[sums]).attr("ordering", ctx.i64_attr(0));
        let vector = spec.attr("alignment", ctx.i64_attr(64)).result(self.vector(i32)).build().result(0);
        self.set(result, Row::Vectors(vec![vector]));
        Ok(())
    }
}
