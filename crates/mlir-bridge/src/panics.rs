//! Panics of passes, caught before they reach C++, with the place where they began.

use std::{
    cell::{Cell, RefCell},
    panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook},
    sync::Once,
};

thread_local! {
    /// How many `catch` are running on this thread.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// Where the last caught panic began.
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// While a pass runs, a panic notes its place instead of printing; other panics are as before.
fn install_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let others = take_hook();
        set_hook(Box::new(move |info| {
            if DEPTH.get() == 0 {
                others(info);
            } else {
                let place = info.location().map(ToString::to_string).unwrap_or_default();
                PLACE.set(place);
            }
        }));
    });
}

/// Runs `work`; a panic in it becomes `message (file:line:column)`.
pub(crate) fn catch<R>(work: impl FnOnce() -> R) -> Result<R, String> {
    install_hook();
    DEPTH.set(DEPTH.get() + 1);
    let result = catch_unwind(AssertUnwindSafe(work));
    DEPTH.set(DEPTH.get() - 1);
    result.map_err(|payload| {
        let text = match payload.downcast_ref::<&str>() {
            Some(text) => text,
            None => payload.downcast_ref::<String>().map_or("panic", String::as_str),
        };
        format!("{text} ({})", PLACE.take())
    })
}
