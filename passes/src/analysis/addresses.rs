//! Addresses as an object and an offset in bytes, the offset as a sum of multiples of values.
//!
//! ```mlir
//! %j = llvm.add %i, %c1 overflow<nsw> : i32
//! %k = llvm.sext %j : i32 to i64
//! %p = llvm.getelementptr %tile[0, %k] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<16 x f32>
//! ```
//! `%p` is `%tile` and the offset `4 %i + 4`. Sums are exact: arithmetic that may wrap brings a term of its own, so many times
//! 2 to the width, whose range is known ([`Symbol::Wrap`]). Only what is 64 bits wide is exact modulo 2 to the 64, as addresses
//! are.

use std::{cell::RefCell, collections::HashMap};

use mlir_bridge::ir::{Op, Type, Value};

use crate::analysis::facts::{Range, constant, is_nsw, range, width};

/// What a term of an offset is a multiple of.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Symbol<'c> {
    /// The value, read as a signed number.
    Value(Value<'c>),
    /// How often the operation that makes the value wraps.
    Wrap(Value<'c>),
}

impl<'c> Symbol<'c> {
    /// The value that decides.
    pub fn value(self) -> Value<'c> {
        match self {
            Symbol::Value(value) | Symbol::Wrap(value) => value,
        }
    }
}

/// A multiple of a symbol.
#[derive(Clone, Copy)]
pub struct Term<'c> {
    pub symbol: Symbol<'c>,
    pub factor: i128,
    /// What the symbol can be.
    pub range: Range,
}

/// A constant and multiples of symbols.
#[derive(Clone, Default)]
pub struct Linear<'c> {
    pub terms: Vec<Term<'c>>,
    pub constant: i128,
}

/// The most terms of an offset, and the largest factor: sums stay far from the limits of 128 bits.
const TERMS: usize = 16;
const LARGEST: i128 = 1 << 48;

impl<'c> Linear<'c> {
    fn number(constant: i128) -> Self {
        Self { terms: Vec::new(), constant }
    }

    fn symbol(symbol: Symbol<'c>, range: Range) -> Self {
        Self { terms: vec![Term { symbol, factor: 1, range }], constant: 0 }
    }

    /// How often a symbol is in the sum.
    pub fn factor(&self, symbol: Symbol<'c>) -> i128 {
        self.terms.iter().find(|term| term.symbol == symbol).map_or(0, |term| term.factor)
    }

    /// `self + factor * other`.
    pub fn plus(&self, other: &Self, factor: i128) -> Self {
        let mut sum = self.clone();
        sum.constant += factor * other.constant;
        for term in &other.terms {
            let change = factor * term.factor;
            match sum.terms.iter_mut().find(|old| old.symbol == term.symbol) {
                Some(old) => old.factor += change,
                None => sum.terms.push(Term { factor: change, ..*term }),
            }
        }
        sum.terms.retain(|term| term.factor != 0);
        sum
    }

    fn times(&self, factor: i128) -> Self {
        Self::default().plus(self, factor)
    }

    /// Whether the difference is zero whatever the symbols are.
    pub fn equals(&self, other: &Self) -> bool {
        let difference = self.plus(other, -1);
        difference.constant == 0 && difference.terms.is_empty()
    }

    /// What the sum can be.
    pub fn range(&self) -> Range {
        let mut found = Range { low: self.constant, high: self.constant };
        for term in &self.terms {
            let (a, b) = (term.factor * term.range.low, term.factor * term.range.high);
            found.low += a.min(b);
            found.high += a.max(b);
        }
        found
    }

    fn is_small(&self) -> bool {
        self.terms.len() <= TERMS
            && self.constant.abs() <= 1 << 80
            && self.terms.iter().all(|term| term.factor.abs() <= LARGEST)
    }
}

/// An address: so many bytes from where `root` points; where the offset is not known, anywhere in its object.
#[derive(Clone)]
pub struct Address<'c> {
    pub root: Value<'c>,
    pub offset: Option<Linear<'c>>,
}

/// How deep expressions are looked through.
const DEPTH: u32 = 12;
/// The marker of an index that is an operand, in `rawConstantIndices`.
const OPERAND: i32 = i32::MIN;

/// Offsets as found so far. No operation may be erased while it is in use.
#[derive(Default)]
pub struct Offsets<'c> {
    known: RefCell<HashMap<Value<'c>, Linear<'c>>>,
    pointers: RefCell<HashMap<Value<'c>, Address<'c>>>,
}

impl<'c> Offsets<'c> {
    /// The object and the offset that a pointer points to.
    pub fn address(&self, pointer: Value<'c>) -> Address<'c> {
        if let Some(known) = self.pointers.borrow().get(&pointer) {
            return known.clone();
        }
        let found = self.find_address(pointer);
        self.pointers.borrow_mut().insert(pointer, found.clone());
        found
    }

    fn find_address(&self, pointer: Value<'c>) -> Address<'c> {
        let (mut root, mut offset) = (pointer, Some(Linear::default()));
        while let Some(op) = root.defining_op() {
            match op.name() {
                "llvm.getelementptr" => {
                    let step = self.step(op);
                    offset = offset.zip(step).map(|(sum, step)| sum.plus(&step, 1)).filter(Linear::is_small);
                }
                "llvm.addrspacecast" | "llvm.bitcast" => {}
                _ => break,
            }
            root = op.operand(0);
        }
        Address { root, offset }
    }

    /// How far a `getelementptr` goes.
    fn step(&self, op: Op<'c>) -> Option<Linear<'c>> {
        let Steps { bytes, indices } = steps(op)?;
        indices.into_iter().try_fold(Linear::number(bytes.into()), |sum, (index, stride)| {
            width(index.ty())?;
            Some(sum.plus(&self.linear(index), stride.into()))
        })
    }

    /// An integer as a sum, exactly; modulo 2 to the 64 if it is so wide.
    pub fn linear(&self, value: Value<'c>) -> Linear<'c> {
        self.linear_at(value, DEPTH)
    }

    fn linear_at(&self, value: Value<'c>, depth: u32) -> Linear<'c> {
        if let Some(known) = self.known.borrow().get(&value) {
            return known.clone();
        }
        let found = self.sum(value, depth).filter(Linear::is_small).unwrap_or_else(|| opaque(value));
        self.known.borrow_mut().insert(value, found.clone());
        found
    }

    fn sum(&self, value: Value<'c>, depth: u32) -> Option<Linear<'c>> {
        if let Some(number) = constant(value) {
            return Some(Linear::number(number.into()));
        }
        let op = value.defining_op().filter(|op| depth > 0 && op.num_regions() == 0)?;
        let bits = width(value.ty())?;
        let operand =
            |number: usize| width(op.operand(number).ty()).map(|_| self.linear_at(op.operand(number), depth - 1));
        let name = op.name();
        let sum = match name.split_once('.').map_or(name, |(_, rest)| rest) {
            "sext" | "extsi" | "zext" | "extui" | "trunc" | "trunci" | "index_cast" | "index_castui" => {
                let unsigned = name.ends_with("zext") || name.ends_with("ui");
                return resized(operand(0)?, value, width(op.operand(0).ty())?, bits, unsigned);
            }
            "add" | "addi" => operand(0)?.plus(&operand(1)?, 1),
            "sub" | "subi" => operand(0)?.plus(&operand(1)?, -1),
            // Without common bits, the sign's among them, nothing is carried.
            "or" | "ori" if op.has_attr("isDisjoint") => return Some(operand(0)?.plus(&operand(1)?, 1)),
            "mul" | "muli" => match (constant(op.operand(0)), constant(op.operand(1))) {
                (_, Some(factor)) => operand(0)?.times(small(factor)?),
                (Some(factor), None) => operand(1)?.times(small(factor)?),
                (None, None) => return None,
            },
            "shl" | "shli" => {
                let amount = constant(op.operand(1)).filter(|amount| (0..32).contains(amount))?;
                operand(0)?.times(1 << amount)
            }
            _ => return None,
        };
        if !sum.is_small() {
            return None;
        }
        Some(if is_nsw(op) { sum } else { wrapped(sum, value, bits) })
    }
}

fn small(factor: i64) -> Option<i128> {
    Some(i128::from(factor)).filter(|factor| factor.abs() <= LARGEST)
}

fn opaque(value: Value<'_>) -> Linear<'_> {
    let all = Range::of_width(width(value.ty()).unwrap_or(64));
    Linear::symbol(Symbol::Value(value), range(value).unwrap_or(all))
}

/// A number of one width read as one of another.
fn resized<'c>(inner: Linear<'c>, value: Value<'c>, from: u32, to: u32, unsigned: bool) -> Option<Linear<'c>> {
    if !unsigned {
        return Some(wrapped(inner, value, to));
    }
    if to <= from {
        return Some(wrapped(inner, value, to));
    }
    // Not negative, or beyond by 2 to the narrow width.
    let known = range(value.defining_op()?.operand(0));
    if inner.range().low >= 0 || known.is_some_and(|range| range.low >= 0) {
        return Some(inner);
    }
    let wrap = Linear::symbol(Symbol::Wrap(value), Range { low: 0, high: 1 });
    Some(inner.plus(&wrap, 1 << from)).filter(|_| from <= 32)
}

/// `sum` as a number of `bits`: so many times 2 to the width are lost.
fn wrapped<'c>(sum: Linear<'c>, value: Value<'c>, bits: u32) -> Linear<'c> {
    let (all, found) = (Range::of_width(bits), sum.range());
    if bits == 64 || (all.low <= found.low && found.high <= all.high) || !sum.is_small() {
        return sum;
    }
    if bits > 32 {
        return opaque(value);
    }
    let size = 1i128 << bits;
    let (least, most) = ((all.low - found.high).div_euclid(size), (all.high - found.low).div_euclid(size) + 1);
    sum.plus(&Linear::symbol(Symbol::Wrap(value), Range { low: least, high: most }), size)
}

/// What a `getelementptr` adds to its base.
pub struct Steps<'c> {
    /// A constant.
    pub bytes: i64,
    /// Indices, and the bytes that each counts.
    pub indices: Vec<(Value<'c>, i64)>,
}

/// What a `getelementptr` adds to its base; `None` for packed structs and what is larger than any memory.
pub fn steps<'c>(op: Op<'c>) -> Option<Steps<'c>> {
    let mut ty = op.attr("elem_type")?.as_type()?;
    let mut dynamic = op.operands().into_iter().skip(1);
    let mut made = Steps { bytes: 0, indices: Vec::new() };
    for (number, index) in op.attr("rawConstantIndices")?.as_i32_array()?.into_iter().enumerate() {
        if number > 0 {
            match ty.llvm_array_parts() {
                Some((element, _)) => ty = element,
                None => {
                    let (inner, at) = field_offset(ty, usize::try_from(index).ok()?, op)?;
                    (ty, made.bytes) = (inner, made.bytes.checked_add(at)?);
                    continue;
                }
            }
        }
        let stride = stride(ty, op)?;
        match index {
            OPERAND => made.indices.push((dynamic.next()?, stride)),
            _ => made.bytes = made.bytes.checked_add(i64::from(index).checked_mul(stride)?)?,
        }
    }
    Some(made)
}

/// The distance of neighbouring elements of a type.
fn stride(ty: Type<'_>, op: Op<'_>) -> Option<i64> {
    let (size, alignment) = ty.layout(op);
    i64::try_from(size.next_multiple_of(alignment.max(1))).ok().filter(|stride| *stride <= 1 << 40)
}

/// The type of a field of a struct, and where it is.
fn field_offset<'c>(ty: Type<'c>, field: usize, op: Op<'c>) -> Option<(Type<'c>, i64)> {
    let fields = ty.llvm_struct_fields()?;
    if ty.to_string().contains("packed") {
        return None;
    }
    let mut at = 0u64;
    for (number, inner) in fields.into_iter().enumerate() {
        let (size, alignment) = inner.layout(op);
        at = at.next_multiple_of(alignment.max(1));
        if number == field {
            return Some((inner, i64::try_from(at).ok()?));
        }
        at += size;
    }
    None
}
