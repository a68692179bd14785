//! What the user is told beside errors.

use std::cell::{LazyCell, RefCell};
use std::collections::HashSet;

use crate::options::Remarks;
use crate::side_files::note_remark;
use crate::words::{Words, demangled};

/// What was remarked on the way: shown as it comes up where it is asked for, and remembered.
#[derive(Default)]
pub struct RemarkLog {
    wanted: Remarks,
    words: Words,
    said: RefCell<Said>,
}

#[derive(Default)]
struct Said {
    in_order: Vec<String>,
    all: HashSet<String>,
}

impl RemarkLog {
    /// Remarks of which the wanted ones are shown, in the words of the source.
    pub fn new(wanted: &Remarks, words: Words) -> Self {
        Self { wanted: wanted.clone(), words, said: RefCell::default() }
    }

    /// Shows a remark if it is wanted, and puts it on record if there is one.
    pub fn show(&self, remark: &str) {
        let located = LazyCell::new(|| self.words.located(remark));
        note_remark(|| located.to_string());
        if self.wanted.shows(remark) {
            eprintln!("{}", demangled(&located));
        }
    }

    /// Says something, each remark once: chips that share a search have the same to say.
    pub fn say(&self, text: &str) {
        for remark in remarks(text) {
            let mut said = self.said.borrow_mut();
            if !said.all.insert(remark.clone()) {
                continue;
            }
            self.show(&remark);
            said.in_order.push(remark);
        }
    }

    /// What was said so far.
    pub fn said(&self) -> Vec<String> {
        self.said.borrow().in_order.clone()
    }
}

/// The remarks of a text, each with what belongs to it: source lines and notes.
fn remarks(text: &str) -> Vec<String> {
    const BEGINS: &[&str] = &[": remark: ", ": warning: ", ": error: "];
    let mut found: Vec<String> = Vec::new();
    for line in text.trim_end().lines() {
        let begins = BEGINS.iter().any(|word| line.contains(word));
        match found.last_mut().filter(|_| !begins) {
            Some(last) => {
                last.push('\n');
                last.push_str(line);
            }
            None => found.push(line.to_owned()),
        }
    }
    found
}

/// A warning, with names as the source has them.
pub fn warn(warning: &str) {
    eprintln!("{}", demangled(warning));
}

/// A note of the driver's.
pub fn note(message: &str) {
    eprintln!("regrain: {message}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_to_a_remark_stays_with_it() {
        let text = "a.cu:1:2: remark: one\nfloat x;\n      ^\na.cu:3:4: note: here\na.cu:5:6: remark: two [-Rpass=regrain-x]\n";
        let expected = [
            "a.cu:1:2: remark: one\nfloat x;\n      ^\na.cu:3:4: note: here",
            "a.cu:5:6: remark: two [-Rpass=regrain-x]",
        ];
        assert_eq!(remarks(text), expected);
        assert!(remarks("").is_empty());
    }

    #[test]
    fn each_is_said_once() {
        let log = RemarkLog::default();
        log.say("a: remark: one\nb: remark: two");
        log.say("b: remark: two\nc: remark: three");
        assert_eq!(log.said(), ["a: remark: one", "b: remark: two", "c: remark: three"]);
    }
}
