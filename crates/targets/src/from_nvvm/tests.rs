//! A destination that differs from the CPU in everything that may differ.

use inkwell::memory_buffer::MemoryBuffer;

use super::*;
use crate::machines;
use crate::nvvm::library::{VECTOR_FORM, vector_form};

/// As a GPU of another maker would have it.
struct Other;

impl Destination for Other {
    fn name(&self) -> &str {
        "the other target"
    }
    fn cuda_arch(&self) -> u32 {
        80
    }
    fn machine(&self) -> Result<std::rc::Rc<TargetMachine>, Error> {
        machines::host().map(std::rc::Rc::new)
    }
    fn library(&self) -> &DeviceLibrary {
        crate::cpu::device_library()
    }
    fn is_relocatable(&self) -> bool {
        false
    }

    fn kernel_convention(&self) -> u32 {
        91
    }
    fn keeps_convergent(&self) -> bool {
        true
    }
    fn forbids_contraction(&self) -> bool {
        false
    }
    fn place_shared<'ctx>(&self, _: &Module<'ctx>, _: GlobalValue<'ctx>) -> Option<PointerValue<'ctx>> {
        None
    }
    fn trap(&self) -> Option<&str> {
        None
    }
    fn program_name<'n>(&self, symbol: &'n str) -> Option<&'n str> {
        symbol.strip_prefix("other.")
    }
}

const DEVICE: &str = r#"
target triple = "nvptx64-nvidia-cuda"
@tile = internal addrspace(3) global [4 x i32] undef
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) #0
declare void @llvm.trap()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define ptx_kernel void @other.k() #0 {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  store i32 %t, ptr addrspace(3) @tile
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0) #1
  call void @llvm.trap()
  ret void
}
attributes #0 = { convergent "target-cpu"="sm_80" }
attributes #1 = { convergent }
"#;

fn device(context: &Context) -> Module<'_> {
    let text = [DEVICE.as_bytes(), b"\0"].concat();
    context.create_module_from_ir(MemoryBuffer::create_from_memory_range_copy(&text, "device")).expect("valid IR")
}

#[test]
fn what_differs_is_the_destinations() {
    let context = Context::create();
    let module = device(&context);
    retarget(&module, &Other).expect("retargeted");
    module.verify().expect("a valid module");
    let text = module.print_to_string().to_string();
    for kept in [
        "define amdgpu_kernel void @other.k()",
        "@tile = internal addrspace(3) global",
        "call void @llvm.trap()",
        "convergent",
        "call void @__regrain_llvm_nvvm_barrier_cta_sync_aligned_all(i32 0)",
    ] {
        assert!(text.contains(kept), "{kept} in {text}");
    }
    for gone in ["sm_80", "llvm.nvvm", "ptx_kernel"] {
        assert!(!text.contains(gone), "{gone} in {text}");
    }
}

#[test]
fn what_the_library_has_not_is_named_with_the_target() {
    let context = Context::create();
    let module = device(&context);
    retarget(&module, &Other).expect("retargeted");
    let message = reject_missing(&module, &Other).expect_err("nothing is linked").to_string();
    assert_eq!(message, "error: the other target has no 'llvm_nvvm_read_ptx_sreg_tid_x' in 'k'");
    link_library(&context, &module, &Other).expect("linked");
    reject_missing(&module, &Other).expect("all is there");
}

#[test]
fn vector_forms_come_only_when_they_are_called() {
    let context = Context::create();
    let module = device(&context);
    let of_vectors = |module: &Module<'_>| -> Vec<String> {
        let names = module.get_functions().map(|f| f.get_name().to_string_lossy().into_owned());
        let mut found: Vec<String> = names.filter(|name| name.starts_with(VECTOR_FORM)).collect();
        found.sort();
        found
    };
    let wanted = vector_form("__nv_expf", 8).expect("exp has a form of 8 elements");
    let unknown = format!("{VECTOR_FORM}8v___nv_nothing");
    let vector = context.f32_type().vec_type(8);
    for name in [&wanted, &unknown] {
        module.add_function(name, vector.fn_type(&[vector.into()], false), None);
    }
    link_library(&context, &module, &Other).expect("linked");
    assert_eq!(of_vectors(&module), [wanted.clone(), unknown]);
    assert!(module.get_function(&wanted).is_some_and(|form| form.get_first_basic_block().is_some()));

    let plain = device(&context);
    link_library(&context, &plain, &Other).expect("linked");
    assert!(of_vectors(&plain).is_empty());
}
