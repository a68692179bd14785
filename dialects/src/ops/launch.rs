//! Launches, shared memory, alternatives.

use super::segment;
use mlir_bridge::ir::{Attr, Block, Builder, Op, Region, Type, Value};

view!(
    /// `regrain.gpu_wrapper`: a kernel launch.
    GpuWrapper, "regrain.gpu_wrapper"
);

impl<'c> GpuWrapper<'c> {
    /// A launch with an empty body block.
    pub fn create(
        b: Builder<'c>,
        kernel: Option<&str>,
        grid: [Value<'c>; 3],
        block: [Value<'c>; 3],
        shared_bytes: Option<Value<'c>>,
        stream: Option<Value<'c>>,
    ) -> Self {
        let ctx = b.ctx();
        let sizes = [3, 3, shared_bytes.is_some().into(), stream.is_some().into()];
        let mut spec = b.op(Self::NAME).operands(&grid).operands(&block);
        spec = spec.operands(shared_bytes.as_slice()).operands(stream.as_slice());
        spec = spec.attr("operandSegmentSizes", ctx.i32_array_attr(&sizes));
        if let Some(kernel) = kernel {
            spec = spec.attr("kernel", ctx.symbol_attr(kernel));
        }
        let op = spec.result(ctx.int(32)).regions(1).build();
        op.region(0).append_block(&[], b.loc);
        Self(op)
    }

    pub fn grid(self) -> Vec<Value<'c>> {
        segment(self.0, 0)
    }

    pub fn block_shape(self) -> Vec<Value<'c>> {
        segment(self.0, 1)
    }

    pub fn shared_bytes(self) -> Option<Value<'c>> {
        segment(self.0, 2).first().copied()
    }

    pub fn stream(self) -> Option<Value<'c>> {
        segment(self.0, 3).first().copied()
    }

    /// Changes the number of blocks in a dimension.
    pub fn set_grid(self, axis: usize, size: Value<'c>) {
        assert!(axis < 3, "dimension {axis} of a grid");
        self.0.set_operand(axis, size);
    }

    /// Changes the number of threads of a block in a dimension.
    pub fn set_block_shape(self, axis: usize, size: Value<'c>) {
        assert!(axis < 3, "dimension {axis} of a block");
        self.0.set_operand(3 + axis, size);
    }

    /// Changes how much dynamic shared memory a block has; panics where nothing is said of it.
    pub fn set_shared_bytes(self, bytes: Value<'c>) {
        assert!(self.shared_bytes().is_some(), "a launch without dynamic shared memory");
        self.0.set_operand(6, bytes);
    }

    pub fn kernel(self) -> Option<&'c str> {
        self.0.attr("kernel")?.as_symbol()
    }

    pub fn body(self) -> Block<'c> {
        self.0.body()
    }

    /// The `scf.parallel` over the blocks: the only one directly in the body.
    pub fn grid_loop(self) -> Option<Op<'c>> {
        only_parallel(self.body())
    }

    /// The `scf.parallel` over the threads: the only one directly in the grid loop.
    pub fn block_loop(self) -> Option<Op<'c>> {
        only_parallel(self.grid_loop()?.body())
    }

    /// The loops over the threads: the only one directly in the grid loop, or one in each branch of the choices there.
    pub fn block_loops(self) -> Vec<Op<'c>> {
        let Some(grid) = self.grid_loop() else { return Vec::new() };
        let choices = grid.body().ops().into_iter().filter(|op| op.is("scf.if"));
        let versions = choices.flat_map(Op::regions).flat_map(|region| region.blocks()).filter_map(only_parallel);
        only_parallel(grid.body()).into_iter().chain(versions).collect()
    }
}

fn only_parallel(block: Block<'_>) -> Option<Op<'_>> {
    let mut loops = block.ops().into_iter().filter(|op| op.is("scf.parallel"));
    let first = loops.next()?;
    loops.next().is_none().then_some(first)
}

view!(
    /// `regrain.shared`.
    Shared, "regrain.shared"
);

impl<'c> Shared<'c> {
    pub fn create(b: Builder<'c>, ty: Type<'c>, alignment: Option<i64>, name: Option<&str>) -> Self {
        let ctx = b.ctx();
        let mut spec = b.op(Self::NAME).attr("type", ctx.type_attr(ty)).result(ctx.ptr(3));
        if let Some(alignment) = alignment {
            spec = spec.attr("alignment", ctx.i64_attr(alignment));
        }
        if let Some(name) = name {
            spec = spec.attr("name", ctx.str_attr(name));
        }
        Self(spec.build())
    }

    /// The type of the memory.
    pub fn memory_type(self) -> Type<'c> {
        self.0.attr("type").and_then(Attr::as_type).expect("regrain.shared without a type")
    }

    pub fn alignment(self) -> Option<i64> {
        self.0.attr("alignment")?.as_int()
    }

    pub fn name(self) -> Option<&'c str> {
        self.0.attr("name")?.as_str()
    }

    pub fn set_name(self, name: &str) {
        self.0.set_attr("name", self.0.ctx().str_attr(name));
    }

    pub fn pointer(self) -> Value<'c> {
        self.0.result(0)
    }
}

view!(
    /// `regrain.dynamic_shared`.
    DynamicShared, "regrain.dynamic_shared"
);

impl<'c> DynamicShared<'c> {
    pub fn create(b: Builder<'c>, bytes: Value<'c>, alignment: Option<i64>) -> Self {
        let mut spec = b.op(Self::NAME).operands(&[bytes]).result(b.ctx().ptr(3));
        if let Some(alignment) = alignment {
            spec = spec.attr("alignment", b.ctx().i64_attr(alignment));
        }
        Self(spec.build())
    }

    pub fn bytes(self) -> Value<'c> {
        self.0.operand(0)
    }

    pub fn set_bytes(self, bytes: Value<'c>) {
        self.0.set_operand(0, bytes);
    }

    pub fn set_alignment(self, alignment: i64) {
        self.0.set_attr("alignment", self.0.ctx().i64_attr(alignment));
    }

    pub fn alignment(self) -> Option<i64> {
        self.0.attr("alignment")?.as_int()
    }

    pub fn pointer(self) -> Value<'c> {
        self.0.result(0)
    }
}

view!(
    /// `regrain.take_blocks`.
    TakeBlocks, "regrain.take_blocks"
);

impl<'c> TakeBlocks<'c> {
    pub fn create(b: Builder<'c>, count: u32, allowed: Value<'c>) -> Self {
        let spec = b.op(Self::NAME).operands(&[allowed]).attr("count", b.ctx().i64_attr(count.into()));
        Self(spec.result(b.ctx().int(1)).build())
    }

    /// How many blocks run as one.
    pub fn count(self) -> u32 {
        self.0.attr("count").and_then(Attr::as_int).and_then(|count| count.try_into().ok()).unwrap_or(1)
    }

    pub fn allowed(self) -> Value<'c> {
        self.0.operand(0)
    }

    pub fn taken(self) -> Value<'c> {
        self.0.result(0)
    }
}

view!(
    /// `regrain.alternatives`.
    Alternatives, "regrain.alternatives"
);

impl<'c> Alternatives<'c> {
    /// One region for each description, each with an empty block: whoever fills it ends it with [`yield_results`].
    pub fn create(b: Builder<'c>, descriptions: &[&str], results: &[Type<'c>]) -> Self {
        let spec = b.op(Self::NAME).attr("descriptions", texts(b, descriptions)).results(results);
        let op = spec.regions(descriptions.len()).build();
        for region in op.regions() {
            region.append_block(&[], b.loc);
        }
        Self(op)
    }

    pub fn descriptions(self) -> Vec<&'c str> {
        let list = self.0.attr("descriptions").and_then(Attr::as_array).unwrap_or_default();
        list.into_iter().filter_map(Attr::as_str).collect()
    }

    pub fn choices(self) -> Vec<Region<'c>> {
        self.0.regions()
    }

    /// Puts the alternative of this number in the place of all.
    pub fn select(self, number: usize) {
        let mut results = Vec::new();
        for inner in self.choices()[number].entry().ops() {
            match Yield::cast(inner) {
                Some(end) => {
                    results = end.values();
                    inner.erase();
                }
                None => inner.move_before(self.0),
            }
        }
        self.0.replace_with(&results);
    }

    /// Keeps the alternatives that `keep` says, by number and description; the order stays. At least one must be kept.
    pub fn retain(self, mut keep: impl FnMut(usize, &str) -> bool) -> Self {
        let names = self.descriptions();
        let kept: Vec<usize> = (0..names.len()).filter(|at| keep(*at, names[*at])).collect();
        let names: Vec<&str> = kept.iter().map(|at| names[*at]).collect();
        let types: Vec<_> = self.0.results().into_iter().map(|result| result.ty()).collect();
        let made = Self::create(Builder::before(self.0), &names, &types);
        for (to, at) in made.choices().into_iter().zip(kept) {
            to.entry().erase();
            to.take_blocks(self.choices()[at]);
        }
        self.0.replace_with(&made.0.results());
        made
    }
}

fn texts<'c>(b: Builder<'c>, list: &[&str]) -> Attr<'c> {
    let ctx = b.ctx();
    ctx.array_attr(&list.iter().map(|text| ctx.str_attr(text)).collect::<Vec<_>>())
}

view!(
    /// `regrain.yield`: the end of an alternative.
    Yield, "regrain.yield"
);

impl<'c> Yield<'c> {
    pub fn create(b: Builder<'c>, values: &[Value<'c>]) -> Self {
        Self(b.op(Self::NAME).operands(values).build())
    }

    pub fn values(self) -> Vec<Value<'c>> {
        self.0.operands()
    }
}

/// Ends an alternative.
pub fn yield_results<'c>(b: Builder<'c>, values: &[Value<'c>]) {
    Yield::create(b, values);
}
