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

use std::{cell::RefCell, cmp::Ordering};

use mlir_bridge::ir::{Op, Type, Value};
use regrain_tuning::polynomial::Polynomial;
use rustc_hash::FxHashMap as HashMap;

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

/// A symbol in sums.
#[derive(Clone, Copy)]
pub struct Unknown<'c> {
    /// In which order symbols were met.
    number: usize,
    pub symbol: Symbol<'c>,
    /// What it can be.
    pub range: Range,
}

impl PartialEq for Unknown<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for Unknown<'_> {}

impl Ord for Unknown<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.number.cmp(&other.number)
    }
}

impl PartialOrd for Unknown<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A constant and multiples of symbols, as one [`Offsets`] makes them.
#[derive(Clone, Default)]
pub struct Linear<'c>(Polynomial<Option<Unknown<'c>>, i128>);

/// The most terms of an offset, and the largest factor: sums stay far from the limits of 128 bits.
const TERMS: usize = 16;
const LARGEST: i128 = 1 << 48;

impl<'c> Linear<'c> {
    fn number(constant: i128) -> Self {
        Self(Polynomial::constant(constant))
    }

    /// The part without symbols.
    pub fn constant(&self) -> i128 {
        self.0.constant_part()
    }

    /// The symbols, each with its factor.
    pub fn terms(&self) -> impl Iterator<Item = (Unknown<'c>, i128)> {
        self.0.terms().iter().filter_map(|term| Some((term.monomial?, term.coefficient)))
    }

    /// The constant and all factors.
    pub fn factors(&self) -> impl Iterator<Item = i128> {
        self.0.terms().iter().map(|term| term.coefficient)
    }

    /// How often a symbol is in the sum.
    pub fn factor(&self, symbol: Symbol<'c>) -> i128 {
        self.terms().find(|(unknown, _)| unknown.symbol == symbol).map_or(0, |(_, factor)| factor)
    }

    /// `self + factor * other`.
    pub fn plus(&self, other: &Self, factor: i128) -> Self {
        Self(self.0.plus(&other.0, &factor))
    }

    fn times(&self, factor: i128) -> Self {
        Self(self.0.scaled(&factor))
    }

    /// What is the same for equal sums of one [`Offsets`], and for no others.
    pub fn key(&self) -> Vec<(Option<usize>, i128)> {
        self.0.terms().iter().map(|term| (term.monomial.map(|unknown| unknown.number), term.coefficient)).collect()
    }

    /// `self - other`, if that is a number whatever the symbols are.
    pub fn distance(&self, other: &Self) -> Option<i128> {
        let same = self.terms().eq(other.terms());
        same.then(|| self.constant() - other.constant())
    }

    /// Whether the difference is zero whatever the symbols are.
    pub fn equals(&self, other: &Self) -> bool {
        self.0 == other.0
    }

    /// What the sum can be.
    pub fn range(&self) -> Range {
        let mut found = Range { low: self.constant(), high: self.constant() };
        for (unknown, factor) in self.terms() {
            let (a, b) = (factor * unknown.range.low, factor * unknown.range.high);
            found.low += a.min(b);
            found.high += a.max(b);
        }
        found
    }

    fn is_small(&self) -> bool {
        let mut terms = 0;
        let bounded = self.terms().all(|(_, factor)| {
            terms += 1;
            factor.abs() <= LARGEST
        });
        bounded && terms <= TERMS && self.constant().abs() <= 1 << 80
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
    numbers: RefCell<HashMap<Symbol<'c>, usize>>,
    /// Products of two values of 64 bits, one of them a symbol.
    products: RefCell<HashMap<(Value<'c>, Value<'c>), Value<'c>>>,
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
        let found = self.sum(value, depth).filter(Linear::is_small).unwrap_or_else(|| self.opaque(value));
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
                return self.resized(operand(0)?, value, width(op.operand(0).ty())?, bits, unsigned);
            }
            "add" | "addi" => operand(0)?.plus(&operand(1)?, 1),
            "sub" | "subi" => operand(0)?.plus(&operand(1)?, -1),
            // Without common bits, the sign's among them, nothing is carried.
            "or" | "ori" if op.has_attr("isDisjoint") => return Some(operand(0)?.plus(&operand(1)?, 1)),
            "mul" | "muli" => match (constant(op.operand(0)), constant(op.operand(1))) {
                (_, Some(factor)) => operand(0)?.times(small(factor)?),
                (Some(factor), None) => operand(1)?.times(small(factor)?),
                (None, None) => return self.product(op, bits, depth),
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
        Some(if is_nsw(op) { sum } else { self.wrapped(sum, value, bits) })
    }

    /// A product of two values: of a symbol and another value it is a symbol, and of `k * symbol + n` it is `k` such symbols and `n` times
    /// the other value.
    fn product(&self, op: Op<'c>, bits: u32, depth: u32) -> Option<Linear<'c>> {
        if bits != 64 {
            return None;
        }
        for (one, other) in [(0, 1), (1, 0)].map(|(one, other)| (op.operand(one), op.operand(other))) {
            let sum = self.linear_at(one, depth - 1);
            let mut terms = sum.terms();
            let (Some((Unknown { symbol: Symbol::Value(symbol), .. }, factor)), None) = (terms.next(), terms.next())
            else {
                continue;
            };
            let key = (symbol, other);
            if (factor, sum.constant()) == (1, 0) {
                self.products.borrow_mut().entry(key).or_insert(op.result(0));
            }
            let known = self.products.borrow().get(&key).copied();
            if let Some(product) = known {
                let several = self.opaque(product).times(factor);
                return Some(several.plus(&self.linear_at(other, depth - 1), sum.constant()));
            }
        }
        None
    }

    fn symbol(&self, symbol: Symbol<'c>, range: Range) -> Linear<'c> {
        let mut numbers = self.numbers.borrow_mut();
        let next = numbers.len();
        let number = *numbers.entry(symbol).or_insert(next);
        Linear(Polynomial::term(Some(Unknown { number, symbol, range }), 1))
    }

    fn opaque(&self, value: Value<'c>) -> Linear<'c> {
        let all = Range::of_width(width(value.ty()).unwrap_or(64));
        self.symbol(Symbol::Value(value), range(value).unwrap_or(all))
    }

    /// A number of one width read as one of another.
    fn resized(&self, inner: Linear<'c>, value: Value<'c>, from: u32, to: u32, unsigned: bool) -> Option<Linear<'c>> {
        if !unsigned {
            return Some(self.wrapped(inner, value, to));
        }
        if to <= from {
            return Some(self.wrapped(inner, value, to));
        }
        // Not negative, or beyond by 2 to the narrow width.
        let known = range(value.defining_op()?.operand(0));
        if inner.range().low >= 0 || known.is_some_and(|range| range.low >= 0) {
            return Some(inner);
        }
        let wrap = self.symbol(Symbol::Wrap(value), Range { low: 0, high: 1 });
        Some(inner.plus(&wrap, 1 << from)).filter(|_| from <= 32)
    }

    /// `sum` as a number of `bits`: so many times 2 to the width are lost.
    fn wrapped(&self, sum: Linear<'c>, value: Value<'c>, bits: u32) -> Linear<'c> {
        let (all, found) = (Range::of_width(bits), sum.range());
        if bits == 64 || (all.low <= found.low && found.high <= all.high) || !sum.is_small() {
            return sum;
        }
        if bits > 32 {
            return self.opaque(value);
        }
        let size = 1i128 << bits;
        let (least, most) = ((all.low - found.high).div_euclid(size), (all.high - found.low).div_euclid(size) + 1);
        sum.plus(&self.symbol(Symbol::Wrap(value), Range { low: least, high: most }), size)
    }
}

fn small(factor: i64) -> Option<i128> {
    Some(i128::from(factor)).filter(|factor| factor.abs() <= LARGEST)
}

/// What a `getelementptr` adds to its base.
pub struct Steps<'c> {
    /// A constant.
    pub bytes: i64,
    /// Indices, and the bytes that each counts.
    pub indices: Vec<(Value<'c>, i64)>,
}

/// What a `getelementptr` adds to its base; `None` for elements of vectors and what is larger than any memory.
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
    let mut at = 0u64;
    for (number, inner) in ty.llvm_struct_fields()?.into_iter().enumerate() {
        let (size, alignment) = inner.layout(op);
        at = at.next_multiple_of(if ty.is_packed_struct() { 1 } else { alignment.max(1) });
        if number == field {
            return Some((inner, i64::try_from(at).ok()?));
        }
        at += size;
    }
    None
}
