//! Empty braces assigned to an object that takes several types: `sum = {};`, where `sum` is a `half2`.
//!
//! Braces begin an object of each type that an `operator=` of the class takes. nvcc takes the class's own before the others; clang
//! finds the choice ambiguous, as the language has it. Where clang does, the type is said:
//!
//! ```text
//! sum = {};
//! sum = half2{};
//! ```

use crate::edits::{self, offset};

/// What clang says of such an assignment at its sign, in front of the object's type in quotes.
const ERROR: &str = "use of overloaded operator '=' is ambiguous (with operand types '";

/// The rest of it: braces that are empty have no type.
const OF_BRACES: &str = " and 'void')";

/// The type of the object that empty braces are assigned to, where `message` is about that.
pub fn assigned_type(message: &str) -> Option<&str> {
    let (name, rest) = message.strip_prefix(ERROR)?.split_once('\'')?;
    let known = rest == OF_BRACES || (rest.starts_with(" (aka '") && rest.ends_with(OF_BRACES));
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_:<>, ".contains(c);
    (known && name.chars().all(is_name) && !name.contains("volatile")).then_some(name)
}

/// `text` with the type before the braces that are assigned at `places` (line and column of the sign, from 1); `None` where there are
/// none.
pub fn say(text: &str, places: &[((usize, usize), &str)]) -> Option<String> {
    let braces = places.iter().filter_map(|&(place, of_type)| {
        let sign = offset(text, place)?;
        let after = text[sign..].strip_prefix('=')?.trim_start();
        let at = text.len() - after.len();
        after.strip_prefix('{')?.trim_start().starts_with('}').then_some((at..at, of_type))
    });
    edits::replace(text, braces)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_is_of_the_message() {
        let start = "use of overloaded operator '=' is ambiguous (with operand types ";
        for (types, found) in [
            ("'half2' (aka '__half2') and 'void')", Some("half2")),
            ("'n::T<int, 2>' and 'void')", Some("n::T<int, 2>")),
            ("'half2' and 'int')", None),
            ("'(unnamed struct at a.cu:1:1)' and 'void')", None),
        ] {
            assert_eq!(assigned_type(&format!("{start}{types}")), found);
        }
        assert_eq!(assigned_type("expected expression"), None);
    }

    #[test]
    fn the_type_is_said_before_empty_braces() {
        let text = "  a = {};\n  b ={ };\n  c = {1};\n  d = e;\n";
        let changed = say(text, &[((2, 5), "U"), ((1, 5), "T"), ((1, 5), "T"), ((3, 5), "T"), ((4, 5), "T")]);
        assert_eq!(changed.as_deref(), Some("  a = T{};\n  b =U{ };\n  c = {1};\n  d = e;\n"));
        assert_eq!(say(text, &[((4, 5), "T")]), None);
    }
}
