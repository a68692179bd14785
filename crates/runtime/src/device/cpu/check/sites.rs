//! Places in the source, as generated code has them.

use std::ffi::{CStr, c_char};

/// Where an access stands.
#[repr(C)]
pub struct Place {
    pub file: *const c_char,
    pub line: u32,
    pub column: u32,
    pub function: *const c_char,
}

/// The same in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spot {
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub function: String,
}

/// A C string that may be null.
///
/// # Safety
/// `text` is null or a C string.
pub unsafe fn text(text: *const c_char) -> String {
    // SAFETY: by contract.
    if text.is_null() { String::new() } else { unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned() }
}

/// What a place of generated code says.
pub fn spot(place: *const Place) -> Spot {
    // SAFETY: generated code passes constants of the program.
    unsafe {
        match place.as_ref() {
            Some(place) => {
                Spot { file: text(place.file), line: place.line, column: place.column, function: text(place.function) }
            }
            None => Spot::default(),
        }
    }
}

impl Spot {
    /// As reports have it: `k(int*) in file.cu:12:5`.
    pub fn in_words(&self) -> String {
        let mut words = self.function.clone();
        if self.line != 0 {
            if !words.is_empty() {
                words += " in ";
            }
            words += &format!("{}:{}", self.file, self.line);
            if self.column != 0 {
                words += &format!(":{}", self.column);
            }
        }
        if words.is_empty() { "an unknown place".into() } else { words }
    }
}
