//! Shared memory of several blocks, of which each element lies beside those of the other blocks.

use mlir_bridge::ir::{Builder, Mapping, Op, Type, Value};
use regrain_dialects::{
    attributes::OF_BLOCKS,
    ops::{DynamicShared, Shared},
};

use crate::{analysis::facts::constant, lower::vectorize_threads::is_ordinary};

/// Shared memory of a block, accessed in elements of one size.
pub struct Tile<'c> {
    op: Op<'c>,
    /// The addresses that are computed from its own.
    addresses: Vec<Op<'c>>,
    accesses: Vec<Op<'c>>,
    element: u64,
}

impl<'c> Tile<'c> {
    /// The shared memory that `op` gives.
    pub fn of(op: Op<'c>) -> Result<Self, String> {
        let mut made = Self { op, addresses: Vec::new(), accesses: Vec::new(), element: 0 };
        made.follow(op.result(0))?;
        let element = made.element;
        if made.addresses.iter().any(|address| !is_in_elements(*address, element)) {
            return Err("shared memory is addressed within its elements".into());
        }
        let whole = Shared::cast(op).is_none_or(|shared| widened(shared.memory_type(), 2).is_some());
        if element == 0 || !whole {
            return Err("shared memory is of structures, or of no use".into());
        }
        Ok(made)
    }

    fn follow(&mut self, pointer: Value<'c>) -> Result<(), String> {
        for used in pointer.uses() {
            let op = used.owner;
            match op.name() {
                "llvm.getelementptr" if used.operand == 0 && op.result(0).ty().vector_parts().is_none() => {
                    self.addresses.push(op);
                    self.follow(op.result(0))?;
                }
                "llvm.addrspacecast" => self.follow(op.result(0))?,
                "llvm.load" | "llvm.store" if is_ordinary(op) && used.operand == usize::from(op.is("llvm.store")) => {
                    let ty = if op.is("llvm.load") { op.result(0).ty() } else { op.operand(0).ty() };
                    let size = ty.layout(op).0;
                    if ty.vector_parts().is_some() || !matches!(size, 1 | 2 | 4 | 8) {
                        return Err(format!("shared memory holds {ty:?}"));
                    }
                    if ![0, size].contains(&self.element) {
                        return Err("shared memory is accessed in elements of several sizes".into());
                    }
                    self.element = size;
                    self.accesses.push(op);
                }
                _ => return Err(format!("{op:?} is done with an address in shared memory")),
            }
        }
        Ok(())
    }

    pub fn pointer(&self) -> Value<'c> {
        self.op.result(0)
    }

    pub fn is_dynamic(&self) -> bool {
        DynamicShared::is(self.op)
    }

    /// The size of an element, in bytes.
    pub fn element(&self) -> u64 {
        self.element
    }

    /// Bytes of one block, if they are constant.
    pub fn bytes(&self, at: Op<'c>) -> i64 {
        Shared::cast(self.op).map_or(0, |shared| shared.memory_type().layout(at).0.cast_signed())
    }

    /// Whether memory of a size that is known at run time is no more than `most` bytes of a block.
    pub fn fits(&self, b: Builder<'c>, most: i64) -> Option<Value<'c>> {
        let bytes = DynamicShared::cast(self.op)?.bytes();
        constant(bytes).is_none_or(|bytes| bytes > most).then(|| b.cmpi("ule", bytes, b.const_int(bytes.ty(), most)))
    }

    /// The memory of all blocks.
    pub fn widened(&self, b: Builder<'c>, lanes: u32) -> Value<'c> {
        if let Some(shared) = Shared::cast(self.op) {
            let ty = widened(shared.memory_type(), lanes).expect("a type without structures");
            let made = Shared::create(b, ty, Some(64), shared.name());
            made.op().set_attr(OF_BLOCKS, b.ctx().i64_attr(lanes.into()));
            return made.pointer();
        }
        let bytes = DynamicShared::of(self.op).bytes();
        let all = b.arith("muli", bytes, b.const_int(bytes.ty(), lanes.into()));
        DynamicShared::create(b, all, Some(64)).pointer()
    }

    /// Lets the copies of all addresses and accesses find the element of the lane's own block.
    pub fn spread(&self, mapping: &Mapping<'c>, lane: Value<'c>, lanes: u32) {
        for address in &self.addresses {
            let Some(made) = mapping.get_op(*address) else { continue };
            let wide = element_type(*address).and_then(|ty| widened(ty, lanes)).expect("asked before");
            made.set_attr("elem_type", made.ctx().type_attr(wide));
        }
        for access in &self.accesses {
            let Some(made) = mapping.get_op(*access) else { continue };
            let b = Builder::before(made);
            let pointer = usize::from(made.is("llvm.store"));
            let element = b.ctx().int(8 * self.element as u32);
            let lane = b.index_castui(lane, b.ctx().int(64));
            made.set_operand(pointer, b.llvm_element_at(made.operand(pointer), element, lane));
            let aligned = made.attr("alignment").and_then(|alignment| alignment.as_int());
            if aligned.is_some_and(|alignment| alignment > self.element.cast_signed()) {
                made.set_attr("alignment", b.ctx().i64_attr(self.element.cast_signed()));
            }
        }
    }
}

fn element_type(address: Op<'_>) -> Option<Type<'_>> {
    address.attr("elem_type")?.as_type()
}

/// Whether an address is one of whole elements further than the one it is computed from.
fn is_in_elements(address: Op<'_>, element: u64) -> bool {
    let Some(ty) = element_type(address).filter(|ty| widened(*ty, 2).is_some()) else { return false };
    let leaf = leaf(ty).layout(address).0;
    if element > 0 && leaf.is_multiple_of(element) {
        return true;
    }
    let raw = address.attr("rawConstantIndices").and_then(|raw| raw.as_i32_array());
    let known = address.num_operands() == 1;
    let whole = |index: i32| (i64::from(index) * leaf.cast_signed()) % element.max(1).cast_signed() == 0;
    known && raw.is_some_and(|raw| raw.into_iter().all(whole))
}

/// The scalars of an array.
fn leaf(ty: Type<'_>) -> Type<'_> {
    ty.llvm_array_parts().map_or(ty, |(element, _)| leaf(element))
}

/// A type with so many scalars in place of each; `None` of structures and vectors.
fn widened(ty: Type<'_>, lanes: u32) -> Option<Type<'_>> {
    if let Some((element, count)) = ty.llvm_array_parts() {
        return Some(ty.ctx().llvm_array(widened(element, lanes)?, count.try_into().ok()?));
    }
    let scalar = ty.llvm_struct_fields().is_none() && ty.vector_parts().is_none();
    scalar.then(|| ty.ctx().llvm_array(ty, lanes))
}
