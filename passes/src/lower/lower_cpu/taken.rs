//! Several blocks in one call: the runtime says how many are left along x, and is told how many were run.
//!
//! ```mlir
//! %many = regrain.take_blocks 8 if %fits
//! ```
//! becomes
//! ```mlir
//! %left = llvm.load %available : !llvm.ptr -> i32
//! %enough = arith.cmpi uge, %left, %c8
//! %many = arith.andi %enough, %fits
//! llvm.store (arith.select %many, %c8, %c1), %taken
//! llvm.store (arith.select %fits, %c8, %left), %available
//! ```
//! The last tells the runtime how many to hand out at a time.

use mlir_bridge::ir::{Builder, Op};
use regrain_dialects::ops::TakeBlocks;

use super::state::{Field, field};

/// Lets a block function take the blocks that it can run as one.
pub fn ask<'c>(module: Op<'c>, function: Op<'c>) {
    for take in TakeBlocks::all(function) {
        let b = Builder::before(take.op());
        let i32 = b.ctx().int(32);
        let available = field(module, b, Field::Available);
        let left = b.llvm_load(available, i32, None);
        let count = b.const_i32(take.count().cast_signed());
        let taken = b.arith("andi", b.cmpi("uge", left, count), take.allowed());
        let number = b.value("arith.select", &[taken, count, b.const_i32(1)], i32);
        let together = b.value("arith.select", &[take.allowed(), count, left], i32);
        for (number, place) in [(number, field(module, b, Field::Taken)), (together, available)] {
            b.llvm_store(number, place, None);
        }
        take.op().replace_with(&[taken]);
    }
}
