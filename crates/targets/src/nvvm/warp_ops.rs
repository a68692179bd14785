//! Warp operations: NVVM intrinsic calls become operations of the regrain dialect, tied to the block loop.
//!
//! Before:  %r = llvm.call_intrinsic "llvm.nvvm.shfl.sync.down.f32"(%mask, %v, %offset, %clamp)
//! After:   %r, %ok = regrain.shuffle down %v, %offset, %clamp mask %mask (%x, %y, %z) : f32
//!
//! Intrinsics without such an operation (matrix fragments and the like) stay calls.

use mlir_bridge::ir::{Attr, Builder, Op, Value};

use regrain_dialects::ops::{
    ActiveMask, LaneId, Match, MatchKind, Shuffle, ShuffleKind, Vote, VoteKind, WarpBarrier, WarpCall, WarpId,
    WarpReduce, WarpReduceKind,
};

use super::thread_ops::{assembly_shuffle, assembly_shuffle_add, is_assembly_bit_match};

/// Replaces one warp operation; false when it stays as it is.
pub fn replace<'c>(op: Op<'c>, ivs: &[Value<'c>]) -> bool {
    if op.is("llvm.call") {
        return replace_call(op, ivs);
    }
    let Some(text) = op.attr("asm_string").and_then(|text| text.as_str()) else {
        return replace_intrinsic(op, ivs);
    };
    if let (Some(kind), [value, offset, clamp, mask]) = (assembly_shuffle(text), &op.operands()[..]) {
        return replace_shuffle(op, ivs, kind, [*mask, *value, *offset, *clamp], false);
    }
    if is_assembly_bit_match(text) {
        return replace_bit_match(op, ivs);
    }
    replace_shuffle_add(op, ivs, text)
}

/// What the lanes compute together; its results are the fields of a structure.
fn replace_call<'c>(op: Op<'c>, ivs: &[Value<'c>]) -> bool {
    let Some(function) = op.attr("callee").and_then(Attr::as_symbol) else { return false };
    let Some(fields) = op.result(0).ty().llvm_struct_fields() else { return false };
    let made = WarpCall::create(Builder::before(op), function, &op.operands(), fields.len(), ivs).op();
    for user in op.result(0).users() {
        let position = user.attr("position").and_then(Attr::as_i64_array).unwrap_or_default();
        if let ("llvm.extractvalue", [number]) = (user.name(), &position[..]) {
            user.replace_with(&[made.result(*number as usize)]);
        }
    }
    finish(op, &made.results(), true);
    true
}

/// The lanes of the warp that have the same bit of a word as this one.
fn replace_bit_match<'c>(op: Op<'c>, ivs: &[Value<'c>]) -> bool {
    let [word, bit] = op.operands()[..] else {
        return false;
    };
    let b = Builder::before(op);
    let ty = word.ty();
    let masked = b.value("llvm.and", &[word, bit], ty);
    let set = b.cmpi("ne", masked, b.const_int(ty, 0));
    let all = b.const_int(ty, -1);
    let lanes = Vote::create(b, VoteKind::Ballot, set, all, ivs).op().result(0);
    let others = b.value("llvm.xor", &[lanes, all], ty);
    let result = b.value("llvm.select", &[set, lanes, others], ty);
    op.replace_with(&[result]);
    true
}

/// A shuffle whose result is added to the lane's own value where the source lane is in range.
fn replace_shuffle_add<'c>(op: Op<'c>, ivs: &[Value<'c>], text: &str) -> bool {
    let Some((kind, is_float)) = assembly_shuffle_add(text) else {
        return false;
    };
    let Some(kind) = ShuffleKind::from_name(kind) else {
        return false;
    };
    let [value, offset, clamp, summand, mask] = op.operands()[..] else {
        return false;
    };
    let (builder, ty) = (Builder::before(op), value.ty());
    let shuffle = Shuffle::create(builder, kind, [value, offset, clamp, mask], ivs).op();
    let (arrived, in_range) = (shuffle.result(0), shuffle.result(1));
    let sum = builder.value(if is_float { "llvm.fadd" } else { "llvm.add" }, &[arrived, summand], ty);
    let result = builder.value("llvm.select", &[in_range, sum, arrived], ty);
    op.replace_with(&[result]);
    true
}

fn replace_intrinsic<'c>(op: Op<'c>, ivs: &[Value<'c>]) -> bool {
    let Some(name) = op.attr("intrin").and_then(|name| name.as_str()) else {
        return false;
    };
    let Some(name) = name.strip_prefix("llvm.nvvm.") else {
        return false;
    };
    let parts: Vec<&str> = name.split('.').collect();
    match parts[..] {
        ["shfl", "sync", kind, ty] => {
            let [mask, value, offset, clamp] = op.operands()[..] else {
                return false;
            };
            replace_shuffle(op, ivs, kind, [mask, value, offset, clamp], ty.ends_with('p'))
        }
        ["vote", kind, "sync"] => replace_vote(op, ivs, kind),
        ["match", kind, "sync", ty] => replace_match(op, ivs, kind, ty.ends_with('p')),
        ["redux", "sync", kind] => replace_reduction(op, ivs, kind),
        ["bar", "warp", "sync"] => {
            WarpBarrier::create(Builder::before(op), op.operand(0), ivs);
            op.erase();
            true
        }
        ["activemask"] => {
            op.replace_with(&ActiveMask::create(Builder::before(op), ivs).op().results());
            true
        }
        _ => false,
    }
}

/// Gives the old result its new values: one value, or a struct of two.
fn finish<'c>(op: Op<'c>, values: &[Value<'c>], pair: bool) {
    if !pair {
        op.replace_with(&values[..1]);
        return;
    }
    let builder = Builder::before(op);
    let ty = op.result(0).ty();
    let mut whole = builder.op("llvm.mlir.poison").result(ty).build().result(0);
    for (position, value) in values.iter().enumerate() {
        let at = op.ctx().i64_array_attr(&[position as i64]);
        let spec = builder.op("llvm.insertvalue").operands(&[whole, *value]).attr("position", at);
        whole = spec.result(ty).build().result(0);
    }
    op.replace_with(&[whole]);
}

fn replace_shuffle<'c>(op: Op<'c>, ivs: &[Value<'c>], kind: &str, operands: [Value<'c>; 4], pair: bool) -> bool {
    let Some(kind) = ShuffleKind::from_name(kind) else {
        return false;
    };
    let [mask, value, offset, clamp] = operands;
    let made = Shuffle::create(Builder::before(op), kind, [value, offset, clamp, mask], ivs);
    finish(op, &made.op().results(), pair);
    true
}

fn replace_vote<'c>(op: Op<'c>, ivs: &[Value<'c>], kind: &str) -> bool {
    let Some(kind) = VoteKind::from_name(kind) else {
        return false;
    };
    let [mask, predicate] = op.operands()[..] else {
        return false;
    };
    let made = Vote::create(Builder::before(op), kind, predicate, mask, ivs);
    finish(op, &made.op().results(), false);
    true
}

fn replace_match<'c>(op: Op<'c>, ivs: &[Value<'c>], kind: &str, pair: bool) -> bool {
    let Some(kind) = MatchKind::from_name(kind) else {
        return false;
    };
    let [mask, value] = op.operands()[..] else {
        return false;
    };
    let made = Match::create(Builder::before(op), kind, value, mask, ivs);
    finish(op, &made.op().results(), pair);
    true
}

fn replace_reduction<'c>(op: Op<'c>, ivs: &[Value<'c>], kind: &str) -> bool {
    let Some(kind) = WarpReduceKind::from_name(kind) else {
        return false;
    };
    let [value, mask] = op.operands()[..] else {
        return false;
    };
    let made = WarpReduce::create(Builder::before(op), kind, value, mask, ivs);
    finish(op, &made.op().results(), false);
    true
}

/// Replaces the read of a lane register; false when it stays as it is.
pub fn replace_lane_register<'c>(op: Op<'c>, register: &str, ivs: &[Value<'c>]) -> bool {
    let builder = Builder::before(op);
    let ty = op.result(0).ty();
    let lane = || LaneId::create(builder, ivs).op().result(0);
    let number = |value: i64| {
        let attr = op.ctx().int_attr(ty, value);
        builder.op("llvm.mlir.constant").attr("value", attr).result(ty).build().result(0)
    };
    let binary = |name: &str, a, b| builder.value(name, &[a, b], ty);
    let below = |first: i64| binary("llvm.sub", binary("llvm.shl", number(first), lane()), number(1));
    let value = match register.replace('_', ".").as_str() {
        "laneid" => lane(),
        "warpid" => WarpId::create(builder, ivs).op().result(0),
        "warpsize" => number(32),
        "lanemask.eq" => binary("llvm.shl", number(1), lane()),
        "lanemask.lt" => below(1),
        "lanemask.le" => below(2),
        "lanemask.ge" => binary("llvm.xor", below(1), number(-1)),
        "lanemask.gt" => binary("llvm.xor", below(2), number(-1)),
        _ => return false,
    };
    op.replace_with(&[value]);
    true
}
