//! What matrix instructions are made of: functions that all lanes of a warp compute together, on words of theirs.
//!
//! ```text
//! %d = call { i32, i32, i32, i32 } @__regrain_warp.mma_f16_2x2(i32 %a0, ..., i32 %c3)
//! ```
//! A lane gives words and gets words; where they lie side by side, 32 of each, it is
//! `void __regrain_tile_mma_f16_2x2(words *made, const words *given)`. A device library has both, or neither.

/// Beginning of the names of such functions as a lane calls them.
const TOGETHER: &str = "__regrain_warp.";

/// The name under which a lane calls `function`.
pub fn together(function: &str) -> String {
    format!("{TOGETHER}{function}")
}

/// Whether all lanes of a warp compute a function together.
pub fn is_together(name: &str) -> bool {
    name.starts_with(TOGETHER)
}

/// The library's function for words that lie side by side.
pub fn side_by_side(name: &str) -> String {
    format!("__regrain_tile_{}", name.strip_prefix(TOGETHER).unwrap_or(name))
}

/// Whether a function only brings words of lanes to others, so that with those of one lane side by side, then those of the next, the
/// results lie as they are given to lanes.
pub fn is_by_lane(name: &str) -> bool {
    name.strip_prefix(TOGETHER).is_some_and(|function| function.starts_with("rows_"))
}
