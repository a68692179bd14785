//! What lanes access far apart from one another, but side by side from row to row, goes by squares of rows and lanes.
//!
//! ```mlir
//! scf.for %y = %c0 to %c512 step %c1 {
//!   %at = llvm.getelementptr %first[%y * 4 + %offsets] : vector<8x!llvm.ptr>     // %offsets: a block from lane to lane
//!   %v = llvm.intr.masked.gather %at, %all : vector<8xf32>
//! ```
//! becomes
//! ```mlir
//! scf.for %y = %c0 to %c512 step %c8 {
//!   scf.if (the addresses of rows %y to %y + 7 follow one another in each lane) {
//!     %l0 = llvm.load (the address of lane 0 in row %y) : vector<8xf32> ... %l7 = ...
//!     %v0, ..., %v7 = (the same, transposed)
//!   } else { eight gathers }
//! ```
//! Where blocks are the lanes (`vectorize_blocks.rs`) every access of the device's memory is like that. A gather comes back to the same
//! lines of the cache with each row, and takes lanes one by one.
//!
//! Rows are threads between two barriers, so that several of them may go through the loop statement by statement. What a row itself does
//! keeps its order where that may matter: nothing else of the device's memory is accessed between the accesses that go together. How
//! far addresses go from row to row is guessed by their form, and asked for at run time.
//!
//! Conditions are asked for too, that all lanes of all rows take their first branch: guards against the end of an array hold for all
//! blocks but the last.
//!
//! Declined: rows that are not all of x, or with loops, or of a number that is no multiple of the lanes, and conditions that depend on
//! what is loaded.

mod guess;

use std::collections::HashSet;

use mlir_bridge::ir::{Attr, Block, Builder, Mapping, Op, Type, Value};
use regrain_dialects::attributes::{OWN, REUSED, ROWS};

use crate::{
    analysis::{
        facts::constant,
        loops::Counting,
        objects::{escapes, root},
    },
    lower::{
        DYNAMIC_SHARED,
        vectorize_threads::{extract, is_ordinary, transposed},
    },
};
use guess::{Guess, Guesses};

/// The most operations of a row.
const LARGEST: usize = 120;

/// Transposes what the rows of a function access, when rows have been made; gives the conditions under which it does.
pub fn transpose<'c>(function: Op<'c>, memory: &BlockMemory) -> HashSet<Op<'c>> {
    let found: Vec<_> =
        function.find_named("scf.for").into_iter().filter_map(|along| Rows::of(along, memory)).collect();
    found.iter().map(Rows::rewrite).collect()
}

/// The memory of a block, in which each thread's part is its own or ordered by barriers: all on the stack but what threads, or later their
/// rows, use one after the other.
pub struct BlockMemory {
    /// Whether dynamic shared memory is known by its name alone.
    dynamic: bool,
}

impl BlockMemory {
    /// To be asked before rows are made: marks what lies on the stack.
    pub fn of(function: Op<'_>) -> Self {
        let own = |op: &Op<'_>| !op.has_attr(REUSED) && op.parent() == Some(function) && !escapes(op.result(0));
        for alloca in function.find_named("llvm.alloca").into_iter().filter(own) {
            alloca.set_attr(OWN, alloca.ctx().unit_attr());
        }
        let mut names = function.find_named("llvm.mlir.addressof").into_iter().filter(|op| is_dynamic(*op));
        Self { dynamic: !names.any(|op| escapes(op.result(0))) }
    }

    /// Whether an address is in it, where no address from elsewhere points to.
    fn holds(&self, address: Value<'_>) -> bool {
        root(address).defining_op().is_some_and(|op| op.has_attr(OWN) || self.dynamic && is_dynamic(op))
    }

    /// Whether rows may go through an operation one after the other, or all at a time.
    fn may_interleave(&self, op: Op<'_>) -> bool {
        let known = |address: Value<'_>| {
            self.holds(address) || root(address).defining_op().is_none_or(|op| !op.is("llvm.alloca"))
        };
        match op.name() {
            "llvm.load" | "llvm.store" if !is_ordinary(op) || op.has_attr("volatile_") => false,
            "llvm.load" | "llvm.intr.masked.load" | "llvm.intr.masked.gather" => known(op.operand(0)),
            "llvm.store" | "llvm.intr.masked.store" | "llvm.intr.masked.scatter" => known(op.operand(1)),
            "llvm.alloca" => false,
            _ => op.num_regions() == 0 && op.is_memory_effect_free(),
        }
    }
}

/// Whether an operation names dynamic shared memory.
fn is_dynamic(op: Op<'_>) -> bool {
    op.is("llvm.mlir.addressof") && op.attr("global_name").and_then(Attr::as_symbol) == Some(DYNAMIC_SHARED)
}

/// A loop over rows of which each is all of x.
struct Rows<'c> {
    along: Op<'c>,
    /// What is computed before a row, and what is asked for of it.
    before: Vec<Op<'c>>,
    asked: Option<Value<'c>>,
    row: Op<'c>,
    lanes: usize,
    /// What a row does where its conditions hold.
    taken: Taken<'c>,
    /// What addresses and conditions are computed of.
    first: HashSet<Op<'c>>,
    families: Vec<Family<'c>>,
}

/// The operations of a row where all its conditions hold, in order; an `scf.if` stands behind those of its first branch.
#[derive(Default)]
struct Taken<'c> {
    ops: Vec<Op<'c>>,
    /// Conditions of the whole row, and masks of its lanes.
    conditions: Vec<Value<'c>>,
}

impl<'c> Taken<'c> {
    fn add(&mut self, block: Block<'c>, memory: &BlockMemory) -> Option<()> {
        for op in block.ops().into_iter().filter(|op| !op.is_terminator()) {
            if op.is("scf.if") {
                let condition = op.operand(0);
                // Where any lane takes a branch, all are asked for.
                let any = condition.defining_op().filter(|op| op.is("llvm.intr.vector.reduce.or"));
                self.conditions.push(any.map_or(condition, |any| any.operand(0)));
                self.add(op.region(0).entry(), memory)?;
            } else if !memory.may_interleave(op) {
                return None;
            }
            self.ops.push(op);
        }
        Some(())
    }

    /// What the addresses of accesses and the conditions are computed of, if that is known before anything is accessed.
    fn known_first(&self, families: &[Family<'c>]) -> Option<HashSet<Op<'c>>> {
        let members = families.iter().flat_map(|family| &family.members);
        let mut wanted: Vec<_> =
            members.map(|(member, _)| pointers(*member)).chain(self.conditions.iter().copied()).collect();
        let mut found = HashSet::new();
        while let Some(value) = wanted.pop() {
            let inside = value.defining_op().filter(|op| self.ops.contains(op));
            if let Some(op) = inside.filter(|op| found.insert(*op)) {
                if op.num_regions() > 0 || !op.is_pure() {
                    return None;
                }
                wanted.extend(op.operands());
            }
        }
        Some(found)
    }
}

/// Accesses of a row whose addresses differ by constants, in order.
struct Family<'c> {
    stores: bool,
    element: Type<'c>,
    size: i64,
    alignment: i64,
    /// From row to row, in bytes.
    advance: i64,
    /// Whether a wrap in any row can be told by the last one: no sum has parts that fall while others rise.
    rises: bool,
    /// Each with its distance from the first one, in bytes.
    members: Vec<(Op<'c>, i64)>,
}

impl<'c> Rows<'c> {
    fn of(along: Op<'c>, memory: &BlockMemory) -> Option<Self> {
        let counting = Counting::of(along).filter(|counting| counting.is_plain() && along.has_attr(ROWS))?;
        let ops = |block: Block<'c>| block.ops().into_iter().filter(|op| !op.is_terminator()).collect::<Vec<_>>();
        let all = ops(along.body());
        let place = all.iter().position(|op| op.is("scf.for"))?;
        let (row, before) = (all[place], all[..place].to_vec());
        let plain = |op: &Op<'c>| op.is_pure() && op.num_regions() == 0;
        if row.num_results() > 0 || along.num_results() > 0 || !before.iter().all(plain) {
            return None;
        }
        let (lanes, asked) = whole_row(row)?;
        let nothing_left = |op: &Op<'c>| plain(op) || is_rest(*op, row, lanes);
        let step = i64::try_from(lanes).ok()?;
        let whole = constant(counting.upper).is_some_and(|rows| rows % step == 0);
        let mut taken = Taken::default();
        taken.add(row.body(), memory)?;
        if !whole || taken.ops.len() > LARGEST || !all[place + 1..].iter().all(nothing_left) {
            return None;
        }
        let families = families(&taken, [along, row], lanes, memory);
        let first = taken.known_first(&families)?;
        (!families.is_empty()).then_some(Self { along, before, asked, row, lanes, taken, first, families })
    }

    fn rewrite(&self) -> Op<'c> {
        let b = Builder::before(self.along);
        let operands = self.along.operands();
        let made = b.scf_for(operands[0], operands[1], b.const_index(self.lanes as i64), &[]);
        let inside = Builder::at_end(made.body(), b.loc);
        let zero = inside.const_index(0);
        let copies = (0..self.lanes as i64).map(|number| {
            let row = inside.arith("addi", made.body().arg(0), inside.const_index(number));
            let mut mapping = Mapping::new();
            mapping.map_all(&[self.along.body().arg(0), self.row.body().arg(0)], &[row, zero]);
            mapping
        });
        let mut copies: Vec<_> = copies.collect();
        let holds = self.follow(inside, &mut copies);
        let versions = inside.scf_if(holds, &[], true);
        inside.scf_yield(&[]);
        let [squares, apart] = [0, 1].map(|branch| Builder::at_end(versions.region(branch).entry(), b.loc));
        self.squares(squares, copies);
        squares.scf_yield(&[]);
        self.rows_apart(apart, made.body().arg(0));
        apart.scf_yield(&[]);
        self.along.erase();
        versions
    }

    /// Whether the addresses of each family follow one another from row to row and from member to member, in all lanes.
    fn follow(&self, b: Builder<'c>, copies: &mut [Mapping<'c>]) -> Value<'c> {
        let computed = self.taken.ops.iter().copied().filter(|op| self.first.contains(op));
        for op in self.before.iter().copied().chain(computed) {
            for mapping in copies.iter_mut() {
                b.clone_op(op, mapping);
            }
        }
        let mut all = b.const_int(b.ctx().int(1), 1);
        for (asked, copy) in copies.iter().filter_map(|copy| Some((self.asked?, copy))) {
            all = b.arith("andi", all, copy.get_or_self(asked));
        }
        for condition in &self.taken.conditions {
            let rows = copies.iter().map(|copy| copy.get_or_self(*condition));
            let Some(rows) = rows.reduce(|rows, row| b.arith("andi", rows, row)) else { continue };
            let holds = match rows.ty().vector_parts() {
                Some(_) => b.value("llvm.intr.vector.reduce.and", &[rows], b.ctx().int(1)),
                None => rows,
            };
            all = b.arith("andi", all, holds);
        }
        for family in &self.families {
            let number = |member: Op<'c>, copy: &Mapping<'c>| {
                let at = copy.get_or_self(Parts::of(pointers(member)).moving);
                let i64 = b.ctx().int(64);
                let ty = at.ty().vector_parts().map_or(i64, |(_, lanes)| b.ctx().vector(i64, lanes));
                b.value("llvm.ptrtoint", &[at], ty)
            };
            let first = number(family.members[0].0, &copies[0]);
            let mut differ: Option<Value<'c>> = None;
            for (member, distance) in &family.members {
                for (row, copy) in (0..).zip(copies.iter()) {
                    if family.rises && row > 0 && row + 1 < copies.len() as i64 {
                        continue;
                    }
                    let bytes = b.const_int(b.ctx().int(64), distance + family.advance * row);
                    let bytes = if first.ty() == bytes.ty() {
                        bytes
                    } else {
                        b.value("vector.broadcast", &[bytes], first.ty())
                    };
                    let other = b.arith("xori", number(*member, copy), b.arith("addi", first, bytes));
                    differ = Some(differ.map_or(other, |differ| b.arith("ori", differ, other)));
                }
            }
            let Some(differ) = differ else { continue };
            let i64 = b.ctx().int(64);
            let any = match differ.ty().vector_parts() {
                Some(_) => b.value("llvm.intr.vector.reduce.or", &[differ], i64),
                None => differ,
            };
            all = b.arith("andi", all, b.cmpi("eq", any, b.const_int(i64, 0)));
        }
        all
    }

    /// The rows of a round, their accesses by squares.
    fn squares(&self, b: Builder<'c>, mut copies: Vec<Mapping<'c>>) {
        for op in self.taken.ops.iter().copied().filter(|op| !self.first.contains(op)) {
            if op.is("scf.if") {
                let given = op.region(0).entry().terminator().map(Op::operands).unwrap_or_default();
                for copy in &mut copies {
                    for (result, value) in op.results().into_iter().zip(&given) {
                        copy.map(result, copy.get_or_self(*value));
                    }
                }
                continue;
            }
            let member = |family: &&Family<'c>| family.members.iter().any(|(member, _)| *member == op);
            let Some(family) = self.families.iter().find(member) else {
                for mapping in &mut copies {
                    b.clone_op(op, mapping);
                }
                continue;
            };
            let last = family.members.last().is_some_and(|(last, _)| *last == op);
            let first = family.members[0].0 == op;
            if family.stores && last {
                self.store(b, family, &copies);
            } else if !family.stores && first {
                self.load(b, family, &mut copies);
            }
        }
    }

    fn load(&self, b: Builder<'c>, family: &Family<'c>, copies: &mut [Mapping<'c>]) {
        let places = family.places(self.lanes);
        let bases = self.bases(b, pointers(family.members[0].0), &copies[0]);
        let ty = b.ctx().vector(family.element, self.lanes as u32);
        for square in places.chunks(self.lanes) {
            let rows = bases.iter().map(|base| b.llvm_load(moved(b, *base, square[0].0), ty, Some(family.alignment)));
            let columns = transposed(b, rows.collect());
            for ((_, member, copy), column) in square.iter().zip(columns) {
                copies[*copy].map(family.members[*member].0.result(0), column);
            }
        }
    }

    fn store(&self, b: Builder<'c>, family: &Family<'c>, copies: &[Mapping<'c>]) {
        let places = family.places(self.lanes);
        let bases = self.bases(b, pointers(family.members[0].0), &copies[0]);
        for square in places.chunks(self.lanes) {
            let columns = square.iter().map(|(_, member, copy)| {
                let value = family.members[*member].0.operand(0);
                copies[*copy].get_or_self(value)
            });
            let rows = transposed(b, columns.collect());
            for (base, row) in bases.iter().zip(rows) {
                b.llvm_store(row, moved(b, *base, square[0].0), Some(family.alignment));
            }
        }
    }

    /// The address of a gather or scatter in each lane, in the first row.
    fn bases(&self, b: Builder<'c>, address: Value<'c>, mapping: &Mapping<'c>) -> Vec<Value<'c>> {
        let vector = mapping.get_or_self(address);
        let ptr = b.ctx().ptr(0);
        (0..self.lanes).map(|lane| extract(b, vector, b.const_i32(lane as i32), ptr)).collect()
    }

    /// The rows of a round as they were.
    fn rows_apart(&self, b: Builder<'c>, first: Value<'c>) {
        let end = b.arith("addi", first, b.const_index(self.lanes as i64));
        let rows = b.scf_for(first, end, b.const_index(1), &[]);
        let mut mapping = Mapping::new();
        mapping.map(self.along.body().arg(0), rows.body().arg(0));
        let inside = Builder::at_end(rows.body(), b.loc);
        inside.clone_body(self.along.body(), &mut mapping);
        inside.scf_yield(&[]);
    }
}

impl<'c> Family<'c> {
    /// The elements of all members in all rows by their distance from the first, if they fill squares: distance, member and row.
    fn places(&self, lanes: usize) -> Vec<(i64, usize, usize)> {
        let of = |(number, (_, distance)): (usize, &(Op<'c>, i64))| {
            let distance = *distance;
            (0..lanes).map(move |row| (distance + self.advance * row as i64, number, row))
        };
        let mut places: Vec<_> = self.members.iter().enumerate().flat_map(of).collect();
        places.sort_unstable();
        places
    }

    /// Whether an access is one of the same kind, lanes lying alike.
    fn is_like(&self, access: Access<'c>) -> bool {
        let (first, parts) = (Parts::of(pointers(self.members[0].0)), Parts::of(access.address));
        let alike = first.lanes == parts.lanes && first.moving.ty() == parts.moving.ty();
        alike && self.stores == access.stores && self.element == access.element
    }

    /// Whether the members may not be brought together across an operation.
    fn may_meet(&self, op: Op<'c>, memory: &BlockMemory) -> bool {
        match op.name() {
            "llvm.load" | "llvm.intr.masked.load" | "llvm.intr.masked.gather" => {
                self.stores && !memory.holds(op.operand(0))
            }
            "llvm.store" | "llvm.intr.masked.store" | "llvm.intr.masked.scatter" => !memory.holds(op.operand(1)),
            // What is behind it stands before it.
            "scf.if" => false,
            _ => !op.is_memory_effect_free(),
        }
    }

    fn fills_squares(&self, lanes: usize) -> bool {
        let places = self.places(lanes);
        let follow = |square: &[(i64, usize, usize)]| square.windows(2).all(|pair| pair[1].0 - pair[0].0 == self.size);
        let distinct = places.windows(2).all(|pair| pair[0].0 < pair[1].0);
        distinct && places.chunks(lanes).all(|square| square.len() == lanes && follow(square))
    }
}

/// The pointers of a gather or scatter.
fn pointers(op: Op<'_>) -> Value<'_> {
    op.operand(usize::from(op.is("llvm.intr.masked.scatter")))
}

/// An address in all lanes: what moves from row to row, a scalar where lanes lie evenly, and how they lie.
struct Parts<'c> {
    moving: Value<'c>,
    lanes: Option<Attr<'c>>,
}

impl<'c> Parts<'c> {
    fn of(address: Value<'c>) -> Self {
        let gep = address.defining_op().filter(|op| op.is("llvm.getelementptr") && op.num_operands() == 2);
        let even = gep.filter(|op| op.operand(0).ty().vector_parts().is_none());
        let lanes = even.and_then(|op| op.operand(1).defining_op()?.attr("value"));
        match even.filter(|_| lanes.is_some()) {
            Some(op) => Self { moving: op.operand(0), lanes },
            None => Self { moving: address, lanes: None },
        }
    }
}

/// A pointer so many bytes further on.
fn moved<'c>(b: Builder<'c>, pointer: Value<'c>, bytes: i64) -> Value<'c> {
    b.llvm_byte_at(pointer, b.const_int(b.ctx().int(64), bytes))
}

/// The lanes of a row that is all of x, and what is asked for of it.
fn whole_row(row: Op<'_>) -> Option<(usize, Option<Value<'_>>)> {
    let counting = Counting::of(row)?;
    let lanes = constant(counting.step).filter(|lanes| *lanes > 1 && constant(counting.lower) == Some(0))?;
    let select = counting.upper.defining_op().filter(|op| op.is("arith.select"));
    let (upper, asked) = match select {
        Some(op) if constant(op.operand(2)) == Some(0) => (op.operand(1), Some(op.operand(0))),
        _ => (counting.upper, None),
    };
    (constant(upper) == Some(lanes)).then_some((usize::try_from(lanes).ok()?, asked))
}

/// Whether a loop is of the threads that were in no whole row: none, where the row was whole.
fn is_rest(op: Op<'_>, row: Op<'_>, lanes: usize) -> bool {
    let dimensions = match op.name() {
        "scf.for" => 1,
        "scf.parallel" => op.body().num_args(),
        _ => return false,
    };
    op.num_results() == 0
        && op.operand(0) == row.operand(1)
        && constant(op.operand(dimensions)).is_some_and(|end| usize::try_from(end) == Ok(lanes))
}

/// The gathers and scatters of a row that can go by squares.
fn families<'c>(taken: &Taken<'c>, [along, row]: [Op<'c>; 2], lanes: usize, memory: &BlockMemory) -> Vec<Family<'c>> {
    let mut guesses = Guesses::new(&taken.conditions, along, row);
    let mut open: Vec<(Guess<'c>, Family<'c>)> = Vec::new();
    let mut done = Vec::new();
    for op in &taken.ops {
        let elsewhere = |access: &Access<'c>| {
            let root = root(access.address).defining_op();
            !memory.holds(access.address) && root.is_none_or(|op| !op.is("llvm.alloca") && !is_dynamic(op))
        };
        let access = Access::of(*op, lanes, &taken.conditions).filter(elsewhere);
        let guess = access.map(|_| guesses.of(pointers(*op)));
        let joins = |(other, family): &(Guess<'c>, Family<'c>)| match (access, &guess) {
            (Some(access), Some(guess)) => other.terms == guess.terms && family.is_like(access),
            _ => false,
        };
        let (own, others): (Vec<_>, Vec<_>) = open.into_iter().partition(joins);
        let (met, kept): (Vec<_>, Vec<_>) = others.into_iter().partition(|(_, family)| family.may_meet(*op, memory));
        done.extend(met);
        open = kept;
        let (Some(access), Some(guess)) = (access, guess) else { continue };
        match own.into_iter().next() {
            Some((first, mut family)) => {
                family.members.push((*op, guess.constant.wrapping_sub(first.constant)));
                family.rises &= !guess.falls;
                family.alignment = family.alignment.min(op.attr("alignment").and_then(Attr::as_int).unwrap_or(1));
                open.push((first, family));
            }
            None => {
                let advance = guess.terms.get(&along.body().arg(0)).copied().unwrap_or(0);
                let size = access.element.layout(*op).0.cast_signed();
                let (stores, element, rises) = (access.stores, access.element, !guess.falls);
                let alignment = op.attr("alignment").and_then(Attr::as_int).unwrap_or(1).min(size);
                let family = Family { stores, element, size, alignment, advance, rises, members: vec![(*op, 0)] };
                open.push((guess, family));
            }
        }
    }
    let families = done.into_iter().chain(open).map(|(_, family)| family);
    families.filter(|family| family.advance > 0 && family.fills_squares(lanes)).collect()
}

/// A gather or scatter in which all lanes take part.
#[derive(Clone, Copy)]
struct Access<'c> {
    stores: bool,
    element: Type<'c>,
    address: Value<'c>,
}

impl<'c> Access<'c> {
    fn of(op: Op<'c>, lanes: usize, conditions: &[Value<'c>]) -> Option<Self> {
        let stores = op.is("llvm.intr.masked.scatter");
        let is_access = stores || op.is("llvm.intr.masked.gather");
        let take_part = |mask: Value<'c>| conditions.contains(&mask) || all_take_part(mask);
        if !is_access || !take_part(op.operand(usize::from(stores) + 1)) {
            return None;
        }
        let ty = if stores { op.operand(0).ty() } else { op.result(0).ty() };
        let (element, _) = ty.vector_parts().filter(|(_, count)| *count as usize == lanes)?;
        Some(Self { stores, element, address: pointers(op) })
    }
}

/// Whether a mask is of all lanes.
pub fn all_take_part(mask: Value<'_>) -> bool {
    let op = mask.defining_op();
    let splat = op.filter(|op| op.is("vector.broadcast")).map(|op| op.operand(0));
    splat.and_then(constant).is_some_and(|one| one != 0)
}
