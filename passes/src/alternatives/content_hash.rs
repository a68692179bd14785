//! `regrain-hash-kernels`: marks each launch function with a hash of what its kernel does.
//!
//! Before:                                        After:
//!   llvm.func @__regrain_launch.k(...) -> i32      llvm.func @__regrain_launch.k(...) -> i32
//!                                                      attributes {regrain.content = "5d41402abc4b2a76..."}
//!
//! The hash covers the launch function in parallel form and all functions and variables that it reaches, without source
//! locations: it says whether times measured earlier are still those of this kernel, wherever its source lies now. The chip
//! is no part of it, so that a kernel that is the same for two chips has one hash.

use std::collections::BTreeSet;

use mlir_bridge::{
    ir::Op,
    pass::{Anchor, PassInfo, PassResult, PassRun},
};

use crate::launch::launch_function::kernel_of_launch;

/// On a launch function: the hash, in hexadecimal.
pub const CONTENT: &str = "regrain.content";

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: "regrain-hash-kernels",
    summary: "mark launch functions with a hash of what their kernels do",
    anchor: Anchor::Module,
    options: &[],
    dialects: &[],
    run,
};

fn run(_: &PassRun<'_>, module: Op<'_>) -> PassResult {
    mark(module);
    Ok(())
}

/// Marks every launch function of a module.
pub fn mark(module: Op<'_>) {
    let launches = module
        .find_named("llvm.func")
        .into_iter()
        .filter(|f| f.symbol_name().is_some_and(|n| kernel_of_launch(n).is_some()));
    for launch in launches.collect::<Vec<_>>() {
        let hash = hash(module, launch);
        launch.set_attr(CONTENT, module.ctx().str_attr(&hash));
    }
}

/// The hash of one function and of what it reaches.
fn hash(module: Op<'_>, function: Op<'_>) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut seen = BTreeSet::new();
    let mut open = vec![function.to_local_string()];
    while let Some(text) = open.pop() {
        hasher.update(without_chip(&text).as_bytes());
        for name in symbols(&text) {
            if seen.insert(name.to_owned())
                && let Some(symbol) = module.lookup_symbol(name).filter(|symbol| *symbol != function)
            {
                open.push(symbol.to_local_string());
            }
        }
    }
    hasher.finalize().to_hex()[..32].to_owned()
}

/// Printed IR without the attributes that name the chip.
fn without_chip(text: &str) -> String {
    let named =
        [("[\"target-cpu\", \"", "\"]"), ("target_cpu = \"", "\""), ("target_features = #llvm.target_features<", ">")];
    named.into_iter().fold(text.to_owned(), |text, (begin, end)| {
        let mut pieces = text.split(begin);
        let first = pieces.next().unwrap_or_default().to_owned();
        pieces.fold(first, |kept, piece| kept + piece.split_once(end).map_or(piece, |(_, rest)| rest))
    })
}

/// The symbols that printed IR names, in the order of their appearance.
fn symbols(text: &str) -> impl Iterator<Item = &str> {
    text.split('@').skip(1).filter_map(|rest| match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => rest.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | '-'))).next(),
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn leaves_out_the_chip() {
        let of = |chip: &str| {
            super::without_chip(&format!(
                "passthrough = [\"x\", [\"target-cpu\", \"{chip}\"]], target_cpu = \"{chip}\", \
                 target_features = #llvm.target_features<[\"+ptx88\", \"+{chip}\"]>}} {{ body }}"
            ))
        };
        assert_eq!(of("sm_80"), of("sm_90"));
        assert!(of("sm_80").ends_with("} { body }"));
    }

    #[test]
    fn finds_symbols() {
        let text = r#"llvm.call @f(%0) : ... @"g h"() , @_ZN1aEv$b2.c)"#;
        assert_eq!(super::symbols(text).collect::<Vec<_>>(), ["f", "g h", "_ZN1aEv$b2.c"]);
    }
}
