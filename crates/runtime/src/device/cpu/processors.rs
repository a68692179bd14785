//! How many processors there are, and how many OS threads run blocks.

use std::sync::OnceLock;

/// The processors that this process may use.
pub fn processors() -> usize {
    static PROCESSORS: OnceLock<usize> = OnceLock::new();
    *PROCESSORS.get_or_init(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get))
}

/// Number of OS threads that run blocks: `REGRAIN_CPU_THREADS`, else the processors this process may use.
pub fn threads() -> usize {
    static THREADS: OnceLock<usize> = OnceLock::new();
    *THREADS.get_or_init(|| {
        let available = processors();
        match std::env::var("REGRAIN_CPU_THREADS") {
            Err(_) => available,
            Ok(text) => match text.trim().parse::<usize>() {
                Ok(count) if (1..=4096).contains(&count) => count,
                _ => {
                    eprintln!(
                        "regrain runtime: warning: expected REGRAIN_CPU_THREADS to be a number from 1 to 4096, \
                         got '{text}'"
                    );
                    available
                }
            },
        }
    })
}
