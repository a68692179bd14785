//! Launches with a blank within their brackets: `k<< <grid, block>> >(...)`.
//!
//! nvcc takes `<< <` and `>> >` for `<<<` and `>>>`, and formatters made many sources so. clang does not. Where clang rejects a
//! source, the files of it that have such brackets are read with the blank behind the bracket (`second_look`): every other
//! character, every line and every column stays where it was.

/// `text` with brackets of launches closed up; `None` where there are none to close.
pub fn close_up(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut closed = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let next = after_literal(rest).map_or(at + 1, |length| at + length);
        if next == at + 1 {
            let double = [b"<<", b">>"].into_iter().find(|two| rest.starts_with(*two));
            let blanks = rest.iter().skip(2).take_while(|byte| byte.is_ascii_whitespace()).count();
            if let Some(two) = double
                && blanks > 0
                && rest.get(2 + blanks) == Some(&two[0])
                && !follows_operator(&bytes[..at])
            {
                closed[at + 2] = two[0];
                closed[at + 3..=at + 2 + blanks].copy_from_slice(&rest[2..2 + blanks]);
                at += 3 + blanks;
                continue;
            }
        }
        at = next;
    }
    if closed == bytes { None } else { String::from_utf8(closed).ok() }
}

/// `operator<< <T>` is no launch.
fn follows_operator(before: &[u8]) -> bool {
    before.trim_ascii_end().ends_with(b"operator")
}

/// The length of the comment or of the literal that `rest` begins with.
fn after_literal(rest: &[u8]) -> Option<usize> {
    let until = |end: &[u8], from: usize| {
        let found = rest[from..].windows(end.len()).position(|window| window == end);
        found.map_or(rest.len(), |position| from + position + end.len())
    };
    match rest {
        [b'/', b'/', ..] => Some(until(b"\n", 2)),
        [b'/', b'*', ..] => Some(until(b"*/", 2)),
        [b'R', b'"', ..] => {
            let mark = rest[2..].iter().take(17).position(|byte| *byte == b'(')?;
            let end = [b")", &rest[2..2 + mark], b"\""].concat();
            Some(until(&end, 2 + mark))
        }
        // A quote between digits parts them.
        [digit, b'\'', ..] if digit.is_ascii_alphanumeric() => Some(2),
        [quote @ (b'"' | b'\''), ..] => {
            let mut length = 1;
            while let Some(byte) = rest.get(length) {
                match byte {
                    b'\\' => length += 2,
                    b'\n' => return Some(length),
                    byte if byte == quote => return Some(length + 1),
                    _ => length += 1,
                }
            }
            Some(rest.len())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_close_up_where_they_stand() {
        let closed = |text: &str| close_up(text).expect("something to close");
        assert_eq!(closed("k<< <1, 2>> >(a);"), "k<<< 1, 2>>> (a);");
        assert_eq!(closed("k<<  <1>>>(a);"), "k<<<  1>>>(a);");
        assert_eq!(closed("k<<\n<1>>>(a);"), "k<<<\n1>>>(a);");
        assert_eq!(
            closed("f(1'000, \"<< <\", '<'); /* << < */ k<< <1>>>();"),
            "f(1'000, \"<< <\", '<'); /* << < */ k<<< 1>>>();"
        );
        assert_eq!(closed("auto s = R\"x(\" << <)x\"; k<< <1>>>();"), "auto s = R\"x(\" << <)x\"; k<<< 1>>>();");
    }

    #[test]
    fn other_text_stays() {
        for text in
            ["k<<<1, 2>>>(a);", "a << b < c", "operator<< <int>(s, 1);", "// k<< <1>> >()", "\"\\\"<< <\"", "'\"' << 3"]
        {
            assert_eq!(close_up(text), None, "{text}");
        }
    }
}
