//! What a row costs beside its threads one by one.
//!
//! Both are estimated in issue slots, a quarter of a cycle: what a core that issues four operations in a cycle spends on them. A row pays for
//! each lane of a gather and for all lanes until the last one has left a loop; threads on their own wait for each round's result before the
//! next, and mispredict where a branch goes differently from thread to thread.

use std::{
    cell::RefCell,
    collections::{HashMap, HashSet},
};

use mlir_bridge::ir::{Block, Op, Type, Value};
use regrain_dialects::attributes::{INTERLEAVED, REUSED, TOGETHER};
use regrain_targets::device_language::library;

use super::{
    classify::{Kind, callee, divides, is_scalar, kind, lane_types},
    combs::Comb,
    division::Division,
    loops::ends_in_turn,
    machine::{GATHERED, SCATTERED},
    memory::MOST_APART,
    own_memory::root,
    shapes::{Shape, Shapes},
    sums::combines,
    tiles::Plan,
    window::Window,
};
use crate::analysis::{counted_loop::is_outside, facts::width, loops::Counting};

/// Rounds of a loop whose rounds are not known.
const ROUNDS: u64 = 16;
/// The most rounds that a loop counts for.
const MOST_ROUNDS: u64 = 1 << 12;
/// A branch that was predicted wrongly: 15 cycles.
const MISPREDICTED: u64 = 60;
/// Of branches that go differently from thread to thread, so many are predicted wrongly: one of four.
const PREDICTED: u64 = 4;
/// What masks cost in each round, and at each branch.
const MASKING: u64 = 8;
/// What one lane's operation costs in a loop over the lanes beside the operation itself.
const BY_LANE: u64 = 6;
/// What it costs to reach a line of memory that no round before has touched: threads of a row share lines, a thread on its own that goes
/// on by many elements at a time has each for itself.
const FAR: u64 = 20;
/// Cycles until a result is there, in slots.
const FLOAT_LATENCY: u64 = 16;
const LOAD_LATENCY: u64 = 20;

/// A row, and its threads one by one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    pub row: u64,
    pub alone: u64,
}

impl Costs {
    fn plus(self, other: Self) -> Self {
        Self { row: self.row.saturating_add(other.row), alone: self.alone.saturating_add(other.alone) }
    }

    /// The row, where not all lanes take part.
    pub fn masked_row(self) -> u64 {
        self.row.saturating_add(MASKING)
    }

    fn times(self, row: u64, alone: u64) -> Self {
        Self { row: self.row.saturating_mul(row), alone: self.alone.saturating_mul(alone) }
    }
}

/// Estimates costs of the rows of one thread loop.
pub struct Estimate<'c, 's> {
    pub shapes: &'s Shapes<'c>,
    pub lanes: u32,
    /// Width of a vector register.
    pub register_bits: u32,
    /// What accesses cost a row that are not made where they stand.
    pub early: RefCell<HashMap<Op<'c>, u64>>,
    /// Whether threads on their own come to the lines of memory that the row comes to.
    pub beside: bool,
}

impl<'c> Estimate<'c, '_> {
    /// The costs of one row of `parallel`.
    pub fn of(&self, parallel: Op<'c>) -> Costs {
        let once = self.block(parallel.body(), false);
        once.times(1, self.lanes.into())
    }

    /// Whether the lanes that are left for the last round of a loop, half of them, go through it for less one by one than masked
    /// together.
    pub fn ends_by_lane(&self, op: Op<'c>) -> bool {
        let Costs { row, alone } = self.block(op.body(), true);
        (alone + BY_LANE) * u64::from(self.lanes / 2) < row + MASKING
    }

    /// Whether all that is live at a time, in the order of the program, fits into so many registers. Arrays that may become registers do not.
    pub fn fits_registers(&self, parallel: Op<'c>, registers: u32) -> bool {
        let array = |op: Op<'c>| op.operands().into_iter().any(is_private_array);
        !parallel.contains(array) && self.most_live(parallel.body(), &HashSet::new()) <= registers.into()
    }

    /// The most registers that are live at a time in `block`, behind which `beyond` are.
    fn most_live(&self, block: Block<'c>, beyond: &HashSet<Value<'c>>) -> u64 {
        let mut live = beyond.clone();
        let size = |live: &HashSet<Value<'c>>| live.iter().map(|value| self.parts(value.ty())).sum::<u64>();
        let mut most = size(&live);
        for op in block.ops().into_iter().rev() {
            for result in op.results() {
                live.remove(&result);
            }
            if op.num_regions() > 0 {
                // What a loop reads is live in all of its rounds.
                let inner = op.find_all(|_| true).into_iter().flat_map(Op::operands);
                live.extend(inner.filter(|value| is_outside(*value, op) && self.takes_registers(*value)));
                let blocks = op.regions().into_iter().filter_map(|region| region.first_block());
                most = blocks.map(|block| self.most_live(block, &live)).fold(most, u64::max);
            }
            live.extend(op.operands().into_iter().filter(|value| self.takes_registers(*value)));
            most = most.max(size(&live));
        }
        most
    }

    /// Whether a value is a vector that somebody has to keep.
    fn takes_registers(&self, value: Value<'c>) -> bool {
        self.shapes.of(value) == Shape::Varying && value.defining_op().is_none_or(|op| kind(op) != Kind::Constant)
    }

    fn block(&self, block: Block<'c>, masked: bool) -> Costs {
        block.ops().into_iter().map(|op| self.op(op, masked)).fold(Costs::default(), Costs::plus)
    }

    fn op(&self, op: Op<'c>, masked: bool) -> Costs {
        match kind(op) {
            Kind::Structure => self.structure(op, masked),
            Kind::Constant | Kind::Nothing => Costs::default(),
            _ if op.is_terminator() => Costs::default(),
            Kind::Load if !self.beside && self.goes_far(op) => {
                Costs { row: self.in_row(op, masked) + FAR, alone: alone(op) + FAR }
            }
            _ => Costs { row: self.in_row(op, masked), alone: alone(op) },
        }
    }

    /// Whether what the lanes read lies side by side, and elsewhere in the next round of the loop around it.
    fn goes_far(&self, load: Op<'c>) -> bool {
        let side_by_side =
            self.shapes.stride(load.operand(0)) == Some(load.result(0).ty().layout(load).0.cast_signed());
        let around = load.parent().filter(|parent| matches!(parent.name(), "scf.for" | "scf.while"));
        side_by_side && around.is_some_and(|around| !is_outside(load.operand(0), around))
    }

    /// The registers that a vector of such elements takes.
    fn parts(&self, ty: Type<'c>) -> u64 {
        let scalars = lane_types(ty).unwrap_or_else(|| vec![ty]);
        let bits = |ty: &Type<'c>| ty.float_width().or(ty.int_width()).unwrap_or(64).max(8);
        scalars.iter().map(|ty| u64::from((bits(ty) * self.lanes).div_ceil(self.register_bits))).sum()
    }

    fn in_row(&self, op: Op<'c>, masked: bool) -> u64 {
        let varies = op.results().into_iter().any(|result| self.shapes.of(result) == Shape::Varying);
        let lanes = u64::from(self.lanes);
        if let Some(cost) = self.early.borrow().get(&op) {
            return *cost;
        }
        if matches!(kind(op), Kind::Load | Kind::Store)
            && !masked
            && let Some(comb) = Comb::of(self.shapes, self.lanes, op)
        {
            let ty = if kind(op) == Kind::Load { op.result(0).ty() } else { op.operand(0).ty() };
            let cost = comb.cost(self.parts(ty));
            self.early.borrow_mut().extend(comb.accesses.into_iter().map(|access| (access, cost)));
            return cost;
        }
        match kind(op) {
            Kind::Load => self.access(op, op.operand(0), op.result(0).ty(), GATHERED, masked),
            Kind::Store => self.access(op, op.operand(1), op.operand(0).ty(), SCATTERED, masked),
            _ if op.num_results() > 0 && !varies && op.is_pure() => 1,
            _ if divides(op) && !varies => alone(op),
            // Vectors of integers are not divided by one instruction.
            Kind::Elementwise if divides(op) && op.operand(1).defining_op().and_then(Op::constant_int).is_none() => {
                Division::of(op, self.shapes, self.register_bits).map_or(lanes * alone(op), |how| {
                    how.slots(self.lanes, self.register_bits, self.parts(op.result(0).ty()))
                })
            }
            Kind::Elementwise if op.is("llvm.getelementptr") => self.parts(op.result(0).ty()),
            Kind::Elementwise => self.parts(op.result(0).ty()) * 2 * alone(op).min(16),
            Kind::Math => self.parts(op.result(0).ty()) * alone(op),
            Kind::Aggregate => 0,
            Kind::Warp => 16,
            _ if combines(self.shapes, op) => alone(op) + 12 * self.parts(op.operand(1).ty()),
            _ => lanes * (alone(op) + BY_LANE) + if masked { MASKING } else { 0 },
        }
    }

    /// A load or store of all lanes; `apart` is what a lane costs that lies anywhere.
    fn access(&self, op: Op<'c>, address: Value<'c>, ty: Type<'c>, apart: u64, masked: bool) -> u64 {
        let scalars = lane_types(ty).unwrap_or_else(|| vec![ty]);
        let (size, lanes) = (ty.layout(op).0.cast_signed(), u64::from(self.lanes));
        match self.shapes.stride(address) {
            Some(0) if op.is("llvm.load") => 2,
            Some(0) => lanes * (alone(op) + BY_LANE),
            Some(stride) if scalars.len() == 1 && stride.abs() == size => 4 * self.parts(ty),
            Some(stride) if op.is("llvm.load") && scalars.len() == 1 && (2..=MOST_APART).contains(&(stride / size)) => {
                8 * self.parts(ty) * (stride / size).cast_unsigned()
            }
            _ => self.near(op, address, ty, masked).unwrap_or(lanes * apart * scalars.len() as u64),
        }
    }

    /// An access of elements near one another, if it goes by them: loads and permutations, and for stores also what is read before.
    fn near(&self, op: Op<'c>, address: Value<'c>, ty: Type<'c>, masked: bool) -> Option<u64> {
        let size = ty.layout(op).0.cast_signed();
        let window = Window::of(self.shapes, address, size, self.lanes).filter(|_| is_scalar(ty))?;
        let parts = window.parts() * self.parts(ty);
        match op.is("llvm.load") {
            true if masked && root(address).is_none() => None,
            true => Some(8 * parts),
            false if !window.may_store(address, masked) => None,
            false if window.is_full() && !masked => Some(8 * parts),
            false => Some(16 * parts),
        }
    }

    fn structure(&self, op: Op<'c>, masked: bool) -> Costs {
        match op.name() {
            "scf.for" => self.counted(op, masked),
            "scf.while" => self.general(op, masked),
            _ => self.branch(op, masked),
        }
    }

    fn branch(&self, op: Op<'c>, masked: bool) -> Costs {
        let uniform = self.shapes.is_uniform(op.operand(0));
        // Threads are compared with the problem's edge, which nearly all are within; or all or none have come here.
        let guard = op.has_attr(TOGETHER)
            || op.operand(0).defining_op().is_some_and(|test| test.name().ends_with("cmp") || test.is("arith.cmpi"))
                && self.compares_linear(op.operand(0));
        let sides: Vec<_> = op.regions().into_iter().filter_map(|region| region.first_block()).collect();
        let likely: Vec<_> = sides.iter().copied().filter(|side| !is_for_the_rest(*side)).collect();
        let sides = if likely.is_empty() { sides } else { likely };
        let sides: Vec<_> = sides.into_iter().map(|side| self.block(side, masked || !uniform)).collect();
        let both = sides.iter().copied().fold(Costs::default(), Costs::plus);
        let largest = sides.iter().map(|side| side.alone).max().unwrap_or(0);
        let count = (sides.len() as u64).max(2);
        match (uniform, guard) {
            (true, _) => Costs { row: sides.iter().map(|side| side.row).max().unwrap_or(0) + 1, alone: largest + 1 },
            (false, true) => Costs { row: both.row + MASKING, alone: largest + 1 },
            (false, false) => {
                Costs { row: both.row + MASKING, alone: both.alone / count + 1 + MISPREDICTED / PREDICTED }
            }
        }
    }

    fn compares_linear(&self, condition: Value<'c>) -> bool {
        condition
            .defining_op()
            .is_some_and(|test| test.operands().into_iter().all(|operand| self.shapes.of(operand) != Shape::Varying))
    }

    fn counted(&self, op: Op<'c>, masked: bool) -> Costs {
        let bounds = &op.operands()[..3];
        let together = self.shapes.all_uniform(bounds);
        let even = bounds.iter().all(|bound| self.shapes.of(*bound) != Shape::Varying);
        let rounds =
            Counting::of(op).and_then(|counting| counting.rounds()).and_then(|rounds| u64::try_from(rounds).ok());
        let several = masked || !together && ends_in_turn(self.shapes, op, masked).is_none();
        let plan = even.then(|| Plan::of(self.shapes, op, self.lanes, self.register_bits, several)).flatten();
        self.early.borrow_mut().extend(plan.iter().flat_map(Plan::costs));
        let mut body = self.block(op.body(), several);
        if let Some(plan) = plan.filter(|plan| plan.goes_along(op)) {
            // Twice what each costs in a register of them.
            body.alone = 2 * body.alone / u64::from(plan.rounds.max(2));
        }
        let chain = Latency::of_counted(op);
        self.repeated(body, chain, rounds, together, even)
    }

    fn general(&self, op: Op<'c>, masked: bool) -> Costs {
        let (before, after) = (op.region(0).entry(), op.region(1).entry());
        let together = before.terminator().is_some_and(|last| self.shapes.is_uniform(last.operand(0)));
        let both = self.block(before, masked || !together).plus(self.block(after, masked || !together));
        let chain = Latency::of_general(op);
        self.repeated(both, chain, None, together, together)
    }

    /// A loop of such rounds, each of which waits for the one before it for `chain`.
    fn repeated(&self, body: Costs, chain: u64, rounds: Option<u64>, together: bool, even: bool) -> Costs {
        let count = rounds.unwrap_or(ROUNDS).min(MOST_ROUNDS);
        let masking = if together { 2 } else { MASKING };
        let round = Costs { row: (body.row + masking).max(chain), alone: (body.alone + 2).max(chain) };
        let left = if even { 0 } else { MISPREDICTED };
        // The longest of the lanes' loops beside the mean, in quarters: it grows with their logarithm, to twice for 16.
        let waste = if even { 4 } else { 4 + u64::from(self.lanes.ilog2()) };
        round.times(count.saturating_mul(waste) / 4, count).plus(Costs { row: 0, alone: left })
    }
}

/// Whether a side of a branch is where the device library does what is seldom asked of it.
fn is_for_the_rest(side: Block<'_>) -> bool {
    side.ops().into_iter().any(|op| op.is("llvm.call") && callee(op).is_some_and(library::is_for_the_rest))
}

/// Whether a value is the address of a thread's array on the stack.
fn is_private_array(value: Value<'_>) -> bool {
    value.defining_op().is_some_and(|op| op.is("llvm.alloca") && (op.has_attr(REUSED) || op.has_attr(INTERLEAVED)))
}

/// What an operation costs one thread.
fn alone(op: Op<'_>) -> u64 {
    let name = op.name();
    match kind(op) {
        Kind::Load | Kind::Store => 2,
        Kind::Math => 80,
        Kind::Warp => 64,
        Kind::Aggregate | Kind::Nothing | Kind::Constant => 0,
        Kind::Elementwise if divides(op) => match op.operand(1).defining_op().and_then(Op::constant_int) {
            Some(_) => 4,
            None => 28,
        },
        Kind::Elementwise if name.ends_with("fdiv") || name.ends_with("divf") || name.ends_with("sqrt") => 16,
        Kind::Elementwise => match name {
            "llvm.sext" | "llvm.zext" | "llvm.trunc" | "llvm.bitcast" | "llvm.freeze" | "llvm.addrspacecast" => 0,
            _ => 1,
        },
        _ if op.is("llvm.call") => 40,
        // In shared memory nobody else takes part.
        _ if op.attr("syncscope").and_then(|scope| scope.as_str()) == Some("singlethread") => 8,
        _ if op.is("llvm.atomicrmw") || op.is("llvm.cmpxchg") => 72,
        _ => 4,
    }
}

/// Cycles, in slots, from a value of a round to what is computed of it.
#[derive(Default)]
struct Latency<'c> {
    reached: HashMap<Value<'c>, u64>,
}

impl<'c> Latency<'c> {
    /// How long a round of `scf.for` waits for the round before it: the longest way from a carried value to the same one of the next round.
    fn of_counted(op: Op<'c>) -> u64 {
        let ways = op.body().args().into_iter().skip(1).enumerate().filter_map(|(number, carried)| {
            let mut from = Self::from(carried);
            from.follow(op.body());
            from.reached.get(&op.body().terminator()?.operand(number)).copied()
        });
        ways.max().unwrap_or(0)
    }

    /// The same of `scf.while`.
    fn of_general(op: Op<'c>) -> u64 {
        let (before, after) = (op.region(0).entry(), op.region(1).entry());
        let ways = before.args().into_iter().enumerate().filter_map(|(number, carried)| {
            let mut from = Self::from(carried);
            from.follow(before);
            for (arg, passed) in after.args().into_iter().zip(before.terminator()?.operands().into_iter().skip(1)) {
                let known = from.reached.get(&passed).copied();
                from.reached.extend(known.map(|slots| (arg, slots)));
            }
            from.follow(after);
            from.reached.get(&after.terminator()?.operand(number)).copied()
        });
        ways.max().unwrap_or(0)
    }

    fn from(value: Value<'c>) -> Self {
        Self { reached: HashMap::from([(value, 0)]) }
    }

    /// The latest of an operation's operands.
    fn ready(&self, op: Op<'c>) -> Option<u64> {
        op.operands().iter().filter_map(|operand| self.reached.get(operand).copied()).max()
    }

    fn follow(&mut self, block: Block<'c>) {
        for op in block.ops().into_iter().filter(|op| !op.is_terminator()) {
            let inner =
                op.regions().into_iter().filter_map(|region| region.first_block()).flat_map(|inner| inner.ops());
            let within = inner.filter_map(|inner| self.ready(inner)).max();
            let Some(from) = self.ready(op).max(within) else { continue };
            self.reached.extend(op.results().into_iter().map(|result| (result, from + own_latency(op))));
        }
    }
}

fn own_latency(op: Op<'_>) -> u64 {
    match kind(op) {
        Kind::Load => LOAD_LATENCY,
        Kind::Math => 80,
        Kind::Elementwise if op.results().iter().any(|result| result.ty().is_float()) => FLOAT_LATENCY,
        Kind::Elementwise if width(op.result(0).ty()) == Some(1) => 0,
        Kind::Elementwise => 4 * alone(op),
        _ => 4,
    }
}
