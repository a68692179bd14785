//! A thread loop and the rows that go through it: how many lanes, what is asked before, and who goes one by one.

mod rest;

use std::collections::HashMap;

use mlir_bridge::ir::{Builder, Mapping, Op, Value};
use regrain_dialects::attributes::{REUSED, ROWS};

use rest::Rest;

use super::{
    apart::Apart,
    asked::{self, asks_rows},
    classify::is_of_warp,
    control,
    cost::{Costs, Estimate},
    counted::{self, Advances},
    emit::{Emitter, Row, Tile},
    forms::check,
    guard,
    lane_memory::LaneMemory,
    machine::Machine,
    machine::WARP,
    report,
    shapes::{Shape, Shapes, Taking},
    slots::Slots,
};
use crate::{
    analysis::{
        facts::constant,
        loops::{Counting, limit},
    },
    lower::{TAKEN_BY_ROW, take_row},
};

/// What becomes of threads that are in no row of the first form.
enum Second<'c, 's> {
    /// There are none, but for a last row that may be partial.
    None,
    /// They go one by one; the thread loop as it was. The threads of a partial row do so too, or go through it together.
    Threads(Op<'c>, LastRow),
    /// They go in rows of which nothing is taken that is not proven.
    Rows(&'s Nest<'c>, &'s Shapes<'c>),
}

/// How the threads go that are too few for a whole row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LastRow {
    OneByOne,
    /// As a row that not all lanes are in.
    Together,
    /// As a row of which threads of the one before are too: what they do may be done twice.
    Again,
}

/// A thread loop and the rows that it gets.
#[derive(Clone, Copy)]
pub struct Nest<'c> {
    parallel: Op<'c>,
    lanes: u32,
    /// Threads in x, if that is constant.
    width: Option<i64>,
    /// What the threads in x are a multiple of.
    factor: i64,
    /// The most threads in x, if that is known of a loop that does not begin at 0.
    most: Option<i64>,
    /// The rows are warps.
    of_warps: bool,
    machine: Machine,
    /// No other loop of the function writes what others see.
    writes_back: bool,
}

/// What a row is asked costs, in slots.
const ASKED: u64 = 8;
/// How many threads lie between two rows that lanes do not agree in: a divisor that is not known is taken for this.
const CROSSING: u64 = 256;

/// Rows of fewer threads do not pay.
pub const FEWEST: u32 = 4;

/// So many vector registers hold rows of single precision with what is computed in double precision in between: two registers for each such number.
const MANY: u32 = 32;

/// Whether an operation gives a number in double precision.
fn computes_wide(op: Op<'_>) -> bool {
    op.results().iter().any(|result| result.ty().float_width() == Some(64))
}

/// Whether an operation brings numbers in double precision from memory or to it.
fn moves_wide(op: Op<'_>) -> bool {
    match op.name() {
        "llvm.store" => op.operand(0).ty().float_width() == Some(64),
        "llvm.load" | "llvm.atomicrmw" => computes_wide(op),
        _ => false,
    }
}

impl<'c> Nest<'c> {
    /// The rows that a thread loop can have.
    ///
    /// # Errors
    /// Why it has none.
    pub fn of(parallel: Op<'c>, machine: Machine) -> Result<Self, Apart> {
        let dimensions = Counting::dimensions(parallel);
        let by_one = |counting: &Counting<'_>| constant(counting.step) == Some(1);
        if dimensions.len() != 3 || !dimensions.iter().all(by_one) || parallel.num_results() > 0 {
            return Err(Apart::Shape);
        }
        let [x, ..] = dimensions[..] else { return Err(Apart::Shape) };
        let width = constant(x.upper).filter(|_| x.is_plain());
        let (factor, most) = match x.is_plain() {
            true => (width.unwrap_or_else(|| constant_factor(x.upper)), None),
            false => (1, most_selected(&x)),
        };
        check(parallel, |_| false)?;
        if parallel.contains(is_of_warp) {
            x.is_plain().then_some(()).ok_or(Apart::Shape)?;
            let nest = Self { parallel, lanes: WARP, width, factor, most, of_warps: true, machine, writes_back: false };
            return Ok(nest);
        }
        let wide = parallel.contains(|op| if machine.registers < MANY { computes_wide(op) } else { moves_wide(op) });
        let wanted = machine.register_bits / if wide { 64 } else { 32 };
        let fitting = width.or(most).map_or(wanted, |most| wanted.min(1 << (63 - most.max(1).leading_zeros())));
        if fitting < FEWEST {
            return Err(Apart::Narrow);
        }
        Ok(Self { parallel, lanes: fitting, width, factor, most, of_warps: false, machine, writes_back: false })
    }

    /// Says whether no other loop of the function writes what others see.
    pub fn writing_back(self, writes_back: bool) -> Self {
        Self { writes_back, ..self }
    }

    /// The lanes of rows of one register.
    pub fn lanes(&self) -> u32 {
        self.lanes
    }

    /// Whether rows are no warps, and threads keep no memory of their own.
    pub fn is_plain(&self) -> bool {
        let by_row =
            || self.parallel.parent_of_name("llvm.func").is_some_and(|function| function.has_attr(TAKEN_BY_ROW));
        self.begins_at_zero() && self.may_repeat_threads() && !by_row()
    }

    /// Whether rows are no warps, and threads keep no memory of their own.
    fn may_repeat_threads(&self) -> bool {
        !self.of_warps && self.reused_memory().is_empty()
    }

    fn begins_at_zero(&self) -> bool {
        constant(self.parallel.operand(0)) == Some(0)
    }

    /// The memory that threads use one after the other.
    fn reused_memory(&self) -> Vec<Value<'c>> {
        let mut found: Vec<Value<'c>> = Vec::new();
        for value in self.parallel.find_all(|_| true).into_iter().flat_map(Op::operands) {
            let reused = value.defining_op().is_some_and(|op| op.is("llvm.alloca") && op.has_attr(REUSED));
            if reused && !found.contains(&value) {
                found.push(value);
            }
        }
        found
    }

    /// Makes the rows. What is taken of numbers without proof is asked before each row; where it does not hold, and for threads
    /// that are in no whole row, there is a second way: the threads of the row on their own, or where rows are warps the row with
    /// nothing taken.
    pub fn vectorise(self, memory: &mut LaneMemory<'c>) -> Result<(), Apart> {
        let mut seeds = Vec::new();
        for reused in self.reused_memory() {
            seeds.push((
                reused,
                Shape::linear(memory.stride(reused).ok_or(Apart::Operation("stack memory of no known size".into()))?),
            ));
        }
        // It stands beside the loop for as long as rows are made of it: some of what they need is found by where it stands.
        let copy = Builder::after(self.parallel).clone_op(self.parallel, &mut Mapping::new());
        let plain = Self { parallel: copy, ..self };
        let advances = counted::raise(self.parallel);
        let (this, taken, costs) = self.cheapest(&seeds);
        if self.machine.cost_model && !self.of_warps && costs.row >= costs.alone {
            self.parallel.erase();
            return Err(Apart::Expensive(costs));
        }
        this.make(plain, &taken, &advances, &seeds, this.last_row(costs))
    }

    /// Whether whole rows get no code of their own.
    fn is_short(&self) -> bool {
        self.machine.short && !control::is_little(self.parallel)
    }

    /// Whether there may be a last row that not all lanes are in, of unknown size.
    fn may_leave_some(&self) -> bool {
        self.width.is_none() && self.factor % i64::from(self.lanes) != 0
    }

    /// What is cheaper for the threads that are too few for a whole row; where their number is not known, half a row is taken.
    fn last_row(&self, costs: Costs) -> LastRow {
        if !self.begins_at_zero() && self.may_repeat_threads() && guard::may_repeat(self.parallel) {
            return LastRow::Again;
        }
        let lanes = u64::from(self.lanes);
        let rest = match self.width {
            Some(width) => width.cast_unsigned() % lanes,
            None if self.may_leave_some() => lanes / 2,
            None => 0,
        };
        match costs.masked_row() < costs.alone.saturating_mul(rest) / lanes {
            _ if self.is_short() => LastRow::Together,
            true if self.machine.cost_model => LastRow::Together,
            _ => LastRow::OneByOne,
        }
    }

    /// Rows of one register of lanes; of several where a thread costs clearly less in them, because a round waits for the one before.
    fn cheapest(self, seeds: &[(Value<'c>, Shape)]) -> (Self, Shapes<'c>, Costs) {
        let of_taking = |lanes: u32, taking: Taking| {
            let shapes = Shapes::new(self.parallel, lanes, seeds, taking);
            let estimate = Estimate {
                shapes: &shapes,
                lanes,
                register_bits: self.machine.register_bits,
                early: Default::default(),
                beside: false,
            };
            let (costs, fits) =
                (estimate.of(self.parallel), estimate.fits_registers(self.parallel, self.machine.registers));
            (Self { lanes, ..self }, shapes, costs, fits)
        };
        let of = |lanes: u32| {
            let along_all = of_taking(lanes, Taking::AlongAll);
            if !along_all.1.may_agree() || !self.machine.cost_model {
                return along_all;
            }
            let mut along_most = of_taking(lanes, Taking::AlongMost);
            let asked = along_most.1.agreed().count() as u64;
            let crossing = along_all.2.row.saturating_mul(lanes.into()) / CROSSING;
            along_most.2.row = along_most.2.row.saturating_add(ASKED * asked).saturating_add(crossing);
            if asked > 0 && along_most.2.row < along_all.2.row { along_most } else { along_all }
        };
        let (mut this, mut shapes, mut costs, _) = of(self.lanes);
        while this.lanes < WARP
            && self.machine.cost_model
            && self.factor > 1
            && self.factor % i64::from(2 * this.lanes) == 0
        {
            let wider = of(2 * this.lanes);
            let pays = 8 * wider.2.row < 2 * 7 * costs.row;
            if !wider.3 || !pays {
                break;
            }
            (this, shapes, costs, _) = wider;
        }
        (this, shapes, costs)
    }

    /// Makes what was decided on; `plain` is the loop without what is taken of numbers.
    fn make(
        self,
        plain: Self,
        taken: &Shapes<'c>,
        advances: &[Advances<'c>],
        seeds: &[(Value<'c>, Shape)],
        last: LastRow,
    ) -> Result<(), Apart> {
        let plain = Self { lanes: self.lanes, ..plain };
        let asks = !taken.assumed().is_empty() || !advances.is_empty();
        let again = asks && (self.of_warps || taken.often_fails() || asks_rows(taken));
        let proven = again.then(|| Shapes::new(plain.parallel, self.lanes, seeds, Taking::Nothing));
        let second = match &proven {
            Some(shapes) => Second::Rows(&plain, shapes),
            None if !self.of_warps && (asks || self.may_leave_some() && last != LastRow::Together) => {
                Second::Threads(plain.parallel, last)
            }
            None => Second::None,
        };
        let made = self.emit(taken, advances, second);
        plain.parallel.erase();
        made.map_err(Apart::Internal)?;
        if self.machine.report {
            report::together(self.parallel, self.lanes, taken);
        }
        self.parallel.erase();
        Ok(())
    }

    /// Makes the loops over rows before the thread loop.
    fn emit(&self, shapes: &Shapes<'c>, advances: &[Advances<'c>], second: Second<'c, '_>) -> Result<(), String> {
        let operands = self.parallel.operands();
        let mut b = Builder::before(self.parallel);
        let whole = self.whole(b);
        let mut ivs = Vec::new();
        let mut nest = None;
        for axis in [2, 1] {
            let made = b.scf_for(operands[axis], operands[3 + axis], operands[6 + axis], &[]);
            Builder::at_end(made.body(), b.loc).scf_yield(&[]);
            b = Builder::before_terminator(made.body(), b.loc);
            ivs.insert(0, made.body().arg(0));
            if axis == 1 {
                made.set_attr(ROWS, b.ctx().unit_attr());
            }
            nest = nest.or(Some(made));
        }
        let along_all = asked::of_all_rows(b, self.parallel, shapes, &ivs);
        let holds = along_all.into_iter().chain(advances.iter().map(|advance| advance.holds(b)));
        let holds = holds.reduce(|all, one| b.arith("andi", all, one));
        let done = self.along_x(b, shapes, &ivs, (whole, holds), second);
        if done.is_err() {
            nest.into_iter().for_each(discard);
        }
        done
    }

    /// All threads of one y and z: those in whole rows, and the others.
    fn along_x(
        &self,
        b: Builder<'c>,
        shapes: &Shapes<'c>,
        ivs: &[Value<'c>],
        (whole, holds): (Value<'c>, Option<Value<'c>>),
        second: Second<'c, '_>,
    ) -> Result<(), String> {
        let few = self.most.is_some_and(|most| most < 2 * i64::from(self.lanes));
        match second {
            Second::None if self.is_short() && self.may_leave_some() => return self.masked_rows(b, shapes, ivs),
            Second::Rows(plain, proven) if asks_rows(shapes) => {
                self.chosen_rows(b, shapes, ivs, (whole, holds), (plain, proven))?;
                return plain.partial_row(b, proven, ivs, whole);
            }
            Second::Threads(alone, LastRow::Again) if few => return self.two_rows(b, shapes, ivs, alone, holds),
            _ => (),
        }
        let first = self.parallel.operand(0);
        let end = holds.map_or(whole, |holds| b.value("arith.select", &[holds, whole, first], whole.ty()));
        self.rows(b, shapes, ivs, [first, end])?;
        match second {
            Second::None => self.partial_row(b, shapes, ivs, whole),
            Second::Threads(alone, last) => self.rest(b, shapes, ivs, &Rest { end, whole, holds, alone }, last),
            Second::Rows(plain, shapes) => {
                plain.rows(b, shapes, ivs, [end, whole])?;
                plain.partial_row(b, shapes, ivs, whole)
            }
        }
    }

    /// The loop over the whole rows from a thread to a thread.
    fn rows(&self, b: Builder<'c>, shapes: &Shapes<'c>, ivs: &[Value<'c>], ends: [Value<'c>; 2]) -> Result<(), String> {
        let made = b.scf_for(ends[0], ends[1], b.const_index(self.lanes.into()), &[]);
        let inside = Builder::at_end(made.body(), b.loc);
        self.row(inside, shapes, ivs, made.body().arg(0), |_| None, &[])?;
        inside.scf_yield(&[]);
        Ok(())
    }

    /// The loop over the whole rows, each of which is asked. Where what was taken does not hold it goes by a form that takes nothing.
    fn chosen_rows(
        &self,
        b: Builder<'c>,
        shapes: &Shapes<'c>,
        ivs: &[Value<'c>],
        (whole, holds): (Value<'c>, Option<Value<'c>>),
        (plain, proven): (&Nest<'c>, &Shapes<'c>),
    ) -> Result<(), String> {
        let made = b.scf_for(self.parallel.operand(0), whole, b.const_index(self.lanes.into()), &[]);
        let inside = Builder::at_end(made.body(), b.loc);
        let first = made.body().arg(0);
        let answer = asked::of_row(inside, self.parallel, shapes, ivs, (first, self.lanes));
        let all = holds.map_or(answer.holds, |holds| inside.arith("andi", holds, answer.holds));
        let choice = inside.scf_if(all, &[], true);
        let [taken, otherwise] = [0, 1].map(|region| Builder::at_end(choice.region(region).entry(), b.loc));
        self.row(taken, shapes, ivs, first, |_| None, &answer.known)?;
        taken.scf_yield(&[]);
        plain.row(otherwise, proven, ivs, first, |_| None, &[])?;
        otherwise.scf_yield(&[]);
        inside.scf_yield(&[]);
        Ok(())
    }

    /// One row, from its first thread, for the lanes of `mask`; what is `known` of it is not computed again.
    fn row(
        &self,
        b: Builder<'c>,
        shapes: &Shapes<'c>,
        ivs: &[Value<'c>],
        first: Value<'c>,
        mask: impl FnOnce(&Emitter<'c, '_>) -> Option<Value<'c>>,
        known: &[(Value<'c>, Value<'c>)],
    ) -> Result<(), String> {
        if self.parallel.parent_of_name("llvm.func").is_some_and(|function| function.has_attr(TAKEN_BY_ROW)) {
            let taken = take_row(b);
            let inside = Builder::at_end(taken.body(), b.loc);
            self.taken_row(inside, shapes, ivs, first, mask, known)?;
            inside.scf_yield(&[]);
            return Ok(());
        }
        self.taken_row(b, shapes, ivs, first, mask, known)
    }

    fn taken_row(
        &self,
        b: Builder<'c>,
        shapes: &Shapes<'c>,
        ivs: &[Value<'c>],
        first: Value<'c>,
        mask: impl FnOnce(&Emitter<'c, '_>) -> Option<Value<'c>>,
        known: &[(Value<'c>, Value<'c>)],
    ) -> Result<(), String> {
        let slots = Slots::new(self.function_start());
        let mut emitter = Emitter {
            shapes,
            lanes: self.lanes,
            b,
            mask: None,
            known: HashMap::new(),
            depth: 0,
            slots,
            register_bits: self.machine.register_bits,
            tile: Tile::default(),
            sure: true,
            touched: Vec::new(),
            read: Vec::new(),
            writes_back: self.writes_back && guard::writes_side_by_side(shapes, self.parallel),
            short: self.machine.short,
        };
        emitter.mask = mask(&emitter);
        let old = self.parallel.body().args();
        for (old, new) in old.iter().zip([first, ivs[0], ivs[1]]) {
            emitter.set(*old, Row::Scalar(new));
        }
        for (value, known) in known {
            emitter.set(*value, Row::Scalar(*known));
        }
        emitter.block(self.parallel.body())
    }

    /// Where memory is allocated once for each call of the function.
    fn function_start(&self) -> Builder<'c> {
        let function = ["llvm.func", "func.func"].into_iter().find_map(|name| self.parallel.parent_of_name(name));
        let function = function.unwrap_or(self.parallel);
        Builder::at_start(function.region(0).entry(), self.parallel.loc())
    }

    /// The threads in whole rows.
    fn whole(&self, b: Builder<'c>) -> Value<'c> {
        let upper = self.parallel.operand(3);
        match self.width {
            Some(width) => b.const_index(width - width % i64::from(self.lanes)),
            None if self.may_leave_some() && self.begins_at_zero() => {
                b.arith("andi", upper, b.const_index(-i64::from(self.lanes)))
            }
            None if self.may_leave_some() => {
                let lower = self.parallel.operand(0);
                let rows = b.arith("andi", b.arith("subi", upper, lower), b.const_index(-i64::from(self.lanes)));
                b.arith("addi", lower, rows)
            }
            None => upper,
        }
    }
}

/// The most threads of a loop that does not begin at 0: one that selects a single thread, or leaves out some of those up to a limit.
fn most_selected(counting: &Counting<'_>) -> Option<i64> {
    let limited = counting.upper.defining_op().filter(|op| op.is("arith.minsi"));
    let next = limited.and_then(|op| op.operand(0).defining_op()).filter(|op| op.is("arith.addi"));
    match next.filter(|op| op.operand(0) == counting.lower) {
        Some(next) => constant(next.operand(1)),
        None => Some(limit(counting.upper)? - constant(counting.lower).unwrap_or(1)),
    }
}

/// The constant that a number of threads is a multiple of.
fn constant_factor(threads: Value<'_>) -> i64 {
    let product = threads.defining_op().filter(|op| op.is("arith.muli"));
    product.and_then(|op| constant(op.operand(0)).or_else(|| constant(op.operand(1)))).unwrap_or(1)
}

fn discard(nest: Op<'_>) {
    nest.drop_all_references();
    nest.erase();
}
