//! How the driver speaks: clang's way.

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


/// A note that `-v` shows.
pub fn note(message: &str) {
    eprintln!("regrain: {message}");
}

fn chain(error: &Error) -> String {
    let parts: Vec<String> = error.chain().map(ToString::to_string).collect();
    parts.join(": ")
}
