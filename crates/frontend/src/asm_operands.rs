//! Operands of inline PTX that no comma separates: `asm("add.s32 %0, %1, %2;" : "=r"(c) : "r"(a) "r"(b));`.
//!
//! nvcc takes an operand that begins where another ends for the next one; clang expects the statement to end. There the comma is put,
//! in the place of a blank where there is one, so that what follows stands where it stood.

use crate::edits::{self, offset};

/// What clang says at the operand.
pub const ERROR: &str = "expected ')'";

/// `text` with commas before the operands at `places` (line and column, from 1); `None` where none of these is one.
pub fn separate(text: &str, places: &[(usize, usize)]) -> Option<String> {
    let operands = places.iter().filter_map(|place| offset(text, *place)).filter(|at| follows_operand(text, *at));
    let blank = |at: usize| usize::from(text[..at].ends_with([' ', '\t']));
    edits::replace(text, operands.map(|at| (at - blank(at)..at, ",")))
}

/// Whether an operand of an asm statement begins at `at`, right behind the end of another.
fn follows_operand(text: &str, at: usize) -> bool {
    text[at..].starts_with(['"', '['])
        && text[..at].trim_end().ends_with(')')
        && opening(&text[..at]).is_some_and(|parenthesis| is_asm(&text[..parenthesis]))
}

/// Where the parenthesis opens that is still open at the end of `text`.
fn opening(text: &str) -> Option<usize> {
    let mut closed = 0_usize;
    for (at, sign) in text.char_indices().rev() {
        match sign {
            ')' => closed += 1,
            '(' if closed == 0 => return Some(at),
            '(' => closed -= 1,
            ';' | '{' | '}' if !in_string(text, at) => return None,
            _ => {}
        }
    }
    None
}

/// Whether a string of its line is open at `at`.
fn in_string(text: &str, at: usize) -> bool {
    let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let mut quotes = 0;
    let mut escaped = false;
    for sign in text[line..at].chars() {
        quotes += usize::from(sign == '"' && !escaped);
        escaped = sign == '\\' && !escaped;
    }
    quotes % 2 == 1
}

/// Whether `text` ends with the words in front of an asm statement's parenthesis.
fn is_asm(text: &str) -> bool {
    let mut words = text.rsplit(|sign: char| sign.is_whitespace()).filter(|word| !word.is_empty());
    let mut next = || {
        let word = words.next()?;
        Some(word.rsplit(|sign: char| !(sign.is_alphanumeric() || sign == '_')).next().unwrap_or(word))
    };
    let mut word = next();
    while matches!(word, Some("volatile" | "__volatile__" | "__volatile" | "inline" | "goto")) {
        word = next();
    }
    matches!(word, Some("asm" | "__asm__" | "__asm"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comma_takes_the_place_of_the_blank() {
        let text = "{\n  asm volatile(\"{st [%1], %0;}\" :: \"r\"(f(v)) \"l\"(p) : \"memory\");\n}";
        let column = text.lines().nth(1).and_then(|line| line.find("\"l\"")).expect("an operand") + 1;
        let changed = separate(text, &[(2, column)]).expect("a comma");
        assert_eq!(changed, text.replace(") \"l\"", "),\"l\""));
        assert_eq!(separate(text, &[(2, column + 1)]), None);
    }

    #[test]
    fn named_operands_without_a_blank() {
        let text = "__asm__(\"\" : [x]\"=r\"(x)[y]\"=r\"(y));";
        let column = text.find("[y]").expect("an operand") + 1;
        assert_eq!(separate(text, &[(1, column)]), Some(text.replace(")[y]", "),[y]")));
    }

    #[test]
    fn other_statements_stay() {
        let text = "g(\"r\"(a) \"r\"(b));";
        assert_eq!(separate(text, &[(1, 10)]), None);
        assert_eq!(separate("f(a) \"r\"", &[(1, 6)]), None);
    }
}
