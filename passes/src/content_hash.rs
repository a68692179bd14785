//! `regrain-hash-kernels`: marks each launch function with a hash of what its kernel does.
//!
//! Before:                                        After:
//!   llvm.func @__regrain_launch.k(...) -> i32      llvm.func @__regrain_launch.k(...) -> i32
//!                                                      attributes {regrain.content = "5d41402abc4b2a76..."}
//!
//! The hash covers the launch function in parallel form and all functions and variables that it reaches, without source
//! locations: it says whether times measured earlier are still those of this kernel, wherever its source lies now.

use std::collections::BTreeSet;

use mlir_bridge::{
    ir::Op,
    pass::{Anchor, PassInfo, PassResult, PassRun},
};

use crate::launch_function::kernel_of_launch;

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
    let launches = module.find_named("llvm.func").into_iter().filter(|f| f.symbol_name().is_some_and(|n| kernel_of_launch(n).is_some()));
    for launch in launches.collect::<Vec<_>>() {
        let hash = hash(module, launch);
        launch.set_attr(CONTENT, module.ctx().str_attr(&hash));
    }
}

/// The hash of one function and of what it reaches.
fn hash(module: Op<'_>, function: Op<'_>) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut seen = BTreeSet::new();
    let mut open = vec![function.to_string()];
    while let Some(text) = open.pop() {
        hasher.update(text.as_bytes());
        for name in symbols(&text) {
            if seen.insert(name.to_owned())
                && let Some(symbol) = module.lookup_symbol(name).filter(|symbol| *symbol != function)
            {
                open.push(symbol.to_string());
            }
        }
    }
    hasher.finalize().to_hex()[..32].to_owned()
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
    fn finds_symbols() {
        let text = r#"llvm.call @f(%0) : ... @"g h"() , @_ZN1aEv$b2.c)"#;
        assert_eq!(super::symbols(text).collect::<Vec<_>>(), ["f", "g h", "_ZN1aEv$b2.c"]);
    }
}
