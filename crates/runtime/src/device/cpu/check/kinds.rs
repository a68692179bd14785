//! What is checked.

use std::sync::atomic::{AtomicU32, Ordering};

/// Kinds of checks; the compiler has the same numbers (`targets::target::CHECKS`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    Memory = 1,
    Race = 2,
    Init = 4,
    Sync = 8,
    Leak = 16,
    /// What CUDA's functions refuse: with [`Kind::Memory`].
    Api = 32,
}

impl Kind {
    /// Its name in options, reports and suppressions.
    pub fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Race => "race",
            Self::Init => "init",
            Self::Sync => "sync",
            Self::Leak => "leak",
            Self::Api => "api",
        }
    }

    /// Whether the program asks for it.
    #[inline]
    pub fn is_on(self) -> bool {
        let bits = self as u32 | if self == Self::Api { Self::Memory as u32 } else { 0 };
        KINDS.load(Ordering::Relaxed) & bits != 0
    }
}

/// The kinds that are on.
static KINDS: AtomicU32 = AtomicU32::new(0);

/// A translation unit asks for these, too.
pub fn add(kinds: u32) {
    KINDS.fetch_or(kinds, Ordering::Relaxed);
}
