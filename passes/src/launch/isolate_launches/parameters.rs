//! What a wrapper takes from the host code around it, and what stands for it in a launch function of its own.
//!
//! ```mlir
//! %q = arith.divui %n, %c2 : index            // the size of the launch: the new function has it as its own
//! %b = arith.muli %q, %c2 : index             // follows from it, and is cheap: computed again
//! regrain.gpu_wrapper grid(%q, ...) { <uses %b, %gx> }      // %gx, the original size: another parameter
//! ```

use std::collections::HashSet;

use mlir_bridge::ir::{Builder, Mapping, Op, Type, Value};
use regrain_dialects::{
    attributes::{self, EPILOGUE, GRAIN, THREAD_GRAIN},
    ops::{DynamicShared, GpuWrapper},
};

use super::refusal::Refusal;
use crate::{
    analysis::cost::{WORTH, own_cost},
    analysis::counted_loop::is_outside,
    analysis::facts::constant,
    launch::launch_function::LaunchFunction,
};

/// Numbers of the parameters of a launch function.
const SHARED_BYTES: usize = 7;

/// The values that a wrapper takes from outside.
pub(super) struct Outside<'c> {
    dispatch: Op<'c>,
    grid: Vec<Value<'c>>,
    block: Vec<Value<'c>>,
    shared: Option<Value<'c>>,
    seen: HashSet<Value<'c>>,
    used: Vec<Value<'c>>,
    extras: Vec<Value<'c>>,
}

/// What stands for a value in the new launch function.
enum Role<'c> {
    /// The argument of the kernel with this number.
    Argument(usize),
    /// The size of the launch in this dimension (grid, then block): as an index, or as i32.
    Size(usize),
    Word(usize),
    SharedBytes,
    /// A copy of the operation.
    Copy(Op<'c>),
    /// A parameter more.
    Extra,
}

impl<'c> Outside<'c> {
    pub(super) fn collect(dispatch: Op<'c>, wrapper: GpuWrapper<'c>) -> Result<Self, Refusal> {
        let mut outside = Self {
            dispatch,
            grid: wrapper.grid(),
            block: wrapper.block_shape(),
            shared: wrapper.shared_bytes(),
            seen: HashSet::new(),
            used: Vec::new(),
            extras: Vec::new(),
        };
        let (grid, block) = (wrapper.grid_loop().ok_or(Refusal::Loops)?, wrapper.block_loop().ok_or(Refusal::Loops)?);
        for low in grid.operands().into_iter().take(3).filter(|low| constant(*low) != Some(0)) {
            outside.need(low)?;
        }
        for op in wrapper.op().find_all(|op| op != wrapper.op()) {
            if op == grid || op == block || DynamicShared::is(op) {
                continue;
            }
            for value in op.operands().into_iter().filter(|value| is_outside(*value, wrapper.op())) {
                outside.need(value)?;
            }
        }
        Ok(outside)
    }

    /// The values that the host passes behind the kernel's arguments.
    pub(super) fn extras(&self) -> &[Value<'c>] {
        &self.extras
    }

    /// The number of the kernel's arguments up to the last one that is used.
    pub(super) fn arguments(&self) -> usize {
        let number = |value: &Value<'c>| match self.role(*value) {
            Some(Role::Argument(number)) => Some(number + 1),
            _ => None,
        };
        self.used.iter().filter_map(number).max().unwrap_or(0)
    }

    /// The types that they have as parameters.
    pub(super) fn extra_types(&self) -> Vec<Type<'c>> {
        self.extras.iter().map(|value| passed_type(*value)).collect()
    }

    fn need(&mut self, value: Value<'c>) -> Result<(), Refusal> {
        if !self.seen.insert(value) {
            return Ok(());
        }
        match self.role(value).ok_or(Refusal::HostValue)? {
            Role::Copy(op) => op.operands().into_iter().try_for_each(|operand| self.need(operand))?,
            Role::Extra => self.extras.push(value),
            _ => {}
        }
        self.used.push(value);
        Ok(())
    }

    fn role(&self, value: Value<'c>) -> Option<Role<'c>> {
        let sizes = || self.grid.iter().chain(&self.block);
        if let Some((block, number)) = value.block_arg()
            && block.parent_op() == Some(self.dispatch)
        {
            return match number {
                0 | 8 => None,
                SHARED_BYTES if self.shared == Some(value) => Some(Role::SharedBytes),
                SHARED_BYTES => Some(Role::Extra),
                _ if sizes().nth(number - 1).is_some_and(|size| is_cast_of(*size, value)) => {
                    Some(Role::Word(number - 1))
                }
                _ => Some(Role::Extra),
            };
        }
        if constant(value).is_none() {
            if let Some(axis) = sizes().position(|size| *size == value) {
                return Some(Role::Size(axis));
            }
            if self.shared == Some(value) {
                return Some(Role::SharedBytes);
            }
        }
        if let Some(op) = value.defining_op() {
            if let Some(number) = attributes::kernel_arg(op) {
                return Some(Role::Argument(number));
            }
            let pure = op.num_regions() == 0 && op.is_pure();
            // What a parameter is cast to costs nothing to compute again.
            if pure
                && (is_cast(op) || op.operands().into_iter().all(|operand| self.is_at_hand(operand)) && !is_dear(op))
            {
                return Some(Role::Copy(op));
            }
        }
        let ty = value.ty();
        let passes = ty.is_index()
            || ty.is_float()
            || ty.ptr_space() == Some(0)
            || ty.int_width().is_some_and(|bits| bits <= 64);
        passes.then_some(Role::Extra)
    }

    fn is_at_hand(&self, value: Value<'c>) -> bool {
        match self.role(value) {
            Some(Role::Copy(op)) => op.operands().into_iter().all(|operand| self.is_at_hand(operand)),
            Some(Role::Extra) | None => false,
            Some(_) => true,
        }
    }

    /// Moves a copy of the wrapper's body into a launch function, which has the extra values as its last arguments.
    pub(super) fn fill(&self, wrapper: GpuWrapper<'c>, launch: &LaunchFunction<'c>) {
        let Some(made) = launch.grid_loop.parent().and_then(GpuWrapper::cast) else { return };
        let b = Builder::before(made.op());
        let sizes: Vec<_> = made.grid().into_iter().chain(made.block_shape()).collect();
        let first_extra = launch.arguments.len() - self.extras.len();
        let mut mapping = Mapping::new();
        for value in &self.used {
            let stands = match self.role(*value) {
                Some(Role::Argument(number)) => launch.arguments[number],
                Some(Role::Size(axis)) => sizes[axis],
                Some(Role::Word(axis)) => launch.sizes[axis],
                Some(Role::SharedBytes) => launch.shared_bytes,
                Some(Role::Extra) => {
                    let number = self.extras.iter().position(|extra| extra == value).unwrap_or(0);
                    let passed = launch.arguments[first_extra + number];
                    if value.ty().is_index() { b.index_castui(passed, value.ty()) } else { passed }
                }
                Some(Role::Copy(op)) => {
                    b.clone_op(op, &mut mapping);
                    continue;
                }
                None => continue,
            };
            mapping.map(*value, stands);
        }
        self.fill_loops(wrapper, made, &sizes, launch, &mut mapping);
    }

    fn fill_loops(
        &self,
        wrapper: GpuWrapper<'c>,
        made: GpuWrapper<'c>,
        sizes: &[Value<'c>],
        launch: &LaunchFunction<'c>,
        mapping: &mut Mapping<'c>,
    ) {
        let starts: Vec<_> = wrapper.grid_loop().map(|grid| grid.operands()[..3].to_vec()).unwrap_or_default();
        let steps = launch.grid_loop.operands();
        // Constant sizes of the block stay constant.
        let b = Builder::before(made.op());
        let extents: Vec<_> = self
            .block
            .iter()
            .zip(&sizes[3..])
            .map(|(size, own)| constant(*size).map_or(*own, |known| b.const_index(known)))
            .collect();
        for (axis, extent) in extents.iter().enumerate() {
            made.set_block_shape(axis, *extent);
        }
        let zeros = steps[..3].to_vec();
        let ones = steps[6..].to_vec();
        launch.grid_loop.erase();
        Builder::at_end(made.body(), made.op().loc()).clone_body(wrapper.body(), mapping);
        for mark in [GRAIN, THREAD_GRAIN, EPILOGUE] {
            if let Some(attribute) = wrapper.op().attr(mark) {
                made.op().set_attr(mark, attribute);
            }
        }
        let (Some(grid), Some(block)) = (made.grid_loop(), made.block_loop()) else { return };
        set_bounds(grid, &zeros, &sizes[..3], &ones);
        set_bounds(block, &zeros, &extents, &ones);
        for (axis, start) in starts.into_iter().enumerate().filter(|(_, start)| constant(*start) != Some(0)) {
            let inside = Builder::at_start(grid.body(), grid.loc());
            let variable = grid.body().arg(axis);
            let moved = inside.arith("addi", variable, mapping.get_or_self(start));
            variable.replace_uses_if(moved, |used| Some(used.owner) != moved.defining_op());
        }
        for dynamic in DynamicShared::all(made.op()) {
            if is_outside(dynamic.bytes(), made.op()) {
                dynamic.set_bytes(launch.shared_bytes);
            }
        }
    }
}

fn set_bounds<'c>(nest: Op<'c>, low: &[Value<'c>], high: &[Value<'c>], step: &[Value<'c>]) {
    for (number, value) in low.iter().chain(high).chain(step).enumerate() {
        nest.set_operand(number, *value);
    }
}

/// Whether an operation, with all that it comes from, costs more than a parameter.
fn is_dear(op: Op<'_>) -> bool {
    let (mut cost, mut seen, mut work) = (0, HashSet::from([op]), vec![op]);
    while let Some(op) = work.pop() {
        cost += own_cost(op);
        work.extend(
            op.operands()
                .into_iter()
                .filter_map(Value::defining_op)
                .filter(|operand| operand.is_pure() && seen.insert(*operand)),
        );
    }
    cost >= WORTH
}

fn is_cast(op: Op<'_>) -> bool {
    matches!(
        op.name(),
        "arith.index_cast"
            | "arith.index_castui"
            | "arith.extui"
            | "arith.extsi"
            | "arith.trunci"
            | "llvm.zext"
            | "llvm.sext"
            | "llvm.trunc"
    )
}

/// Whether `size`, an index, is `word` read as an unsigned number.
fn is_cast_of(size: Value<'_>, word: Value<'_>) -> bool {
    size.defining_op().is_some_and(|cast| cast.is("arith.index_castui") && cast.operand(0) == word)
}

/// How a value is passed to a kernel: an index as i32 where it surely fits, which costs a GPU half the registers.
pub(super) fn passed_type(value: Value<'_>) -> Type<'_> {
    let ctx = value.ty().ctx();
    match value.ty().is_index() {
        false => value.ty(),
        true if is_word(value) => ctx.int(32),
        true => ctx.int(64),
    }
}

/// Whether an index is surely below 2^32: numbers of blocks and threads, and what is left of them.
fn is_word(value: Value<'_>) -> bool {
    let Some(op) = value.defining_op() else { return false };
    match op.name() {
        "arith.constant" => constant(value).is_some_and(|known| u32::try_from(known).is_ok()),
        "arith.index_castui" => op.operand(0).ty().int_width().is_some_and(|bits| bits <= 32),
        "arith.divui" | "arith.remui" => is_word(op.operand(0)),
        "arith.select" => is_word(op.operand(1)) && is_word(op.operand(2)),
        "arith.minui" => is_word(op.operand(0)) || is_word(op.operand(1)),
        // (n / c) * c is at most n.
        "arith.muli" => {
            let divided = op.operand(0).defining_op().filter(|quotient| quotient.is("arith.divui"));
            let by = divided.and_then(|quotient| constant(quotient.operand(1)));
            by.is_some_and(|by| by > 0 && constant(op.operand(1)) == Some(by)) && is_word(op.operand(0))
        }
        _ => false,
    }
}
