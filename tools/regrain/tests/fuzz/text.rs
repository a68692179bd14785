//! Texts taken apart into words and put together otherwise.

use std::path::PathBuf;

use super::place::root;
use super::random::Random;

/// All files below `folder` of one extension that are no larger than `most`, in order.
pub fn files(folder: &str, extension: &str, most: usize) -> Vec<(PathBuf, String)> {
    let (mut found, mut waiting) = (Vec::new(), vec![root().join(folder)]);
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|ending| ending == extension)
                && let Ok(text) = std::fs::read_to_string(&path)
                && text.len() <= most
            {
                found.push((path, text));
            }
        }
    }
    found.sort();
    found
}

/// Identifiers and numbers, blanks, and single other characters; what MLIR writes before names belongs to them.
pub fn words(text: &str) -> Vec<&str> {
    let kind = |letter: char| match letter {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => 1,
        ' ' | '\n' | '\t' => 2,
        '%' | '@' | '!' | '^' => 3,
        _ => 0,
    };
    let (mut words, mut start, mut last) = (Vec::new(), 0, 0);
    for (at, letter) in text.char_indices() {
        let now = kind(letter);
        if at > start && (now != last || now == 0) && (last, now) != (3, 1) {
            words.push(&text[start..at]);
            start = at;
        }
        last = now;
    }
    words.push(&text[start..]);
    words
}

fn is_number(word: &str) -> bool {
    word.starts_with(|letter: char| letter.is_ascii_digit())
}

fn is_name(word: &str) -> bool {
    word.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
}

/// A value of MLIR.
fn is_value(word: &str) -> bool {
    word.starts_with('%')
}

fn is_sign(word: &str) -> bool {
    !is_number(word) && !is_name(word) && !is_value(word) && !word.trim().is_empty()
}

/// The words before a place, without blanks: two where the nearest is a point.
fn before<'a>(words: &[&'a str], at: usize) -> Vec<&'a str> {
    let mut nearest = words[..at].iter().rev().filter(|word| !word.trim().is_empty());
    let first = nearest.next();
    first.into_iter().chain(nearest.take(usize::from(first == Some(&".")))).copied().collect()
}

/// Whether a value of MLIR gets its name here.
fn is_defined(words: &[&str], at: usize) -> bool {
    let next = words[at + 1..].iter().find(|word| !word.trim().is_empty());
    is_value(words[at]) && matches!(next, Some(&("=" | ":")))
}

const NUMBERS: [&str; 16] = [
    "0",
    "1",
    "2",
    "3",
    "7",
    "16",
    "31",
    "32",
    "33",
    "64",
    "255",
    "1024",
    "65536",
    "2147483647",
    "4294967295",
    "9223372036854775807",
];

/// How much a text is damaged.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// Numbers and names become others: mostly what a parser accepts.
    Meaning,
    /// Anything goes, and anything may stand twice.
    Form,
}

/// The text with one thing changed; `other` lends words and lines.
pub fn changed(text: &str, other: &str, damage: Damage, random: &mut Random) -> String {
    let words = words(text);
    if damage == Damage::Meaning {
        let alike: fn(&str) -> bool =
            *random.one(&[is_number as fn(&str) -> bool, is_value, is_value, is_name, is_sign]);
        let mut places: Vec<usize> =
            (0..words.len()).filter(|at| alike(words[*at]) && !is_defined(&words, *at)).collect();
        if places.is_empty() {
            places = (0..words.len()).filter(|at| is_number(words[*at]) || is_name(words[*at])).collect();
        }
        if places.is_empty() {
            return text.to_owned();
        }
        let at = *random.one(&places);
        let mut new = words.clone();
        new[at] = if is_number(words[at]) && random.chance(60) {
            *random.one(&NUMBERS)
        } else {
            // What stands behind the same word has a chance to mean something here.
            let suits = |other: &&usize| before(&words, **other) == before(&words, at);
            let suitable: Vec<&usize> = places.iter().filter(suits).collect();
            words[**random.one(&suitable)]
        };
        return new.concat();
    }
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let foreign: Vec<&str> = other.split_inclusive('\n').collect();
    if lines.is_empty() || foreign.is_empty() {
        return text.to_owned();
    }
    let (mut line, mut word) = (lines.clone(), words.clone());
    match random.below(7) {
        0 => drop(word.remove(random.below(words.len()))),
        1 => word.insert(random.below(words.len()), *random.one(&words)),
        2 => word.swap(random.below(words.len()), random.below(words.len())),
        3 => word.truncate(random.below(words.len()) + 1),
        4 => drop(line.remove(random.below(lines.len()))),
        5 => line.insert(random.below(lines.len()), *random.one(&lines)),
        _ => line.insert(random.below(lines.len()), *random.one(&foreign)),
    }
    if word == words { line.concat() } else { word.concat() }
}
