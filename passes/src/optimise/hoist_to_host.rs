//! `regrain-hoist-to-host`: what is the same for the whole grid, and expensive, is computed once by the host.
//!
//! ```text
//! Before:                                          After:
//!                                                    %z = llvm.icmp "eq" %w, 0 ; %d = llvm.select %z, 1, %w
//!                                                    %q = llvm.udiv %n, %d : i32
//!   regrain.gpu_wrapper grid(...) block(...) {       regrain.gpu_wrapper grid(...) block(...) {
//!     scf.parallel (%i, %j, %k) = ... {                scf.parallel (%i, %j, %k) = ... {
//!       scf.parallel (%x, %y, %z) = ... {                scf.parallel (%x, %y, %z) = ... {
//!         %q = llvm.udiv %n, %w : i32                      llvm.call @use(%q)
//! ```
//!
//! `%n` and `%w` are arguments of the kernel or sizes of the launch. Only what gives the same bits on both sides moves:
//! integers, and single operations of IEEE arithmetic in `f32` and `f64`; members of structs passed by value are read on the
//! host. A division that the kernel might not have come to is made safe for every operand.
//!
//! Declines functions of a mathematical library, floating-point operations that the device may contract or approximate, kernels
//! that flush denormals, loads of device memory, and what costs less than passing one more argument.

use std::collections::HashMap;

use mlir_bridge::{
    ir::{Attr, Builder, Mapping, Op, Value},
    lift::fast_math_flags,
    pass::{Anchor, PassInfo, PassResult, PassRun},
};
use regrain_dialects::ops::GpuWrapper;
use tracing::debug;

use crate::{
    analysis::cost::{WORTH, is_division, own_cost},
    analysis::counted_loop::is_outside,
    analysis::facts::{constant, width},
    analysis::objects::is_read_only_struct,
    optimise::merge_common_values::sweep,
    optimise::targets::targets,
};

const NAME: &str = "regrain-hoist-to-host";

/// The most arguments that a kernel gets for this.
const MOST: usize = 16;

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: NAME,
    summary: "let the host compute what is the same for the whole grid",
    anchor: Anchor::Any,
    options: &[],
    dialects: &["regrain", "llvm", "arith"],
    run,
};

fn run(_run: &PassRun<'_>, root: Op<'_>) -> PassResult {
    for wrapper in targets(root).into_iter().filter(|target| GpuWrapper::is(*target)) {
        hoist_to_host(wrapper);
    }
    Ok(())
}

/// Moves values of one launch to the host; gives their number.
pub fn hoist_to_host(wrapper: Op<'_>) -> usize {
    let mut host = Host { wrapper, floats: !flushes_denormals(wrapper), known: HashMap::new() };
    let mut moved = 0;
    for op in wrapper.find_all(|op| op != wrapper && op.num_results() == 1) {
        if moved == MOST {
            break;
        }
        if host.is_wanted(op) {
            let value = host.compute(Builder::before(wrapper), &mut Mapping::new(), op.result(0));
            op.result(0).replace_all_uses_with(value);
            moved += 1;
        }
    }
    if moved > 0 {
        sweep(wrapper);
    }
    debug!(target: NAME, "{moved} values are computed by the host");
    moved
}

struct Host<'c> {
    wrapper: Op<'c>,
    /// Whether floating-point arithmetic gives the same bits on both sides.
    floats: bool,
    known: HashMap<Value<'c>, bool>,
}

impl<'c> Host<'c> {
    /// Whether the host can compute a value.
    fn can(&mut self, value: Value<'c>) -> bool {
        if is_outside(value, self.wrapper) {
            return true;
        }
        if let Some(known) = self.known.get(&value) {
            return *known;
        }
        let op = value.defining_op().filter(|op| op.num_regions() == 0 && op.num_results() == 1);
        let can = op.is_some_and(|op| self.is_exact(op) && op.operands().into_iter().all(|operand| self.can(operand)));
        self.known.insert(value, can);
        can
    }

    /// Whether an operation gives the same bits on the host and on the device.
    fn is_exact(&self, op: Op<'c>) -> bool {
        let name = op.name();
        let Some((dialect, short)) = name.split_once('.') else { return false };
        if !matches!(dialect, "llvm" | "arith") {
            return false;
        }
        match short {
            "mlir.constant" | "constant" => is_number(op.result(0)),
            "load" => is_read_only_struct(op),
            "getelementptr" => op.num_operands() == 1,
            "fdiv" | "divf" | "intr.sqrt" => self.floats && is_number(op.result(0)) && !fast_math_flags(op).1,
            // Part of a fused operation on the device.
            "fadd" | "fsub" | "fmul" | "fneg" | "addf" | "subf" | "mulf" | "negf" | "fpext" | "extf" => {
                self.floats
                    && is_number(op.result(0))
                    && is_number(op.operand(0))
                    && fast_math_flags(op) == (false, false)
            }
            "sitofp" | "uitofp" => {
                self.floats && is_number(op.result(0)) && width(op.operand(0).ty()).is_some_and(|bits| bits > 1)
            }
            _ => is_integer_operation(short) && op.operands().iter().all(|operand| width(operand.ty()).is_some()),
        }
    }

    /// Whether the value of an operation is worth to be passed: the device needs it, and it is expensive.
    fn is_wanted(&mut self, op: Op<'c>) -> bool {
        let value = op.result(0);
        if !is_number(value) || constant(value).is_some() || !self.can(value) {
            return false;
        }
        let stays = |host: &mut Self, user: Op<'c>| {
            user.num_results() != 1 || !is_number(user.result(0)) || !host.can(user.result(0))
        };
        let on_device = value.users().into_iter().any(|user| stays(self, user));
        on_device && self.cost(value, &mut Vec::new()) >= WORTH
    }

    /// What a value costs with all that it comes from in the launch, in simple operations.
    fn cost(&self, value: Value<'c>, seen: &mut Vec<Value<'c>>) -> u32 {
        let Some(op) = value.defining_op().filter(|_| !is_outside(value, self.wrapper) && !seen.contains(&value))
        else {
            return 0;
        };
        seen.push(value);
        own_cost(op) + op.operands().into_iter().map(|operand| self.cost(operand, seen)).sum::<u32>()
    }

    /// Computes a value before the launch.
    fn compute(&self, b: Builder<'c>, made: &mut Mapping<'c>, value: Value<'c>) -> Value<'c> {
        if let Some(known) = made.get(value) {
            return known;
        }
        let Some(op) = value.defining_op().filter(|_| !is_outside(value, self.wrapper)) else { return value };
        for operand in op.operands() {
            let on_host = self.compute(b, made, operand);
            made.map(operand, on_host);
        }
        let copy = b.clone_op(op, made);
        if is_division(op.name()) {
            let safe = safe_divisor(Builder::before(copy), copy);
            copy.set_operand(1, safe);
        }
        copy.result(0)
    }
}

/// A number that can be passed to a kernel.
fn is_number(value: Value<'_>) -> bool {
    let ty = value.ty();
    ty.is_index() || ty.is_int(32) || ty.is_int(64) || matches!(ty.float_width(), Some(32 | 64))
}

fn is_integer_operation(short: &str) -> bool {
    const NAMES: &[&str] = &[
        "add",
        "addi",
        "sub",
        "subi",
        "mul",
        "muli",
        "and",
        "andi",
        "or",
        "ori",
        "xor",
        "xori",
        "shl",
        "shli",
        "lshr",
        "shrui",
        "ashr",
        "shrsi",
        "sext",
        "extsi",
        "zext",
        "extui",
        "trunc",
        "trunci",
        "index_cast",
        "index_castui",
        "icmp",
        "cmpi",
        "select",
        "intr.smin",
        "intr.smax",
        "intr.umin",
        "intr.umax",
        "minsi",
        "maxsi",
        "minui",
        "maxui",
    ];
    NAMES.contains(&short) || is_division(short)
}

/// The divisor, or 1 where the division would fault: the kernel would not have come to it.
fn safe_divisor<'c>(b: Builder<'c>, op: Op<'c>) -> Value<'c> {
    let (dividend, divisor) = (op.operand(0), op.operand(1));
    if constant(divisor).is_some_and(|known| known != 0 && known != -1) {
        return divisor;
    }
    let ty = divisor.ty();
    let number = |value: i64| if ty.is_index() { b.const_index(value) } else { b.const_int(ty, value) };
    let mut faults = b.cmpi("eq", divisor, number(0));
    if ["sdiv", "srem", "divsi", "remsi"].iter().any(|signed| op.name().ends_with(signed)) {
        let least = if ty.is_int(32) { i64::from(i32::MIN) } else { i64::MIN };
        let overflows = b.arith("andi", b.cmpi("eq", divisor, number(-1)), b.cmpi("eq", dividend, number(least)));
        faults = b.arith("ori", faults, overflows);
    }
    b.value("arith.select", &[faults, number(1), divisor], ty)
}

/// Whether the kernel's floating-point arithmetic flushes denormals.
fn flushes_denormals(wrapper: Op<'_>) -> bool {
    let kernel = || {
        let name = GpuWrapper::cast(wrapper)?.kernel()?;
        wrapper.parent_of_name("builtin.module")?.lookup_symbol(name)
    };
    kernel().is_none_or(|kernel| kernel.attrs().into_iter().any(|(_, attr)| names_flushing(attr)))
}

/// Whether an attribute is a mode that flushes denormals, or a list with one, as LLVM writes them.
fn names_flushing(attr: Attr<'_>) -> bool {
    let listed = || attr.as_array().is_some_and(|items| items.into_iter().any(names_flushing));
    attr.as_str().is_some_and(|text| text.contains("preserve-sign") || text.contains("positive-zero")) || listed()
}
