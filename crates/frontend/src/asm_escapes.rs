//! Registers by a single percent sign in inline PTX: `asm("mov.u64 %0, %globaltimer;" ...)`.
//!
//! nvcc hands on what is no operand; clang calls it an invalid escape. There the sign is doubled.

use crate::edits::{self, offset};

/// What clang says of such a string, at the place behind the sign and the letter that it took for a modifier.
pub const ERROR: &str = "invalid % escape in inline assembly string";

/// `text` with the percent signs before `places` (line and column, from 1) doubled; `None` where there is none.
pub fn double(text: &str, places: &[(usize, usize)]) -> Option<String> {
    let sign = |place: &(usize, usize)| {
        let at = offset(text, *place)?;
        let near = at.saturating_sub(2);
        Some(near + text.get(near..=at)?.find('%')?)
    };
    edits::replace(text, places.iter().filter_map(sign).map(|at| (at..at, "%")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sign_before_the_place_is_doubled() {
        let text = "{\n  asm(\"mov.u64 %0, %globaltimer;\" : \"=l\"(t));\n}";
        let changed = double(text, &[(2, 22)]).expect("a sign");
        assert_eq!(changed, text.replace("%glob", "%%glob"));
        assert_eq!(double(text, &[(2, 4)]), None);
    }
}
