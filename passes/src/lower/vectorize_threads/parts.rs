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
