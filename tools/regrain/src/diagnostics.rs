//! How the driver speaks: clang's way.

use std::cell::RefCell;

use anyhow::Error;

/// Prints an error. What clang has already located and worded is shown as it is.
pub fn report(error: &Error) {
    if let Some(regrain_frontend::Error::Rejected { stderr }) = error.downcast_ref() {
        eprint!("{stderr}");
        return;
    }
    if let Some(regrain_targets::Error::Unsupported(what)) = error.downcast_ref() {
        eprintln!("{what}");
        return;
    }
    eprintln!("regrain: error: {}", chain(error));
}

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

    /// Says something.
    pub fn say(&self, text: &str) {
        if text.is_empty() {
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

/// A note that `-v` shows.
pub fn note(message: &str) {
    eprintln!("regrain: {message}");
}

fn chain(error: &Error) -> String {
    let parts: Vec<String> = error.chain().map(ToString::to_string).collect();
    parts.join(": ")
}
