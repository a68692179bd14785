//! Control flow of a row.
//!
//! Where lanes agree, control flow stays what it is. A conditional on which they do not agree runs each branch for the lanes that take it,
//! if there are any; where all take part, a branch that all take runs without a mask:
//! ```mlir
//! scf.if %c { A }   ->   scf.if all(%c) { A } else { scf.if any(%c) { A, masked } }
//! ```

use mlir_bridge::ir::{Block, Builder, Op, Type, Value};

use super::{
    classify::{Kind, divides, ends_thread, kind, lane_types},
    emit::{Emitted, Emitter, Row},
    shapes::Shape,
};
use crate::analysis::constants::is_undefined;

/// Operations up to which a branch is made twice, with and without a mask.
const LARGEST_COPY: usize = 200;
/// Operations up to which something is made twice where code is to be short.
const LONGEST_TWICE: usize = 40;
/// Loops around a branch that is made twice.
const DEEPEST_COPY: u32 = 2;
/// Operations up to which a branch without effects runs always.
const LARGEST_SPECULATION: usize = 6;

pub fn terminator<'c>(block: Block<'c>) -> Emitted<Op<'c>> {
    block.terminator().ok_or_else(|| "a block without a terminator".to_owned())
}

/// The operations of a branch, nested ones too.
fn size(block: Block<'_>) -> usize {
    block.ops().into_iter().map(|op| op.find_all(|_| true).len().max(1)).sum::<usize>() - 1
}

/// Whether code that is to be short may have what is below an operation twice.
pub fn is_little(op: Op<'_>) -> bool {
    op.find_all(|_| true).len() <= LONGEST_TWICE
}

/// The operations of the branches, without those that are empty.
fn sizes(op: Op<'_>) -> Vec<usize> {
    op.regions().into_iter().filter_map(|region| region.first_block()).map(size).collect()
}

/// The number of the branch that does more.
fn likely(op: Op<'_>) -> usize {
    let sizes: Vec<_> = op.regions().into_iter().map(|region| region.first_block().map_or(0, size)).collect();
    usize::from(sizes.get(1).is_some_and(|second| *second > sizes[0]))
}

impl<'c> Emitter<'c, '_> {
    pub fn structure(&mut self, op: Op<'c>) -> Emitted<()> {
        match op.name() {
            "scf.if" => self.branch(op),
            "scf.for" => self.counted_loop(op),
            "scf.while" => self.general_loop(op),
            _ => self.switch(op),
        }
    }

    /// The types that stand for a value of the shape that `value` has.
    pub fn row_types(&self, value: Value<'c>) -> Vec<Type<'c>> {
        match self.shape(value) {
            Shape::Varying => self.vector_types(value.ty()),
            _ => vec![value.ty()],
        }
    }

    pub fn vector_types(&self, ty: Type<'c>) -> Vec<Type<'c>> {
        lane_types(ty).unwrap_or_default().into_iter().map(|part| self.vector(part)).collect()
    }

    pub fn all_row_types(&self, values: &[Value<'c>]) -> Vec<Type<'c>> {
        values.iter().flat_map(|value| self.row_types(*value)).collect()
    }

    /// What stands for `value` where one of the shape that `target` has is wanted.
    pub fn as_row(&self, value: Value<'c>, target: Value<'c>) -> Vec<Value<'c>> {
        match self.shape(target) {
            Shape::Varying => self.vectors(value),
            _ => vec![self.scalar(value)],
        }
    }

    pub fn all_as_rows(&self, values: &[Value<'c>], targets: &[Value<'c>]) -> Vec<Value<'c>> {
        values.iter().zip(targets).flat_map(|(value, target)| self.as_row(*value, *target)).collect()
    }

    /// Binds `targets` to what stands for them, in order.
    pub fn bind(&mut self, targets: &[Value<'c>], made: &[Value<'c>]) {
        let mut made = made.iter().copied();
        for target in targets {
            let row = match self.shape(*target) {
                Shape::Varying => {
                    let count = lane_types(target.ty()).map_or(0, |parts| parts.len());
                    Row::Vectors(made.by_ref().take(count).collect())
                }
                _ => Row::Scalar(made.next().expect("a value for each target")),
            };
            self.set(*target, row);
        }
    }

    fn branch(&mut self, op: Op<'c>) -> Emitted<()> {
        if self.shapes.is_uniform(op.operand(0)) {
            return self.uniform_branch(op);
        }
        if must_run_by_lane(op) {
            return self.serial(op);
        }
        let condition = self.lane_vector(op.operand(0));
        if self.mask.is_none() && self.depth <= DEEPEST_COPY && self.may_double(op) {
            let likely = likely(op);
            let whole = self.surely(op.operand(0), likely == 0);
            if self.is_worth_two(op, whole.is_some()) {
                return self.doubled_branch(op, condition, likely, whole);
            }
        }
        let rows = self.masked_branch(op, condition)?;
        self.bind(&op.results(), &rows);
        Ok(())
    }

    /// Whether a guard is tested for the whole row first; `by_scalars` if that takes no vectors.
    fn is_worth_two(&self, op: Op<'c>, by_scalars: bool) -> bool {
        let sizes = sizes(op);
        let largest = sizes.iter().copied().max().unwrap_or(0);
        let others = sizes.iter().copied().min().unwrap_or(0);
        let accesses = || op.contains(|inner| matches!(kind(inner), Kind::Load | Kind::Store));
        let worth = largest > LARGEST_SPECULATION || (by_scalars && accesses());
        worth && largest <= LARGEST_COPY && (by_scalars || sizes.len() < 2 || others <= LARGEST_SPECULATION)
    }

    /// Whether a loop may be made twice, with and without a mask.
    pub fn may_copy(&self, op: Op<'c>) -> bool {
        self.may_double(op) && size(op.body()) <= LARGEST_COPY && self.depth <= DEEPEST_COPY
    }

    /// Whether code for all lanes beside that for some is short enough.
    pub fn may_double(&self, op: Op<'c>) -> bool {
        !self.short || is_little(op)
    }

    /// A branch that is taken by all lanes, which `whole` says if it is there, runs without a mask.
    fn doubled_branch(
        &mut self,
        op: Op<'c>,
        condition: Value<'c>,
        likely: usize,
        whole: Option<Value<'c>>,
    ) -> Emitted<()> {
        let whole = whole.unwrap_or_else(|| self.all(if likely == 0 { condition } else { self.not(condition) }));
        let types = self.all_row_types(&op.results());
        let made = self.b.scf_if(whole, &types, true);
        let targets = op.results();
        self.within(made.region(0).entry(), None, |this| {
            let values = match op.region(likely).first_block() {
                Some(block) => {
                    this.block(block)?;
                    this.all_as_rows(&terminator(block)?.operands(), &targets)
                }
                None => Vec::new(),
            };
            this.b.scf_yield(&values);
            Ok(())
        })?;
        self.within(made.region(1).entry(), None, |this| {
            let rows = this.masked_branch(op, condition)?;
            this.b.scf_yield(&rows);
            Ok(())
        })?;
        self.bind(&targets, &made.results());
        Ok(())
    }

    fn uniform_branch(&mut self, op: Op<'c>) -> Emitted<()> {
        let condition = self.scalar(op.operand(0));
        let targets = op.results();
        let types = self.all_row_types(&targets);
        let made = self.b.scf_if(condition, &types, op.region(1).first_block().is_some());
        for (number, region) in op.regions().into_iter().enumerate() {
            let Some(block) = region.first_block() else { continue };
            let mask = self.mask;
            self.within(made.region(number).entry(), mask, |this| {
                this.block(block)?;
                let values = this.all_as_rows(&terminator(block)?.operands(), &targets);
                this.b.scf_yield(&values);
                Ok(())
            })?;
        }
        self.bind(&targets, &made.results());
        Ok(())
    }

    /// The branches for the lanes that take them; gives the vectors of the results.
    fn masked_branch(&mut self, op: Op<'c>, condition: Value<'c>) -> Emitted<Vec<Value<'c>>> {
        let mut sides = Vec::new();
        for (number, region) in op.regions().into_iter().enumerate() {
            let Some(block) = region.first_block() else { continue };
            let taken = if number == 0 { condition } else { self.not(condition) };
            let mask = self.and_mask(taken);
            sides.push(self.side(block, mask, &op.results())?);
        }
        let [yes, no] = &sides[..] else { return Ok(Vec::new()) };
        let ends = [0, 1].map(|number| op.region(number).first_block().and_then(Block::terminator));
        let mut rows = Vec::new();
        let mut at = 0;
        for (number, result) in op.results().into_iter().enumerate() {
            let undefined = |end: Option<Op<'c>>| end.is_some_and(|end| is_undefined(end.operand(number)));
            for _ in 0..self.row_types(result).len() {
                rows.push(match self.shape(result) {
                    Shape::Varying => self.select_any(condition, yes[at], no[at]),
                    // One branch alone says what it is.
                    _ if undefined(ends[0]) => no[at],
                    _ => yes[at],
                });
                at += 1;
            }
        }
        Ok(rows)
    }

    /// One branch for the lanes of `mask`; gives what stands for what it yields.
    fn side(&mut self, block: Block<'c>, mask: Value<'c>, targets: &[Value<'c>]) -> Emitted<Vec<Value<'c>>> {
        let values = terminator(block)?.operands();
        if self.speculates(block) {
            let outer = self.mask.replace(mask);
            let sure = std::mem::replace(&mut self.sure, false);
            self.block(block)?;
            self.sure = sure;
            self.mask = outer;
            return Ok(self.all_as_rows(&values, targets));
        }
        if targets.is_empty() && self.may_be_of_few(block) {
            self.of_few(block, mask, |this| this.any_side(block, mask, targets).map(|_| ()))?;
            return Ok(Vec::new());
        }
        self.any_side(block, mask, targets)
    }

    /// One branch for the lanes of `mask` if there are any.
    fn any_side(&mut self, block: Block<'c>, mask: Value<'c>, targets: &[Value<'c>]) -> Emitted<Vec<Value<'c>>> {
        let values = terminator(block)?.operands();
        let types = self.all_row_types(targets);
        let made = self.b.scf_if(self.any(mask), &types, !types.is_empty());
        self.within(made.region(0).entry(), Some(mask), |this| {
            this.block(block)?;
            let rows = this.all_as_rows(&values, targets);
            this.b.scf_yield(&rows);
            Ok(())
        })?;
        if !types.is_empty() {
            let b = Builder::at_end(made.region(1).entry(), self.b.loc);
            let none: Vec<_> = types.iter().map(|ty| b.poison(*ty)).collect();
            b.scf_yield(&none);
        }
        Ok(made.results())
    }

    /// Whether a branch is so small and harmless that it always runs: what it reads and writes side by side is of its lanes alone.
    fn speculates(&self, block: Block<'c>) -> bool {
        let harmless = |op: &Op<'c>| match kind(*op) {
            Kind::Constant | Kind::Aggregate | Kind::Nothing => true,
            Kind::Elementwise => !divides(*op),
            Kind::Load => self.is_side_by_side(*op, op.operand(0), op.result(0).ty()),
            Kind::Store => {
                let (address, ty) = (op.operand(1), op.operand(0).ty());
                self.is_side_by_side(*op, address, ty) || self.blends_window(*op, address, ty)
            }
            _ => op.is_terminator(),
        };
        let ops = block.ops();
        ops.len() <= LARGEST_SPECULATION + 1 && ops.iter().all(harmless)
    }

    /// A switch: the cases in order, the default last.
    fn switch(&mut self, op: Op<'c>) -> Emitted<()> {
        let cases = op.attr("cases").and_then(|cases| cases.as_i64_array()).ok_or("a switch without cases")?;
        let targets = op.results();
        if self.shapes.is_uniform(op.operand(0)) {
            let types = self.all_row_types(&targets);
            let attrs = op.attrs();
            let spec = self.b.op("scf.index_switch").operands(&[self.scalar(op.operand(0))]).attrs(&attrs);
            let made = spec.results(&types).regions(op.num_regions()).build();
            for (number, region) in op.regions().into_iter().enumerate() {
                let block = region.first_block().ok_or("a case without a block")?;
                let entry = made.region(number).append_block(&[], self.b.loc);
                let mask = self.mask;
                self.within(entry, mask, |this| {
                    this.block(block)?;
                    let values = this.all_as_rows(&terminator(block)?.operands(), &targets);
                    this.b.scf_yield(&values);
                    Ok(())
                })?;
            }
            self.bind(&targets, &made.results());
            return Ok(());
        }
        let number = self.lane_vector(op.operand(0));
        let mut rest = self.splat_int(self.i1(), 1);
        let mut result: Option<Vec<Value<'c>>> = None;
        // The first region is the default.
        for (case, region) in
            op.regions().into_iter().enumerate().skip(1).chain(op.regions().into_iter().enumerate().take(1))
        {
            let block = region.first_block().ok_or("a case without a block")?;
            let taken = match case {
                0 => rest,
                _ => {
                    let wanted = self.splat_int(op.operand(0).ty(), cases[case - 1]);
                    let same = self.compare("eq", number, wanted);
                    rest = self.b.arith("andi", rest, self.not(same));
                    same
                }
            };
            let mask = self.and_mask(taken);
            let rows = self.side(block, mask, &targets)?;
            result = Some(match result {
                None => rows,
                Some(before) => before.iter().zip(rows).map(|(old, new)| self.select_any(taken, new, *old)).collect(),
            });
        }
        self.bind(&targets, &result.unwrap_or_default());
        Ok(())
    }

    /// `arith.cmpi` of vectors.
    pub fn compare(&self, predicate: &str, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        let names = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"];
        let number = names.iter().position(|name| *name == predicate).expect("a predicate of arith.cmpi");
        let ctx = self.b.ctx();
        let attr = ctx.int_attr(ctx.int(64), number as i64);
        let spec = self.b.op("arith.cmpi").attr("predicate", attr).operands(&[a, b]);
        spec.result(self.vector(self.i1())).build().result(0)
    }
}

/// Whether a branch is left by threads that fail, or does little but what runs by lanes anyway: then the whole of it does.
fn must_run_by_lane(op: Op<'_>) -> bool {
    op.contains(|inner| ends_thread(inner))
}
