//! Stack memory with room for each lane of a row.

use std::collections::HashMap;

use mlir_bridge::ir::{Builder, Value};

use super::machine::WARP;
use crate::{analysis::facts::constant, lower::stack};

/// Stack memory that threads use one after the other, with room for each lane of a row. A thread on its own uses the first lane's.
#[derive(Default)]
pub struct LaneMemory<'c> {
    /// Bytes from lane to lane.
    strides: HashMap<Value<'c>, i64>,
}

impl<'c> LaneMemory<'c> {
    /// The bytes between the memory of neighbouring lanes; makes room for them when first asked.
    pub fn stride(&mut self, memory: Value<'c>) -> Option<i64> {
        if let Some(stride) = self.strides.get(&memory) {
            return Some(*stride);
        }
        let alloca = memory.defining_op()?;
        let element = alloca.attr("elem_type")?.as_type()?;
        let count = constant(alloca.operand(0))?;
        let b = Builder::before(alloca);
        let ty = alloca.operand(0).ty();
        let (size, alignment) = element.layout(alloca);
        let stride = match stack::element_size(alloca).filter(|_| count == 1) {
            Some(beside) => {
                stack::interleave(alloca, beside, b.const_int(b.ctx().int(64), WARP.into()));
                beside.cast_signed()
            }
            None => (size.next_multiple_of(alignment.max(1)) * count.cast_unsigned()).cast_signed(),
        };
        alloca.set_operand(0, b.const_int(ty, count * i64::from(WARP)));
        self.strides.insert(memory, stride);
        Some(stride)
    }
}
