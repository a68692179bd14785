//! Barriers that compute and warp operations: each thread publishes its operand, all threads come to the end of their
//! loop, then each reads what it needs.
//!
//! ```mlir
//! scf.parallel { ... %r, %ok = regrain.shuffle down %v, %d, %c mask %m ... use %r }
//! ```
//! becomes
//! ```mlir
//! scf.parallel { ... values[thread] = %v }
//! scf.parallel { %r = values[thread - lane + source(lane, %d, %c)]; use %r }
//! ```
//! A lane that does not exist, is masked off, or is not named takes no part. PTX leaves undefined what a shuffle gives of such a
//! lane; hardware gives 0, and reductions of partial warps count on it. Of a lane out of range a shuffle gives the reader's own.

use mlir_bridge::ir::{Builder, Op, Value};
use regrain_dialects::ops::{
    ActiveMask, BarrierReduce, Match, MatchKind, ReduceKind, Shuffle, ShuffleKind, Vote, VoteKind, WarpCall,
    WarpReduce, WarpReduceKind,
};

use super::{
    emit::{Emitted, Emitter},
    memory::Cells,
};
use crate::lower::warp_functions;

const LANES: i64 = 32;

/// What a thread knows of itself in the loop that reads.
struct Reader<'c> {
    b: Builder<'c>,
    thread: Value<'c>,
    lane: Value<'c>,
    first: Value<'c>,
}

impl<'c> Reader<'c> {
    fn const32(&self, value: i64) -> Value<'c> {
        self.b.const_int(self.b.ctx().int(32), value)
    }

    fn wide(&self, value: Value<'c>) -> Value<'c> {
        self.b.value("arith.extui", &[value], self.b.ctx().int(64))
    }

    fn select(&self, condition: Value<'c>, yes: Value<'c>, no: Value<'c>) -> Value<'c> {
        self.b.value("arith.select", &[condition, yes, no], yes.ty())
    }

    fn bit(&self, word: Value<'c>, number: Value<'c>) -> Value<'c> {
        let shifted = self.b.arith("shrui", word, number);
        self.b.value("arith.trunci", &[shifted], self.b.ctx().int(1))
    }

    fn warp(&self) -> Value<'c> {
        self.b.arith("shrui", self.thread, self.b.const_int(self.b.ctx().int(64), 5))
    }
}

impl<'c> Emitter<'c, '_> {
    pub fn barrier_reduce(&mut self, reduce: BarrierReduce<'c>) -> Emitted<()> {
        let kind = reduce.kind();
        let flags = self.new_mask();
        let predicate = self.resolve(reduce.predicate())?;
        let b = self.inside();
        // Counting the threads that object tells whether all agree.
        let flag = match kind {
            ReduceKind::And => b.arith("xori", predicate, b.const_int(self.i1(), 1)),
            ReduceKind::Popc | ReduceKind::Or => predicate,
        };
        let thread = self.thread();
        flags.store(self.inside(), thread, flag);
        let total = self.count_cells(flags);
        let b = self.cursor;
        let zero = b.const_int(self.i32(), 0);
        let result = match kind {
            ReduceKind::Popc => total,
            ReduceKind::And => b.cmpi("eq", total, zero),
            ReduceKind::Or => b.cmpi("ne", total, zero),
        };
        let wanted = reduce.op().result(0).ty();
        let result = match result.ty() == wanted {
            true => result,
            false => b.value("arith.extui", &[result], wanted),
        };
        self.set_uniform(reduce.op().result(0), result);
        Ok(())
    }

    pub fn warp(&mut self, op: Op<'c>) -> Emitted<()> {
        match op.name() {
            Shuffle::NAME => self.shuffle(Shuffle::of(op)),
            Vote::NAME => self.vote(Vote::of(op)),
            Match::NAME => self.match_lanes(Match::of(op)),
            WarpReduce::NAME => self.warp_reduce(WarpReduce::of(op)),
            WarpCall::NAME => self.warp_call(WarpCall::of(op)),
            ActiveMask::NAME => self.active_mask(op),
            name => Err(format!("{name} is not known")),
        }
    }

    /// The array that holds a value for all threads, and a fresh thread loop after it was written.
    fn publish(&mut self, value: Value<'c>) -> Emitted<Cells<'c>> {
        // The cells of what a loop carries would change while others still read.
        let kept = self.plan.kept.contains(&value);
        let cells = match self.existing_cells(value).filter(|_| kept) {
            Some(cells) => cells,
            None => {
                let cells = self.new_cells(value.ty());
                self.store_all(&[(value, cells)])?;
                cells
            }
        };
        // Who reads late must still see who took part, so those who do publish that too.
        self.published = self.mask;
        if self.mask.is_some_and(|mask| self.loop_masks.contains(&mask.base)) {
            let live = self.new_mask();
            let b = self.inside();
            self.set_mask(live, b.const_int(self.i1(), 1));
            self.published = Some(live);
        }
        self.close();
        Ok(cells)
    }

    fn reader(&mut self) -> Reader<'c> {
        let thread = self.thread();
        let b = self.inside();
        let i32 = b.ctx().int(32);
        let low = b.value("arith.trunci", &[thread], i32);
        let lane = b.arith("andi", low, b.const_int(i32, LANES - 1));
        let first = b.arith("andi", thread, b.const_int(b.ctx().int(64), -LANES));
        Reader { b, thread, lane, first }
    }

    /// Gives the results of a warp operation their values in the open loop.
    fn results(&mut self, op: Op<'c>, values: &[Value<'c>]) -> Emitted<()> {
        for (result, value) in op.results().into_iter().zip(values) {
            let b = self.inside();
            let value = match value.ty() == result.ty() {
                true => *value,
                false => b.value("arith.extui", &[*value], result.ty()),
            };
            self.know(result, value);
            if self.plan.kept.contains(&result) {
                self.keep(result)?;
            }
        }
        Ok(())
    }

    /// Whether lane `lane` (i32) of the reader's warp takes part, and the number of its thread, which is the reader's own
    /// where there is no such thread.
    fn lane_state(&mut self, r: &Reader<'c>, lane: Value<'c>, named: Value<'c>) -> (Value<'c>, Value<'c>) {
        let index = r.b.arith("addi", r.first, r.wide(lane));
        let exists = r.b.cmpi("slt", index, self.count64);
        let index = r.select(exists, index, r.thread);
        let mut live = r.b.arith("andi", exists, r.bit(named, lane));
        if let Some(mask) = self.published {
            live = r.b.arith("andi", live, mask.load(r.b, index));
        }
        (live, index)
    }

    fn shuffle(&mut self, shuffle: Shuffle<'c>) -> Emitted<()> {
        let cells = self.publish(shuffle.value())?;
        let offset = self.resolve(shuffle.offset())?;
        let clamp = self.resolve(shuffle.clamp())?;
        let named = self.resolve(shuffle.mask())?;
        let r = self.reader();
        let b = r.b;
        let five = r.const32(LANES - 1);
        let distance = b.arith("andi", offset, five);
        let segment = b.arith("andi", b.arith("shrui", clamp, r.const32(8)), five);
        let within = b.arith("xori", segment, five);
        let start = b.arith("andi", r.lane, segment);
        let bound = b.arith("ori", start, b.arith("andi", clamp, within));
        let (source, below) = match shuffle.kind() {
            ShuffleKind::Idx => (b.arith("ori", start, b.arith("andi", distance, within)), true),
            ShuffleKind::Up => (b.arith("subi", r.lane, distance), false),
            ShuffleKind::Down => (b.arith("addi", r.lane, distance), true),
            ShuffleKind::Bfly => (b.arith("xori", r.lane, distance), true),
        };
        let ok = b.cmpi(if below { "sle" } else { "sge" }, source, bound);
        let source = r.select(ok, source, r.lane);
        let (live, index) = self.lane_state(&r, source, named);
        // Whoever reads takes part.
        let live = b.arith("ori", live, b.cmpi("eq", source, r.lane));
        let index = r.select(live, index, r.thread);
        let value = cells.load(b, index);
        let zero = b.value("llvm.mlir.zero", &[], value.ty());
        self.results(shuffle.op(), &[r.select(live, value, zero), ok])
    }

    /// Beside the loops: for each warp the lanes that are in the mask and whose flag holds, as an array of i32.
    fn warp_bits(&mut self, flags: Option<Cells<'c>>) -> Cells<'c> {
        self.close();
        let (i32, i64) = (self.i32(), self.i64());
        let pre = self.preamble();
        let warps =
            pre.arith("shrui", pre.arith("addi", self.count64, pre.const_int(i64, LANES - 1)), pre.const_int(i64, 5));
        let words = self.new_array(i32, warps);
        let b = self.cursor;
        let (zero, one, size) = (b.const_int(i64, 0), b.const_int(i64, 1), b.const_int(i64, LANES));
        let outer = b.scf_for(zero, warps, one, &[]);
        let b = Builder::at_end(outer.body(), b.loc);
        let first = b.arith("muli", outer.body().arg(0), size);
        let end = b.arith("minsi", b.arith("addi", first, size), self.count64);
        let inner = b.scf_for(first, end, one, &[b.const_int(i32, 0)]);
        let body = Builder::at_end(inner.body(), b.loc);
        let thread = inner.body().arg(0);
        let mut bit = body.const_int(self.i1(), 1);
        for cells in [flags, self.mask].into_iter().flatten() {
            bit = body.arith("andi", bit, cells.load(body, thread));
        }
        let lane = body.value("arith.trunci", &[body.arith("subi", thread, first)], i32);
        let placed = body.arith("shli", body.value("arith.extui", &[bit], i32), lane);
        body.scf_yield(&[body.arith("ori", inner.body().arg(1), placed)]);
        words.store(b, outer.body().arg(0), inner.result(0));
        b.scf_yield(&[]);
        words
    }

    fn vote(&mut self, vote: Vote<'c>) -> Emitted<()> {
        let kind = vote.kind();
        let flags = self.publish(vote.predicate())?;
        let (votes, live) = match kind {
            VoteKind::Any | VoteKind::Ballot => (self.warp_bits(Some(flags)), None),
            VoteKind::All | VoteKind::Uni => (self.warp_bits(Some(flags)), Some(self.warp_bits(None))),
        };
        let named = self.resolve(vote.mask())?;
        let r = self.reader();
        let warp = r.warp();
        let yes = r.b.arith("andi", votes.load(r.b, warp), named);
        let zero = r.const32(0);
        let any = r.b.cmpi("ne", yes, zero);
        let result = match live {
            None if kind == VoteKind::Ballot => yes,
            None => any,
            Some(live) => {
                let all = r.b.cmpi("eq", yes, r.b.arith("andi", live.load(r.b, warp), named));
                if kind == VoteKind::All { all } else { r.b.arith("ori", all, r.b.cmpi("eq", yes, zero)) }
            }
        };
        self.results(vote.op(), &[result])
    }

    fn active_mask(&mut self, op: Op<'c>) -> Emitted<()> {
        let live = self.warp_bits(None);
        let r = self.reader();
        let warp = r.warp();
        let value = live.load(r.b, warp);
        self.results(op, &[value])
    }

    /// A loop over the lanes of the warp in the open loop: `step` gets the lane, whether it takes part, the number of its
    /// thread and the carried value.
    fn over_lanes(
        &mut self,
        r: &Reader<'c>,
        named: Value<'c>,
        init: Value<'c>,
        step: impl Fn(&Reader<'c>, Value<'c>, Value<'c>, Value<'c>, Value<'c>) -> Value<'c>,
    ) -> Value<'c> {
        let lanes = r.b.scf_for(r.const32(0), r.const32(LANES), r.const32(1), &[init]);
        let (lane, carried) = (lanes.body().arg(0), lanes.body().arg(1));
        let inner = Reader { b: Builder::at_end(lanes.body(), r.b.loc), ..*r };
        let (live, index) = self.lane_state(&inner, lane, named);
        let next = step(&inner, lane, live, index, carried);
        inner.b.scf_yield(&[next]);
        lanes.result(0)
    }

    fn match_lanes(&mut self, found: Match<'c>) -> Emitted<()> {
        let any = found.kind() == MatchKind::Any;
        let cells = self.publish(found.value())?;
        let named = self.resolve(found.mask())?;
        let r = self.reader();
        let own = cells.load(r.b, r.thread);
        let zero = r.const32(0);
        let mark = |r: &Reader<'c>, wanted: Value<'c>, lane: Value<'c>, word: Value<'c>| {
            let bit = r.b.value("arith.extui", &[wanted], r.b.ctx().int(32));
            r.b.arith("ori", word, r.b.arith("shli", bit, lane))
        };
        let equal = self.over_lanes(&r, named, zero, |r, lane, live, index, word| {
            let same = r.b.cmpi("eq", cells.load(r.b, index), own);
            mark(r, r.b.arith("andi", live, same), lane, word)
        });
        let present = self.over_lanes(&r, named, zero, |r, lane, live, _, word| mark(r, live, lane, word));
        let all = r.b.cmpi("eq", equal, present);
        let lanes = if any { equal } else { r.select(all, named, zero) };
        self.results(found.op(), &[lanes, all])
    }

    fn warp_reduce(&mut self, reduction: WarpReduce<'c>) -> Emitted<()> {
        let (name, neutral) = match reduction.kind() {
            WarpReduceKind::Add => ("addi", 0),
            WarpReduceKind::Umin => ("minui", -1),
            WarpReduceKind::Umax => ("maxui", 0),
            WarpReduceKind::Min => ("minsi", i64::from(i32::MAX)),
            WarpReduceKind::Max => ("maxsi", i64::from(i32::MIN)),
            WarpReduceKind::And => ("andi", -1),
            WarpReduceKind::Or => ("ori", 0),
            WarpReduceKind::Xor => ("xori", 0),
        };
        let cells = self.publish(reduction.value())?;
        let named = self.resolve(reduction.mask())?;
        let r = self.reader();
        let init = r.const32(neutral);
        let total = self.over_lanes(&r, named, init, |r, _, live, index, sum| {
            let value = r.select(live, cells.load(r.b, index), r.const32(neutral));
            r.b.arith(name, sum, value)
        });
        self.results(reduction.op(), &[total])
    }

    /// The place of a thread's word in an area that holds `words` words of each lane side by side, warp after warp.
    fn word_place(&mut self, words: usize, number: usize) -> Value<'c> {
        let thread = self.thread();
        let b = self.inside();
        let number64 = |value: i64| b.const_int(b.ctx().int(64), value);
        let warp = b.arith("muli", b.arith("shrui", thread, number64(5)), number64(words as i64 * LANES));
        let lane = b.arith("andi", thread, number64(LANES - 1));
        b.arith("addi", b.arith("addi", warp, lane), number64(number as i64 * LANES))
    }

    /// Each thread lays down its values, each warp calls the function, each thread takes its results.
    fn warp_call(&mut self, call: WarpCall<'c>) -> Emitted<()> {
        let (values, results) = (call.values(), call.op().results());
        let (word, i64) = (results[0].ty(), self.i64());
        let pre = self.preamble();
        let whole = pre.arith("addi", self.count64, pre.const_int(i64, LANES - 1));
        let warps = pre.arith("shrui", whole, pre.const_int(i64, 5));
        let area = |this: &Self, words: usize| {
            this.new_array(word, pre.arith("muli", warps, pre.const_int(i64, words as i64 * LANES)))
        };
        let (given, made) = (area(self, values.len()), area(self, results.len()));
        let ready = values.iter().map(|value| self.resolve(*value)).collect::<Emitted<Vec<_>>>()?;
        for (number, value) in ready.into_iter().enumerate() {
            let place = self.word_place(values.len(), number);
            given.store(self.inside(), place, value);
        }
        self.close();
        let b = self.cursor;
        let each = b.scf_for(b.const_int(i64, 0), warps, b.const_int(i64, 1), &[]);
        let inner = Builder::at_end(each.body(), b.loc);
        let of_warp = |base, words: usize| {
            let first = inner.arith("muli", each.body().arg(0), inner.const_int(i64, words as i64 * LANES));
            inner.llvm_element_at(base, word, first)
        };
        warp_functions::call(inner, call, of_warp(made.base, results.len()), of_warp(given.base, values.len()));
        inner.scf_yield(&[]);
        let mut taken = Vec::new();
        for number in 0..results.len() {
            let place = self.word_place(results.len(), number);
            taken.push(made.load(self.inside(), place));
        }
        self.results(call.op(), &taken)
    }
}
