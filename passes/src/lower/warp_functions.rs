//! Calls of what all lanes of a warp compute together, once their values lie side by side.
//!
//! ```mlir
//! %d:2 = regrain.warp_call @f(%a, %b, %c) lanes(%x, %y, %z) : (i32, i32, i32) -> (i32, i32)
//! ```
//! becomes, with `%given` of 3 x 32 words and `%made` of 2 x 32,
//! ```mlir
//! llvm.call @f(%made, %given) : (!llvm.ptr, !llvm.ptr) -> ()
//! ```

use mlir_bridge::ir::{Builder, Value};
use regrain_dialects::ops::WarpCall;
use regrain_targets::device_language::matrices;

/// Calls the function of `call` for one warp: it reads the values of all lanes at `given`, and writes the results to `made`.
pub fn call<'c>(b: Builder<'c>, call: WarpCall<'c>, made: Value<'c>, given: Value<'c>) {
    let (ctx, name) = (b.ctx(), matrices::side_by_side(call.function()));
    if let Some(module) = call.op().parent_of_name("builtin.module")
        && module.lookup_symbol(&name).is_none()
    {
        Builder::at_end(module.body(), ctx.unknown_loc()).llvm_func(&name, ctx.llvm_void(), &[ctx.ptr(0); 2]);
    }
    b.llvm_call(&name, &[made, given], &[]);
}
