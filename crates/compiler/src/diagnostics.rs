//! What the user is told beside errors.

use std::cell::RefCell;

/// What only `-Rpass-missed` asks for: shown as it comes up, and remembered.
#[derive(Default)]
pub struct Missed {
    shown: bool,
    said: RefCell<Vec<String>>,
}

impl Missed {
    /// Remarks that are shown or not.
    pub fn new(shown: bool) -> Self {
        Self { shown, said: RefCell::default() }
    }

    /// Says something, once: chips that share a search have the same to say.
    pub fn say(&self, text: &str) {
        if text.is_empty() || self.said.borrow().iter().any(|said| said == text) {
            return;
        }
        if self.shown {
            eprintln!("{text}");
        }
        self.said.borrow_mut().push(text.to_owned());
    }

    /// What was said so far.
    pub fn said(&self) -> Vec<String> {
        self.said.borrow().clone()
    }
}

/// A note of the driver's.
pub fn note(message: &str) {
    eprintln!("regrain: {message}");
}
