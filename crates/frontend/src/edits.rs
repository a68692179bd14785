//! Changes to the text of a source at the places that clang names.

use std::ops::Range;

/// Where a place (line and column, from 1) is in the text.
pub(crate) fn offset(text: &str, (line, column): (usize, usize)) -> Option<usize> {
    let start = match line.checked_sub(2) {
        None => 0,
        Some(before) => text.match_indices('\n').nth(before)?.0 + 1,
    };
    Some(start + column.checked_sub(1)?).filter(|at| text.is_char_boundary(*at) && *at < text.len())
}

/// `text` with other words in each of the ranges, once where several begin at one place; `None` where there are none.
pub(crate) fn replace<W: AsRef<str>>(text: &str, edits: impl IntoIterator<Item = (Range<usize>, W)>) -> Option<String> {
    let mut edits: Vec<_> = edits.into_iter().collect();
    edits.sort_by_key(|(range, _)| range.start);
    edits.dedup_by_key(|(range, _)| range.start);
    let mut changed = text.to_owned();
    // The last first: what stands before it keeps its place.
    for (range, words) in edits.iter().rev() {
        changed.replace_range(range.clone(), words.as_ref());
    }
    (!edits.is_empty()).then_some(changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_replaced_in_any_order_and_once() {
        assert_eq!(replace("a b c", [(4..4, "x"), (0..1, "yy"), (4..4, "x")]).as_deref(), Some("yy b xc"));
        assert_eq!(replace::<&str>("a", []), None);
    }

    #[test]
    fn places_are_of_lines_and_columns_from_one() {
        assert_eq!(offset("ab\ncd\n", (2, 2)), Some(4));
        assert_eq!(offset("ab\ncd\n", (1, 1)), Some(0));
        for nowhere in [(3, 1), (4, 1), (1, 0)] {
            assert_eq!(offset("ab\ncd\n", nowhere), None);
        }
    }
}
