//! How a value differs between the threads of a row.
//!
//! ```mlir
//! %i = llvm.add %base, %x : i32          // linear: one more in each lane
//! %p = llvm.getelementptr %a[%i]         // linear: four bytes more in each lane
//! %w = llvm.lshr %x, %five : i32         // uniform, if the row begins at a multiple of its lanes and has at most 32
//! %v = llvm.load %p                      // varying
//! ```
//! Between linear and varying stand numbers whose lanes differ by other constants (`uneven.rs`).
//! The lattice is uniform < linear < varying; loops start optimistic and rise to a fixed point.
//!
//! A narrow integer that counts up the lanes may wrap between two of them. `signed` and `unsigned` say that it does not, read as such a number:
//! then its extension to an address is linear too.

mod agreed;
mod arithmetic;
mod uneven;
mod zeros;

use std::collections::HashMap;

use mlir_bridge::ir::{Block, Op, Value};
use regrain_dialects::ops::{ActiveMask, Match, Shuffle, ShuffleKind, Vote, WarpReduce};

use uneven::Low;
pub use uneven::Uneven;

use super::{
    classify::{Kind, is_ordinary, kind},
    ways::Report,
};
use crate::analysis::{
    constants::is_undefined,
    facts::{constant, width},
};
use crate::lower::before::is_known_before;

/// A value that grows by the same in each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linear {
    /// From one lane to the next; bytes for a pointer.
    pub stride: i64,
    signed: bool,
    unsigned: bool,
    /// What is known of wrapping comes from flags: it holds of the lanes that take part alone.
    of_live: bool,
}

/// How a value differs between the lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Uniform,
    Linear(Linear),
    Uneven(Uneven),
    Varying,
}

impl Shape {
    /// A value that grows by `stride` and never wraps.
    pub fn linear(stride: i64) -> Self {
        match stride {
            0 => Self::Uniform,
            _ => Self::Linear(Linear { stride, signed: true, unsigned: true, of_live: false }),
        }
    }

    fn stride(self) -> Option<i64> {
        match self {
            Self::Uniform => Some(0),
            Self::Linear(linear) => Some(linear.stride),
            Self::Uneven(_) | Self::Varying => None,
        }
    }

    /// Whether what is known of wrapping holds of the lanes that take part alone.
    pub fn is_of_live(self) -> bool {
        matches!(self, Self::Linear(Linear { of_live: true, .. }))
    }

    /// Whether no two lanes have a wrap between them, read as signed numbers.
    pub fn is_signed(self) -> bool {
        matches!(self, Self::Uniform | Self::Uneven(_) | Self::Linear(Linear { signed: true, .. }))
    }

    /// The same of unsigned numbers.
    pub fn is_unsigned(self) -> bool {
        matches!(self, Self::Uniform | Self::Uneven(_) | Self::Linear(Linear { unsigned: true, .. }))
    }

    fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::Uniform, Self::Uniform) => Self::Uniform,
            (Self::Uneven(a), Self::Uneven(b)) if a == b => self,
            (Self::Linear(a), Self::Linear(b)) if a.stride == b.stride => Self::Linear(Linear {
                stride: a.stride,
                signed: a.signed && b.signed,
                unsigned: a.unsigned && b.unsigned,
                of_live: a.of_live || b.of_live,
            }),
            _ => Self::Varying,
        }
    }
}

/// The shapes of the values of a thread loop.
pub struct Shapes<'c> {
    lanes: i64,
    known: HashMap<Value<'c>, Shape>,
    /// Trailing zero bits of the first lane's value, as far as asked.
    zeros: HashMap<Value<'c>, u32>,
    /// Known bits at the end of the first lane's value, as far as asked.
    lows: HashMap<Value<'c>, Low>,
    /// Where accesses are beside what all lanes have alike, in bytes.
    beside: HashMap<Value<'c>, i64>,
    parallel: Op<'c>,
    /// What is taken of numbers along a row; whoever runs the row asks first.
    assumed: Vec<Assumption<'c>>,
    taking: Taking,
    /// There is something that lanes might agree on.
    may_agree: bool,
    /// Something is assumed that some blocks do not keep, those at the problem's edge for one.
    often_fails: bool,
    /// How accesses were made.
    pub report: Report<'c>,
}

/// What may be taken without proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Taking {
    Nothing,
    /// What holds along all rows of most blocks.
    AlongAll,
    /// That too, and what holds in most rows.
    AlongMost,
}

/// What is taken of a number along a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assumption<'c> {
    /// A narrow number does not wrap between the first and the last thread, read as a signed one or not.
    Steps { value: Value<'c>, stride: i64, signed: bool },
    /// From the lowest bit of another one up, which is the same in all threads, a number has the same bits in all threads.
    Bits { value: Value<'c>, from: Value<'c> },
    /// The lanes of a row agree on a comparison, or on the quotient of a division and of the remainder that goes with it. A row is asked on
    /// its own, as in each block there may be one that does not.
    Agrees { op: Op<'c> },
}

/// The most numbers that are assumed not to wrap.
const MOST_ASSUMED: usize = 12;
/// How far a number is followed to what is known before the row.
const DEPTH: u32 = 16;

impl<'c> Shapes<'c> {
    /// Analyses `parallel`, whose rows of `lanes` threads begin at multiples of `lanes` if the first does at 0. `seeds` are values from outside that
    /// differ between the lanes; what is not proven is taken of numbers as far as `taking` says.
    pub fn new(parallel: Op<'c>, lanes: u32, seeds: &[(Value<'c>, Shape)], taking: Taking) -> Self {
        let mut made = Self {
            lanes: lanes.into(),
            known: seeds.iter().copied().collect(),
            zeros: HashMap::new(),
            lows: HashMap::new(),
            beside: HashMap::new(),
            parallel,
            assumed: Vec::new(),
            taking,
            may_agree: false,
            often_fails: false,
            report: Report::default(),
        };
        let ivs = parallel.body().args();
        made.known.insert(ivs[0], Shape::linear(1));
        let aligned = constant(parallel.operand(0)) == Some(0);
        made.zeros.insert(ivs[0], if aligned { lanes.trailing_zeros() } else { 0 });
        for iv in &ivs[1..] {
            made.known.insert(*iv, Shape::Uniform);
        }
        made.block(parallel.body());
        made.place_accesses();
        made
    }

    /// The shape of a value; what comes from outside of the loop is uniform.
    pub fn of(&self, value: Value<'c>) -> Shape {
        self.known.get(&value).copied().unwrap_or(Shape::Uniform)
    }

    pub fn is_uniform(&self, value: Value<'c>) -> bool {
        self.of(value) == Shape::Uniform
    }

    pub fn all_uniform(&self, values: &[Value<'c>]) -> bool {
        values.iter().all(|value| self.is_uniform(*value))
    }

    /// The stride of a value whose lanes lie evenly, 0 for a uniform one.
    pub fn stride(&self, value: Value<'c>) -> Option<i64> {
        self.of(value).stride()
    }

    /// What must hold of a row.
    pub fn assumed(&self) -> &[Assumption<'c>] {
        &self.assumed
    }

    /// Whether something is taken that some blocks do not keep: a limit is met at the problem's edge, bits are flipped within a row.
    pub fn often_fails(&self) -> bool {
        self.often_fails
    }

    /// Takes it that a narrow linear number does not wrap, if that can be asked before the row.
    fn assume(&mut self, value: Value<'c>, signed: bool) -> bool {
        let Shape::Linear(Linear { stride, .. }) = self.of(value) else { return false };
        stride.abs() < 1 << 20 && self.takes(Assumption::Steps { value, stride, signed }, &[value])
    }

    /// Takes it that something holds, if that can be asked of these values before the row.
    fn takes(&mut self, assumption: Assumption<'c>, values: &[Value<'c>]) -> bool {
        if self.assumed.contains(&assumption) {
            return true;
        }
        let mut given = self.parallel.body().args();
        given.extend(self.agreed().map(|op| op.result(0)));
        let is_known = |value: &Value<'c>| is_known_before(self.parallel, *value, &given, DEPTH);
        let possible =
            self.taking > Taking::Nothing && self.assumed.len() < MOST_ASSUMED && values.iter().all(is_known);
        if possible {
            self.assumed.push(assumption);
        }
        possible
    }

    fn set(&mut self, value: Value<'c>, shape: Shape) {
        self.known.insert(value, shape);
    }

    fn block(&mut self, block: Block<'c>) {
        for op in block.ops() {
            self.op(op);
        }
    }

    fn op(&mut self, op: Op<'c>) {
        match op.name() {
            "scf.if" => self.branch(op),
            "scf.for" => self.counted(op),
            "scf.while" => self.general(op),
            "scf.index_switch" => self.switch(op),
            _ => {
                let shape = self.result(op);
                op.results().into_iter().for_each(|result| self.set(result, shape));
            }
        }
    }

    fn yields(op: Op<'c>) -> Vec<Op<'c>> {
        op.regions().into_iter().filter_map(|region| region.first_block()?.terminator()).collect()
    }

    fn branch(&mut self, op: Op<'c>) {
        for region in op.regions() {
            region.blocks().into_iter().for_each(|block| self.block(block));
        }
        self.joined(op);
    }

    fn switch(&mut self, op: Op<'c>) {
        self.branch(op);
    }

    /// The results of a conditional: what the taken branch yields, if all lanes take it. Where only one branch says what a result is,
    /// that is it in every lane: in others it may be anything.
    fn joined(&mut self, op: Op<'c>) {
        let uniform = self.is_uniform(op.operand(0));
        for (number, result) in op.results().into_iter().enumerate() {
            let yields = Self::yields(op).into_iter().map(|last| last.operand(number));
            let said: Vec<_> = yields.filter(|value| !is_undefined(*value)).collect();
            let shapes = said.iter().map(|value| self.of(*value));
            let joined = shapes.reduce(Shape::join).unwrap_or(Shape::Uniform);
            self.set(result, if uniform || (op.is("scf.if") && said.len() < 2) { joined } else { Shape::Varying });
        }
    }

    /// Analyses the body of a loop until nothing changes; `round` gives the shapes of arguments after it.
    fn fixed_point(&mut self, args: &[Value<'c>], round: impl Fn(&mut Self) -> Vec<Shape>) {
        loop {
            let next = round(self);
            let mut changed = false;
            for (arg, shape) in args.iter().zip(next) {
                let joined = self.of(*arg).join(shape);
                changed |= joined != self.of(*arg);
                self.set(*arg, joined);
            }
            if !changed {
                return;
            }
        }
    }

    fn counted(&mut self, op: Op<'c>) {
        let args = op.body().args();
        let bounds = op.operands();
        let unsigned = op.has_attr("unsignedCmp");
        let number = match self.exact(bounds[0], !unsigned) {
            _ if !self.is_uniform(bounds[2]) => Shape::Varying,
            // No lane that is within its bound has wrapped, read as the loop compares, and the first lane is behind them.
            Shape::Linear(linear) if linear.stride > 0 => {
                let wide = width(args[0].ty()) == Some(64);
                let signed = linear.signed && (wide || !unsigned);
                Shape::Linear(Linear { signed, unsigned: linear.unsigned && (wide || unsigned), ..linear })
            }
            Shape::Linear(_) | Shape::Uneven(_) => Shape::Varying,
            other => other,
        };
        self.set(args[0], number);
        for (arg, init) in args[1..].iter().zip(&bounds[3..]) {
            let shape = self.of(*init);
            self.set(*arg, shape);
        }
        let body = op.body();
        self.fixed_point(&args[1..], |this| {
            this.block(body);
            body.terminator()
                .map(|last| last.operands().iter().map(|value| this.of(*value)).collect())
                .unwrap_or_default()
        });
        let together = self.all_uniform(&bounds[..3]);
        for (arg, result) in args[1..].iter().zip(op.results()) {
            let shape = if together { self.of(*arg) } else { Shape::Varying };
            self.set(result, shape);
        }
    }

    /// The shape of a number that a loop begins with, which is taken not to wrap if that can be asked.
    fn exact(&mut self, value: Value<'c>, signed: bool) -> Shape {
        let shape = self.of(value);
        match shape {
            Shape::Linear(linear) if signed && !linear.signed && self.assume(value, true) => {
                Shape::Linear(Linear { signed: true, ..linear })
            }
            Shape::Linear(linear) if !signed && !linear.unsigned && self.assume(value, false) => {
                Shape::Linear(Linear { unsigned: true, ..linear })
            }
            _ => shape,
        }
    }

    fn general(&mut self, op: Op<'c>) {
        let (before, after) = (op.region(0).entry(), op.region(1).entry());
        for (arg, init) in before.args().iter().zip(op.operands()) {
            let shape = self.exact(init, true);
            self.set(*arg, shape);
        }
        let args = before.args();
        self.fixed_point(&args, |this| {
            this.block(before);
            if let Some(condition) = before.terminator() {
                for (arg, passed) in after.args().iter().zip(&condition.operands()[1..]) {
                    let shape = this.of(*passed);
                    this.set(*arg, shape);
                }
            }
            this.block(after);
            after
                .terminator()
                .map(|last| last.operands().iter().map(|value| this.of(*value)).collect())
                .unwrap_or_default()
        });
        let Some(condition) = before.terminator() else { return };
        let together = self.is_uniform(condition.operand(0));
        for (result, passed) in op.results().into_iter().zip(&condition.operands()[1..]) {
            let shape = if together { self.of(*passed) } else { Shape::Varying };
            self.set(result, shape);
        }
    }

    /// The shape of a result of an operation without regions that are looked into.
    fn result(&mut self, op: Op<'c>) -> Shape {
        if let Some(shape) = self.warp(op) {
            return shape;
        }
        let operands = op.operands();
        let uniform = self.all_uniform(&operands);
        match kind(op) {
            Kind::Elementwise | Kind::Constant | Kind::Math | Kind::Aggregate if uniform => Shape::Uniform,
            Kind::Load if uniform && is_ordinary(op) => Shape::Uniform,
            Kind::Elementwise => self.elementwise(op),
            _ if uniform && op.num_regions() == 0 && op.is_pure() => Shape::Uniform,
            _ => Shape::Varying,
        }
    }

    fn warp(&self, op: Op<'c>) -> Option<Shape> {
        let uniform_if = |condition: bool| Some(if condition { Shape::Uniform } else { Shape::Varying });
        match op.name() {
            Vote::NAME => uniform_if(self.is_uniform(Vote::of(op).mask())),
            WarpReduce::NAME => uniform_if(self.is_uniform(WarpReduce::of(op).mask())),
            ActiveMask::NAME => Some(Shape::Uniform),
            Match::NAME => uniform_if(false),
            Shuffle::NAME => {
                let shuffle = Shuffle::of(op);
                let whole = constant(shuffle.clamp()) == Some(31) && constant(shuffle.mask()) == Some(-1);
                let one = shuffle.kind() == ShuffleKind::Idx && self.is_uniform(shuffle.offset());
                uniform_if(whole && one)
            }
            _ => None,
        }
    }
}
