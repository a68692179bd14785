//! Which elements of which arrays a nest accesses: subscripts are found in computed addresses again.
//!
//! ```text
//!   getelementptr %a[%i * %m + %j] : f64     A0[i][j], a row has m elements: where 0 <= j < m in all rounds
//! ```

use std::collections::BTreeSet;

use mlir_bridge::ir::{Op, Type, Value};

use crate::{
    affine::{
        Reason,
        numbers::{Numbers, Scope},
        poly::{Poly, Product, param_name},
    },
    analysis::addresses::steps,
};

/// Where the elements of an array are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base<'c> {
    /// From where a parameter of the function points, its number.
    Parameter(usize),
    /// In a variable.
    Variable(&'c str),
}

/// The distance of neighbours in a dimension: so many bytes times the product of parameters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stride {
    /// The parameters, by number in ascending order.
    pub params: Vec<usize>,
    /// The bytes.
    pub bytes: i64,
}

/// An array.
#[derive(Clone, Debug)]
pub struct Array<'c> {
    /// Where it is.
    pub base: Base<'c>,
    /// What its elements are, or the first of what they are taken for.
    pub element: Type<'c>,
    /// The bytes of an element.
    pub size: i64,
    /// The distances of neighbours, those of the outermost dimension first.
    pub strides: Vec<Stride>,
}

/// An access to one element in each round.
#[derive(Clone, Debug)]
pub struct Access<'c> {
    /// The load or the store.
    pub op: Op<'c>,
    /// The number of the array.
    pub array: usize,
    /// Whether it stores.
    pub writes: bool,
    /// Whether it is known to be done in each round of its scope.
    pub is_certain: bool,
    /// The rounds.
    pub scope: Scope,
    /// The element, as isl has it.
    pub subscripts: Vec<String>,
    /// The same as sums.
    pub sums: Vec<Poly>,
}

impl Access<'_> {
    /// The element as isl names it, and what its subscripts are: `A0[o0]`, `o0 = i0 + 1`.
    pub fn place(&self) -> (String, String) {
        let names: Vec<String> = (0..self.subscripts.len()).map(|at| format!("o{at}")).collect();
        let equal = names.iter().zip(&self.subscripts).map(|(name, subscript)| format!("{name} = {subscript}"));
        (format!("A{}[{}]", self.array, names.join(", ")), equal.collect::<Vec<_>>().join(" and "))
    }
}

/// An access whose array may have further dimensions.
pub struct Found<'c> {
    op: Op<'c>,
    base: Base<'c>,
    element: Type<'c>,
    size: i64,
    bytes: i64,
    indices: Vec<(i64, Poly)>,
    scope: Scope,
    writes: bool,
    is_certain: bool,
}

impl Found<'_> {
    /// Whether it stores.
    pub fn is_write(&self) -> bool {
        self.writes
    }
}

/// Where a load or a store accesses memory.
///
/// # Errors
/// Its address is not affine.
pub fn find<'c>(numbers: &mut Numbers<'c>, op: Op<'c>, scope: &Scope, is_certain: bool) -> Result<Found<'c>, Reason> {
    let writes = op.is("llvm.store");
    let (element, mut pointer) =
        if writes { (op.operand(0).ty(), op.operand(1)) } else { (op.result(0).ty(), op.operand(0)) };
    if !(element.is_float() || element.int_width().is_some_and(|bits| [8, 16, 32, 64].contains(&bits))) {
        return Err(Reason::Element);
    }
    let size = i64::try_from(element.layout(op).0).map_err(|_| Reason::Element)?;
    let mut found = Found {
        op,
        base: Base::Parameter(0),
        element,
        size,
        bytes: 0,
        indices: Vec::new(),
        scope: scope.clone(),
        writes,
        is_certain,
    };
    while let Some(address) = pointer.defining_op().filter(|address| address.is("llvm.getelementptr")) {
        let steps = steps(address).ok_or(Reason::NotAffine)?;
        found.bytes = found.bytes.checked_add(steps.bytes).ok_or(Reason::NotAffine)?;
        for (index, stride) in steps.indices {
            found.indices.push((stride, numbers.poly(index, scope)?));
        }
        pointer = address.operand(0);
    }
    found.base = base(pointer).ok_or(Reason::Array)?;
    Ok(found)
}

/// The array that an address is in, whatever its subscripts are.
pub fn base_of(mut pointer: Value<'_>) -> Option<Base<'_>> {
    while let Some(address) = pointer.defining_op().filter(|address| address.is("llvm.getelementptr")) {
        pointer = address.operand(0);
    }
    base(pointer)
}

fn base(pointer: Value<'_>) -> Option<Base<'_>> {
    if let Some((block, number)) = pointer.block_arg() {
        return block.parent_op().filter(|owner| owner.is("llvm.func")).map(|_| Base::Parameter(number));
    }
    let owner = pointer.defining_op().filter(|owner| owner.is("llvm.mlir.addressof"))?;
    owner.attr("global_name")?.as_symbol().map(Base::Variable)
}

/// The arrays that accesses are to, with the subscripts of each; that they are within the shape of the array becomes an assumption.
///
/// # Errors
/// An array has no one shape.
pub fn shapes<'c>(numbers: &mut Numbers<'c>, found: &[Found<'c>]) -> Result<(Vec<Array<'c>>, Vec<Access<'c>>), Reason> {
    let mut arrays: Vec<Array<'c>> = Vec::new();
    for access in found {
        if !arrays.iter().any(|array| array.base == access.base) {
            arrays.push(array(found, access)?);
        }
    }
    let mut accesses = Vec::new();
    for access in found {
        let number = arrays.iter().position(|array| array.base == access.base).ok_or(Reason::Shape)?;
        let subscripts = subscripts(&arrays[number], access)?;
        within(numbers, &arrays[number], &access.scope, &subscripts)?;
        let text = |subscript: &Poly| subscript.text().ok_or(Reason::NotAffine);
        accesses.push(Access {
            op: access.op,
            array: number,
            writes: access.writes,
            is_certain: access.is_certain,
            scope: access.scope.clone(),
            subscripts: subscripts.iter().map(text).collect::<Result<_, _>>()?,
            sums: subscripts,
        });
    }
    Ok((arrays, accesses))
}

fn array<'c>(found: &[Found<'c>], first: &Found<'c>) -> Result<Array<'c>, Reason> {
    let mut strides = BTreeSet::from([Stride { params: Vec::new(), bytes: first.size }]);
    let mut bare = BTreeSet::new();
    for access in found.iter().filter(|access| access.base == first.base) {
        if access.size != first.size {
            return Err(Reason::Element);
        }
        for (bytes, index) in &access.indices {
            for (product, _) in index.terms() {
                match product.variable {
                    Some(_) => drop(strides.insert(Stride { params: product.params.clone(), bytes: *bytes })),
                    None => drop(bare.insert(*bytes)),
                }
            }
        }
    }
    for bytes in bare {
        if !strides.iter().any(|stride| stride.bytes == bytes) {
            strides.insert(Stride { params: Vec::new(), bytes });
        }
    }
    // More parameters first, then more bytes.
    let mut strides: Vec<Stride> = strides.into_iter().collect();
    strides.sort_by_key(|stride| std::cmp::Reverse((stride.params.len(), stride.bytes)));
    let array = Array { base: first.base, element: first.element, size: first.size, strides };
    let smallest = array.strides.last().filter(|last| last.params.is_empty() && last.bytes == array.size);
    smallest.ok_or(Reason::Shape)?;
    array.strides.windows(2).try_for_each(|pair| extent(&pair[0], &pair[1]).map(drop).ok_or(Reason::Shape))?;
    Ok(array)
}

/// How many of the smaller steps a larger one is: a number times at most one parameter.
pub fn extent(larger: &Stride, smaller: &Stride) -> Option<(i64, Option<usize>)> {
    let rest = without(&larger.params, &smaller.params)?;
    let is_whole = smaller.bytes > 0 && larger.bytes % smaller.bytes == 0;
    match rest[..] {
        _ if !is_whole => None,
        [] => Some((larger.bytes / smaller.bytes, None)),
        [param] => Some((larger.bytes / smaller.bytes, Some(param))),
        _ => None,
    }
}

/// `all` without each of `some`, which must be there.
fn without(all: &[usize], some: &[usize]) -> Option<Vec<usize>> {
    let mut rest = all.to_vec();
    for one in some {
        rest.remove(rest.iter().position(|other| other == one)?);
    }
    Some(rest)
}

fn subscripts(array: &Array<'_>, access: &Found<'_>) -> Result<Vec<Poly>, Reason> {
    let mut made = vec![Poly::default(); array.strides.len()];
    let add = |made: &mut [Poly], at: usize, product: Product, factor: i64| {
        made[at] = made[at].plus(&Poly::of(product, factor)).ok_or(Reason::NotAffine)?;
        Ok::<(), Reason>(())
    };
    for (bytes, index) in &access.indices {
        // An index that goes back by elements, as of `a[i][m - 1 - j]`: a size in it counts elements, too, not rows.
        let moving: Vec<_> = index.terms().filter(|(product, _)| product.variable.is_some()).collect();
        let is_inner =
            moving.iter().all(|(product, _)| product.params.is_empty()) && moving.iter().any(|(_, factor)| *factor < 0);
        let elements = array.strides.iter().position(|stride| stride.params.is_empty() && stride.bytes == *bytes);
        for (product, factor) in index.terms() {
            if let Some(at) = elements.filter(|_| is_inner && product.params.len() == 1) {
                add(&mut made, at, product.clone(), factor)?;
                continue;
            }
            let fits = |stride: &Stride| {
                let rest = without(&product.params, &stride.params)?;
                (stride.bytes == *bytes && rest.len() <= 1 && (rest.is_empty() || product.variable.is_none()))
                    .then_some(rest)
            };
            // The strides of most parameters stand first.
            let place = array.strides.iter().enumerate().find_map(|(at, stride)| Some((at, fits(stride)?)));
            let (at, params) = place.ok_or(Reason::NotAffine)?;
            add(&mut made, at, Product { params, variable: product.variable }, factor)?;
        }
    }
    let mut bytes = access.bytes;
    for (at, stride) in array.strides.iter().enumerate().filter(|(_, stride)| stride.params.is_empty()) {
        add(&mut made, at, Product::default(), bytes / stride.bytes)?;
        bytes %= stride.bytes;
    }
    // A size that was taken for a row is the end of the row before it, as of `a[i][m - 1]`.
    for at in (1..made.len()).rev() {
        if !is_negative(&made[at]) {
            continue;
        }
        let (count, param) = extent(&array.strides[at - 1], &array.strides[at]).ok_or(Reason::Shape)?;
        add(&mut made, at, Product { params: param.into_iter().collect(), variable: None }, count)?;
        add(&mut made, at - 1, Product::default(), -1)?;
    }
    if bytes == 0 { Ok(made) } else { Err(Reason::Shape) }
}

/// Whether a subscript is before all elements of its row, where no variable is less than 0.
fn is_negative(subscript: &Poly) -> bool {
    subscript.terms().all(|(product, factor)| product.params.is_empty() && factor < 0)
        && subscript.terms().any(|(product, _)| product.variable.is_none())
}

/// Asks that each subscript but the first is within its dimension: two that differ are different elements then.
fn within<'c>(numbers: &mut Numbers<'c>, array: &Array<'c>, scope: &Scope, subscripts: &[Poly]) -> Result<(), Reason> {
    for (pair, subscript) in array.strides.windows(2).zip(&subscripts[1..]) {
        let (count, param) = extent(&pair[0], &pair[1]).ok_or(Reason::Shape)?;
        let extent = match param {
            Some(param) => format!("{count}*{}", param_name(param)),
            None => count.to_string(),
        };
        let text = subscript.text().ok_or(Reason::NotAffine)?;
        numbers.require(scope, format!("0 <= {text} < {extent}"));
    }
    Ok(())
}
