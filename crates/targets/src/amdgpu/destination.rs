//! An AMD chip as a place that NVVM device IR is brought to.

use std::rc::Rc;

use inkwell::attributes::AttributeLoc;
use inkwell::module::Module;
use inkwell::targets::TargetMachine;
use inkwell::values::{GlobalValue, PointerValue};

use super::chips::Chip;
use crate::from_nvvm::{Destination, DeviceLibrary};
use crate::kernel_names::AMDGPU_KERNEL;
use crate::{Error, machines};

/// Our way to end a kernel with an error, which the runtime reports.
const TRAP: &str = "__regrain_trap";

/// What the source saw where device code does not say: clang is asked for this chip where the program has none of NVIDIA's.
const LEAST_CUDA_ARCH: u32 = 70;

static LIBRARY: DeviceLibrary =
    DeviceLibrary::new(include_bytes!(concat!(env!("OUT_DIR"), "/amdgpu_library.bc")), &[], &[]);

/// Our device library, built from `device-lib/{common,amdgpu}/*.c` by `build.rs` for no chip in particular.
pub fn device_library() -> &'static DeviceLibrary {
    &LIBRARY
}

/// Where a module goes.
pub(super) struct Place {
    chip: Chip,
    cuda_arch: u32,
}

impl Place {
    /// `chip`, for a module of clang's.
    pub(super) fn new(chip: Chip, module: &Module<'_>) -> Self {
        let seen = module.get_functions().find_map(|function| {
            let attribute = function.get_string_attribute(AttributeLoc::Function, "target-cpu")?;
            let name = attribute.get_string_value().to_string_lossy().into_owned();
            name.strip_prefix("sm_")?.trim_end_matches('a').parse().ok()
        });
        Self { chip, cuda_arch: seen.unwrap_or(LEAST_CUDA_ARCH) }
    }
}

impl Destination for Place {
    fn name(&self) -> &str {
        "the AMD target"
    }

    fn cuda_arch(&self) -> u32 {
        self.cuda_arch
    }

    fn machine(&self) -> Result<Rc<TargetMachine>, Error> {
        machines::amdgpu(self.chip.name).map(Rc::new)
    }

    fn library(&self) -> &DeviceLibrary {
        device_library()
    }

    fn is_relocatable(&self) -> bool {
        false
    }

    fn kernel_convention(&self) -> u32 {
        AMDGPU_KERNEL
    }

    fn keeps_convergent(&self) -> bool {
        true
    }

    fn forbids_contraction(&self) -> bool {
        false
    }

    fn place_shared<'ctx>(&self, _module: &Module<'ctx>, _variable: GlobalValue<'ctx>) -> Option<PointerValue<'ctx>> {
        None
    }

    fn trap(&self) -> Option<&str> {
        Some(TRAP)
    }

    fn program_name<'n>(&self, symbol: &'n str) -> Option<&'n str> {
        (!symbol.starts_with("llvm.")).then_some(symbol)
    }
}
