//! `regrain-vectorize-threads`: rows of threads go through a thread loop together.
//!
//! ```mlir
//! scf.parallel (%x, %y, %z) = (0, 0, 0) to (%nx, %ny, %nz) {
//!   %s = scf.for %k = ... iter_args(%sum = %zero) { %v = llvm.load %a[%k * n + %x] ; %sum + %v }
//! }
//! ```
//! becomes, with rows of 16 threads,
//! ```mlir
//! scf.for %z { scf.for %y { scf.for %x = 0 to %whole step 16 {
//!   %s = scf.for %k = ... iter_args(%sum = %zeros) { %v = llvm.load %a[%k * n + %x] : vector<16xf32> ; %sum + %v }
//! } } }
//! scf.parallel (%x, %y, %z) = (%whole, 0, 0) to (%nx, %ny, %nz) { the rest, thread by thread }
//! ```
//! So a thread's serial loops stand inside of the row, and what is consecutive from thread to thread is consecutive in memory. Values are
//! scalars where lanes agree or differ evenly (`shapes.rs`), vectors elsewhere; conditions become masks (`control.rs`); what lies apart from
//! thread to thread but side by side from round to round goes by tiles (`tiles.rs`); what has no form on vectors runs lane by lane (`lanes.rs`). After Karrenberg and Hack, Whole-function vectorization (CGO 2011), Moll and Hack, Partial
//! control-flow linearization (PLDI 2018), and Pharr and Mark, ispc (InPar 2012).
//!
//! The threads of a loop do not wait for one another, so any order of them is right; this one keeps each thread's own order of
//! operations, floating-point ones above all: results are the same bits.

mod apart;
mod blocks;
mod classify;
mod control;
mod cost;
mod counted;
mod divide;
mod division;
mod emit;
mod guards;
mod lanes;
mod loops;
mod memory;
mod narrow;
mod overlaps;
mod parts;
mod report;
mod shapes;
mod slots;
mod sums;
mod tile_groups;
mod tile_loops;
mod tiles;
mod warp;
mod ways;

use std::collections::HashMap;

use mlir_bridge::{
    ir::{Builder, Mapping, Op, Value},
    pass::{Anchor, PassInfo, PassOption, PassResult, PassRun},
};

use crate::analysis::{facts::constant, loops::Counting};
use regrain_dialects::{
    attributes::REUSED,
    ops::{is_barrier, is_lane_or_warp},
};

use super::{LOOP_ANNOTATION, TAKEN_BY_ROW, before::computed, stack, take_row};
pub use apart::Apart;
use apart::NAME;
use classify::{Kind, is_known_address, kind, lane_types};
pub use classify::{is_of_warp, is_ordinary};
use cost::{Costs, Estimate};
use counted::Advances;
use emit::{Emitter, Row, Tile};
use shapes::{Assumption, Shape, Shapes};
use slots::Slots;
use warp::WARP;

/// Dialects whose operations the pass makes.
pub const DIALECTS: &[&str] = &["llvm", "scf", "arith", "vector", "ub"];

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: NAME,
    summary: "let rows of threads go through thread loops together, as vectors",
    anchor: Anchor::Module,
    options: &[REGISTER_BITS, COST_MODEL, REPORT],
    dialects: DIALECTS,
    run,
};

fn run(pass: &PassRun<'_>, module: Op<'_>) -> PassResult {
    Ok(vectorise(module, Machine::of(pass)?).map_err(|why| why.to_string())?)
}

/// The option that says how wide vector registers are.
pub const REGISTER_BITS: PassOption =
    PassOption { name: "register-bits", default: "256", description: "width of a vector register" };

/// The option for rows wherever they can be made.
pub const COST_MODEL: PassOption = PassOption {
    name: "cost-model",
    default: "true",
    description: "whether only rows are made that cost less than their threads",
};

/// The option that asks for remarks about all thread loops.
pub const REPORT: PassOption =
    PassOption { name: "report", default: "false", description: "say of each thread loop what became of it" };

/// What is known of the processor, and what is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    /// Width of a vector register.
    pub register_bits: u32,
    /// Whether rows are to cost less than their threads one by one.
    pub cost_model: bool,
    /// Whether remarks say of each thread loop what became of it.
    pub report: bool,
}

impl Machine {
    /// As a pass is told.
    ///
    /// # Errors
    /// An option that is no number, or no truth value.
    pub fn of(pass: &PassRun<'_>) -> Result<Self, String> {
        let (bits, model) = (pass.option(REGISTER_BITS.name), pass.option(COST_MODEL.name));
        let register_bits = bits.parse().map_err(|_| format!("register-bits: expected a number, got '{bits}'"))?;
        let cost_model = model.parse().map_err(|_| format!("cost-model: expected true or false, got '{model}'"))?;
        Ok(Self { register_bits, cost_model, report: pass.option(REPORT.name) == "true" })
    }
}

/// Vectorises all thread loops below `root`. Fails where a loop holds operations of warps and cannot be vectorised, which
/// [`takes`] is there to ask before.
pub fn vectorise(root: Op<'_>, machine: Machine) -> Result<(), Apart> {
    let mut memory = LaneMemory::default();
    for parallel in root.find_named("scf.parallel") {
        if runs_one_thread(parallel) {
            continue;
        }
        // The loop may be another one afterwards.
        let (about, of_warp) = (report::About::of(parallel), parallel.contains(is_of_warp));
        match Nest::of(parallel, machine).and_then(|nest| nest.vectorise(&mut memory)) {
            Err(why) if matches!(why, Apart::Internal(_)) || of_warp => return Err(why),
            Err(why) => about.apart(&why, machine.report),
            Ok(()) => (),
        }
    }
    Ok(())
}

/// Whether a loop is of one thread, which there is no row of and nothing to say about.
fn runs_one_thread(parallel: Op<'_>) -> bool {
    let one = |dimension: &Counting<'_>| dimension.is_plain() && constant(dimension.upper) == Some(1);
    Counting::dimensions(parallel).iter().all(one) && !parallel.contains(is_of_warp)
}

/// How rows of threads will go through the thread loops of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// Thread by thread.
    None,
    Some,
    /// Rows are the warps: whole ones, or the one partial one of a block of one row.
    Warps,
}

/// What will be made of the thread loops of a block loop, before it is split at its barriers.
pub fn takes(block: Op<'_>) -> Rows {
    let sizes: Vec<_> = Counting::dimensions(block).iter().map(|dimension| constant(dimension.upper)).collect();
    let narrow = sizes.first().copied().flatten().is_some_and(|width| width < i64::from(FEWEST));
    if narrow || check(block, |op| is_barrier(op) || op.is("llvm.alloca") || is_lane_or_warp(op)).is_err() {
        return Rows::None;
    }
    match sizes[..] {
        [Some(x), Some(y), Some(z)] if x % i64::from(WARP) == 0 || y * z == 1 => Rows::Warps,
        _ => Rows::Some,
    }
}

/// Whether all operations of a loop have forms for rows, but for those that `apart` says go before.
fn check<'c>(parallel: Op<'c>, apart: impl Fn(Op<'c>) -> bool) -> Result<(), Apart> {
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

/// Stack memory that threads use one after the other, with room for each lane of a row. A thread on its own uses the first lane's.
#[derive(Default)]
struct LaneMemory<'c> {
    /// Bytes from lane to lane.
    strides: HashMap<Value<'c>, i64>,
}

impl<'c> LaneMemory<'c> {
    /// The bytes between the memory of neighbouring lanes; makes room for them when first asked.
    fn stride(&mut self, memory: Value<'c>) -> Option<i64> {
        if let Some(stride) = self.strides.get(&memory) {
            return Some(*stride);
        }
        let alloca = memory.defining_op()?;
        let element = alloca.attr("elem_type")?.as_type()?;
        let count = constant(alloca.operand(0))?;
        let b = Builder::before(alloca);
        let ty = alloca.operand(0).ty();
        let (size, alignment) = element.layout(alloca);
        let stride = match stack::element_size(alloca).filter(|_| count == 1) {
            Some(beside) => {
                stack::interleave(alloca, beside, b.const_int(b.ctx().int(64), WARP.into()));
                beside.cast_signed()
            }
            None => (size.next_multiple_of(alignment.max(1)) * count.cast_unsigned()).cast_signed(),
        };
        alloca.set_operand(0, b.const_int(ty, count * i64::from(WARP)));
        self.strides.insert(memory, stride);
        Some(stride)
    }
}

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
}

/// A thread loop and the rows that it gets.
#[derive(Clone, Copy)]
struct Nest<'c> {
    parallel: Op<'c>,
    lanes: u32,
    /// Threads in x, if that is constant.
    width: Option<i64>,
    /// What the threads in x are a multiple of.
    factor: i64,
    /// The rows are warps.
    of_warps: bool,
    machine: Machine,
}

/// Rows of fewer threads do not pay.
const FEWEST: u32 = 4;

impl<'c> Nest<'c> {
    fn of(parallel: Op<'c>, machine: Machine) -> Result<Self, Apart> {
        let dimensions = Counting::dimensions(parallel);
        if dimensions.len() != 3 || !dimensions.iter().all(Counting::is_plain) || parallel.num_results() > 0 {
            return Err(Apart::Shape);
        }
        let width = constant(dimensions[0].upper);
        let factor = width.unwrap_or_else(|| constant_factor(dimensions[0].upper));
        check(parallel, |_| false)?;
        if parallel.contains(is_of_warp) {
            return Ok(Self { parallel, lanes: WARP, width, factor, of_warps: true, machine });
        }
        let wide = parallel.contains(|op| op.results().iter().any(|result| result.ty().float_width() == Some(64)));
        let wanted = machine.register_bits / if wide { 64 } else { 32 };
        let fitting = width.map_or(wanted, |width| wanted.min(1 << (63 - width.max(1).leading_zeros())));
        if fitting < FEWEST {
            return Err(Apart::Narrow);
        }
        Ok(Self { parallel, lanes: fitting, width, factor, of_warps: false, machine })
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
    fn vectorise(self, memory: &mut LaneMemory<'c>) -> Result<(), Apart> {
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

    /// Whether there may be a last row that not all lanes are in, of unknown size.
    fn may_leave_some(&self) -> bool {
        self.width.is_none() && self.factor % i64::from(self.lanes) != 0
    }

    /// What is cheaper for the threads that are too few for a whole row; where their number is not known, half a row is taken.
    fn last_row(&self, costs: Costs) -> LastRow {
        let lanes = u64::from(self.lanes);
        let rest = match self.width {
            Some(width) => width.cast_unsigned() % lanes,
            None if self.may_leave_some() => lanes / 2,
            None => 0,
        };
        match costs.masked_row() < costs.alone.saturating_mul(rest) / lanes {
            true if self.machine.cost_model => LastRow::Together,
            _ => LastRow::OneByOne,
        }
    }

    /// Rows of one register of lanes; of several where a thread costs clearly less in them, because a round waits for the one before.
    fn cheapest(self, seeds: &[(Value<'c>, Shape)]) -> (Self, Shapes<'c>, Costs) {
        let of = |lanes: u32| {
            let shapes = Shapes::new(self.parallel, lanes, seeds, true);
            let estimate = Estimate {
                shapes: &shapes,
                lanes,
                register_bits: self.machine.register_bits,
                early: Default::default(),
            };
            let (costs, fits) = (estimate.of(self.parallel), estimate.fits_registers(self.parallel));
            (Self { lanes, ..self }, shapes, costs, fits)
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
        let again = asks && (self.of_warps || taken.assumes_clamps());
        let proven = again.then(|| Shapes::new(plain.parallel, self.lanes, seeds, false));
        let second = match &proven {
            Some(shapes) => Second::Rows(&plain, shapes),
            None if !self.of_warps && (asks || self.may_leave_some() && last == LastRow::OneByOne) => {
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
            nest = nest.or(Some(made));
        }
        let holds = self.asked(b, shapes, &ivs).into_iter().chain(advances.iter().map(|advance| advance.holds(b)));
        let holds = holds.reduce(|all, one| b.arith("andi", all, one));
        let end = holds.map_or(whole, |holds| b.value("arith.select", &[holds, whole, operands[0]], whole.ty()));
        let done = self.rows(b, shapes, &ivs, [operands[0], end]).and_then(|()| match second {
            Second::None => self.partial_row(b, shapes, &ivs, whole),
            Second::Threads(alone, last) => {
                let together = holds.filter(|_| last == LastRow::Together);
                self.rest(b, shapes, &ivs, alone, Rest { end, whole, together })
            }
            Second::Rows(plain, shapes) => {
                plain.rows(b, shapes, &ivs, [end, whole])?;
                plain.partial_row(b, shapes, &ivs, whole)
            }
        });
        if done.is_err() {
            nest.into_iter().for_each(discard);
        }
        done
    }

    /// The loop over the whole rows from a thread to a thread.
    fn rows(&self, b: Builder<'c>, shapes: &Shapes<'c>, ivs: &[Value<'c>], ends: [Value<'c>; 2]) -> Result<(), String> {
        let made = b.scf_for(ends[0], ends[1], b.const_index(self.lanes.into()), &[]);
        let inside = Builder::at_end(made.body(), b.loc);
        self.row(inside, shapes, ivs, made.body().arg(0), |_| None)?;
        inside.scf_yield(&[]);
        Ok(())
    }

    /// One row, from its first thread, for the lanes of `mask`.
    fn row(
        &self,
        b: Builder<'c>,
        shapes: &Shapes<'c>,
        ivs: &[Value<'c>],
        first: Value<'c>,
        mask: impl FnOnce(&Emitter<'c, '_>) -> Option<Value<'c>>,
    ) -> Result<(), String> {
        if self.parallel.parent_of_name("llvm.func").is_some_and(|function| function.has_attr(TAKEN_BY_ROW)) {
            let taken = take_row(b);
            let inside = Builder::at_end(taken.body(), b.loc);
            self.taken_row(inside, shapes, ivs, first, mask)?;
            inside.scf_yield(&[]);
            return Ok(());
        }
        self.taken_row(b, shapes, ivs, first, mask)
    }

    fn taken_row(
        &self,
        b: Builder<'c>,
        shapes: &Shapes<'c>,
        ivs: &[Value<'c>],
        first: Value<'c>,
        mask: impl FnOnce(&Emitter<'c, '_>) -> Option<Value<'c>>,
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
        };
        emitter.mask = mask(&emitter);
        let old = self.parallel.body().args();
        for (old, new) in old.iter().zip([first, ivs[0], ivs[1]]) {
            emitter.set(*old, Row::Scalar(new));
        }
        emitter.block(self.parallel.body())
    }

    /// Where memory is allocated once for each call of the function.
    fn function_start(&self) -> Builder<'c> {
        let function = self.parallel.parent_of_name("llvm.func").unwrap_or(self.parallel);
        Builder::at_start(function.region(0).entry(), self.parallel.loc())
    }

    /// The threads in whole rows.
    fn whole(&self, b: Builder<'c>) -> Value<'c> {
        let upper = self.parallel.operand(3);
        match self.width {
            Some(width) => b.const_index(width - width % i64::from(self.lanes)),
            None if self.may_leave_some() => b.arith("andi", upper, b.const_index(-i64::from(self.lanes))),
            None => upper,
        }
    }

    /// Tests of what was taken of numbers: that none wraps between the first and the last thread of the row.
    fn asked(&self, b: Builder<'c>, shapes: &Shapes<'c>, ivs: &[Value<'c>]) -> Vec<Value<'c>> {
        let old = self.parallel.body().args();
        let zero = b.const_index(0);
        let last = b.arith("addi", self.parallel.operand(3), b.const_index(-1));
        let mut ends = [zero, last].map(|x| {
            let mut mapping = Mapping::new();
            mapping.map_all(&old, &[x, ivs[0], ivs[1]]);
            mapping
        });
        let i64 = b.ctx().int(64);
        let steps = b.index_cast(last, i64);
        let mut test = |assumption: &Assumption<'c>| {
            let name = if assumption.signed { "arith.extsi" } else { "arith.extui" };
            let [first, final_one] = ends.each_mut().map(|mapping| {
                let value = computed(b, self.parallel, assumption.value, mapping);
                b.value(name, &[value], i64)
            });
            let distance = b.arith("muli", steps, b.const_int(i64, assumption.stride));
            b.cmpi("eq", b.arith("subi", final_one, first), distance)
        };
        shapes.assumed().iter().map(&mut test).collect()
    }

    /// The row that not all lanes are in, where it is known that there is one.
    fn partial_row(
        &self,
        b: Builder<'c>,
        shapes: &Shapes<'c>,
        ivs: &[Value<'c>],
        whole: Value<'c>,
    ) -> Result<(), String> {
        let Some(width) = self.width else {
            return if self.may_leave_some() { self.unknown_partial_row(b, shapes, ivs, whole) } else { Ok(()) };
        };
        let rest = width % i64::from(self.lanes);
        if rest == 0 {
            return Ok(());
        }
        self.row(b, shapes, ivs, whole, |emitter| {
            let lanes = (0..i64::from(self.lanes)).map(|lane| i64::from(lane < rest));
            Some(emitter.constants(emitter.i1(), lanes))
        })
    }

    /// The row that not all lanes are in, if there is one.
    fn unknown_partial_row(
        &self,
        b: Builder<'c>,
        shapes: &Shapes<'c>,
        ivs: &[Value<'c>],
        whole: Value<'c>,
    ) -> Result<(), String> {
        let rest = b.arith("subi", self.parallel.operand(3), whole);
        let some = b.scf_if(b.cmpi("sgt", rest, b.const_index(0)), &[], false);
        let inside = Builder::at_end(some.body(), b.loc);
        self.row(inside, shapes, ivs, whole, |emitter| {
            let lanes = emitter.constants(b.ctx().index(), 0..i64::from(self.lanes));
            Some(emitter.compare("slt", lanes, emitter.splat(rest)))
        })?;
        inside.scf_yield(&[]);
        Ok(())
    }

    /// The threads that are in no whole row: one by one from `end` on; where `rest.holds` is given, and is true, as one row.
    fn rest(
        &self,
        b: Builder<'c>,
        shapes: &Shapes<'c>,
        ivs: &[Value<'c>],
        alone: Op<'c>,
        rest: Rest<'c>,
    ) -> Result<(), String> {
        let Some(holds) = rest.together else {
            self.one_by_one(b, alone, rest.end, ivs);
            return Ok(());
        };
        let made = b.scf_if(holds, &[], true);
        let [together, apart] = [0, 1].map(|region| Builder::at_end(made.region(region).entry(), b.loc));
        self.partial_row(together, shapes, ivs, rest.whole)?;
        together.scf_yield(&[]);
        self.one_by_one(apart, alone, self.parallel.operand(0), ivs);
        apart.scf_yield(&[]);
        Ok(())
    }

    /// A thread loop for the threads of a row from `first` on.
    fn one_by_one(&self, b: Builder<'c>, alone: Op<'c>, first: Value<'c>, ivs: &[Value<'c>]) {
        let operands = self.parallel.operands();
        let one = b.const_index(1);
        let above = [ivs[0], ivs[1]].map(|iv| b.arith("addi", iv, one));
        let made = b.scf_parallel(&[first, ivs[0], ivs[1]], &[operands[3], above[0], above[1]], &operands[6..9]);
        let mut mapping = Mapping::new();
        mapping.map_all(&alone.body().args(), &made.body().args());
        Builder::before_terminator(made.body(), b.loc).clone_body(alone.body(), &mut mapping);
        keep_short(made);
    }
}

/// Where the whole rows end, where they would if all holds that was taken, and whether it does; the last is asked where the rest is to go
/// as a row.
struct Rest<'c> {
    end: Value<'c>,
    whole: Value<'c>,
    together: Option<Value<'c>>,
}

/// The constant that a number of threads is a multiple of.
fn constant_factor(threads: Value<'_>) -> i64 {
    let product = threads.defining_op().filter(|op| op.is("arith.muli"));
    product.and_then(|op| constant(op.operand(0)).or_else(|| constant(op.operand(1)))).unwrap_or(1)
}

/// Few threads run such loops: copies that would be faster for many rounds are only more to compile. Loops of a known number of rounds
/// may still be unrolled, so that stack memory becomes registers in the rows too.
fn keep_short(rest: Op<'_>) {
    let text = "#llvm.loop_annotation<vectorize = <disable = true>, unroll = <runtimeDisable = true>>";
    let Some(annotation) = rest.ctx().parse_attr(text) else { return };
    for op in rest.find_all(|op| op == rest || op.is("scf.for") && !op.has_attr(LOOP_ANNOTATION)) {
        op.set_attr(LOOP_ANNOTATION, annotation);
    }
}

fn discard(nest: Op<'_>) {
    nest.drop_all_references();
    nest.erase();
}
