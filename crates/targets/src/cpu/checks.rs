//! Code that tells the runtime's checker what it does (`-fregrain-check=`).
//!
//! The threads of a kernel are checked as the program wrote them: only the coroutine form exists, at all levels of optimisation. Functions of
//! CUDA's and clang's headers become part of the program's own, so that an access has the line of the program, and so do those of the device
//! library that take addresses. Then variables that live in registers go, at level 0 too, and the rest is `mlir-bridge/cpp/checks.cpp`.
//! What is optimised afterwards has the calls in it; a load that nobody needs is gone before, and not checked.

use std::collections::HashSet;
use std::path::Path;

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::Module;
use mlir_bridge::llvm;

use super::codegen;
use super::sync::{HEADERS, is_ours, name_of};
use crate::target::BlockOptions;
use crate::{Error, machines};

/// Of [`crate::target::CHECKS`]: those that look at accesses.
const ACCESSES: u32 = 1 | 2 | 4;

/// Adds the calls to a module that the device library is linked into.
pub(super) fn insert(module: &Module<'_>, options: &BlockOptions) -> Result<(), Error> {
    let machine = codegen::machine(options)?;
    let accesses = options.checks & ACCESSES != 0;
    let headers = headers(module);
    if accesses {
        inline_headers(module, &headers);
        machines::run_passes(module, codegen::mandatory_inlining(options), &machine)?;
        llvm::inline_for_checks(module);
        machines::run_passes(module, "function(sroa,early-cse)", &machine)?;
    }
    llvm::insert_checks(module, &options.unit, &headers, options.checks, accesses);
    Ok(())
}

/// Headers of clang's and ours that stand in no folder of clang's.
const OTHERS: [&str; 2] = ["/__regrain_", "/__clang_cuda_"];

/// Parts of paths of headers that are not the program's, and behind `=` the folders of CUDA's own headers.
fn headers(module: &Module<'_>) -> Vec<String> {
    let files: HashSet<String> = module.get_functions().filter_map(llvm::source_file).collect();
    let folders = files.iter().filter_map(|file| Path::new(file).parent()).collect::<HashSet<_>>();
    let of_toolkit = |folder: &&Path| !folder.as_os_str().is_empty() && folder.join("cuda_runtime.h").exists();
    let of_toolkit = folders.into_iter().filter(of_toolkit).map(|folder| format!("={}", folder.display()));
    HEADERS.iter().chain(&OTHERS).map(|part| (*part).to_owned()).chain(of_toolkit).collect()
}

fn is_in(file: &str, headers: &[String]) -> bool {
    headers.iter().any(|part| match part.strip_prefix('=') {
        Some(folder) => Path::new(file).parent() == Some(Path::new(folder)),
        None => file.contains(part.as_str()),
    })
}

/// Marks what stands in headers of CUDA's and clang's to be inlined, and lets all functions be looked through.
fn inline_headers(module: &Module<'_>, headers: &[String]) {
    let always = module.get_context().create_enum_attribute(Attribute::get_named_enum_kind_id("alwaysinline"), 0);
    let kept = ["noinline", "optnone"].map(Attribute::get_named_enum_kind_id);
    for function in module.get_functions().filter(|function| !is_ours(&name_of(*function))) {
        let is_alone = function.get_enum_attribute(AttributeLoc::Function, kept[1]).is_some();
        let inlines =
            llvm::source_file(function).is_some_and(|file| is_in(&file, headers)) && !llvm::is_address_taken(function);
        if is_alone || inlines {
            kept.iter().for_each(|kind| function.remove_enum_attribute(AttributeLoc::Function, *kind));
        }
        if inlines && function.get_first_basic_block().is_some() {
            function.add_attribute(AttributeLoc::Function, always);
        }
    }
}
