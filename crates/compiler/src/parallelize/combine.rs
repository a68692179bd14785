//! How numbers of threads and of blocks are combined, as C.

use mlir_bridge::ir::Type;
use regrain_passes::affine::reductions::{Combination, Reduction};

use super::types::{type_name, unsigned_name};

/// The threads of a block that combine numbers.
pub const THREADS: u32 = 256;
/// The same on processors, whose registers have room for so many of each of a few numbers.
pub const LANES: u32 = 64;

/// The first thread of a row, among those of the block.
pub const ROW: &str = "threadIdx.y * blockDim.x";

/// What a kernel does of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Each thread its rounds.
    Mine,
    /// It combines what blocks have.
    Whole,
    /// It takes what a kernel before has combined.
    Known,
    /// Each thread of a row its rounds.
    Lane,
    /// It combines what the threads of a row have.
    Row,
}

/// Combines two numbers.
pub fn combine(how: Combination, ty: Type<'_>, a: &str, b: &str) -> Option<String> {
    let (name, is_float, is_bool) = (type_name(ty)?, ty.is_float(), ty.is_int(1));
    let signed = |text: String| Some(format!("({name})({text})"));
    let unsigned = |sign: &str| Some(format!("({name})(({u}){a} {sign} ({u}){b})", u = unsigned_name(ty)?));
    let choice = |sign: &str| Some(format!("({a} {sign} {b} ? {a} : {b})"));
    let plain = |sign: &str| format!("{a} {sign} {b}");
    match how {
        Combination::And => signed(plain("&")),
        Combination::Or => signed(plain("|")),
        Combination::Xor => signed(plain("^")),
        _ if is_bool => None,
        Combination::Sum if is_float => Some(format!("({})", plain("+"))),
        Combination::Product if is_float => Some(format!("({})", plain("*"))),
        // Narrow ones are computed as int, whose product of two without a sign may not fit.
        Combination::Sum | Combination::Product if matches!(name, "signed char" | "short") => {
            let sign = if how == Combination::Sum { "+" } else { "*" };
            Some(format!("({name})((unsigned){a} {sign} (unsigned){b})"))
        }
        Combination::Sum => unsigned("+"),
        Combination::Product => unsigned("*"),
        Combination::Least => choice("<"),
        Combination::Greatest => choice(">"),
        Combination::LeastUnsigned | Combination::GreatestUnsigned => {
            let sign = if how == Combination::LeastUnsigned { "<" } else { ">" };
            Some(format!("(({u}){a} {sign} ({u}){b} ? {a} : {b})", u = unsigned_name(ty)?))
        }
    }
}

/// What changes nothing when it is combined with.
pub fn neutral(how: Combination, ty: Type<'_>) -> Option<String> {
    let name = type_name(ty)?;
    if ty.is_float() {
        let suffix = if name == "float" { "f" } else { "" };
        return Some(match how {
            Combination::Sum => format!("-0.0{suffix}"),
            Combination::Product => format!("1.0{suffix}"),
            Combination::Least => format!("(1.0{suffix} / 0.0{suffix})"),
            Combination::Greatest => format!("(-1.0{suffix} / 0.0{suffix})"),
            _ => return None,
        });
    }
    let bits = ty.int_width()?;
    let greatest = u64::MAX >> (65 - bits.clamp(2, 64));
    Some(match how {
        Combination::And | Combination::LeastUnsigned => format!("({name})-1"),
        Combination::Product => format!("({name})1"),
        Combination::Least => format!("({name}){greatest}L"),
        Combination::Greatest => format!("({name})(-{greatest}L - 1)"),
        Combination::Sum | Combination::Or | Combination::Xor | Combination::GreatestUnsigned => format!("({name})0"),
    })
}

/// The numbers that a reduction makes, from the first of its slots on: how, and of which type.
pub fn numbers<'c>(reduction: &Reduction<'c>, first: usize) -> Vec<(usize, Combination, Type<'c>)> {
    let of = |((slot, how), value): ((usize, &Combination), mlir_bridge::ir::Value<'c>)| (slot, *how, value.ty());
    (first..).zip(&reduction.results).zip(reduction.op.results()).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::mlir_context;
    use mlir_bridge::ir::Ctx;

    #[test]
    fn nothing_changes_what_it_is_combined_with() {
        let context = mlir_context();
        let context = Ctx::from(&context);
        let text = |how, ty| neutral(how, ty).unwrap_or_default();
        assert_eq!(text(Combination::Least, context.int(32)), "(int)2147483647L");
        assert_eq!(text(Combination::Greatest, context.int(64)), "(long)(-9223372036854775807L - 1)");
        assert_eq!(text(Combination::Greatest, context.int(8)), "(signed char)(-127L - 1)");
        assert_eq!(text(Combination::And, context.int(1)), "(bool)-1");
    }

    #[test]
    fn sums_of_integers_may_leave_their_type() {
        let context = mlir_context();
        let context = Ctx::from(&context);
        let text = |how, bits| combine(how, context.int(bits), "a", "b");
        assert_eq!(text(Combination::Sum, 32).as_deref(), Some("(int)((unsigned)a + (unsigned)b)"));
        assert_eq!(text(Combination::Product, 16).as_deref(), Some("(short)((unsigned)a * (unsigned)b)"));
        assert_eq!(
            text(Combination::LeastUnsigned, 64).as_deref(),
            Some("((unsigned long)a < (unsigned long)b ? a : b)")
        );
        assert_eq!(text(Combination::Sum, 1), None);
    }
}
