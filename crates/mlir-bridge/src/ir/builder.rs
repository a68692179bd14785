//! Making operations at an insertion point.

use super::{Attr, Block, Ctx, Loc, Mapping, Op, Region, Type, Value};
use crate::ffi;

/// Where new operations go, and the location they get.
#[derive(Clone, Copy)]
pub struct Builder<'c> {
    block: Block<'c>,
    before: Option<Op<'c>>,
    pub loc: Loc<'c>,
}

/// An operation in the making; ends with `build`.
pub struct OpSpec<'c> {
    builder: Builder<'c>,
    name: String,
    operands: Vec<Value<'c>>,
    results: Vec<Type<'c>>,
    infer: bool,
    attrs: Vec<(String, Attr<'c>)>,
    regions: usize,
    successors: Vec<Block<'c>>,
}

impl<'c> Builder<'c> {
    /// Inserts before `op`, with its location.
    pub fn before(op: Op<'c>) -> Self {
        let block = op.block().expect("an operation in a block");
        Self { block, before: Some(op), loc: op.loc() }
    }

    /// Inserts after `op`, with its location.
    pub fn after(op: Op<'c>) -> Self {
        let block = op.block().expect("an operation in a block");
        Self { block, before: op.next(), loc: op.loc() }
    }

    /// Inserts at the end of `block`.
    pub fn at_end(block: Block<'c>, loc: Loc<'c>) -> Self {
        Self { block, before: None, loc }
    }

    /// Inserts at the start of `block`.
    pub fn at_start(block: Block<'c>, loc: Loc<'c>) -> Self {
        Self { block, before: block.first_op(), loc }
    }

    /// Inserts before the terminator of `block`, or at its end if it has none.
    pub fn before_terminator(block: Block<'c>, loc: Loc<'c>) -> Self {
        Self { block, before: block.terminator(), loc }
    }

    pub fn ctx(self) -> Ctx<'c> {
        self.loc.ctx()
    }

    pub fn block(self) -> Block<'c> {
        self.block
    }

    pub fn with_loc(mut self, loc: Loc<'c>) -> Self {
        self.loc = loc;
        self
    }

    /// Inserts a detached operation.
    pub fn insert(self, op: Op<'c>) -> Op<'c> {
        // SAFETY: the block takes a detached, live operation.
        unsafe {
            match self.before {
                Some(before) => mlir_sys::mlirBlockInsertOwnedOperationBefore(self.block.raw, before.raw, op.raw),
                None => mlir_sys::mlirBlockAppendOwnedOperation(self.block.raw, op.raw),
            }
        }
        op
    }

    /// Copies `op` with its regions to here.
    pub fn clone_op(self, op: Op<'c>, mapping: &mut Mapping<'c>) -> Op<'c> {
        self.insert(op.clone_with(mapping))
    }

    /// Copies the operations of `block` to here, without its terminator.
    pub fn clone_body(self, block: Block<'c>, mapping: &mut Mapping<'c>) {
        for op in block.ops() {
            if !op.is_terminator() {
                self.clone_op(op, mapping);
            }
        }
    }

    /// Starts an operation of any kind.
    pub fn op(self, name: &str) -> OpSpec<'c> {
        OpSpec {
            builder: self,
            name: name.to_owned(),
            operands: Vec::new(),
            results: Vec::new(),
            infer: false,
            attrs: Vec::new(),
            regions: 0,
            successors: Vec::new(),
        }
    }

    /// An operation with one result.
    pub fn value(self, name: &str, operands: &[Value<'c>], result: Type<'c>) -> Value<'c> {
        self.op(name).operands(operands).result(result).build().result(0)
    }

    /// `arith.constant` of an integer or index type.
    pub fn const_int(self, ty: Type<'c>, value: i64) -> Value<'c> {
        let attr = self.ctx().int_attr(ty, value);
        self.op("arith.constant").attr("value", attr).result(ty).build().result(0)
    }

    pub fn const_index(self, value: i64) -> Value<'c> {
        self.const_int(self.ctx().index(), value)
    }

    pub fn const_i32(self, value: i32) -> Value<'c> {
        self.const_int(self.ctx().int(32), value.into())
    }

    /// A binary operation of the arith dialect, as `addi`, on operands of one type.
    pub fn arith(self, name: &str, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        self.value(&format!("arith.{name}"), &[a, b], a.ty())
    }

    /// `arith.cmpi`; the predicate by name: eq ne slt sle sgt sge ult ule ugt uge.
    pub fn cmpi(self, predicate: &str, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        let names = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"];
        let number = names.iter().position(|name| *name == predicate);
        let number = number.expect("a predicate of arith.cmpi");
        let ctx = self.ctx();
        let attr = ctx.int_attr(ctx.int(64), number as i64);
        let spec = self.op("arith.cmpi").attr("predicate", attr);
        spec.operands(&[a, b]).result(ctx.int(1)).build().result(0)
    }

    /// `arith.index_cast`.
    pub fn index_cast(self, value: Value<'c>, to: Type<'c>) -> Value<'c> {
        self.value("arith.index_cast", &[value], to)
    }

    /// `arith.index_castui`.
    pub fn index_castui(self, value: Value<'c>, to: Type<'c>) -> Value<'c> {
        self.value("arith.index_castui", &[value], to)
    }

    /// `ub.poison`.
    pub fn poison(self, ty: Type<'c>) -> Value<'c> {
        self.op("ub.poison").result(ty).build().result(0)
    }

    /// `scf.for` with an empty body (induction variable, carried values; no terminator yet).
    pub fn scf_for(self, lower: Value<'c>, upper: Value<'c>, step: Value<'c>, init: &[Value<'c>]) -> Op<'c> {
        let types: Vec<_> = init.iter().map(|value| value.ty()).collect();
        let mut args = vec![lower.ty()];
        args.extend(&types);
        let spec = self.op("scf.for").operands(&[lower, upper, step]).operands(init);
        let op = spec.results(&types).regions(1).build();
        op.region(0).append_block(&args, self.loc);
        op
    }

    /// `scf.parallel` without reductions; its body holds the induction variables and ends in
    /// `scf.reduce`: insert with `Builder::before_terminator(op.body(), ...)`.
    pub fn scf_parallel(self, lower: &[Value<'c>], upper: &[Value<'c>], step: &[Value<'c>]) -> Op<'c> {
        let ctx = self.ctx();
        let rank = lower.len() as i32;
        let sizes = ctx.i32_array_attr(&[rank, rank, rank, 0]);
        let spec = self.op("scf.parallel").operands(lower).operands(upper).operands(step);
        let op = spec.attr("operandSegmentSizes", sizes).regions(1).build();
        let body = op.region(0).append_block(&vec![ctx.index(); lower.len()], self.loc);
        Builder::at_end(body, self.loc).op("scf.reduce").build();
        op
    }

    /// `llvm.call` of a function by its name.
    pub fn llvm_call(self, callee: &str, operands: &[Value<'c>], results: &[Type<'c>]) -> Op<'c> {
        let ctx = self.ctx();
        let sizes = [operands.len() as i32, 0];
        let spec = self.op("llvm.call").operands(operands).attr("callee", ctx.symbol_attr(callee)).results(results);
        let spec = spec.attr("operandSegmentSizes", ctx.i32_array_attr(&sizes));
        spec.attr("op_bundle_sizes", ctx.i32_array_attr(&[])).build()
    }

    /// `llvm.func` of external linkage, without a body.
    pub fn llvm_func(self, name: &str, result: Type<'c>, inputs: &[Type<'c>]) -> Op<'c> {
        let ctx = self.ctx();
        let ty = ctx.type_attr(ctx.llvm_function(result, inputs, false));
        let spec = self.op("llvm.func").attr("sym_name", ctx.str_attr(name)).attr("function_type", ty);
        spec.regions(1).build()
    }

    /// `llvm.mlir.global` of external linkage, without a value.
    pub fn llvm_global(self, name: &str, ty: Type<'c>) -> Op<'c> {
        let ctx = self.ctx();
        let spec = self.op("llvm.mlir.global").attr("sym_name", ctx.str_attr(name));
        let spec = spec.attr("global_type", ctx.type_attr(ty)).attr("addr_space", ctx.i32_attr(0));
        let external = ctx.parse_attr("#llvm.linkage<external>").expect("the llvm dialect");
        spec.attr("linkage", external).regions(1).build()
    }

    /// `llvm.mlir.addressof`.
    pub fn llvm_addressof(self, symbol: &str) -> Value<'c> {
        let ctx = self.ctx();
        let spec = self.op("llvm.mlir.addressof").attr("global_name", ctx.symbol_attr(symbol));
        spec.result(ctx.ptr(0)).build().result(0)
    }

    /// `llvm.insertvalue`: `aggregate` with another value as its element of this number.
    pub fn llvm_insertvalue(self, value: Value<'c>, aggregate: Value<'c>, number: usize) -> Value<'c> {
        let spec = self.op("llvm.insertvalue").operands(&[aggregate, value]).result(aggregate.ty());
        spec.attr("position", self.ctx().i64_array_attr(&[number as i64])).build().result(0)
    }

    /// The address of an element of an array, by its number; addresses, where the array or the number is a vector.
    pub fn llvm_element_at(self, array: Value<'c>, element: Type<'c>, number: Value<'c>) -> Value<'c> {
        let ctx = self.ctx();
        let result = match (array.ty().vector_parts(), number.ty().vector_parts()) {
            (None, Some((_, lanes))) => ctx.vector(array.ty(), lanes),
            _ => array.ty(),
        };
        let spec = self.op("llvm.getelementptr").operands(&[array, number]).result(result);
        let spec = spec.attr("elem_type", ctx.type_attr(element));
        spec.attr("rawConstantIndices", ctx.i32_array_attr(&[i32::MIN])).build().result(0)
    }

    /// The address some bytes further on.
    pub fn llvm_byte_at(self, base: Value<'c>, bytes: Value<'c>) -> Value<'c> {
        self.llvm_element_at(base, self.ctx().int(8), bytes)
    }

    /// The address of an element of an array, by its constant number.
    pub fn llvm_element(self, array: Value<'c>, element: Type<'c>, number: usize) -> Value<'c> {
        let ctx = self.ctx();
        let spec = self.op("llvm.getelementptr").operands(&[array]).result(array.ty());
        let spec = spec.attr("elem_type", ctx.type_attr(element));
        spec.attr("rawConstantIndices", ctx.i32_array_attr(&[number as i32])).build().result(0)
    }

    /// `llvm.load`, which is not atomic, of what is aligned to so many bytes, or to what its type is.
    pub fn llvm_load(self, address: Value<'c>, ty: Type<'c>, alignment: Option<i64>) -> Value<'c> {
        let spec = self.op("llvm.load").operands(&[address]).result(ty);
        self.llvm_access(spec, alignment).result(0)
    }

    /// `llvm.store`, as [`Builder::llvm_load`].
    pub fn llvm_store(self, value: Value<'c>, address: Value<'c>, alignment: Option<i64>) {
        self.llvm_access(self.op("llvm.store").operands(&[value, address]), alignment);
    }

    fn llvm_access(self, spec: OpSpec<'c>, alignment: Option<i64>) -> Op<'c> {
        let spec = spec.attr("ordering", self.ctx().i64_attr(0));
        match alignment {
            Some(alignment) => spec.attr("alignment", self.ctx().i64_attr(alignment)),
            None => spec,
        }
        .build()
    }

    /// `llvm.intr.memcpy` of `bytes` (an integer) bytes.
    pub fn llvm_memcpy(self, to: Value<'c>, from: Value<'c>, bytes: Value<'c>) -> Op<'c> {
        let spec = self.op("llvm.intr.memcpy").operands(&[to, from, bytes]);
        spec.attr("isVolatile", self.ctx().bool_attr(false)).build()
    }

    /// `scf.if` with results; both blocks are there (the second only if `with_else` or results)
    /// and have no terminator yet.
    pub fn scf_if(self, condition: Value<'c>, results: &[Type<'c>], with_else: bool) -> Op<'c> {
        let spec = self.op("scf.if").operands(&[condition]).results(results);
        let op = spec.regions(2).build();
        op.region(0).append_block(&[], self.loc);
        if with_else || !results.is_empty() {
            op.region(1).append_block(&[], self.loc);
        }
        op
    }

    /// `scf.while` with empty blocks: before (arguments as `init`), after (as `results`).
    pub fn scf_while(self, init: &[Value<'c>], results: &[Type<'c>]) -> Op<'c> {
        let types: Vec<_> = init.iter().map(|value| value.ty()).collect();
        let op = self.op("scf.while").operands(init).results(results).regions(2).build();
        op.region(0).append_block(&types, self.loc);
        op.region(1).append_block(results, self.loc);
        op
    }

    /// `scf.yield`.
    pub fn scf_yield(self, values: &[Value<'c>]) -> Op<'c> {
        self.op("scf.yield").operands(values).build()
    }

    /// `scf.condition`.
    pub fn scf_condition(self, condition: Value<'c>, values: &[Value<'c>]) -> Op<'c> {
        self.op("scf.condition").operands(&[condition]).operands(values).build()
    }
}

impl<'c> OpSpec<'c> {
    pub fn operands(mut self, values: &[Value<'c>]) -> Self {
        self.operands.extend_from_slice(values);
        self
    }

    pub fn result(mut self, ty: Type<'c>) -> Self {
        self.results.push(ty);
        self
    }

    pub fn results(mut self, types: &[Type<'c>]) -> Self {
        self.results.extend_from_slice(types);
        self
    }

    /// Lets the operation infer its result types.
    pub fn infer(mut self) -> Self {
        self.infer = true;
        self
    }

    pub fn attr(mut self, name: &str, attr: Attr<'c>) -> Self {
        self.attrs.push((name.to_owned(), attr));
        self
    }

    pub fn attrs(mut self, attrs: &[(&str, Attr<'c>)]) -> Self {
        self.attrs.extend(attrs.iter().map(|(name, attr)| ((*name).to_owned(), *attr)));
        self
    }

    /// The number of regions, all empty at first.
    pub fn regions(mut self, count: usize) -> Self {
        self.regions = count;
        self
    }

    pub fn successors(mut self, blocks: &[Block<'c>]) -> Self {
        self.successors.extend_from_slice(blocks);
        self
    }

    /// Makes and inserts the operation; panics when its dialect is not loaded or its result types
    /// cannot be inferred, which is a mistake in the pass (declare the dependent dialect).
    pub fn build(self) -> Op<'c> {
        let builder = self.builder;
        let op = self.build_detached();
        builder.insert(op)
    }

    /// Makes the operation without inserting it.
    pub fn build_detached(self) -> Op<'c> {
        let ctx = self.builder.ctx();
        let operands: Vec<_> = self.operands.iter().map(|value| value.raw).collect();
        let results: Vec<_> = self.results.iter().map(|ty| ty.raw).collect();
        let successors: Vec<_> = self.successors.iter().map(|block| block.raw).collect();
        let attrs: Vec<_> = self.attrs.iter().map(|(name, attr)| ctx.named(name, *attr)).collect();
        // SAFETY: the arrays live until the operation is made; regions are handed over.
        let raw = unsafe {
            let mut state = mlir_sys::mlirOperationStateGet(ffi::string(&self.name), self.builder.loc.raw);
            let add = &raw mut state;
            mlir_sys::mlirOperationStateAddOperands(add, operands.len() as _, operands.as_ptr());
            mlir_sys::mlirOperationStateAddResults(add, results.len() as _, results.as_ptr());
            mlir_sys::mlirOperationStateAddAttributes(add, attrs.len() as _, attrs.as_ptr());
            mlir_sys::mlirOperationStateAddSuccessors(add, successors.len() as _, successors.as_ptr());
            let regions: Vec<_> = (0..self.regions).map(|_| mlir_sys::mlirRegionCreate()).collect();
            mlir_sys::mlirOperationStateAddOwnedRegions(add, regions.len() as _, regions.as_ptr());
            if self.infer {
                mlir_sys::mlirOperationStateEnableResultTypeInference(add);
            }
            mlir_sys::mlirOperationCreate(add)
        };
        let op = Op::wrap_option(raw);
        op.unwrap_or_else(|| panic!("cannot make an operation {}", self.name))
    }
}

/// A region that belongs to `op`, filled by a closure with a builder at its end.
impl<'c> Region<'c> {
    /// Appends a block with arguments and lets `fill` add its operations.
    pub fn build_block(
        self,
        args: &[Type<'c>],
        loc: Loc<'c>,
        fill: impl FnOnce(Builder<'c>, &[Value<'c>]),
    ) -> Block<'c> {
        let block = self.append_block(args, loc);
        fill(Builder::at_end(block, loc), &block.args());
        block
    }
}
