//! NVIDIA's GPUs as a target.

use std::ffi::CStr;
use std::path::Path;
use std::process::Command;

use inkwell::module::Module;
use inkwell::targets::TargetMachine;
use regrain_tuning::Space;
use regrain_tuning::model::Processor;

use super::codegen::{emit, optimize};
use super::limits::{limits, shared_opt_in_everywhere};
use super::managed;
use super::{AssembleOptions, Assembled, CodegenOptions, Image as Part, assemble, embed, fat_binary};
use crate::image::{Image, KernelOptions, Piece};
use crate::offload::{ImageKind, OffloadImage};
use crate::target::{Code, Kernels, LaunchLimits, Target};
use crate::toolkit::{SmArch, Toolkit};
use crate::{Error, machines};

/// NVIDIA's GPUs.
pub struct Nvptx;

const TRIPLE: &str = "nvptx64-nvidia-cuda";

impl Target for Nvptx {
    fn name(&self) -> &'static str {
        "nvptx"
    }

    fn arch(&self, name: &str) -> Option<Result<String, Error>> {
        name.starts_with("sm_").then(|| SmArch::parse(name).map(|arch| arch.to_string()))
    }

    fn known(&self) -> Vec<String> {
        SmArch::all().map(|arch| arch.to_string()).collect()
    }

    fn installed(&self, clang: &Path) -> Option<String> {
        if !Path::new("/dev/nvidiactl").exists() {
            return None;
        }
        let real = clang.canonicalize().unwrap_or_else(|_| clang.to_path_buf());
        let output = Command::new(real.with_file_name("nvptx-arch")).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        SmArch::parse(text.lines().next()?.trim()).ok().map(|arch| arch.to_string())
    }

    fn cuda_arch(&self, arch: &str) -> Option<SmArch> {
        SmArch::parse(arch).ok()
    }

    fn check(&self, arch: &str, toolkit: &Toolkit) -> Result<(), Error> {
        toolkit.require(SmArch::parse(arch)?)
    }

    fn processor(&self, arch: &str) -> Result<Processor<'static>, Error> {
        Ok(Processor::Gpu(limits(SmArch::parse(arch)?)?))
    }

    fn record_name(&self, archs: &[&str], _cpu: Option<&str>) -> String {
        archs.join("+")
    }

    fn usual_space(&self, block: Option<[u32; 3]>) -> Space {
        Space::for_gpu(block, 32)
    }

    fn launch_limits(&self, archs: &[&str], _chip: SmArch) -> Result<LaunchLimits, Error> {
        let archs = archs.iter().map(|arch| SmArch::parse(arch)).collect::<Result<Vec<_>, _>>()?;
        let dynamic_shared = shared_opt_in_everywhere(&archs)?.into();
        Ok(LaunchLimits { threads: 1024, static_shared: 48 << 10, dynamic_shared, parameters: 4 << 10 })
    }

    fn device(&self) -> u32 {
        1
    }

    fn code(&self) -> Code {
        Code::Kernels(&Nvptx)
    }

    fn has_own_runtime(&self) -> bool {
        true
    }
}

impl Kernels for Nvptx {
    fn text_extension(&self) -> &'static str {
        "ptx"
    }

    fn code_extension(&self) -> &'static str {
        "cubin"
    }

    fn managed_section(&self) -> Option<&'static CStr> {
        Some(managed::SECTION)
    }

    fn machine(&self, arch: &str) -> Result<TargetMachine, Error> {
        machines::nvptx(SmArch::parse(arch)?.number)
    }

    fn optimized(&self, module: &Module<'_>, toolkit: &Toolkit, options: &KernelOptions) -> Result<(), Error> {
        optimize(module, toolkit, &codegen_options(toolkit, options)?)
    }

    fn stamp(&self, toolkit: &Toolkit, _options: &KernelOptions) -> String {
        toolkit.stamp()
    }

    fn compile(
        &self,
        module: &Module<'_>,
        toolkit: &Toolkit,
        options: &KernelOptions,
        text_only: bool,
    ) -> Result<Image, Error> {
        self.optimized(module, toolkit, options)?;
        let codegen = codegen_options(toolkit, options)?;
        let arch = codegen.arch;
        let ptx = emit(module, toolkit, &codegen)?;
        if text_only {
            let arch = options.arch.clone();
            return Ok(Image {
                arch,
                text: ptx,
                code: Vec::new(),
                reports: Vec::new(),
                warnings: Vec::new(),
                notes: String::new(),
            });
        }
        let assembling = AssembleOptions {
            opt_level: options.level,
            line_info: options.lines,
            debug: options.debug,
            relocatable: options.relocatable,
            extra: options.assembler.clone(),
            ..AssembleOptions::new(arch)
        };
        let Assembled { cubin, reports, warnings, notes } = assemble(toolkit, &ptx, &assembling)?;
        Ok(Image { arch: options.arch.clone(), text: ptx, code: cubin, reports, warnings, notes })
    }

    fn embed(&self, host: &Module<'_>, images: &[Image], pieces: Option<&[Piece]>) -> Result<(), Error> {
        embed(host, &fat_binary(&parts(images, pieces)?)?).map(drop)
    }

    fn pack(&self, images: &[Image], pieces: Option<&[Piece]>) -> Option<Result<Vec<u8>, Error>> {
        Some(parts(images, pieces).and_then(|parts| fat_binary(&parts)))
    }

    fn offload_images<'i>(
        &self,
        images: &'i [Image],
        pieces: Option<&[Piece]>,
    ) -> Result<Vec<OffloadImage<'i>>, Error> {
        let image = |arch: &'i str, kind, bytes: &'i [u8]| OffloadImage {
            kind,
            triple: TRIPLE,
            arch,
            unit: "",
            options: "",
            bytes,
        };
        let (cubins, texts) = shipped(images, pieces)?;
        let cubins = cubins.into_iter().map(|one| image(&one.arch, ImageKind::Cubin, &one.code));
        let texts = texts.into_iter().map(|one| image(&one.arch, ImageKind::Ptx, one.text.as_bytes()));
        Ok(cubins.chain(texts).collect())
    }
}

/// How LLVM's back end is to work.
fn codegen_options(toolkit: &Toolkit, options: &KernelOptions) -> Result<CodegenOptions, Error> {
    let arch = SmArch::parse(&options.arch)?;
    toolkit.require(arch)?;
    let settings = &options.settings;
    Ok(CodegenOptions {
        opt_level: options.level,
        fuses: !settings.keeps_apart,
        exact_root: settings.exact_root,
        near_quotient: settings.near_quotient,
        ..CodegenOptions::new(arch)
    })
}

/// What a program for several chips holds.
fn parts<'i>(images: &'i [Image], pieces: Option<&[Piece]>) -> Result<Vec<Part<'i>>, Error> {
    let (cubins, texts) = shipped(images, pieces)?;
    let mut parts = Vec::new();
    for image in cubins {
        parts.push(Part::Cubin(SmArch::parse(&image.arch)?, &image.code));
    }
    for image in texts {
        parts.push(Part::Ptx(SmArch::parse(&image.arch)?, &image.text));
    }
    Ok(parts)
}

/// Images, in order.
type Images<'i> = Vec<&'i Image>;

/// The images whose cubins, and those whose PTX a program holds: all cubins and the newest PTX, where nothing else is said.
fn shipped<'i>(images: &'i [Image], pieces: Option<&[Piece]>) -> Result<(Images<'i>, Images<'i>), Error> {
    let Some(pieces) = pieces else { return Ok((images.iter().collect(), newest(images)?.into_iter().collect())) };
    let said = |image: &Image, of: fn(&Piece) -> bool| pieces.iter().any(|piece| piece.arch == image.arch && of(piece));
    let cubins = images.iter().filter(|image| said(image, |piece| piece.code)).collect();
    Ok((cubins, images.iter().filter(|image| said(image, |piece| piece.text)).collect()))
}

/// The image whose PTX later chips run. PTX for the features of one chip alone runs on no other, so it is worth nothing beside
/// that chip's cubin.
fn newest(images: &[Image]) -> Result<Option<&Image>, Error> {
    let mut best: Option<(SmArch, &Image)> = None;
    for image in images {
        let arch = SmArch::parse(&image.arch)?;
        if !arch.specific && best.is_none_or(|(newest, _)| arch > newest) {
            best = Some((arch, image));
        }
    }
    Ok(best.map(|(_, image)| image))
}
