//! Making the operations of a row.
//!
//! A value of a row is a scalar where all lanes have the same, the first lane's scalar where it is linear, else a vector with an element for
//! each lane; structs and short vectors are one vector for each of their scalars.
//!
//! Operations are made for the lanes of the mask; `None` is all. What lanes that take no part compute is of no interest, as long as it
//! does not trap, is not stored, and decides no branch: a condition enters a mask through a `select`, which keeps poison out.

use std::collections::HashMap;

use mlir_bridge::ir::{Attr, Block, Builder, Mapping, Op, Type, Value};

use super::{
    classify::{Kind, callee, divides, kind, lane_types, names_thread},
    division::Division,
    parts::{assemble, extract, part},
    shapes::{Shape, Shapes},
    slots::Slots,
    sums::combines,
};
use crate::analysis::facts::{NOT_NEGATIVE, constant, width};
use regrain_targets::device_language::library;

/// Why a row was given up; legality is asked before.
pub type Emitted<T> = Result<T, String>;

/// What stands for a value of the thread loop in the row.
#[derive(Clone, Debug)]
pub enum Row<'c> {
    /// Of all lanes, or of the first where the value is linear.
    Scalar(Value<'c>),
    /// A vector for each scalar of the value.
    Vectors(Vec<Value<'c>>),
}

/// What accesses of a loop find that are not made where they stand.
#[derive(Default)]
pub struct Tile<'c> {
    /// The addresses of vectors on the stack.
    pub columns: HashMap<Op<'c>, Value<'c>>,
    /// The numbers of what is kept.
    pub places: HashMap<Op<'c>, usize>,
    pub kept: Vec<Row<'c>>,
    /// Vectors of loads that were made together with an earlier one.
    pub combed: HashMap<Op<'c>, Value<'c>>,
    /// Stores of combs that are still to come; the last one, which makes all, with the first.
    pub combing: HashMap<Op<'c>, Option<Op<'c>>>,
    /// Stores that an earlier one waits for, each with both of them, the one of the lower address first.
    pub waiting: HashMap<Op<'c>, [Op<'c>; 2]>,
}

/// The emission of one row.
pub struct Emitter<'c, 's> {
    pub shapes: &'s Shapes<'c>,
    pub lanes: u32,
    pub b: Builder<'c>,
    /// Which lanes take part, `vector<lanes x i1>`.
    pub mask: Option<Value<'c>>,
    pub known: HashMap<Value<'c>, Row<'c>>,
    /// Loops of the row around the cursor.
    pub depth: u32,
    /// Memory for loops over lanes.
    pub slots: Slots<'c>,
    /// Width of a vector register.
    pub register_bits: u32,
    /// What accesses find that are not made where they stand.
    pub tile: Tile<'c>,
    /// Whether some lane takes part for sure.
    pub sure: bool,
    /// Addresses that some lane has accessed for sure, when it comes here.
    pub touched: Vec<Value<'c>>,
    /// Addresses that all lanes have read, when they come here.
    pub read: Vec<Value<'c>>,
    /// Whether what a thread has read may be written back (`guard.rs`).
    pub writes_back: bool,
    /// Whether what all lanes take part in has no code of its own.
    pub short: bool,
}

impl<'c> Emitter<'c, '_> {
    pub fn vector(&self, element: Type<'c>) -> Type<'c> {
        self.b.ctx().vector(element, self.lanes)
    }

    pub fn i1(&self) -> Type<'c> {
        self.b.ctx().int(1)
    }

    /// An operation on vectors of the row, with a result of such elements.
    pub fn lanewise(&self, name: &str, operands: &[Value<'c>], element: Type<'c>) -> Value<'c> {
        self.b.value(name, operands, self.vector(element))
    }

    /// A constant vector.
    pub fn constants(&self, element: Type<'c>, numbers: impl Iterator<Item = i64>) -> Value<'c> {
        let list = numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(", ");
        let ty = self.vector(element);
        let attr = self.b.ctx().parse_attr(&format!("dense<[{list}]> : {ty}")).expect("a constant vector");
        self.b.op("arith.constant").attr("value", attr).result(ty).build().result(0)
    }

    /// A vector with the same in each lane.
    pub fn splat(&self, value: Value<'c>) -> Value<'c> {
        self.b.value("vector.broadcast", &[value], self.vector(value.ty()))
    }

    pub fn splat_int(&self, element: Type<'c>, number: i64) -> Value<'c> {
        self.splat(self.b.const_int(element, number))
    }

    pub fn poison(&self, ty: Type<'c>) -> Value<'c> {
        self.b.poison(ty)
    }

    /// `arith.select` between two values by one condition, or lane by lane.
    pub fn select(&self, condition: Value<'c>, yes: Value<'c>, no: Value<'c>) -> Value<'c> {
        self.b.value("llvm.select", &[condition, yes, no], yes.ty())
    }

    /// Index vectors are no type of the llvm dialect.
    pub fn select_any(&self, condition: Value<'c>, yes: Value<'c>, no: Value<'c>) -> Value<'c> {
        let element = yes.ty().vector_parts().map_or(yes.ty(), |(element, _)| element);
        match element.is_index() {
            true => self.b.value("arith.select", &[condition, yes, no], yes.ty()),
            false => self.select(condition, yes, no),
        }
    }

    /// The lanes of the mask for which `condition` (a vector) holds.
    pub fn and_mask(&self, condition: Value<'c>) -> Value<'c> {
        match self.mask {
            Some(mask) => self.both(mask, condition),
            None => condition,
        }
    }

    /// `first && second`; the second may be poison where the first does not hold.
    pub fn both(&self, first: Value<'c>, second: Value<'c>) -> Value<'c> {
        let none = self.splat_int(self.i1(), 0);
        self.select(first, second, none)
    }

    pub fn not(&self, condition: Value<'c>) -> Value<'c> {
        let all = match condition.ty() == self.i1() {
            true => self.b.const_int(self.i1(), 1),
            false => self.splat_int(self.i1(), 1),
        };
        self.b.arith("xori", condition, all)
    }

    pub fn any(&self, mask: Value<'c>) -> Value<'c> {
        self.b.value("llvm.intr.vector.reduce.or", &[mask], self.i1())
    }

    pub fn all(&self, mask: Value<'c>) -> Value<'c> {
        self.b.value("llvm.intr.vector.reduce.and", &[mask], self.i1())
    }

    /// The mask as a vector.
    pub fn mask_vector(&self) -> Value<'c> {
        self.mask.unwrap_or_else(|| self.splat_int(self.i1(), 1))
    }

    /// The mask as an integer with a bit for each lane.
    pub fn bits(&self, mask: Value<'c>) -> Value<'c> {
        self.b.value("llvm.bitcast", &[mask], self.b.ctx().int(self.lanes))
    }

    /// The lanes of a value less the first, as a vector, where they are known.
    fn offsets(&self, element: Type<'c>, shape: Shape) -> Option<Value<'c>> {
        let bits = width(element).unwrap_or(64).min(64);
        let wrapped = |number: i64| if bits < 64 { (number << (64 - bits)) >> (64 - bits) } else { number };
        let offset = |lane: u32| match shape {
            Shape::Linear(linear) => i64::from(lane).wrapping_mul(linear.stride),
            Shape::Uneven(uneven) => uneven.offset(lane as usize),
            _ => 0,
        };
        let differs = matches!(shape, Shape::Linear(_) | Shape::Uneven(_));
        differs.then(|| self.constants(element, (0..self.lanes).map(|lane| wrapped(offset(lane)))))
    }

    pub fn shape(&self, value: Value<'c>) -> Shape {
        self.shapes.of(value)
    }

    /// The scalar that stands for a uniform value, or for a linear one in the first lane.
    pub fn scalar(&self, value: Value<'c>) -> Value<'c> {
        match self.known.get(&value) {
            Some(Row::Scalar(scalar)) => *scalar,
            Some(Row::Vectors(_)) => unreachable!("a varying value where lanes agree: {value}"),
            None => value,
        }
    }

    /// The vectors of a value, made when it has none.
    pub fn vectors(&self, value: Value<'c>) -> Vec<Value<'c>> {
        match self.known.get(&value) {
            Some(Row::Vectors(vectors)) => vectors.clone(),
            _ => self.spread(self.scalar(value), self.shape(value)),
        }
    }

    /// The vectors of what is a scalar now.
    pub fn spread(&self, scalar: Value<'c>, shape: Shape) -> Vec<Value<'c>> {
        let ty = scalar.ty();
        let pointer = ty.ptr_space().is_some();
        if let Some(offsets) = self.offsets(if pointer { self.b.ctx().int(64) } else { ty }, shape) {
            return match pointer {
                true => vec![self.b.llvm_byte_at(scalar, offsets)],
                false => vec![self.b.arith("addi", self.splat(scalar), offsets)],
            };
        }
        match lane_types(ty) {
            Some(parts) if parts.len() != 1 || parts[0] != ty => {
                (0..parts.len()).map(|number| self.splat(self.part(scalar, number, parts[number]))).collect()
            }
            _ => vec![self.splat(scalar)],
        }
    }

    /// A scalar of a struct or short vector.
    pub fn part(&self, aggregate: Value<'c>, number: usize, ty: Type<'c>) -> Value<'c> {
        part(self.b, aggregate, number, ty)
    }

    /// The one vector of a value that is a scalar in each lane.
    pub fn lane_vector(&self, value: Value<'c>) -> Value<'c> {
        self.vectors(value)[0]
    }

    pub fn set(&mut self, value: Value<'c>, row: Row<'c>) {
        self.known.insert(value, row);
    }

    pub fn set_vector(&mut self, value: Value<'c>, vector: Value<'c>) {
        // A value that the analysis calls uniform is kept as a scalar.
        let row = match self.shape(value) {
            Shape::Varying => Row::Vectors(vec![vector]),
            _ => Row::Scalar(self.lane(vector, self.b.const_i32(0))),
        };
        self.set(value, row);
    }

    /// The element of a lane (i32).
    pub fn lane(&self, vector: Value<'c>, lane: Value<'c>) -> Value<'c> {
        let (element, _) = vector.ty().vector_parts().expect("a vector of the row");
        extract(self.b, vector, lane, element)
    }

    /// Runs `work` with the cursor in `block`, which has no terminator yet.
    pub fn within<T>(
        &mut self,
        block: Block<'c>,
        mask: Option<Value<'c>>,
        work: impl FnOnce(&mut Self) -> Emitted<T>,
    ) -> Emitted<T> {
        let loc = self.b.loc;
        let outer = std::mem::replace(&mut self.b, Builder::at_end(block, loc));
        let outer_mask = std::mem::replace(&mut self.mask, mask);
        let (touched, read) = (self.touched.len(), self.read.len());
        let result = work(self);
        self.touched.truncate(touched);
        self.read.truncate(read);
        self.b = outer;
        self.mask = outer_mask;
        result
    }

    /// Makes the operations of `block` but its terminator.
    pub fn block(&mut self, block: Block<'c>) -> Emitted<()> {
        let mut together = Vec::new();
        for op in block.ops().into_iter().filter(|op| !op.is_terminator()) {
            self.b = self.b.with_loc(op.loc());
            match names_thread(op) {
                // What comes next may fail, and tells the thread that was named last.
                true => together.push(op),
                false if together.is_empty() => self.op(op)?,
                false => {
                    together.push(op);
                    self.serial_group(&std::mem::take(&mut together))?;
                }
            }
        }
        Ok(())
    }

    pub fn op(&mut self, op: Op<'c>) -> Emitted<()> {
        match kind(op) {
            // The row was asked about it.
            _ if self.shapes.agreed().any(|agreed| agreed == op) => Ok(()),
            Kind::Nothing => Ok(()),
            Kind::Structure => self.structure(op),
            Kind::Warp => self.warp(op),
            Kind::Store => self.store(op),
            Kind::Load => self.load(op),
            Kind::Constant => self.copy(op),
            Kind::Once if self.shapes.all_uniform(&op.operands()) => {
                let mut mapping = Mapping::new();
                op.operands().into_iter().for_each(|operand| mapping.map(operand, self.scalar(operand)));
                self.b.clone_op(op, &mut mapping);
                Ok(())
            }
            Kind::Once => self.serial(op),
            Kind::Elementwise | Kind::Math if !self.varies(op) => self.copy(op),
            Kind::Elementwise => self.elementwise(op),
            Kind::Math => self.math(op),
            Kind::Aggregate if !self.varies(op) => self.copy(op),
            Kind::Aggregate => self.aggregate(op),
            Kind::Serial if op.is_pure() && !self.varies(op) => self.copy(op),
            Kind::Serial if combines(self.shapes, op) => self.combined(op),
            Kind::Serial => self.atomic(op),
        }
    }

    /// Whether a result of an operation differs between lanes other than evenly.
    fn varies(&self, op: Op<'c>) -> bool {
        op.results().into_iter().any(|result| self.shape(result) == Shape::Varying)
    }

    /// An operation on the scalars of uniform or linear values.
    fn copy(&mut self, op: Op<'c>) -> Emitted<()> {
        if op.num_results() == 1 && self.extends_live(op) {
            return self.extend(op);
        }
        if op.has_attr(NOT_NEGATIVE) && op.is("llvm.zext") && self.shape(op.operand(0)).is_signed() {
            // Lanes that take part are not negative, the first one may be, and the others' numbers count on from its.
            let number = self.b.value("llvm.sext", &[self.scalar(op.operand(0))], op.result(0).ty());
            self.set(op.result(0), Row::Scalar(number));
            return Ok(());
        }
        if self.mask.is_some() && op.num_results() == 1 && self.shape(op.result(0)) != Shape::Uniform {
            let operands: Vec<_> = op.operands().into_iter().map(|value| self.scalar(value)).collect();
            let made = self.without_flags(op, &operands, op.result(0).ty());
            self.set(op.result(0), Row::Scalar(made));
            return Ok(());
        }
        let mut mapping = Mapping::new();
        for operand in op.operands() {
            mapping.map(operand, self.scalar(operand));
        }
        let made = self.b.clone_op(op, &mut mapping);
        for (old, new) in op.results().into_iter().zip(made.results()) {
            self.set(old, Row::Scalar(new));
        }
        Ok(())
    }

    /// Whether an operation makes a wider number of one that does not wrap in the lanes that take part, but may in the first lane.
    fn extends_live(&self, op: Op<'c>) -> bool {
        let widens = matches!(
            op.name(),
            "llvm.sext" | "llvm.zext" | "arith.extsi" | "arith.extui" | "arith.index_cast" | "arith.index_castui"
        );
        let address = op.is("llvm.getelementptr") && (1..op.num_operands()).any(|index| self.is_live_only(op, index));
        self.mask.is_some() && (widens && self.is_live_only(op, 0) || address)
    }

    fn is_live_only(&self, op: Op<'c>, index: usize) -> bool {
        let operand = op.operand(index);
        width(operand.ty()).is_some_and(|bits| bits < 64) && self.shape(operand).is_of_live()
    }

    /// Makes a wider number, or an address of narrow indices, by what the first lane that takes part has, and goes back from there.
    fn extend(&mut self, op: Op<'c>) -> Emitted<()> {
        let ctx = self.b.ctx();
        let first = self.first_lane(self.bits(self.mask_vector()));
        let first = self.b.value("arith.extui", &[first], ctx.int(64));
        let of_first = |value: Value<'c>| self.of_lane_wide(self.scalar(value), self.shape(value), first);
        let operands: Vec<_> = op.operands().into_iter().map(of_first).collect();
        let result = self.without_flags(op, &operands, op.result(0).ty());
        let stride = self.shapes.stride(op.result(0)).ok_or("a linear value without a stride")?;
        let back = self.b.arith("muli", first, self.b.const_int(ctx.int(64), -stride));
        let moved = match result.ty() {
            ty if ty.ptr_space().is_some() => self.b.llvm_byte_at(result, back),
            ty if ty.is_index() => self.b.arith("addi", result, self.b.index_cast(back, ty)),
            ty if width(ty) == Some(64) => self.b.arith("addi", result, back),
            ty => self.b.arith("addi", result, self.b.value("arith.trunci", &[back], ty)),
        };
        self.set(op.result(0), Row::Scalar(moved));
        Ok(())
    }

    /// What a uniform or linear value is in the lane `lane` (i64).
    fn of_lane_wide(&self, scalar: Value<'c>, shape: Shape, lane: Value<'c>) -> Value<'c> {
        let ctx = self.b.ctx();
        let offset = match shape {
            Shape::Linear(linear) => self.b.arith("muli", lane, self.b.const_int(ctx.int(64), linear.stride)),
            Shape::Uneven(_) => match self.offsets(ctx.int(64), shape) {
                Some(offsets) => extract(self.b, offsets, lane, ctx.int(64)),
                None => return scalar,
            },
            _ => return scalar,
        };
        let ty = scalar.ty();
        if ty.ptr_space().is_some() {
            return self.b.llvm_byte_at(scalar, offset);
        }
        let offset = match width(ty) {
            _ if ty.is_index() => self.b.index_cast(offset, ty),
            Some(64) => offset,
            _ => self.b.value("arith.trunci", &[offset], ty),
        };
        self.b.arith("addi", scalar, offset)
    }

    /// What a value is in the lane `lane` (i32).
    pub fn of_lane(&self, value: Value<'c>, lane: Value<'c>) -> Value<'c> {
        match self.known.get(&value) {
            None => self.of_lane_known(value, value, lane),
            Some(Row::Scalar(scalar)) => self.of_lane_known(value, *scalar, lane),
            Some(Row::Vectors(vectors)) => {
                let parts: Vec<_> = vectors.iter().map(|vector| self.lane(*vector, lane)).collect();
                assemble(self.b, value.ty(), &parts)
            }
        }
    }

    fn of_lane_known(&self, value: Value<'c>, scalar: Value<'c>, lane: Value<'c>) -> Value<'c> {
        match self.shape(value) {
            Shape::Linear(_) | Shape::Uneven(_) => {
                let wide = self.b.value("arith.extui", &[lane], self.b.ctx().int(64));
                self.of_lane_wide(scalar, self.shape(value), wide)
            }
            _ => scalar,
        }
    }

    fn elementwise(&mut self, op: Op<'c>) -> Emitted<()> {
        if op.is("llvm.getelementptr") {
            return self.address(op);
        }
        if let Some(how) = Division::of(op, self.shapes, self.register_bits) {
            return self.divide(op, how);
        }
        if let Some(mask) = self.joined_masks(op) {
            self.set_vector(op.result(0), mask);
            return Ok(());
        }
        if let Some(operands) = self.narrow_operands(op) {
            let made = self.without_flags(op, &operands, self.vector(op.result(0).ty()));
            self.set_vector(op.result(0), made);
            return Ok(());
        }
        let mut operands: Vec<_> = op.operands().into_iter().map(|value| self.lane_vector(value)).collect();
        if divides(op) {
            operands[1] = self.safe_divisor(op, operands[1]);
        }
        if op.name().ends_with(".select") && self.shapes.is_uniform(op.operand(0)) {
            operands[0] = self.scalar(op.operand(0));
        }
        let made = self.without_flags(op, &operands, self.vector(op.result(0).ty()));
        self.set_vector(op.result(0), made);
        Ok(())
    }

    /// [`without_flags`] where the row is made.
    pub fn without_flags(&self, op: Op<'c>, operands: &[Value<'c>], result: Type<'c>) -> Value<'c> {
        without_flags(self.b, op, operands, result)
    }

    /// Lanes that take no part divide by one.
    pub fn safe_divisor(&self, op: Op<'c>, divisor: Value<'c>) -> Value<'c> {
        let known = constant(op.operand(1)).is_some_and(|number| number != 0);
        match self.mask {
            Some(mask) if !known => {
                let one = self.splat_int(op.operand(1).ty(), 1);
                self.select_any(mask, divisor, one)
            }
            _ => divisor,
        }
    }

    fn address(&mut self, op: Op<'c>) -> Emitted<()> {
        let operands = op.operands().into_iter().map(|value| match self.shapes.is_uniform(value) {
            true => self.scalar(value),
            false => self.lane_vector(value),
        });
        let operands: Vec<_> = operands.collect();
        let made = self.without_flags(op, &operands, self.vector(op.result(0).ty()));
        self.set_vector(op.result(0), made);
        Ok(())
    }

    /// A mathematical function, by its vector form where the library has one.
    fn math(&mut self, op: Op<'c>) -> Emitted<()> {
        let name = callee(op).ok_or("a function without a name")?;
        let operands: Vec<_> = op.operands().into_iter().map(|value| self.lane_vector(value)).collect();
        let element = op.result(0).ty();
        let made = match (library::vector_form(name, self.lanes), library::elementwise_intrinsic(name)) {
            (Some(form), _) => self.call_vector_form(op, &form, &operands),
            (None, Some(intrinsic)) => self.lanewise(intrinsic, &operands, element),
            (None, None) => return self.serial(op),
        };
        self.set_vector(op.result(0), made);
        Ok(())
    }

    /// A call of a function on vectors, which is declared if it was not.
    fn call_vector_form(&self, op: Op<'c>, name: &str, operands: &[Value<'c>]) -> Value<'c> {
        let result = self.vector(op.result(0).ty());
        if let Some(module) = op.parent_of_name("builtin.module")
            && module.lookup_symbol(name).is_none()
        {
            let inputs: Vec<_> = operands.iter().map(|operand| operand.ty()).collect();
            Builder::at_end(module.body(), self.b.ctx().unknown_loc()).llvm_func(name, result, &inputs);
        }
        self.b.llvm_call(name, operands, &[result]).result(0)
    }

    fn aggregate(&mut self, op: Op<'c>) -> Emitted<()> {
        if op.is("llvm.bitcast") {
            let element = super::classify::element_casts(op).ok_or("a cast of other elements")?;
            let vectors = self.vectors(op.operand(0));
            let row = vectors.into_iter().map(|vector| self.lanewise("llvm.bitcast", &[vector], element)).collect();
            self.set(op.result(0), Row::Vectors(row));
            return Ok(());
        }
        let number = match op.attr("position").and_then(|position| position.as_i64_array()) {
            Some(position) => position.first().copied().and_then(|first| usize::try_from(first).ok()),
            None => super::classify::constant_lane(op),
        };
        let number = number.ok_or("an element that is not known")?;
        let mut vectors = self.vectors(op.operand(0));
        let row = if op.name().starts_with("llvm.extract") {
            vec![vectors[number]]
        } else {
            vectors[number] = self.lane_vector(op.operand(1));
            vectors
        };
        self.set(op.result(0), Row::Vectors(row));
        Ok(())
    }

    /// Bytes of a constant step between the lanes of an address, if they lie evenly.
    pub fn even(&self, address: Value<'c>) -> Option<i64> {
        self.shapes.stride(address)
    }
}

/// The operation `op` on other operands, with its attributes. What it promises of its result (no wrapping, staying within an
/// object) are no attributes and are left behind: it may not hold in a lane that takes no part.
pub fn without_flags<'c>(b: Builder<'c>, op: Op<'c>, operands: &[Value<'c>], result: Type<'c>) -> Value<'c> {
    let attrs: Vec<(&str, Attr<'c>)> = op.attrs();
    b.op(op.name()).operands(operands).attrs(&attrs).result(result).build().result(0)
}
