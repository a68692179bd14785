//! Values taken apart into scalars, and put together.

use mlir_bridge::ir::{Builder, Type, Value};

/// An element of a vector by its number (i32).
pub fn extract<'c>(b: Builder<'c>, vector: Value<'c>, lane: Value<'c>, element: Type<'c>) -> Value<'c> {
    if element.is_index() {
        let at = b.index_castui(lane, b.ctx().index());
        let none = b.ctx().i64_array_attr(&[i64::MIN]);
        return b
            .op("vector.extract")
            .operands(&[vector, at])
            .attr("static_position", none)
            .result(element)
            .build()
            .result(0);
    }
    b.value("llvm.extractelement", &[vector, lane], element)
}

/// A scalar of a struct or short vector, or the scalar itself.
pub fn part<'c>(b: Builder<'c>, aggregate: Value<'c>, number: usize, ty: Type<'c>) -> Value<'c> {
    if aggregate.ty() == ty {
        return aggregate;
    }
    if aggregate.ty().vector_parts().is_some() {
        return b.value("llvm.extractelement", &[aggregate, b.const_i32(number as i32)], ty);
    }
    let position = b.ctx().i64_array_attr(&[number as i64]);
    b.op("llvm.extractvalue").operands(&[aggregate]).attr("position", position).result(ty).build().result(0)
}

/// A value of its scalars.
pub fn assemble<'c>(b: Builder<'c>, ty: Type<'c>, parts: &[Value<'c>]) -> Value<'c> {
    if let [only] = parts
        && only.ty() == ty
    {
        return *only;
    }
    let mut made = b.value("llvm.mlir.poison", &[], ty);
    for (number, part) in parts.iter().enumerate() {
        made = match ty.vector_parts() {
            Some(_) => b.value("llvm.insertelement", &[made, *part, b.const_i32(number as i32)], ty),
            None => b.llvm_insertvalue(*part, made, number),
        };
    }
    made
}

/// The lanes of two vectors with these numbers.
pub fn shuffled<'c>(b: Builder<'c>, first: Value<'c>, second: Value<'c>, lanes: &[i32]) -> Value<'c> {
    let (element, _) = first.ty().vector_parts().expect("a vector");
    let spec = b.op("llvm.shufflevector").operands(&[first, second]);
    let result = b.ctx().vector(element, lanes.len() as u32);
    spec.attr("mask", b.ctx().i32_array_attr(lanes)).result(result).build().result(0)
}

/// The squares of as many vectors as each is wide, a power of two, the other way round; they lie side by side in the vectors, so that a
/// permutation is one of all of them, and where they are small one within the parts of a register.
pub fn transposed<'c>(b: Builder<'c>, mut rows: Vec<Value<'c>>) -> Vec<Value<'c>> {
    let (width, lanes) =
        (rows.len(), rows.first().and_then(|row| row.ty().vector_parts()).map_or(0, |parts| parts.1 as usize));
    let mut distance = 1;
    while distance < width {
        let pick = |upper: bool| {
            let from = |at: usize| match (upper, at & distance != 0) {
                (false, false) => at,
                (false, true) => (at ^ distance) + lanes,
                (true, false) => at | distance,
                (true, true) => at + lanes,
            };
            (0..lanes).map(|at| from(at) as i32).collect::<Vec<_>>()
        };
        let (low, high) = (pick(false), pick(true));
        for at in (0..width).filter(|at| at & distance == 0) {
            let (first, second) = (rows[at], rows[at + distance]);
            rows[at] = shuffled(b, first, second, &low);
            rows[at + distance] = shuffled(b, first, second, &high);
        }
        distance *= 2;
    }
    rows
}
