//! Where elements are while a thread works, as C.

use std::collections::HashMap;

use mlir_bridge::ir::Op;
use regrain_passes::affine::Description;
use regrain_passes::affine::accesses::extent;
use regrain_passes::affine::poly::{Poly, param_name, variable_name};

/// Where elements are that are not in the arrays while a thread works.
#[derive(Clone, Default)]
pub struct Places<'c> {
    /// The arrays that are registers.
    pub registers: Vec<usize>,
    /// Those that are in constant memory.
    pub constants: Vec<usize>,
    /// The tiles of accesses.
    pub tiles: HashMap<Op<'c>, Element>,
    /// The elements of others as C, by their subscripts.
    pub linear: HashMap<Op<'c>, String>,
}

/// An element of a tile.
#[derive(Clone)]
pub struct Element {
    /// What the tile and the numbers of its first element are called.
    pub name: String,
    /// The subscripts in the array.
    pub sums: Vec<Poly>,
}

impl Element {
    /// The element as C.
    pub fn text(&self) -> Option<String> {
        let subscripts: Option<Vec<String>> = self.sums.iter().map(sum).collect();
        let subscripts = subscripts?.into_iter().enumerate();
        let subscripts = subscripts.map(|(at, sum)| format!("[{sum} - {}]", first_name(&self.name, at)));
        Some(format!("{}{}", self.name, subscripts.collect::<String>()))
    }
}

/// The name of a tile.
pub fn tile_name(phase: usize, tile: usize) -> String {
    format!("T{phase}_{tile}")
}

/// That of the number of its first element in a dimension.
pub fn first_name(tile: &str, at: usize) -> String {
    format!("{}_{at}", tile.replace('T', "f"))
}

/// A sum as C, of 64 bits.
pub fn sum(poly: &Poly) -> Option<String> {
    let mut text = String::new();
    for (product, factor) in poly.terms() {
        let name = match (&product.params[..], product.variable) {
            ([], None) => String::new(),
            ([param], None) => param_name(*param),
            ([], Some(variable)) => format!("(long){}", variable_name(variable)),
            _ => return None,
        };
        let sign = if factor < 0 { " - " } else { " + " };
        let size = factor.checked_abs()?;
        text += if text.is_empty() && factor > 0 { "" } else { sign };
        text += &match (name.is_empty(), size) {
            (true, _) => format!("{size}L"),
            (false, 1) => name,
            (false, _) => format!("{size}L * {name}"),
        };
    }
    Some(if text.is_empty() { "0L".into() } else { text.trim_start().to_owned() })
}

/// The place of an element in its array, as C.
pub fn linear(description: &Description<'_>, array: usize, subscripts: &[String]) -> Option<String> {
    let strides = &description.arrays[array].strides;
    let mut sum = subscripts.first()?.clone();
    for (pair, subscript) in strides.windows(2).zip(&subscripts[1..]) {
        let (count, param) = extent(&pair[0], &pair[1])?;
        let count = param.map_or(format!("{count}L"), |param| format!("({count}L * {})", param_name(param)));
        sum = format!("({sum} * {count} + {subscript})");
    }
    Some(sum)
}
