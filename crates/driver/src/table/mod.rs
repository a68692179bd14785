//! The table of options: each with its names, how its value is attached, who takes it and what becomes of it.
//!
//! Two command lines are read by it: clang's, with options of ours (`regrain`), and nvcc's (`regrain-nvcc`). Parsing, `--help`, the
//! completions of shells and the manual page follow from the table; what is not in it `regrain` hands to clang as it is.

mod rows;

use std::collections::HashMap;
use std::sync::LazyLock;

use anyhow::Result;
pub use rows::TABLE;

use crate::args::{Args, Driver};

/// How the value of an option is attached to its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// It has none.
    None,
    /// It follows in the same word, and may be empty: `-O2`, `--cuda-path=DIR`.
    Joined,
    /// It is the next word: `-Xclang WORD`.
    Separate,
    /// One or the other: `-I DIR`, `-IDIR`.
    Either,
    /// nvcc's way: `-arch=ARCH`, `-arch ARCH`.
    Equals,
    /// nvcc's way for options of one letter: `-l m`, `-l=m`, `-lm`.
    Any,
}

/// Who takes an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Both drivers.
    Both,
    /// `regrain` alone.
    Regrain,
    /// `regrain-nvcc` alone; clang means something else by the name, and so does `regrain`.
    Nvcc,
    /// `regrain-nvcc` alone; to `regrain` it is an error that says what to write there.
    NvccElse(&'static str),
}

/// What becomes of an option.
#[derive(Clone, Copy)]
pub enum Does {
    /// An option of ours, with what it sets.
    Ours(Set),
    /// An option of others that the driver itself acts upon.
    Sets(Set),
    /// An option of nvcc's for which these words of clang's stand, once for each value of its list; `{}` is the value.
    Means(&'static str),
    /// clang gets it for each compilation.
    Compile,
    /// clang gets it where it links.
    Link,
    /// clang gets it everywhere.
    CompileAndLink,
    /// Says how the rule for make is written.
    Dependency,
    /// clang does what is asked for, on the whole command line.
    Clang,
    /// Nothing that is known begins so.
    Unknown,
    /// It is an error, with this advice.
    Refused(&'static str),
}

/// What an option of the driver's does with its value.
pub type Set = fn(&mut Args, &str) -> Result<()>;

/// An option.
pub struct Opt {
    /// Its names, dashes included; the first is the usual one.
    pub names: &'static [&'static str],
    /// How its value is attached.
    pub value: Value,
    /// What stands for the value in the help, as in `<dir>`.
    pub meta: &'static str,
    /// Who takes it.
    pub scope: Scope,
    /// What becomes of it.
    pub does: Does,
    /// What it is for, in a line.
    pub help: &'static str,
}

impl Opt {
    /// Whether `driver` takes the option.
    pub fn is_for(&self, driver: Driver) -> bool {
        match self.scope {
            Scope::Both => true,
            Scope::Regrain => driver == Driver::Regrain,
            Scope::Nvcc | Scope::NvccElse(_) => driver == Driver::Nvcc,
        }
    }

    /// Whether it is one of ours.
    pub fn is_ours(&self) -> bool {
        matches!(self.does, Does::Ours(_))
    }
}

/// An option as it stands on a command line.
pub struct Found {
    /// The option.
    pub option: &'static Opt,
    /// Its name as it is written there.
    pub name: &'static str,
    /// The value, where it is in the same word.
    pub joined: Option<String>,
}

impl Found {
    /// Whether the next word is the value.
    pub fn wants_next(&self) -> bool {
        self.joined.is_none() && self.option.value != Value::None
    }
}

/// The options that a driver looks at, by name.
type Names = HashMap<&'static str, &'static Opt>;

fn names(driver: Driver) -> &'static Names {
    static REGRAIN: LazyLock<Names> = LazyLock::new(|| collect(Driver::Regrain));
    static NVCC: LazyLock<Names> = LazyLock::new(|| collect(Driver::Nvcc));
    match driver {
        Driver::Regrain => &REGRAIN,
        Driver::Nvcc => &NVCC,
    }
}

fn collect(driver: Driver) -> Names {
    let seen = |option: &&Opt| match option.scope {
        Scope::NvccElse(_) => true,
        _ => option.is_for(driver),
    };
    TABLE.iter().filter(seen).flat_map(|option| option.names.iter().map(move |name| (*name, option))).collect()
}

/// The option that `word` is or begins with. The longest name counts, one that is the whole word before all others.
pub fn find(driver: Driver, word: &str) -> Option<Found> {
    let names = names(driver);
    let whole = names.get_key_value(word).map(|(name, option)| (*name, *option));
    if let Some((name, option)) = whole {
        let joined = (option.value == Value::Joined).then(String::new);
        return Some(Found { option, name, joined });
    }
    let ends = (1..word.len()).rev().filter(|end| word.is_char_boundary(*end));
    for end in ends {
        let Some((name, option)) = names.get_key_value(&word[..end]) else { continue };
        let rest = &word[end..];
        let joined = match option.value {
            Value::None | Value::Separate => continue,
            Value::Joined | Value::Either => rest,
            Value::Equals => match rest.strip_prefix('=') {
                Some(value) => value,
                None => continue,
            },
            Value::Any => rest.strip_prefix('=').unwrap_or(rest),
        };
        return Some(Found { option, name, joined: Some(joined.to_owned()) });
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_no_driver_finds_a_name_twice() {
        let key = |option: &Opt| option.names[0].trim_start_matches('-').to_lowercase();
        for pair in TABLE.windows(2) {
            assert!(key(&pair[0]) <= key(&pair[1]), "{} stands before {}", pair[0].names[0], pair[1].names[0]);
        }
        for driver in [Driver::Regrain, Driver::Nvcc] {
            let all = TABLE.iter().filter(|option| option.is_for(driver)).flat_map(|option| option.names);
            let mut seen = std::collections::HashSet::new();
            let twice: Vec<_> = all.filter(|name| !seen.insert(**name)).collect();
            assert!(twice.is_empty(), "{driver:?}: {twice:?}");
        }
    }

    #[test]
    fn each_option_says_what_it_is_for() {
        for option in TABLE {
            assert!(!option.help.is_empty() && !option.help.ends_with('.'), "{}", option.names[0]);
            assert_eq!(option.meta.is_empty(), option.value == Value::None, "{}", option.names[0]);
        }
    }

    /// As nvcc 13.0 lists them in its help.
    const OPTIONS_OF_NVCC: &str = include_str!("nvcc13_options.txt");

    #[test]
    fn each_option_of_nvcc_is_known() {
        let unknown = |name: &&str| find(Driver::Nvcc, name).is_none_or(|found| found.name != *name);
        let unknown: Vec<&str> = OPTIONS_OF_NVCC.lines().filter(unknown).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }

    #[test]
    fn regrain_takes_no_option_of_nvcc_for_one_that_is_shorter() {
        // Where a longer name is not known, clang's option of the same beginning is what was meant.
        let shadowed = |option: &&Opt| matches!(option.scope, Scope::NvccElse(_) | Scope::Both);
        for name in TABLE.iter().filter(shadowed).flat_map(|option| option.names) {
            assert_eq!(find(Driver::Regrain, name).map(|found| found.name), Some(*name));
        }
    }

    #[test]
    fn a_name_is_not_taken_for_a_shorter_one() {
        let found = |driver, word: &str| find(driver, word).map(|found| (found.name, found.joined));
        assert_eq!(found(Driver::Regrain, "-use_fast_math"), Some(("-use_fast_math", None)));
        assert_eq!(found(Driver::Regrain, "-lineinfo"), Some(("-lineinfo", None)));
        assert_eq!(found(Driver::Regrain, "-lm"), Some(("-l", Some("m".into()))));
        assert_eq!(found(Driver::Nvcc, "-arch=sm_80"), Some(("-arch", Some("sm_80".into()))));
        assert_eq!(found(Driver::Nvcc, "-arch"), Some(("-arch", None)));
        assert!(found(Driver::Nvcc, "-archsm_80").is_none());
        assert!(found(Driver::Nvcc, "-fPIC").is_none());
        assert_eq!(found(Driver::Nvcc, "-t4"), Some(("-t", Some("4".into()))));
    }
}
