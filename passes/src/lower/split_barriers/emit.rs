//! The thread loops: plain operations go into the open loop, synchronisation closes it.
//!
//! Code is made in two places. Beside the thread loops (`cursor`) stands what happens once for the block; inside the open
//! loop what each thread does. A value that an operation needs is, in this order: already there in the open loop, uniform
//! (made beside the loops), loaded from its cells, or computed again.

use std::collections::HashMap;

use mlir_bridge::ir::{Block, Builder, Loc, Mapping, Op, Type, Value};

use super::{
    choices::{Memory, widened},
    memory::{self, Cells},
    plan::Plan,
};
use crate::analysis::uniformity::{free_values, may_trap, repeatable};
use regrain_dialects::attributes::{self, INTERLEAVED, TOGETHER};

/// Why the rewriting of a block loop was given up; a mistake of ours, as legality is asked before.
pub type Emitted<T> = Result<T, String>;

/// Where a value that crosses thread loops is.
#[derive(Clone, Copy)]
pub enum Place<'c> {
    /// One cell for each thread.
    Cells(Cells<'c>),
    /// Stack memory of `stride` bytes for each thread.
    Stack { base: Value<'c>, stride: u64 },
}

/// The thread loop that operations are being added to.
pub struct Open<'c> {
    parallel: Op<'c>,
    body: Builder<'c>,
    mapping: Mapping<'c>,
    thread: Option<Value<'c>>,
}

/// The rewriting of one block loop.
pub struct Emitter<'c, 'p> {
    pub plan: &'p Plan<'c>,
    pub old: Op<'c>,
    /// Arrays are allocated before this operation.
    anchor: Op<'c>,
    /// Threads of the block, an i64.
    pub count64: Value<'c>,
    pub cursor: Builder<'c>,
    pub open: Option<Open<'c>>,
    /// Which threads take part; `None` is all.
    pub mask: Option<Cells<'c>>,
    /// Masks that threads change at the end of a round, while others may still be in it.
    pub loop_masks: Vec<Value<'c>>,
    /// The lanes that took part in the last publication.
    pub published: Option<Cells<'c>>,
    /// Whether some thread runs the code at the cursor: else what may trap must not be made beside the loops.
    pub certain: bool,
    places: HashMap<Value<'c>, Place<'c>>,
    /// What remembered values came of.
    pub memories: HashMap<Value<'c>, Memory<'c>>,
    /// Uniform values made beside the thread loops, by nesting of the control flow there.
    uniforms: Vec<HashMap<Value<'c>, Value<'c>>>,
    loc: Loc<'c>,
}

impl<'c, 'p> Emitter<'c, 'p> {
    /// Prepares for code before `old`, the block loop.
    pub fn new(plan: &'p Plan<'c>, old: Op<'c>) -> Self {
        let b = Builder::before(old);
        let count64 = thread_count(b, old);
        let anchor = count64.defining_op().and_then(Op::next).unwrap_or(old);
        let anchor = Builder::before(anchor).const_index(0).defining_op().unwrap_or(anchor);
        Self {
            plan,
            old,
            anchor,
            count64,
            cursor: b,
            open: None,
            mask: None,
            loop_masks: Vec::new(),
            published: None,
            certain: true,
            places: HashMap::new(),
            memories: HashMap::new(),
            uniforms: vec![HashMap::new()],
            loc: old.loc(),
        }
    }

    pub fn i32(&self) -> Type<'c> {
        self.cursor.ctx().int(32)
    }

    pub fn i64(&self) -> Type<'c> {
        self.cursor.ctx().int(64)
    }

    pub fn i1(&self) -> Type<'c> {
        self.cursor.ctx().int(1)
    }

    /// A new array with a cell for each thread.
    pub fn new_cells(&self, ty: Type<'c>) -> Cells<'c> {
        memory::new_cells(Builder::before(self.anchor), ty, self.count64)
    }

    pub fn new_array(&self, ty: Type<'c>, count: Value<'c>) -> Cells<'c> {
        memory::new_cells(Builder::before(self.anchor), ty, count)
    }

    /// A builder for values needed by the allocations.
    pub fn preamble(&self) -> Builder<'c> {
        Builder::before(self.anchor)
    }

    pub fn place(&mut self, value: Value<'c>, cells: Cells<'c>) {
        self.places.insert(value, Place::Cells(cells));
    }

    /// The cells of a value, made when it has none yet.
    pub fn cells_of(&mut self, value: Value<'c>) -> Cells<'c> {
        if let Some(Place::Cells(cells)) = self.places.get(&value) {
            return *cells;
        }
        let cells = self.new_cells(value.ty());
        self.place(value, cells);
        cells
    }

    pub fn existing_cells(&self, value: Value<'c>) -> Option<Cells<'c>> {
        match self.places.get(&value) {
            Some(Place::Cells(cells)) => Some(*cells),
            _ => None,
        }
    }

    pub fn set_uniform(&mut self, value: Value<'c>, made: Value<'c>) {
        if let Some(scope) = self.uniforms.last_mut() {
            scope.insert(value, made);
        }
    }

    /// Runs `work` with the cursor in `block` (without a terminator yet), a nested place beside the thread loops.
    pub fn within<T>(&mut self, block: Block<'c>, work: impl FnOnce(&mut Self) -> Emitted<T>) -> Emitted<T> {
        self.close();
        let outer = std::mem::replace(&mut self.cursor, Builder::at_end(block, self.loc));
        self.uniforms.push(HashMap::new());
        let result = work(self);
        self.close();
        self.uniforms.pop();
        self.cursor = outer;
        result
    }

    /// Runs `work` for the threads of `mask` only.
    pub fn masked<T>(&mut self, mask: Cells<'c>, work: impl FnOnce(&mut Self) -> Emitted<T>) -> Emitted<T> {
        self.close();
        let outer = self.mask.replace(mask);
        let result = work(self);
        self.close();
        self.mask = outer;
        result
    }

    /// Ends the open thread loop: what follows happens after all threads are done with it.
    pub fn close(&mut self) {
        self.open = None;
    }

    /// A builder for code that happens before the open loop, or at the cursor.
    pub fn beside(&self) -> Builder<'c> {
        match &self.open {
            Some(open) => Builder::before(open.parallel),
            None => self.cursor,
        }
    }

    /// The open thread loop; begins one when there is none.
    fn open(&mut self) -> &mut Open<'c> {
        if self.open.is_none() {
            self.begin();
        }
        self.open.as_mut().expect("a loop was begun")
    }

    fn begin(&mut self) {
        let operands = self.old.operands();
        let parallel = self.cursor.scf_parallel(&operands[..3], &operands[3..6], &operands[6..9]);
        let mut mapping = Mapping::new();
        mapping.map_all(&self.old.body().args(), &parallel.body().args());
        let body = Builder::before_terminator(parallel.body(), self.loc);
        let mut open = Open { parallel, body, mapping, thread: None };
        if let Some(mask) = self.mask {
            let thread = thread_number(&mut open);
            let guard = open.body.scf_if(mask.load(open.body, thread), &[], false);
            guard.set_attr(TOGETHER, guard.ctx().unit_attr());
            Builder::at_end(guard.body(), self.loc).scf_yield(&[]);
            open.body = Builder::before_terminator(guard.body(), self.loc);
        }
        self.open = Some(open);
    }

    /// The builder inside of the open loop.
    pub fn inside(&mut self) -> Builder<'c> {
        self.open().body
    }

    /// The linear number (i64) of the thread in the open loop.
    pub fn thread(&mut self) -> Value<'c> {
        thread_number(self.open())
    }

    /// Says what stands for `value` in the open loop.
    pub fn know(&mut self, value: Value<'c>, now: Value<'c>) {
        self.open().mapping.map(value, now);
    }

    /// The value that stands for `value` in the open loop.
    pub fn resolve(&mut self, value: Value<'c>) -> Emitted<Value<'c>> {
        if !self.plan.is_inside(value) {
            return Ok(value);
        }
        if let Some(known) = self.open().mapping.get(value) {
            return Ok(known);
        }
        let made = match self.places.get(&value).copied() {
            Some(Place::Cells(cells)) => {
                let thread = self.thread();
                cells.load(self.inside(), thread)
            }
            Some(Place::Stack { base, stride }) => {
                let thread = self.thread();
                let b = self.inside();
                let offset = b.arith("muli", thread, b.const_int(self.i64(), stride as i64));
                b.llvm_byte_at(base, offset)
            }
            None if self.is_remembered(value) => self.recall(value)?,
            None if self.is_made_beside(value) => self.uniform(value)?,
            None if self.plan.is_uniform(value) && !self.certain && value.defining_op().is_some_and(may_trap) => {
                return self.compute_inside(value);
            }
            None if self.plan.is_uniform(value) => self.uniform(value)?,
            None => return self.compute_again(value),
        };
        self.open().mapping.map(value, made);
        Ok(made)
    }

    fn is_made_beside(&self, value: Value<'c>) -> bool {
        self.uniforms.iter().any(|scope| scope.contains_key(&value))
    }

    fn compute_again(&mut self, value: Value<'c>) -> Emitted<Value<'c>> {
        let op = value.defining_op().filter(|_| self.plan.recomputed.contains(&value));
        let Some(op) = op else {
            return Err(format!("no place for the value {value}"));
        };
        self.copy(op)?;
        self.open().mapping.get(value).ok_or_else(|| format!("no copy of {value}"))
    }

    /// A uniform value that each thread computes for itself.
    fn compute_inside(&mut self, value: Value<'c>) -> Emitted<Value<'c>> {
        let op = value.defining_op().filter(|op| repeatable(*op)).ok_or("a uniform value that is not repeatable")?;
        self.copy(op)?;
        self.open().mapping.get(value).ok_or_else(|| format!("no copy of {value}"))
    }

    /// Copies a plain operation into the open loop.
    fn copy(&mut self, op: Op<'c>) -> Emitted<()> {
        for value in free_values(op) {
            let now = self.resolve(value)?;
            self.open().mapping.map(value, now);
        }
        let open = self.open();
        let narrows = matches!(op.name(), "llvm.trunc" | "arith.trunci") && op.result(0).ty().is_int(1);
        if let Some(condition) = narrows.then(|| open.mapping.get(op.operand(0))).flatten().and_then(widened) {
            open.mapping.map(op.result(0), condition);
            return Ok(());
        }
        open.body.clone_op(op, &mut open.mapping);
        Ok(())
    }

    /// The uniform value that stands for `value` beside the thread loops.
    pub fn uniform(&mut self, value: Value<'c>) -> Emitted<Value<'c>> {
        if !self.plan.is_inside(value) {
            return Ok(value);
        }
        if let Some(known) = self.uniforms.iter().rev().find_map(|scope| scope.get(&value)) {
            return Ok(*known);
        }
        let op = value.defining_op().filter(|op| repeatable(*op) && self.plan.is_uniform(value));
        let Some(op) = op else {
            return Err(format!("the value {value} is not uniform"));
        };
        self.make_beside(op)?;
        self.uniform(value)
    }

    /// Makes an operation of uniform values once, beside the thread loops.
    fn make_beside(&mut self, op: Op<'c>) -> Emitted<()> {
        let mut mapping = Mapping::new();
        for operand in free_values(op) {
            let now = self.uniform(operand)?;
            mapping.map(operand, now);
        }
        let copy = self.beside().clone_op(op, &mut mapping);
        for (old, new) in op.results().into_iter().zip(copy.results()) {
            self.set_uniform(old, new);
        }
        Ok(())
    }

    /// Adds a plain operation of the old loop.
    pub fn plain(&mut self, op: Op<'c>) -> Emitted<()> {
        let results = op.results();
        let later = |value: &Value<'c>| {
            self.plan.recomputed.contains(value) || (self.plan.is_uniform(*value) && repeatable(op))
        };
        if op.name() == "llvm.alloca" {
            return self.stack(op);
        }
        if self.plan.settled.contains(&op) && self.plan.is_uniform(op.result(0)) {
            return self.make_beside(op);
        }
        if !results.is_empty() && results.iter().all(later) {
            return Ok(());
        }
        self.copy(op)?;
        for result in results.into_iter().filter(|result| self.plan.kept.contains(result)) {
            self.keep(result)?;
        }
        Ok(())
    }

    /// Stores a value of the open loop into its cells.
    pub fn keep(&mut self, value: Value<'c>) -> Emitted<()> {
        let now = self.resolve(value)?;
        if self.existing_cells(value).is_none() {
            self.place_start(value);
        }
        let cells = self.cells_of(value);
        let thread = self.thread();
        cells.store(self.inside(), thread, now);
        Ok(())
    }

    /// Stores values of the open loop, all read before the first is written.
    pub fn store_all(&mut self, pairs: &[(Value<'c>, Cells<'c>)]) -> Emitted<()> {
        let mut ready = Vec::new();
        for (value, cells) in pairs {
            ready.push((self.resolve(*value)?, *cells));
        }
        for (value, cells) in ready {
            let thread = self.thread();
            cells.store(self.inside(), thread, value);
        }
        Ok(())
    }

    /// Stack memory of a thread: one for all threads where each is done with it within one loop, else one for each.
    fn stack(&mut self, op: Op<'c>) -> Emitted<()> {
        let (element, alignment) = stack_shape(op)?;
        let elements = op.operand(0).defining_op().and_then(Op::constant_int).ok_or("dynamic stack memory")?;
        let b = Builder::before(self.anchor);
        if !self.plan.shared_locals.contains(&op) {
            let count = b.const_int(self.i64(), elements);
            let base = memory::alloca(b, element, count, alignment as i64);
            if let Some(made) = base.defining_op() {
                made.set_attr(super::REUSED, b.ctx().unit_attr());
            }
            let base = cast_like(b, base, op.result(0));
            self.uniforms[0].insert(op.result(0), base);
            return Ok(());
        }
        let size = element.layout(op).0 * elements as u64;
        let stride = size.next_multiple_of(alignment.max(1));
        let bytes = b.arith("muli", self.count64, b.const_int(self.i64(), stride as i64));
        let base = memory::alloca(b, b.ctx().int(8), bytes, alignment.max(64) as i64);
        if let (Some(made), Some(size)) = (base.defining_op(), op.attr(INTERLEAVED)) {
            made.set_attr(INTERLEAVED, size);
        }
        let base = cast_like(b, base, op.result(0));
        let stride = attributes::count(op, INTERLEAVED).unwrap_or(stride);
        self.places.insert(op.result(0), Place::Stack { base, stride });
        Ok(())
    }

    /// Makes all thread loops of `block`'s operations and leaves the last one open; the terminator is the caller's.
    pub fn block(&mut self, block: Block<'c>) -> Emitted<()> {
        for op in block.ops() {
            if op.is_terminator() {
                continue;
            }
            if self.plan.syncing.contains(&op) {
                self.synchronise(op)?;
            } else {
                self.plain(op)?;
            }
        }
        Ok(())
    }

    /// Rewrites the whole block loop.
    pub fn run(mut self) -> Emitted<()> {
        let result = self.block(self.old.body());
        self.close();
        if result.is_ok() {
            self.anchor.erase();
        }
        result
    }
}

/// The threads of a block, an i64.
pub fn thread_count<'c>(b: Builder<'c>, block: Op<'c>) -> Value<'c> {
    let sizes = &block.operands()[3..6];
    let count = b.arith("muli", b.arith("muli", sizes[0], sizes[1]), sizes[2]);
    b.index_cast(count, b.ctx().int(64))
}

fn thread_number<'c>(open: &mut Open<'c>) -> Value<'c> {
    if let Some(thread) = open.thread {
        return thread;
    }
    let (ivs, sizes) = (open.parallel.body().args(), open.parallel.operands());
    let b = Builder::at_start(open.parallel.body(), open.parallel.loc());
    let rows = b.arith("addi", ivs[1], b.arith("muli", sizes[4], ivs[2]));
    let linear = b.arith("addi", ivs[0], b.arith("muli", sizes[3], rows));
    let thread = b.index_cast(linear, b.ctx().int(64));
    open.thread = Some(thread);
    thread
}

/// Element type and alignment of a stack allocation.
fn stack_shape<'c>(op: Op<'c>) -> Emitted<(Type<'c>, u64)> {
    let element = op.attr("elem_type").and_then(|ty| ty.as_type()).ok_or("stack memory without a type")?;
    let natural = element.layout(op).1;
    let wanted = op.attr("alignment").and_then(|attr| attr.as_int()).unwrap_or(0) as u64;
    Ok((element, wanted.max(natural)))
}

fn cast_like<'c>(b: Builder<'c>, pointer: Value<'c>, like: Value<'c>) -> Value<'c> {
    if pointer.ty() == like.ty() {
        return pointer;
    }
    b.value("llvm.addrspacecast", &[pointer], like.ty())
}
