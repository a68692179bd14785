//! Where in the program something stands that device code cannot have.

use std::collections::{HashSet, VecDeque};
use std::path::Path;

use inkwell::values::{AnyValueEnum, BasicValue, BasicValueEnum, FunctionValue, InstructionValue};
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
            return (Some(frame), name(holder(instruction)));
        }
        if let Some(function) = holder(instruction).filter(|function| seen.insert(*function)) {
            queue.extend(users(function));
        }
    }
    (llvm::source_location(call), name(holder(call)))
}

fn holder<'ctx>(instruction: InstructionValue<'ctx>) -> Option<FunctionValue<'ctx>> {
    instruction.get_parent().and_then(|block| block.get_parent())
}

fn name(function: Option<FunctionValue<'_>>) -> String {
    function.map_or(String::new(), |f| f.get_name().to_string_lossy().into_owned())
}

fn is_cuda_header(file: &Path) -> bool {
    let folders = file.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
    folders.take(8).any(|folder| HEADERS.iter().any(|header| folder.join(header).exists()))
}

/// The instructions that call a function or take its address.
fn users<'ctx>(function: FunctionValue<'ctx>) -> Vec<InstructionValue<'ctx>> {
    let mut found = Vec::new();
    let mut next = function.as_global_value().as_pointer_value().as_basic_value_enum().get_first_use();
    while let Some(used) = next {
        next = used.get_next_use();
        found.extend(match used.get_user() {
            AnyValueEnum::InstructionValue(instruction) => Some(instruction),
            other => BasicValueEnum::try_from(other).ok().and_then(|value| value.as_instruction_value()),
        });
    }
    found
}
