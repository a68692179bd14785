//! Templates of a class that depends on parameters, called without the word: `cast_of<A, B>::cast<4>(to, from)`.
//!
//! What stands before `::` or `.` depends on parameters here, so the language takes `<` for a comparison unless `template`
//! stands before the name. nvcc looks the name up in the primary template and takes it for what it is. Where clang finds out, it
//! is said:
//!
//! ```text
//! cast_of<A, B>::cast<4>(to, from)
//! cast_of<A, B>::template cast<4>(to, from)
//! ```

use crate::edits::{self, offset};

/// What clang says of such a name: at the beginning of the qualified name, at the name itself behind a `.`.
pub const ERRORS: [&str; 2] = [
    "missing 'template' keyword prior to dependent template name",
    "reference to overloaded function could not be resolved",
];

const WORD: &str = "template ";

/// `text` with the word before the templates named at `places` (line and column, from 1); `None` where there is none.
pub fn say(text: &str, places: &[(usize, usize)]) -> Option<String> {
    let names = places.iter().filter_map(|place| template_name(text, offset(text, *place)?));
    edits::replace(text, names.map(|at| (at..at, WORD)))
}

/// Where the last name begins in the qualified name at `at`, if it has template arguments and stands behind `::`, `.` or `->`.
fn template_name(text: &str, at: usize) -> Option<usize> {
    let mut name = at;
    loop {
        let behind = name + text[name..].find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))?;
        if behind == name || &text[name..behind] == WORD.trim_end() {
            return None;
        }
        let arguments = skip_blanks(text, behind);
        let end = if text[arguments..].starts_with('<') { behind_arguments(text, arguments)? } else { behind };
        let next = skip_blanks(text, end);
        if !text[next..].starts_with("::") {
            let before = text[..name].trim_end();
            let is_member = [".", "->", "::"].iter().any(|joint| before.ends_with(joint));
            return (is_member && end != behind).then_some(name);
        }
        name = skip_blanks(text, next + "::".len());
    }
}

fn skip_blanks(text: &str, at: usize) -> usize {
    text.len() - text[at..].trim_start().len()
}

/// What follows template arguments whose `<` stands at `at`.
fn behind_arguments(text: &str, at: usize) -> Option<usize> {
    let (mut angles, mut brackets) = (0, 0);
    for (index, c) in text[at..].char_indices() {
        match c {
            '(' | '[' => brackets += 1,
            ')' | ']' => brackets -= 1,
            '<' if brackets == 0 => angles += 1,
            '>' if brackets == 0 => angles -= 1,
            ';' | '{' | '}' | '"' | '\'' | '#' => return None,
            _ => {}
        }
        if angles == 0 {
            return Some(at + index + 1);
        }
        if brackets < 0 {
            return None;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_is_said_before_the_last_name() {
        for (text, column, said) in [
            ("  c<A, B>::cast<n>(to);", 3, "  c<A, B>::template cast<n>(to);"),
            ("  c<A, (1 > 0)>::d<2>::\ncast <n>(to);", 3, "  c<A, (1 > 0)>::d<2>::\ntemplate cast <n>(to);"),
            ("  T::cast<n>(to);", 3, "  T::template cast<n>(to);"),
            ("  m.cast<n>(to);", 5, "  m.template cast<n>(to);"),
            ("  m->cast<n>(to);", 6, "  m->template cast<n>(to);"),
        ] {
            assert_eq!(say(text, &[(1, column), (1, column)]).as_deref(), Some(said));
        }
    }

    #[test]
    fn do_not_touch_what_names_no_template_of_a_class() {
        for (text, column) in [
            ("cast<n>(to);", 1),
            ("c<A>::cast(to);", 1),
            ("c<A>::cast;", 1),
            ("c<A>::template cast<n>(to);", 1),
            ("c<A>::cast < n;", 1),
            ("m.cast(to) < n;", 3),
            ("+c<A>::cast<n>(to);", 1),
        ] {
            assert_eq!(say(text, &[(1, column)]), None, "{text}");
        }
    }
}
