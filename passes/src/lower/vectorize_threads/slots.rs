//! Memory at the start of the function for vectors of which single lanes are read and written.

use mlir_bridge::ir::{Builder, Type, Value};

/// Memory for a vector, in which lanes are found by their number.
pub struct Slots<'c> {
    made: Vec<(Type<'c>, Value<'c>)>,
    used: Vec<bool>,
    /// What is written and never read, with the number of its elements.
    asides: Vec<(Type<'c>, u32, Value<'c>)>,
    /// The start of the function.
    start: Builder<'c>,
}

impl<'c> Slots<'c> {
    pub fn new(start: Builder<'c>) -> Self {
        Self { made: Vec::new(), used: Vec::new(), asides: Vec::new(), start }
    }

    /// The slots that were taken are free again.
    pub fn release(&mut self) {
        self.used.fill(false);
    }

    /// Memory for `lanes` elements.
    pub fn take(&mut self, element: Type<'c>, lanes: u32) -> Value<'c> {
        let found = self.made.iter().zip(&self.used).position(|((ty, _), used)| *ty == element && !used);
        if let Some(number) = found {
            self.used[number] = true;
            return self.made[number].1;
        }
        let memory = self.apart(element, lanes.into());
        self.made.push((element, memory));
        self.used.push(true);
        memory
    }

    /// Memory for one element, where lanes store that take no part.
    pub fn aside(&mut self, element: Type<'c>) -> Value<'c> {
        self.asides(element, 1)
    }

    /// Memory for an element of each lane, for those that take no part.
    pub fn asides(&mut self, element: Type<'c>, lanes: u32) -> Value<'c> {
        let found = self.asides.iter().find(|(ty, count, _)| *ty == element && *count == lanes);
        if let Some((.., memory)) = found {
            return *memory;
        }
        let memory = self.apart(element, lanes.into());
        self.asides.push((element, lanes, memory));
        memory
    }

    /// Memory for so many elements that nothing else uses.
    pub fn apart(&self, element: Type<'c>, count: i64) -> Value<'c> {
        let ctx = self.start.ctx();
        let count = self.start.const_int(ctx.int(64), count);
        let spec = self.start.op("llvm.alloca").operands(&[count]).attr("elem_type", ctx.type_attr(element));
        spec.attr("alignment", ctx.i64_attr(64)).result(ctx.ptr(0)).build().result(0)
    }
}
