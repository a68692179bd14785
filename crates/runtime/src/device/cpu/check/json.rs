//! Text as strings of JSON.

use std::fmt::Write;

/// A string of JSON, with its quotes.
pub fn string(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c < ' ' => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    #[test]
    fn quotes_and_control_characters_are_escaped() {
        assert_eq!(super::string("a\"\\\n"), "\"a\\\"\\\\\\u000a\"");
    }
}
