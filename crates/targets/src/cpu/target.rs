//! The CPU as a target.

use std::path::{Path, PathBuf};

use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::targets::TargetMachine;
use mlir_bridge::{VectorRegisters, llvm};
use regrain_tuning::Space;
use regrain_tuning::model::Processor;

use super::destination::{IN_WORDS, device_library};
use super::{cheap, codegen, image_symbol, limits, lower, parts};
use crate::from_nvvm::{device_runtime, open_inline_ptx, reject_missing, stand_in};
use crate::target::{BlockOptions, Blocks, Code, LaunchLimits, SplitForm, Target};
use crate::toolkit::{SmArch, Toolkit};
use crate::{Error, Unsupported, nvptx};

/// The processor that the program runs on.
pub struct Cpu;

/// The name of the one architecture.
const NAME: &str = "cpu";

impl Target for Cpu {
    fn name(&self) -> &'static str {
        NAME
    }

    fn arch(&self, name: &str) -> Option<Result<String, Error>> {
        (name == NAME).then(|| Ok(NAME.to_owned()))
    }

    fn known(&self) -> Vec<String> {
        vec![NAME.to_owned()]
    }

    fn installed(&self, _clang: &Path) -> Option<String> {
        Some(NAME.to_owned())
    }

    fn cuda_arch(&self, _arch: &str) -> Option<SmArch> {
        None
    }

    fn check(&self, _arch: &str, _toolkit: &Toolkit) -> Result<(), Error> {
        Ok(())
    }

    fn processor(&self, _arch: &str) -> Result<Processor<'static>, Error> {
        Ok(Processor::Cpu(limits()))
    }

    fn record_name(&self, _archs: &[&str], cpu: Option<&str>) -> String {
        let host = || TargetMachine::get_host_cpu_name().to_string_lossy().into_owned();
        format!("cpu:{}x{}", cpu.map_or_else(host, str::to_owned), limits().cores)
    }

    fn usual_space(&self, block: Option<[u32; 3]>) -> Space {
        Space::for_cpu(block)
    }

    fn launch_limits(&self, _archs: &[&str], chip: SmArch) -> Result<LaunchLimits, Error> {
        // The runtime gives blocks what the chip would give them for which the source was written.
        let dynamic_shared = nvptx::limits::limits(chip)?.shared_opt_in.into();
        Ok(LaunchLimits { threads: 1024, static_shared: 48 << 10, dynamic_shared, parameters: 4 << 10 })
    }

    fn device(&self) -> u32 {
        0
    }

    fn code(&self) -> Code {
        Code::Blocks(&Cpu)
    }
}

impl Blocks for Cpu {
    fn expect(&self) {
        device_library().read_signatures();
    }

    fn stand_in<'ctx>(&self, context: &'ctx Context, device: &Module<'ctx>) -> Result<Vec<Unsupported>, Error> {
        device_runtime::bind(device)?;
        stand_in(context, device, device_library(), IN_WORDS)
    }

    fn prepare<'ctx>(
        &self,
        context: &'ctx Context,
        device: &Module<'ctx>,
        options: &BlockOptions,
    ) -> Result<(), Error> {
        open_inline_ptx(context, device, device_library(), options.cuda_arch)
    }

    fn lower<'ctx>(
        &self,
        context: &'ctx Context,
        device: Module<'ctx>,
        split: Option<SplitForm<'ctx>>,
        options: &BlockOptions,
    ) -> Result<Module<'ctx>, Error> {
        lower(context, device, split, options).map(|(module, _)| module)
    }

    fn emit(&self, module: &Module<'_>, options: &BlockOptions, output: &Path) -> Result<Vec<PathBuf>, Error> {
        // Nobody will ask for lines where nothing is missing, and LLVM's passes would carry them about.
        if !options.lines && reject_missing(module, options).is_ok() {
            module.strip_debug_info();
            if let Some(objects) = parts::emit(module, options, output)? {
                return Ok(objects);
            }
        }
        codegen::optimise(module, options)?;
        if reject_missing(module, options).is_err() && cheap::unmark(module) {
            // It may be called where nothing ever gets.
            codegen::optimise(module, options)?;
        }
        reject_missing(module, options)?;
        if options.loaded {
            llvm::take_from_program(module, &image_symbol(&options.unit));
        }
        codegen::emit_object(module, options, output)?;
        Ok(vec![output.to_owned()])
    }

    fn image_symbol(&self, unit: &str) -> String {
        image_symbol(unit)
    }

    fn vector_registers(&self, options: &BlockOptions) -> Result<VectorRegisters, Error> {
        Ok(VectorRegisters::of(&*codegen::machine(options)?))
    }

    fn triple(&self) -> String {
        TargetMachine::get_default_triple().as_str().to_string_lossy().into_owned()
    }
}
