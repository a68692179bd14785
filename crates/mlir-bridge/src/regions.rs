//! Loop nests of a host module as functions of their own.

use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};

use crate::ffi;

/// A nest that became a function, or several in a row that did.
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
    /// Whether it stands in a loop, or in a function that the module calls.
    pub is_repeated: bool,
    /// The functions of a row, in its order; of one nest, none.
    pub members: Vec<String>,
}

/// A file, as clang names it, and a line; none and 0 where that is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: String,
    /// The line.
    pub line: u32,
}

/// A loop that stays where it is, or a scop that is not one region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Where it stands.
    pub place: Place,
    /// Whether it is a scop.
    pub is_scop: bool,
    /// Why.
    pub reason: String,
}

/// Makes functions of the nests of a module that may run in parallel, those alone that stand in `scops` of the source at `path` (first and last
/// lines) if there are any; which these are, rows of them behind their members, and which loops stay and why.
pub fn outline(module: &Module<'_>, path: &str, scops: &[(usize, usize)]) -> (Vec<Region>, Vec<Kept>) {
    let scops: Vec<String> = scops.iter().map(|(first, last)| format!("{first} {last} ")).collect();
    let (path, scops) = (ffi::string(path), scops.concat());
    // SAFETY: a live module; the texts are read during the call; the sink gets its own.
    let ((), said) = ffi::gather(|sink, user| unsafe {
        ffi::regrainOutlineRegions(module.as_mut_ptr(), path, ffi::string(&scops), sink, user);
    });
    let (mut regions, mut kept) = (Vec::new(), Vec::new());
    for line in String::from_utf8_lossy(&said).lines() {
        match line.split('\t').collect::<Vec<_>>()[..] {
            ["region" | "group", name, file, line, objects, globals, repeated, members] => regions.push(Region {
                function: name.to_owned(),
                place: place(file, line),
                objects: list(objects).map(|number| number.parse().ok().filter(|number| *number > 0)).collect(),
                globals: list(globals).filter_map(global).collect(),
                is_repeated: repeated == "repeated",
                members: list(members).map(str::to_owned).collect(),
            }),
            [kind @ ("not" | "scop"), file, line, reason] => {
                kept.push(Kept { place: place(file, line), is_scop: kind == "scop", reason: reason.to_owned() });
            }
            _ => {}
        }
    }
    (regions, kept)
}

/// Puts the bodies of private functions that a function calls in place of the calls.
pub fn inline_members(function: FunctionValue<'_>) {
    // SAFETY: a live function with a body.
    unsafe { ffi::regrainInlineMembers(function.as_value_ref()) }
}

/// Has `begin` called before loops that call some functions, and access no memory beside, and `end` behind them; how many.
pub fn mark_resident(module: &Module<'_>, functions: &[&str], begin: FunctionValue<'_>, end: FunctionValue<'_>) -> u32 {
    let names = functions.join("\n");
    // SAFETY: a live module, and functions of it; the text is read during the call.
    unsafe {
        ffi::regrainMarkResident(module.as_mut_ptr(), ffi::string(&names), begin.as_value_ref(), end.as_value_ref())
    }
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
