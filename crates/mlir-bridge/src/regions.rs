//! Loop nests of a host module as functions of their own.

use inkwell::module::Module;

use crate::ffi;

/// A nest that became a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// The function's name.
    pub function: String,
    /// Where its first loop stands.
    pub place: Place,
    /// For each parameter a number of the object that it points into, where that is no part of another one with a number.
    pub objects: Vec<Option<u32>>,
    /// The same of variables.
    pub globals: Vec<(String, u32)>,
}

/// A file, as clang names it, and a line; none and 0 where that is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: String,
    /// The line.
    pub line: u32,
}

/// A loop that stays where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Where it stands.
    pub place: Place,
    /// Why.
    pub reason: String,
}

/// Makes functions of the nests of a module that may run in parallel; which these are, and which loops stay and why.
pub fn outline(module: &Module<'_>) -> (Vec<Region>, Vec<Kept>) {
    // SAFETY: a live module; the sink gets its own.
    let ((), said) = ffi::gather(|sink, user| unsafe { ffi::regrainOutlineRegions(module.as_mut_ptr(), sink, user) });
    let (mut regions, mut kept) = (Vec::new(), Vec::new());
    for line in String::from_utf8_lossy(&said).lines() {
        match line.split('\t').collect::<Vec<_>>()[..] {
            ["region", name, file, line, objects, globals] => regions.push(Region {
                function: name.to_owned(),
                place: place(file, line),
                objects: list(objects).map(|number| number.parse().ok().filter(|number| *number > 0)).collect(),
                globals: list(globals).filter_map(global).collect(),
            }),
            ["not", file, line, reason] => kept.push(Kept { place: place(file, line), reason: reason.to_owned() }),
            _ => {}
        }
    }
    (regions, kept)
}

fn place(file: &str, line: &str) -> Place {
    Place { file: file.to_owned(), line: line.parse().unwrap_or(0) }
}

fn list(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').filter(|part| !part.is_empty())
}

fn global(text: &str) -> Option<(String, u32)> {
    let (name, number) = text.rsplit_once('=')?;
    Some((name.to_owned(), number.parse().ok()?))
}

/// Takes all debug information from a module.
pub fn strip_debug_info(module: &Module<'_>) {
    // SAFETY: a live module.
    unsafe { ffi::regrainStripDebugInfo(module.as_mut_ptr()) }
}
