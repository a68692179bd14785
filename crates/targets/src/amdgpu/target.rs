//! AMD's GPUs as a target.

use std::path::Path;
use std::process::Command;

use inkwell::module::Module;
use inkwell::targets::TargetMachine;
use regrain_tuning::Space;
use regrain_tuning::model::Processor;

use super::chips::Chip;
use super::codegen::Codegen;
use super::{CODE_OBJECT, metadata, rocm};
use crate::cache::stamp;
use crate::image::{Image, KernelOptions, Piece};
use crate::nvvm::atomics;
use crate::offload::{self, ImageKind, OffloadImage};
use crate::target::{Code, Kernels, LaunchLimits, Target};
use crate::toolkit::{SmArch, Toolkit};
use crate::{Error, Settings, machines};

/// AMD's GPUs.
pub struct Amdgpu;

const TRIPLE: &str = "amdgcn-amd-amdhsa";

/// The chip for whose features clang's passes are run on device code, which is NVPTX until it is adapted.
const FRONT_END_CHIP: u32 = 70;

impl Target for Amdgpu {
    fn name(&self) -> &'static str {
        "amdgpu"
    }

    fn arch(&self, name: &str) -> Option<Result<String, Error>> {
        name.starts_with("gfx").then(|| Chip::find(name).map(|chip| chip.name.to_owned()))
    }

    fn known(&self) -> Vec<String> {
        Chip::all().map(|chip| chip.name.to_owned()).collect()
    }

    fn installed(&self, clang: &Path) -> Option<String> {
        if !Path::new("/dev/kfd").exists() {
            return None;
        }
        let real = clang.canonicalize().unwrap_or_else(|_| clang.to_path_buf());
        let output = Command::new(real.with_file_name("amdgpu-arch")).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        Chip::find(text.lines().next()?.trim()).ok().map(|chip| chip.name.to_owned())
    }

    fn cuda_arch(&self, _arch: &str) -> Option<SmArch> {
        None
    }

    fn check(&self, _arch: &str, _toolkit: &Toolkit) -> Result<(), Error> {
        Ok(())
    }

    fn processor(&self, arch: &str) -> Result<Processor<'static>, Error> {
        Ok(Processor::Gpu(Chip::find(arch)?.limits))
    }

    fn record_name(&self, archs: &[&str], _cpu: Option<&str>) -> String {
        archs.join("+")
    }

    fn usual_space(&self, block: Option<[u32; 3]>) -> Space {
        Space::for_gpu(block, 64)
    }

    fn launch_limits(&self, archs: &[&str], _chip: SmArch) -> Result<LaunchLimits, Error> {
        let mut least =
            LaunchLimits { threads: 1024, static_shared: 64 << 10, dynamic_shared: 64 << 10, parameters: 4 << 10 };
        for arch in archs {
            let limits = Chip::find(arch)?.limits;
            least.threads = least.threads.min(limits.threads_per_block);
            least.static_shared = least.static_shared.min(limits.shared_static.into());
            least.dynamic_shared = least.dynamic_shared.min(limits.shared_opt_in.into());
        }
        Ok(least)
    }

    fn device(&self) -> u32 {
        2
    }

    fn code(&self) -> Code {
        Code::Kernels(&Amdgpu)
    }
}

impl Kernels for Amdgpu {
    fn text_extension(&self) -> &'static str {
        "s"
    }

    fn code_extension(&self) -> &'static str {
        "hsaco"
    }

    fn receive(&self, module: &Module<'_>) {
        atomics::scope(module);
    }

    fn machine(&self, _arch: &str) -> Result<TargetMachine, Error> {
        machines::nvptx(FRONT_END_CHIP)
    }

    fn settled(&self, options: &KernelOptions) -> Result<Settings, Error> {
        let wave64 = Codegen::new(options)?.has_wave64();
        let code_object = options.settings.code_object.unwrap_or(CODE_OBJECT);
        Ok(Settings { code_object: Some(code_object), wave64: Some(wave64), ..options.settings.clone() })
    }

    /// Messages name lines of the program even where the code keeps none.
    fn wants_lines(&self) -> bool {
        true
    }

    fn stamp(&self, _toolkit: &Toolkit, options: &KernelOptions) -> String {
        let ocml = rocm::ocml(&options.settings).map(|path| stamp(&path)).unwrap_or_default();
        format!("{ocml} {}", stamp(&options.lld))
    }

    fn optimized(&self, module: &Module<'_>, _toolkit: &Toolkit, options: &KernelOptions) -> Result<(), Error> {
        Codegen::new(options)?.optimize(module)
    }

    fn compile(
        &self,
        module: &Module<'_>,
        _toolkit: &Toolkit,
        options: &KernelOptions,
        text_only: bool,
    ) -> Result<Image, Error> {
        let codegen = Codegen::new(options)?;
        codegen.optimize(module)?;
        let (arch, text) = (options.arch.clone(), codegen.emit(module)?);
        if text_only {
            return Ok(Image {
                arch,
                text,
                code: Vec::new(),
                reports: Vec::new(),
                warnings: Vec::new(),
                notes: String::new(),
            });
        }
        let code = codegen.assemble(&text)?;
        let reports = metadata::reports(&code, &arch)?;
        Ok(Image { arch, text, code, reports, warnings: Vec::new(), notes: String::new() })
    }

    fn embed(&self, host: &Module<'_>, images: &[Image], pieces: Option<&[Piece]>) -> Result<(), Error> {
        offload::embed_set(host, None, &offload::write(&self.offload_images(images, pieces)?)).map(drop)
    }

    fn offload_images<'i>(
        &self,
        images: &'i [Image],
        _pieces: Option<&[Piece]>,
    ) -> Result<Vec<OffloadImage<'i>>, Error> {
        let image = |image: &'i Image| OffloadImage {
            kind: ImageKind::Object,
            triple: TRIPLE,
            arch: &image.arch,
            unit: "",
            options: "",
            bytes: &image.code,
        };
        Ok(images.iter().map(image).collect())
    }
}
