//! Objects with constructors in shared memory: `__shared__ cuda::barrier<cuda::thread_scope_block> arrived;`.
//!
//! nvcc leaves such an object as it finds it (its warning 20054), and programs begin its life themselves; clang rejects it unless
//! the constructor does nothing. Where clang does, the declaration is made one of memory, and of a name for the object in it:
//!
//! ```text
//! __shared__ T name[2];
//! typedef T __regrain_t_name[2]; __shared__ ... __regrain_m_name[sizeof(__regrain_t_name)]; __regrain_t_name &name = ...;
//! ```
//!
//! Declined, so that clang's error stands: several names in one declaration, names within macros, attributes in the way, and
//! files with lambdas that copy (`[=]`), which would copy the object.

use crate::edits::{self, offset};

/// What clang says of such an object.
pub const ERROR: &str = "initialization is not supported for __shared__ variables";

/// `text` with the declarations of the names at `places` (line and column, from 1) made ones of memory; `None` where none can be.
pub fn leave_uninitialized(text: &str, places: &[(usize, usize)]) -> Option<String> {
    if text.contains("[=") {
        return None;
    }
    let edit = |place: &(usize, usize)| {
        let declaration = declaration(text, offset(text, *place)?)?;
        let lines = text[declaration.range.clone()].matches('\n').count();
        let mut memory = declaration.as_memory();
        // What follows keeps its line.
        memory.push_str(&"\n".repeat(lines.saturating_sub(memory.matches('\n').count())));
        Some((declaration.range, memory))
    };
    edits::replace(text, places.iter().filter_map(edit))
}

/// `__shared__ TYPE NAME SUFFIX`, up to the semicolon.
struct Declaration<'t> {
    range: std::ops::Range<usize>,
    of_type: &'t str,
    name: &'t str,
    suffix: &'t str,
}

fn declaration(text: &str, at: usize) -> Option<Declaration<'_>> {
    const WORD: &str = "__shared__";
    let length = text[at..].find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).filter(|length| *length > 0)?;
    let (name, after) = (&text[at..at + length], &text[at + length..]);
    let suffix = &after[..after.find(';')?];
    let word = text[..at].rfind(WORD)?;
    let (of_type, before) = (text[word + WORD.len()..at].trim(), text[..word].trim_end());
    let of_type = of_type.strip_prefix("static ").unwrap_or(of_type);
    let start = if before.ends_with("static") { before.len() - "static".len() } else { word };
    // Behind a directive a declaration begins its line.
    let line = text[..start].rsplit('\n').next().unwrap_or("");
    let begins = line.trim().is_empty() || text[..start].trim_end().ends_with([';', '{', '}']);
    let plain_suffix = suffix.trim().is_empty() || (suffix.trim().starts_with('[') && suffix.trim().ends_with(']'));
    // A type alone: no other declaration, no preprocessor, no attribute, no storage class.
    let in_the_way =
        |part: &str| part.contains([';', '{', '}', '#', '"', '=']) || part.contains("//") || part.contains("/*");
    let words = ["alignas", "__align__", "__attribute__", "volatile"];
    let foreign = words.iter().any(|word| of_type.contains(word));
    // A comma outside of brackets: another name stands before this one.
    let mut depth = 0;
    let several = of_type.chars().any(|c| {
        depth += i32::from(matches!(c, '<' | '(')) - i32::from(matches!(c, '>' | ')'));
        c == ',' && depth == 0
    });
    if several
        || of_type.is_empty()
        || !begins
        || !plain_suffix
        || suffix.contains(',')
        || in_the_way(of_type)
        || in_the_way(suffix)
        || foreign
    {
        return None;
    }
    Some(Declaration { range: start..at + length + suffix.len(), of_type, name, suffix })
}

impl Declaration<'_> {
    fn as_memory(&self) -> String {
        let Self { of_type, name, suffix, .. } = self;
        let (object, memory) = (format!("__regrain_t_{name}"), format!("__regrain_m_{name}"));
        format!(
            "typedef {of_type} {object}{suffix}; \
             __shared__ __attribute__((aligned(alignof({object})))) unsigned char {memory}[sizeof({object})]; \
             {object} &{name} = reinterpret_cast<{object} &>({memory})"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_declaration_becomes_one_of_memory() {
        let text = "void k() {\n  static __shared__ B<1, 2> b;\n  __shared__\n  C c[2][3];\n}\n";
        let changed = leave_uninitialized(text, &[(2, 29), (4, 5)]).expect("both change");
        assert_eq!(changed.lines().count(), text.lines().count());
        assert!(changed.contains("typedef B<1, 2> __regrain_t_b; __shared__ "), "{changed}");
        assert!(changed.contains("typedef C __regrain_t_c[2][3]; "), "{changed}");
        assert!(changed.contains("__regrain_t_c &c = reinterpret_cast<__regrain_t_c &>(__regrain_m_c)"), "{changed}");
    }

    #[test]
    fn do_not_touch_what_is_no_plain_declaration() {
        for (text, column) in [
            ("{ __shared__ B a, b;", 16),
            ("{ __shared__ B a, b;", 19),
            ("{ alignas(64) __shared__ B a;", 28),
            ("{ __shared__ B a{1};", 16),
            ("{ SHARED(B, a);", 13),
            ("{ __shared__ int i; B a;", 23),
            ("{ __shared__ B a; auto f = [=] {};", 16),
        ] {
            assert_eq!(leave_uninitialized(text, &[(1, column)]), None, "{text}");
        }
        assert_eq!(leave_uninitialized("{ __shared__ B a;", &[(9, 1)]), None);
    }
}
