//! Where in the program something stands that device code cannot have.

use std::collections::{HashSet, VecDeque};
use std::path::Path;

use inkwell::values::{FunctionValue, InstructionValue};
use mlir_bridge::llvm;

/// Headers that stand in clang's folder and in the toolkit's.
const HEADERS: [&str; 2] = ["__clang_cuda_runtime_wrapper.h", "cuda_runtime.h"];

/// The line of the program that `call` belongs to, and its function: its own, or where it stands in a header of CUDA's, those of the
/// nearest caller outside of these.
pub(super) fn of_program(call: InstructionValue<'_>) -> (Option<(String, u32)>, String) {
    let (mut seen, mut queue) = (HashSet::new(), VecDeque::from([call]));
    while let Some(instruction) = queue.pop_front() {
        let frames = llvm::source_frames(instruction);
        if let Some(frame) = frames.into_iter().find(|(file, _)| !is_cuda_header(Path::new(file))) {
            return (Some(frame), name(llvm::function_of(instruction)));
        }
        if let Some(function) = llvm::function_of(instruction).filter(|function| seen.insert(*function)) {
            queue.extend(llvm::users(function.as_global_value()));
        }
    }
    (llvm::source_location(call), name(llvm::function_of(call)))
}

fn name(function: Option<FunctionValue<'_>>) -> String {
    function.map_or(String::new(), |f| f.get_name().to_string_lossy().into_owned())
}

fn is_cuda_header(file: &Path) -> bool {
    let folders = file.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
    folders.take(8).any(|folder| HEADERS.iter().any(|header| folder.join(header).exists()))
}
