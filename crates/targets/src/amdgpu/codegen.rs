//! clang's device IR to AMDGPU assembly and code objects.

use std::collections::HashMap;

use inkwell::module::Module;
use mlir_bridge::amdgpu_backend::{Backend, Shape};
use mlir_bridge::llvm;

use super::chips::Chip;
use super::destination::Place;
use super::{CODE_OBJECT, device_library, link, rocm};
use crate::from_nvvm::{reject_missing, retarget};
use crate::image::KernelOptions;
use crate::{Error, Unsupported};

/// Code generation for one chip with the user's settings.
pub(super) struct Codegen<'o> {
    chip: Chip,
    options: &'o KernelOptions,
    wave: u32,
    backend: Backend,
}

impl<'o> Codegen<'o> {
    pub(super) fn new(options: &'o KernelOptions) -> Result<Self, Error> {
        let chip = Chip::find(&options.arch)?;
        let wave64 = match options.settings.wave64 {
            Some(false) if !chip.has_wave32() => {
                let what = format!("{} has no waves of 32 threads ('-mno-wavefrontsize64')", chip.name);
                return Err(Error::User(what));
            }
            chosen => chosen.unwrap_or(!chip.has_wave32()),
        };
        let features = match (chip.has_wave32(), wave64) {
            (true, true) => "+wavefrontsize64",
            (true, false) => "+wavefrontsize32",
            (false, _) => "",
        };
        let wave = if wave64 { 64 } else { 32 };
        let shape = Shape {
            opt_level: options.level,
            size_level: 0,
            code_object: options.settings.code_object.unwrap_or(CODE_OBJECT),
            wave,
            unit_simds: chip.limits.partitions,
            simd_waves: chip.simd_waves(),
        };
        Ok(Self { chip, options, wave, backend: Backend::new(chip.name, features, shape) })
    }

    /// Whether waves have 64 threads.
    pub(super) fn has_wave64(&self) -> bool {
        self.wave == 64
    }

    /// The control constants of AMD's device libraries and of ours. Denormals are as the module's own functions have them.
    fn constants(&self) -> [(&'static str, u64); 9] {
        [
            ("__oclc_ISA_version", self.chip.isa_version().into()),
            ("__oclc_ABI_version", (self.options.settings.code_object.unwrap_or(CODE_OBJECT) * 100).into()),
            ("__oclc_wavefrontsize64", u64::from(self.wave == 64)),
            ("__oclc_wavefrontsize_log2", if self.wave == 64 { 6 } else { 5 }),
            ("__oclc_daz_opt", 0),
            ("__oclc_finite_only_opt", 0),
            ("__oclc_unsafe_math_opt", 0),
            ("__oclc_correctly_rounded_sqrt32", 1),
            ("__oclc_regrain_steady_nanoseconds", self.chip.tick().into()),
        ]
    }

    /// All up to instruction selection.
    pub(super) fn optimize(&self, module: &Module<'_>) -> Result<(), Error> {
        let place = Place::new(self.chip, module);
        retarget(module, &place)?;
        let failed = |doing: &'static str| move |message: String| Error::internal(doing, message);
        self.backend.adapt(module).map_err(|message| Error::User(format!("{}: {message}", self.chip.name)))?;
        let link = |library: &[u8]| {
            self.backend.link(module, library, &self.constants()).map_err(failed("linking a device library"))
        };
        link(device_library().bitcode())?;
        if uses_ocml(module) {
            let path = rocm::ocml(&self.options.settings)?;
            let library =
                std::fs::read(&path).map_err(|source| Error::Io { path: path.display().to_string(), source })?;
            link(&library)?;
        }
        self.backend.optimize(module).map_err(failed("optimising device code"))?;
        reject_missing(module, &place)
    }

    /// Assembly of an optimised module, which is of no use afterwards.
    pub(super) fn emit(&self, module: &Module<'_>) -> Result<String, Error> {
        let places: HashMap<String, _> = module
            .get_functions()
            .filter_map(|f| Some((f.get_name().to_string_lossy().into_owned(), llvm::definition(f)?)))
            .collect();
        if self.options.lines || self.options.debug {
            llvm::keep_line_tables(module);
        } else {
            module.strip_debug_info();
        }
        self.backend.emit(module).map_err(|message| refused(&message, &places))
    }

    /// The code object of assembly.
    pub(super) fn assemble(&self, text: &str) -> Result<Vec<u8>, Error> {
        let failed = |message: String| Error::Tool { tool: "the AMDGPU assembler".into(), message };
        link::code_object(&self.backend.assemble(text).map_err(failed)?, &self.options.lld)
    }
}

/// What the back end says of a function, as in `<unknown>:0:0: local memory (80000) exceeds limit (65536) in function '_Z1kv'`, with
/// the place of the function in the source.
fn refused(message: &str, places: &HashMap<String, (String, u32)>) -> Error {
    let text = message.trim().trim_start_matches("<unknown>:0:0: ");
    let function = text.split_once(" in function '").and_then(|(what, rest)| Some((what, rest.split_once('\'')?.0)));
    match function {
        Some((what, function)) if !what.contains('\n') => Error::Unsupported(Unsupported {
            function: function.to_owned(),
            location: places.get(function).cloned(),
            what: what.replace("local memory", "shared memory"),
        }),
        _ => Error::Tool { tool: "the AMDGPU back end".into(), message: message.to_owned() },
    }
}

/// Whether a module calls a function of AMD's mathematical library.
fn uses_ocml(module: &Module<'_>) -> bool {
    module.get_functions().any(|function| {
        function.get_first_basic_block().is_none() && function.get_name().to_bytes().starts_with(b"__ocml_")
    })
}
