//! Parts of a lowered module that are optimised and emitted beside one another: kernels have nothing to do with each other, and LLVM's passes
//! and code generator take most of the time of a compilation.

use std::path::{Path, PathBuf};

use inkwell::context::Context;
use inkwell::module::Module;
use mlir_bridge::llvm;

use super::codegen;
use crate::target::BlockOptions;
use crate::{Error, jobs};

/// Instructions of a part, roughly: of fewer, reading it and setting LLVM up take as long as is won.
const LEAST: u64 = 200;
/// There are no more parts.
const MOST: u32 = 32;

/// Writes the object of each part of `module`, in which nothing is missing, beside `output`. `None` if it stays whole.
pub(super) fn emit(module: &Module<'_>, options: &BlockOptions, output: &Path) -> Result<Option<Vec<PathBuf>>, Error> {
    if !options.may_part || options.level == 0 || options.relocatable || options.loaded {
        return Ok(None);
    }
    let count = llvm::mark_parts(module, &options.unit, LEAST, MOST);
    if count < 2 {
        return Ok(None);
    }
    let bitcode = module.write_bitcode_to_memory();
    let bytes = bitcode.as_slice();
    let parts: Vec<(u32, PathBuf)> =
        (0..count).map(|part| (part, output.with_extension(format!("{part}.o")))).collect();
    let of = |(part, path): &(u32, PathBuf)| {
        let context = Context::create();
        let part =
            llvm::read_part(&context, bytes, *part).map_err(|e| Error::internal("reading a part of a module", e))?;
        codegen::optimise(&part, options)?;
        codegen::emit_object(&part, options, path)
    };
    jobs::beside_one_another(&parts, of).into_iter().collect::<Result<Vec<()>, Error>>()?;
    Ok(Some(parts.into_iter().map(|(_, path)| path).collect()))
}
