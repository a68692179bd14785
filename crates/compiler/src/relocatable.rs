//! The device side of a unit whose device code is linked with that of others (`-fgpu-rdc`), for targets whose kernels are loaded
//! when the program runs: clang's IR waits in the object, with how it is to be compiled, for the link step ([`crate::program`]).

use std::collections::HashMap;

use inkwell::context::Context;
use inkwell::module::{Linkage, Module};
use mlir_bridge::llvm;
use regrain_frontend::{host, private_names};
use regrain_targets::device_link::flushes_denormals;
use regrain_targets::image::KernelOptions;
use regrain_targets::units::DeviceCode;
use serde::{Deserialize, Serialize};

use crate::blocks::{external_variables, unit_name};
use crate::chips::Chips;
use crate::device_side::{Code, DeviceSide};
use crate::diagnostics::RemarkLog;
use crate::dump::Dump;
use crate::error::{Error, Result};
use crate::kernels::read_unit;
use crate::source::{Sides, Source, read_bitcode};
use crate::versions::Versions;
use crate::words::Words;

/// What the link step must know of a unit's device code.
#[derive(Serialize, Deserialize)]
pub(crate) struct Recorded {
    /// The chip whose `__CUDA_ARCH__` the source saw.
    pub(crate) chip: String,
    /// Whether functions of the libraries take denormals for zero.
    pub(crate) flushes: bool,
    /// How code is made of it.
    pub(crate) options: KernelOptions,
}

/// The lists in which clang keeps what the host refers to from being dropped: nothing is before the link step.
const LISTS: [&str; 2] = ["llvm.used", "llvm.compiler.used"];

/// Makes the device side from clang's code for each chip.
pub(crate) fn device_side(source: &Source<'_>, dump: &Dump, chips: &Chips<'_>, coarser: bool) -> Result<DeviceSide> {
    let (mut codes, mut external, mut filled) = (Vec::new(), Vec::new(), false);
    for ((arch, chip), path) in chips.archs.iter().zip(&chips.chips).zip(&chips.bitcode) {
        let context = Context::create();
        let module = read_unit(source, dump, chips, &context, &arch.name, path, true)?;
        private_names::keep_apart(&module, &source.unit.id());
        for list in LISTS.iter().filter_map(|list| module.get_global(list)) {
            llvm::remove_list(list);
        }
        filled |= defines_something(&module);
        external.extend(external_variables(&module));
        let mut options = source.kernel_options(&arch.name);
        options.settings = chips.target.settled(&options)?;
        let recorded = Recorded { chip: chip.to_string(), flushes: flushes_denormals(&module), options };
        let text = serde_json::to_string(&recorded).map_err(|e| Error::internal(e.to_string()))?;
        // With its folder the name would tell where the program is built.
        let name = source.unit.input.file_name().unwrap_or_default().to_string_lossy();
        module.set_source_file_name(&name);
        module.set_name(&name);
        let bitcode = module.write_bitcode_to_memory().as_slice().into();
        codes.push(DeviceCode { arch: arch.name.clone(), options: text, bitcode });
    }
    if coarser && filled {
        let archs: Vec<&str> = chips.archs.iter().map(|arch| arch.name.as_str()).collect();
        let (input, archs) = (source.unit.input.display(), archs.join(", "));
        RemarkLog::new(&source.options.remarks, Words::default()).say(&format!(
            "{input}: remark: kernels keep their grain on {archs}: their code is linked later (-fgpu-rdc)"
        ));
    }
    codes.retain(|_| filled);
    let code = Code::Waiting { codes, unit: unit_name(source, &chips.bitcode[0])? };
    let (versions, most_threads, record_name) = (Versions::default(), HashMap::new(), String::new());
    Ok(DeviceSide { versions, most_threads, code, record_name, external_variables: external })
}

/// Lets the host register what is private to the unit by the names that keep it apart from other units' in the device code.
pub(crate) fn register_private(source: &Source<'_>, host: &Module<'_>, sides: &Sides) -> Result<()> {
    let mut names = HashMap::new();
    for path in &sides.device {
        let context = Context::create();
        names.extend(private_names::keep_apart(&read_bitcode(&context, path)?, &source.unit.id()));
    }
    host::register_as(host, |plain| names.get(plain).cloned());
    Ok(())
}

fn defines_something(module: &Module<'_>) -> bool {
    // clang's own lists are private.
    let is_code = |linkage| !matches!(linkage, Linkage::Internal | Linkage::Private | Linkage::Appending);
    let mut variables = module.get_globals().filter(|global| !global.is_declaration());
    let mut functions = module.get_functions().filter(|function| function.get_first_basic_block().is_some());
    variables.any(|global| is_code(global.get_linkage())) || functions.any(|function| is_code(function.get_linkage()))
}
