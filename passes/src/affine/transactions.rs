//! How much memory 32 neighbouring threads touch at once: the DL model of paper 000 (section 5.2), with sectors of memory in place of cache lines.
//!
//! ```text
//!   a[i][j], neighbours differ in j: elements that follow one another, as many sectors as 32 of them fill
//!   a[i][j], neighbours differ in i: a sector for each thread
//!   x[j],    neighbours differ in i: one sector
//! ```

use std::collections::HashMap;

use mlir_bridge::isl::{Kind, Term};

use crate::affine::{accesses::Access, threads::Tile};

/// The threads that access memory together.
pub const WARP: i64 = 32;
/// The bytes that memory hands out together.
pub const SECTOR: i64 = 32;

/// How much each variable of a statement's scope, by number, grows from a thread to its neighbour. What is not in it stays.
pub type Growth = HashMap<usize, Option<i64>>;

/// How much a number grows with a name. `None` where that is not the same everywhere.
pub fn growth(term: &Term, name: &str) -> Option<i64> {
    let of = |part: &Term| growth(part, name);
    match term {
        Term::Name(other) => Some(i64::from(other == name)),
        Term::Number(_) => Some(0),
        Term::Of(Kind::Add, parts) => parts.iter().try_fold(0i64, |sum, part| sum.checked_add(of(part)?)),
        Term::Of(Kind::Sub, parts) if parts.len() == 2 => of(&parts[0])?.checked_sub(of(&parts[1])?),
        Term::Of(Kind::Minus, parts) if parts.len() == 1 => of(&parts[0])?.checked_neg(),
        Term::Of(Kind::Mul, parts) => match &parts[..] {
            [Term::Number(factor), other] | [other, Term::Number(factor)] => of(other)?.checked_mul(*factor),
            _ => (!names(term, name)).then_some(0),
        },
        Term::Of(..) => (!names(term, name)).then_some(0),
    }
}

/// Whether a number is computed of a name.
pub fn names(term: &Term, name: &str) -> bool {
    match term {
        Term::Name(other) => other == name,
        Term::Number(_) => false,
        Term::Of(_, parts) => parts.iter().any(|part| names(part, name)),
    }
}

/// The sectors that [`WARP`] neighbours touch with an access to elements of so many bytes.
pub fn sectors(access: &Access<'_>, size: i64, growth: &Growth) -> i64 {
    let last = access.sums.len() - 1;
    let mut distance = 0;
    for (at, sum) in access.sums.iter().enumerate() {
        let mut moved = Some(0i64);
        for (product, factor) in sum.terms() {
            let Some(more) = product.variable.and_then(|variable| growth.get(&variable)) else { continue };
            let more = more.filter(|more| product.params.is_empty() || *more == 0);
            moved = moved.zip(more).and_then(|(moved, more)| moved.checked_add(factor.checked_mul(more)?));
        }
        match moved {
            Some(moved) if at == last => distance = moved.saturating_abs(),
            Some(0) => {}
            _ => return WARP,
        }
    }
    let bytes = (WARP * size).saturating_mul(distance);
    (bytes / SECTOR).clamp(1, WARP)
}

/// The sectors that the copy of a tile takes for each [`WARP`] of so many rounds of a block.
pub fn copied(tile: &Tile, size: i64, rounds: i64) -> f64 {
    let sectors = tile.sizes.iter().product::<i64>() * size / SECTOR;
    sectors as f64 / (rounds / WARP) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_grow_with_names() {
        let (t, n, two) = (Term::Name("t0".into()), Term::Name("n0".into()), Term::Number(2));
        let of = |kind, parts: &[&Term]| Term::Of(kind, parts.iter().copied().cloned().collect());
        assert_eq!(growth(&of(Kind::Add, &[&t, &n]), "t0"), Some(1));
        assert_eq!(growth(&of(Kind::Sub, &[&n, &of(Kind::Mul, &[&two, &t])]), "t0"), Some(-2));
        assert_eq!(growth(&of(Kind::Floor, &[&t, &two]), "t0"), None);
        assert_eq!(growth(&of(Kind::Floor, &[&n, &two]), "t0"), Some(0));
        assert_eq!(growth(&of(Kind::Mul, &[&n, &t]), "t0"), None);
    }
}
