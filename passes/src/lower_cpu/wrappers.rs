//! Launches in a block function become the work of the one block that the thread state names.
//!
//! ```mlir
//! %e = regrain.gpu_wrapper grid(%q, ...) ... attributes {regrain.grain = array<i64: 2, 1, 1>} {
//!   scf.parallel (%i, %j, %k) = ... to (%q, ...) { A(%i) }
//! }
//! ```
//! becomes
//! ```mlir
//! %c = <the block's number>
//! scf.if %c % 2 == 0 && %c / 2 < %q { A(%c / 2) }
//! ```
//! The runtime counts original blocks at every grain: of those that make up a coarse block the first does the work of all,
//! and the others have nothing to do. A launch function may hold several launches, of which each block belongs to one.

use mlir_bridge::ir::{Builder, Mapping, Op, Value};
use regrain_dialects::ops::GpuWrapper;

use crate::{
    coarsening::{EPILOGUE, both, grain},
    facts::constant,
};

/// Inlines every wrapper of a block function; `numbers` are those of the block, as indices.
pub fn inline<'c>(function: Op<'c>, numbers: &[Value<'c>]) -> Result<(), String> {
    for wrapper in function.find_named("regrain.gpu_wrapper") {
        inline_one(wrapper, numbers)?;
    }
    Ok(())
}

fn inline_one<'c>(wrapper: Op<'c>, numbers: &[Value<'c>]) -> Result<(), String> {
    let grid = GpuWrapper::cast(wrapper).and_then(GpuWrapper::grid_loop).ok_or("no grid loop")?;
    let b = Builder::before(wrapper);
    let (ivs, condition) = place(b, wrapper, grid, numbers);
    let b = match condition {
        None => b,
        Some(condition) => {
            let body = b.scf_if(condition, &[], false).body();
            Builder::at_end(body, b.loc).scf_yield(&[]);
            Builder::before_terminator(body, b.loc)
        }
    };
    let mut mapping = Mapping::new();
    for op in wrapper.body().ops() {
        if op == grid {
            break;
        }
        b.clone_op(op, &mut mapping);
    }
    mapping.map_all(&grid.body().args(), &ivs);
    b.clone_body(grid.body(), &mut mapping);
    let fine = Builder::before(wrapper).const_i32(0);
    wrapper.replace_with(&[fine]);
    Ok(())
}

/// The induction variables that a block has in a grid loop, and whether it has its turn there; `None` if every block has.
fn place<'c>(b: Builder<'c>, wrapper: Op<'c>, grid: Op<'c>, numbers: &[Value<'c>]) -> (Vec<Value<'c>>, Option<Value<'c>>) {
    let (operands, grain) = (grid.operands(), grain(wrapper));
    let some = wrapper.has_attr(EPILOGUE) || grain != [1; 3];
    let (mut ivs, mut condition) = (Vec::new(), None);
    for (axis, number) in numbers.iter().enumerate() {
        let (low, high, size) = (operands[axis], operands[3 + axis], grain[axis]);
        let mut iv = *number;
        if size > 1 {
            let size = b.const_index(size);
            let first = b.cmpi("eq", b.arith("remui", *number, size), b.const_index(0));
            condition = both(b, condition, first);
            iv = b.arith("divui", *number, size);
        }
        if some {
            condition = both(b, condition, b.cmpi("ult", iv, high));
        }
        if constant(low) != Some(0) {
            condition = both(b, condition, b.cmpi("uge", iv, low));
        }
        ivs.push(iv);
    }
    (ivs, condition)
}

/// Stack memory of constant size that stands under nothing but conditions is allocated once, where the function begins.
pub fn hoist_stack(function: Op<'_>) {
    for alloca in function.find_named("llvm.alloca") {
        let Some(count) = alloca.operand(0).defining_op().and_then(Op::constant_int) else { continue };
        let (mut at, mut nested) = (alloca.parent(), false);
        while let Some(parent) = at.filter(|parent| parent.is("scf.if")) {
            nested = true;
            at = parent.parent();
        }
        if nested
            && at == Some(function)
            && let Some(first) = function.body().first_op()
        {
            let size = Builder::before(first).const_int(alloca.operand(0).ty(), count);
            alloca.set_operand(0, size);
            alloca.move_before(first);
            if let Some(size) = size.defining_op() {
                size.move_before(alloca);
            }
        }
    }
}
