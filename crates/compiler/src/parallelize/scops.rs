//! What a source says of regions: the lines between `#pragma scop` and `#pragma endscop`.

/// The pragmas of a source.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Scops {
    /// The lines of each pair.
    pub pairs: Vec<(usize, usize)>,
    /// The lines of those without a partner.
    pub alone: Vec<usize>,
}

/// Finds the pragmas in a text.
pub fn scops(text: &str) -> Scops {
    let mut found = Scops::default();
    let mut open = None;
    for (line, text) in (1..).zip(text.lines()) {
        let Some(pragma) = text.trim_start().strip_prefix('#').map(str::trim_start) else { continue };
        let mut words = pragma.split_whitespace();
        match (words.next(), words.next()) {
            (Some("pragma"), Some("scop")) => found.alone.extend(open.replace(line)),
            (Some("pragma"), Some("endscop")) => match open.take() {
                Some(first) => found.pairs.push((first, line)),
                None => found.alone.push(line),
            },
            _ => {}
        }
    }
    found.alone.extend(open);
    found
}

#[cfg(test)]
mod tests {
    use super::{Scops, scops};

    #[test]
    fn pragmas_are_paired() {
        let text = "#pragma endscop\n  # pragma  scop // now\nx\n#pragma endscop\n#pragma scop\n#pragma scop\n#pragma endscop\n";
        assert_eq!(scops(text), Scops { pairs: vec![(2, 4), (6, 7)], alone: vec![1, 5] });
        assert_eq!(scops("// #pragma scop\n#pragma scops\n"), Scops::default());
        assert_eq!(scops("#pragma scop"), Scops { pairs: vec![], alone: vec![1] });
    }
}
