//! `regrain-accumulate-in-parts`: a loop that adds to more of a thread's array than there are registers goes several times, each for a part.
//!
//! Before:
//! ```mlir
//! scf.for %k = 0 to 8 {
//!   %a0 = llvm.load %as[%row][%k] ; %a1 = llvm.load %as[%row + 1][%k] ; ...
//!   scf.for %j = 0 to 8 { llvm.store (llvm.load %bs[%k][%col + %j]), %b[%j] }
//!   scf.for %j = 0 to 8 { %sums[0][%j] += %a0 * %b[%j] }
//!   scf.for %j = 0 to 8 { %sums[1][%j] += %a1 * %b[%j] } ...
//! }
//! ```
//! After:
//! ```mlir
//! scf.for %k = 0 to 8 { scf.for %j = 0 to 8 { llvm.store (llvm.load %bs[%k][%col + %j]), %all[%k][%j] } }
//! scf.for %k = 0 to 8 { %a0 = llvm.load %as[%row][%k] ; scf.for %j = 0 to 8 { %sums[0][%j] += %a0 * %all[%k][%j] } }
//! scf.for %k = 0 to 8 { %a1 = llvm.load %as[%row + 1][%k] ; scf.for %j = 0 to 8 { %sums[1][%j] += %a1 * %all[%k][%j] } } ...
//! ```
//! The same where a round carries the sums as values. A thread of a GPU has 255 registers, a row of threads on a CPU 16 or 32 for all of them: sums of more are loaded and stored in each round.
//! What is loaded for all sums is kept for all rounds instead. Each sum is added to in the order in which it was.
//!
//! Declined: rounds that are not known, or do anything else than loading, computing, and storing to arrays of the thread; parts that access
//! what another one stores; arrays of which a round does not write all that it reads.

use std::collections::HashSet;

use mlir_bridge::{
    ir::{Builder, Mapping, Op, Value},
    pass::{Anchor, PassInfo, PassResult, PassRun},
};
use regrain_dialects::ops::GpuWrapper;

use super::vectorize_threads::{self, is_ordinary};
use crate::{
    analysis::{
        addresses::{Offsets, Symbol},
        facts::constant,
        loops::Counting,
        objects::{Kind, escapes, object_of},
    },
    optimise::merge_common_values::sweep,
};

/// Registers for what is added to sums.
const BESIDE: u32 = 4;
/// The most rounds, and the most elements that are kept for all of them.
const MOST_ROUNDS: i64 = 64;
const MOST_KEPT: i128 = 256;
/// The most operations of a round for each sum: what several parts need each of them does.
const MOST_BESIDE: i128 = 6;
/// The most pieces of a round, values that it carries, and operations that make one of them.
const MOST_PIECES: usize = 64;
const MOST_CARRIED: usize = 256;
const MOST_OPERATIONS: usize = 256;

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: "regrain-accumulate-in-parts",
    summary: "let loops that add to more than there are registers go several times",
    anchor: Anchor::Module,
    options: &[vectorize_threads::REGISTERS],
    dialects: &["llvm", "scf", "arith"],
    run,
};

fn run(pass: &PassRun<'_>, module: Op<'_>) -> PassResult {
    let registers = vectorize_threads::number(pass, &vectorize_threads::REGISTERS)?;
    for parallel in GpuWrapper::all(module).into_iter().flat_map(GpuWrapper::block_loops) {
        // No round holds another one: what a round consists of are innermost loops.
        let rounds: Vec<_> = parallel.find_named("scf.for").into_iter().filter_map(Round::of).collect();
        rounds.into_iter().for_each(|round| round.part(registers));
    }
    Ok(())
}

/// Bytes of an object, from the lowest to the end of the highest that may be accessed.
struct Place<'c> {
    root: Value<'c>,
    low: i128,
    end: i128,
    /// Of one access.
    size: i128,
    /// Each element is accessed in turn.
    whole: bool,
}

impl<'c> Place<'c> {
    /// Where a pointer that counts with `number` points to, if it does.
    fn of(offsets: &Offsets<'c>, pointer: Value<'c>, size: u64, number: Option<Value<'c>>) -> Self {
        let address = offsets.address(pointer);
        let size = i128::from(size);
        let Some(offset) = address.offset else {
            return Self { root: address.root, low: i128::MIN, end: i128::MAX, size, whole: false };
        };
        let range = offset.range();
        let mut terms = offset.terms();
        let alone = terms.next().map(|(unknown, factor)| (unknown.symbol, factor)).filter(|_| terms.next().is_none());
        let whole = number.is_some_and(|number| alone == Some((Symbol::Value(number), size)));
        Self { root: address.root, low: range.low, end: range.high.saturating_add(size), size, whole }
    }

    fn meets(&self, other: &Self) -> bool {
        self.root == other.root && self.low < other.end && other.low < self.end
    }

    fn holds(&self, other: &Self) -> bool {
        self.root == other.root && self.low <= other.low && other.end <= self.end
    }

    fn elements(&self) -> i128 {
        self.end.saturating_sub(self.low) / self.size.max(1)
    }
}

/// An innermost loop in a round of the loop.
struct Piece<'c> {
    op: Op<'c>,
    loads: Vec<Place<'c>>,
    stores: Vec<Place<'c>>,
}

impl<'c> Piece<'c> {
    /// A loop of known rounds that only loads, computes and stores.
    fn of(offsets: &Offsets<'c>, op: Op<'c>) -> Option<Self> {
        let counting = Counting::of(op).filter(|counting| counting.rounds().is_some_and(|rounds| rounds > 0))?;
        let number = (constant(counting.step) == Some(1)).then(|| op.body().arg(0));
        let mut made = Self { op, loads: Vec::new(), stores: Vec::new() };
        for inner in op.body().ops() {
            let place =
                |pointer, ty: mlir_bridge::ir::Type<'c>| Place::of(offsets, pointer, ty.layout(inner).0, number);
            match inner.name() {
                "llvm.load" if is_plain(inner) => made.loads.push(place(inner.operand(0), inner.result(0).ty())),
                "llvm.store" if is_plain(inner) => made.stores.push(place(inner.operand(1), inner.operand(0).ty())),
                _ if inner.is_terminator() || computes(inner) => (),
                _ => return None,
            }
        }
        (op.num_results() == 0).then_some(made)
    }

    /// Whether the other piece finds what this one leaves, or the other way round.
    fn meets(&self, other: &Self) -> bool {
        let meet = |a: &[Place<'c>], b: &[Place<'c>]| a.iter().any(|a| b.iter().any(|b| a.meets(b)));
        meet(&self.stores, &other.loads) || meet(&self.stores, &other.stores) || meet(&self.loads, &other.stores)
    }

    fn elements(&self) -> i128 {
        self.stores.iter().map(Place::elements).fold(0, i128::saturating_add)
    }
}

fn is_plain(access: Op<'_>) -> bool {
    is_ordinary(access) && !access.has_attr("volatile_")
}

fn computes(op: Op<'_>) -> bool {
    op.num_regions() == 0 && op.is_memory_effect_free()
}

/// Whether an operation may be done for each part again.
fn is_cheap(op: Op<'_>) -> bool {
    let name = op.name();
    computes(op)
        && !name.ends_with("call")
        && !name.contains("div")
        && !name.contains("rem")
        && !name.contains(".intr.")
}

/// The loop, and what its rounds consist of.
struct Round<'c> {
    op: Op<'c>,
    rounds: i64,
    /// Pieces that load for all others, and the arrays that they store to.
    fills: Vec<Piece<'c>>,
    arrays: Vec<Value<'c>>,
    sums: Vec<Piece<'c>>,
    /// What is loaded outside of pieces, and by what.
    loads: Vec<(Op<'c>, Place<'c>)>,
}

/// What one of the loops does beside what all need.
enum Part<'p, 'c> {
    Pieces(&'p [Piece<'c>]),
    /// Carried values, by their numbers.
    Carried(std::ops::Range<usize>),
}

impl<'c> Round<'c> {
    fn of(op: Op<'c>) -> Option<Self> {
        let counting = Counting::of(op)?;
        let rounds = counting.rounds().filter(|rounds| (2..=MOST_ROUNDS).contains(rounds))?;
        let counts = constant(counting.lower) == Some(0) && constant(counting.step) == Some(1);
        if !counts || op.num_results() == 0 && !op.contains(|inner| inner != op && inner.is("scf.for")) {
            return None;
        }
        let offsets = Offsets::default();
        let (mut pieces, mut loads, mut scoped) = (Vec::new(), Vec::new(), Vec::new());
        for inner in op.body().ops() {
            match inner.name() {
                "scf.for" => pieces.push(Piece::of(&offsets, inner)?),
                "llvm.load" if is_plain(inner) => {
                    let size = inner.result(0).ty().layout(inner).0;
                    loads.push((inner, Place::of(&offsets, inner.operand(0), size, None)));
                }
                name if is_lifetime(name) => scoped.extend(inner.operands().last().copied()),
                _ if inner.is_terminator() || is_cheap(inner) => (),
                _ => return None,
            }
        }
        let written: Vec<_> = pieces.iter().flat_map(|piece| &piece.stores).map(|place| place.root).collect();
        let own = |root: &Value<'c>| object_of(*root) == Some(Kind::Local) && !escapes(*root);
        let fills = |piece: &Piece<'c>| !piece.loads.iter().any(|load| written.contains(&load.root));
        let (fills, sums): (Vec<_>, Vec<_>) = pieces.into_iter().partition(fills);
        let arrays: Vec<_> = fills.iter().flat_map(|fill| &fill.stores).map(|place| place.root).collect();
        let made = Self { op, rounds, fills, arrays, sums, loads };
        let fits = written.iter().all(own)
            && made.loads.iter().all(|(_, load)| made.arrays.contains(&load.root) || !written.contains(&load.root))
            && made.carries_apart()
            && scoped.iter().all(|memory| made.arrays.contains(memory))
            && made.sums.len() <= MOST_PIECES
            && made.arrays_are_of_round()
            && made.sums_are_apart();
        fits.then_some(made)
    }

    /// Whether each array that is filled is filled by one piece, before it is read, with all that is read of it, and read nowhere else.
    fn arrays_are_of_round(&self) -> bool {
        let stores: Vec<_> = self.fills.iter().flat_map(|fill| &fill.stores).collect();
        let once = |root: &Value<'c>| self.arrays.iter().filter(|other| *other == root).count() == 1;
        let covered = |load: &Place<'c>| stores.iter().all(|store| store.root != load.root || store.holds(load));
        let never_summed = self.sums.iter().flat_map(|sum| &sum.stores).all(|store| !self.arrays.contains(&store.root));
        let places: Vec<_> = self.op.body().ops();
        let at = |op: Op<'c>| places.iter().position(|other| *other == op);
        let last_fill = self.fills.iter().filter_map(|fill| at(fill.op)).max();
        let reads = self.loads.iter().filter(|(_, load)| self.arrays.contains(&load.root)).map(|(op, _)| *op);
        let first_sum = self.sums.iter().map(|sum| sum.op).chain(reads).filter_map(at).min();
        let own = |array: &Value<'c>| {
            array
                .users()
                .into_iter()
                .all(|user| self.op.is_ancestor_of(user) || is_lifetime(user.name()) || user.is("llvm.intr.memset"))
                && array.defining_op().is_some_and(|op| op.is("llvm.alloca") && constant(op.operand(0)) == Some(1))
        };
        let kept = stores.iter().map(|store| store.elements()).fold(0, i128::saturating_add);
        stores.iter().all(|store| store.whole)
            && self.arrays.iter().all(|array| once(array) && own(array))
            && self.sums.iter().flat_map(|sum| &sum.loads).all(covered)
            && self.loads.iter().all(|(_, load)| covered(load))
            && never_summed
            && (last_fill < first_sum || first_sum.is_none())
            && kept.saturating_mul(self.rounds.into()) <= MOST_KEPT
    }

    /// Whether each value that is carried is made of itself, and of no other.
    fn carries_apart(&self) -> bool {
        let Some(last) = self.op.body().terminator() else { return false };
        let carried = &self.op.body().args()[1..];
        carried.len() <= MOST_CARRIED
            && carried.iter().zip(last.operands()).all(|(own, next)| {
                let (mut wanted, mut seen) = (vec![next], HashSet::new());
                while let Some(value) = wanted.pop() {
                    if value != *own && carried.contains(&value) || seen.len() > MOST_OPERATIONS {
                        return false;
                    }
                    let inside = value.defining_op().filter(|op| op.parent() == Some(self.op) && seen.insert(*op));
                    wanted.extend(inside.into_iter().flat_map(Op::operands));
                }
                true
            })
    }

    fn sums_are_apart(&self) -> bool {
        let pairs =
            self.sums.iter().enumerate().flat_map(|(number, a)| self.sums[..number].iter().map(move |b| (a, b)));
        pairs.into_iter().all(|(a, b)| !a.meets(b))
    }

    /// The parts for so many registers, if they are several.
    fn parts(&self, registers: u32) -> Option<Vec<Part<'_, 'c>>> {
        let carried = self.op.num_results();
        let largest = self.sums.iter().map(Piece::elements).max().unwrap_or(1);
        let all = self.sums.iter().map(Piece::elements).fold(carried as i128, i128::saturating_add);
        let beside = self.op.body().ops().len() as i128;
        let most_sums = i128::from(registers.saturating_sub(BESIDE).max(1));
        // Values that a loop carries anyway: what each part would load again costs more than some of them on the stack.
        let most = if self.sums.is_empty() { i128::from(registers + registers / 2) } else { most_sums };
        if all <= most || largest <= 0 || beside > MOST_BESIDE * all {
            return None;
        }
        // As many as fit, and each part of about as many.
        let size = |count: usize, most: usize| count.div_ceil(count.div_ceil(most).max(1)).max(1);
        let most = usize::try_from(most_sums / largest).unwrap_or(1).max(1);
        let values = size(carried, most_sums as usize);
        let pieces = self.sums.chunks(size(self.sums.len(), most)).map(Part::Pieces);
        let values = (0..carried).step_by(values).map(|first| Part::Carried(first..carried.min(first + values)));
        let parts: Vec<_> = pieces.chain(values).collect();
        (parts.len() > 1).then_some(parts)
    }

    /// Makes the loops of the parts in the place of the loop, if it is worth some.
    fn part(self, registers: u32) {
        let Some(parts) = self.parts(registers) else { return };
        let b = Builder::before(self.op);
        let all: Vec<_> = self.arrays.iter().map(|array| self.array_of_rounds(*array)).collect();
        let lifetimes = |when: &str| {
            for memory in &all {
                b.op(&format!("llvm.intr.lifetime.{when}")).operands(&[*memory]).build();
            }
        };
        lifetimes("start");
        if !self.fills.is_empty() {
            self.part_of(b, &Part::Pieces(&self.fills), &all);
        }
        for part in &parts {
            self.part_of(b, part, &all);
        }
        lifetimes("end");
        self.op.erase();
    }

    /// Memory for what an array holds in each round.
    fn array_of_rounds(&self, array: Value<'c>) -> Value<'c> {
        let Some((alloca, element)) = array.defining_op().and_then(|op| Some((op, element_type(op)?))) else {
            return array;
        };
        let b = Builder::after(alloca);
        let ty = b.ctx().llvm_array(element, self.rounds as u32);
        let made = b.clone_op(alloca, &mut Mapping::new());
        made.set_attr("elem_type", b.ctx().type_attr(ty));
        made.result(0)
    }

    /// The loop with a part alone; the arrays are those of its round in `all`.
    fn part_of(&self, b: Builder<'c>, part: &Part<'_, 'c>, all: &[Value<'c>]) {
        let operands = self.op.operands();
        let (pieces, carried) = match part {
            Part::Pieces(pieces) => (*pieces, 0..0),
            Part::Carried(carried) => (&[][..], carried.clone()),
        };
        let made = b.scf_for(operands[0], operands[1], operands[2], &operands[3..][carried.clone()]);
        for (name, attr) in self.op.attrs() {
            made.set_attr(name, attr);
        }
        let inside = Builder::at_end(made.body(), b.loc);
        let mut mapping = Mapping::new();
        let (old, number) = (self.op.body().arg(0), made.body().arg(0));
        mapping.map(old, number);
        mapping.map_all(&self.op.body().args()[1..][carried.clone()], &made.body().args()[1..]);
        // Nothing is made of those that another part carries.
        for (number, other) in self.op.body().args()[1..].iter().enumerate() {
            if !carried.contains(&number) {
                mapping.map(*other, operands[3 + number]);
            }
        }
        let i64 = b.ctx().int(64);
        for (array, all) in self.arrays.iter().zip(all) {
            let Some(element) = array.defining_op().and_then(element_type) else { continue };
            let wide = match number.ty() {
                ty if ty == i64 => number,
                ty if ty.is_index() => inside.index_cast(number, i64),
                _ => inside.value("arith.extsi", &[number], i64),
            };
            mapping.map(*array, inside.llvm_element_at(*all, element, wide));
        }
        for op in self.op.body().ops() {
            let other = op.is("scf.for") && !pieces.iter().any(|piece| piece.op == op);
            if !other && !op.is_terminator() && !is_lifetime(op.name()) {
                inside.clone_op(op, &mut mapping);
            }
        }
        let yielded = self.op.body().terminator().map(Op::operands).unwrap_or_default();
        let next = yielded.into_iter().map(|value| mapping.get(value).unwrap_or(value));
        inside.scf_yield(&next.collect::<Vec<_>>()[carried.clone()]);
        sweep(made);
        for (number, result) in carried.zip(made.results()) {
            self.op.result(number).replace_all_uses_with(result);
        }
    }
}

fn element_type(alloca: Op<'_>) -> Option<mlir_bridge::ir::Type<'_>> {
    alloca.attr("elem_type")?.as_type()
}

fn is_lifetime(name: &str) -> bool {
    name.starts_with("llvm.intr.lifetime.")
}
