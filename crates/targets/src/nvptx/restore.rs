//! What a device module loses on its way through MLIR, put back: inline assembly comes out without the attributes of its
//! call, so the optimiser would take it for something that touches all memory and may throw.
//!
//! ```llvm
//! %1 = call i32 asm "mov.u32 $0, %laneid;", "=r"()            ; before
//! %1 = call i32 asm "mov.u32 $0, %laneid;", "=r"() #0         ; after, #0 = { convergent nounwind memory(none) }
//! ```
//! These are the attributes that clang gives to device code: `convergent nounwind` always, `memory(none)` when the
//! assembly is neither volatile nor clobbers memory nor has a memory operand.

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::Module;
use inkwell::values::{AnyValue, CallSiteValue, InstructionOpcode, InstructionValue};
use mlir_bridge::llvm::calls_inline_asm;

/// Restores `module`, which was exported from MLIR.
pub fn restore_after_export(module: &Module<'_>) {
    let context = module.get_context();
    let kind = Attribute::get_named_enum_kind_id;
    let flag = |name| context.create_enum_attribute(kind(name), 0);
    let always = [flag("convergent"), flag("nounwind")];
    // All locations, no access: the encoding of `memory(none)`.
    let no_memory = context.create_enum_attribute(kind("memory"), 0);
    for call in inline_assembly(module) {
        let Ok(site) = CallSiteValue::try_from(call) else { continue };
        always.iter().for_each(|attribute| site.add_attribute(AttributeLoc::Function, *attribute));
        if is_pure(&call.print_to_string().to_string()) {
            site.add_attribute(AttributeLoc::Function, no_memory);
        }
    }
}

fn inline_assembly<'c>(module: &Module<'c>) -> Vec<InstructionValue<'c>> {
    let blocks = module.get_functions().flat_map(|function| function.get_basic_blocks());
    blocks
        .flat_map(|block| block.get_instructions())
        .filter(|instruction| instruction.get_opcode() == InstructionOpcode::Call && calls_inline_asm(*instruction))
        .collect()
}

/// Whether the printed call neither has side effects nor touches memory: its constraints are the second string.
fn is_pure(call: &str) -> bool {
    let Some((_, assembly)) = call.split_once(" asm ") else { return false };
    let constraints = assembly.split('"').nth(3).unwrap_or_default();
    !assembly.trim_start().starts_with("sideeffect") && !constraints.contains("~{memory}") && !constraints.contains('*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    #[test]
    fn calls_get_back_what_clang_gave_them() {
        let text = r#"
define void @f(i32 %v) {
  %1 = call i32 asm "mov.u32 $0, %laneid;", "=r"()
  call void asm sideeffect "bar.sync 1;", ""()
  %2 = call i32 asm "ld.global.u32 $0, [$1];", "=r,r,~{memory}"(i32 %v)
  ret void
}
"#;
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(format!("{text}\0").as_bytes(), "device");
        let module = context.create_module_from_ir(buffer).unwrap();
        restore_after_export(&module);
        let memory = Attribute::get_named_enum_kind_id("memory");
        let has_memory: Vec<bool> = inline_assembly(&module)
            .into_iter()
            .map(|call| {
                let site = CallSiteValue::try_from(call).unwrap();
                let convergent = Attribute::get_named_enum_kind_id("convergent");
                assert!(site.get_enum_attribute(AttributeLoc::Function, convergent).is_some());
                site.get_enum_attribute(AttributeLoc::Function, memory).is_some()
            })
            .collect();
        assert_eq!(has_memory, [true, false, false]);
        assert!(module.print_to_string().to_string().contains("memory(none)"));
    }
}
