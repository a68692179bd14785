//! What this process was given by the one that started it.

use jobserver::{Client, FromEnv};

/// The job tokens of the `make` that runs this process. To be called before the process opens any file.
pub fn jobserver_of_make() -> FromEnv {
    // SAFETY: the numbers of files that make names are either make's or not open, as the caller has opened none yet; those that
    // are open are checked to be pipes.
    unsafe { Client::from_env_ext(true) }
}
