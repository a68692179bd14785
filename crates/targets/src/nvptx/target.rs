//! NVIDIA's GPUs as a target.

use std::path::Path;
use std::process::Command;

use inkwell::module::Module;
use inkwell::targets::TargetMachine;
use regrain_tuning::Space;
use regrain_tuning::model::Processor;

use super::limits::{limits, shared_opt_in_everywhere};
use super::{AssembleOptions, Assembled, CodegenOptions, Image as Part, assemble, compile_to_ptx, embed, fat_binary};
use crate::{Error, machines};
use crate::jobs::{Image, KernelOptions};
use crate::offload::Entry;
use crate::target::{Code, Kernels, LaunchLimits, Target};
use crate::toolkit::{SmArch, Toolkit};

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
        Space::for_gpu(block)
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

    fn machine(&self, arch: &str) -> Result<TargetMachine, Error> {
        machines::nvptx(SmArch::parse(arch)?.number)
    }

    fn stamp(&self, toolkit: &Toolkit) -> String {
        toolkit.version.to_string()
    }

    fn compile(
        &self,
        module: &Module<'_>,
        toolkit: &Toolkit,
        options: &KernelOptions,
        text_only: bool,
    ) -> Result<Image, Error> {
        let arch = SmArch::parse(&options.arch)?;
        toolkit.require(arch)?;
        let codegen = CodegenOptions { opt_level: options.level, ..CodegenOptions::new(arch) };
        let ptx = compile_to_ptx(module, toolkit, &codegen)?;
        if text_only {
            let arch = options.arch.clone();
            return Ok(Image { arch, text: ptx, code: Vec::new(), reports: Vec::new(), warnings: Vec::new() });
        }
        let assembling = AssembleOptions {
            opt_level: options.level,
            line_info: options.lines,
            debug: options.debug,
            extra: options.assembler.clone(),
            ..AssembleOptions::new(arch)
        };
        let Assembled { cubin, reports, warnings } = assemble(toolkit, &ptx, &assembling)?;
        Ok(Image { arch: options.arch.clone(), text: ptx, code: cubin, reports, warnings })
    }

    fn embed(&self, host: &Module<'_>, images: &[Image]) -> Result<(), Error> {
        embed(host, &fat_binary(&parts(images)?)?).map(drop)
    }

    fn entries(&self, images: &[Image]) -> Result<Vec<Entry>, Error> {
        let entry = |part: &Part<'_>| match *part {
            Part::Cubin(arch, code) => Entry { triple: TRIPLE.into(), arch: arch.to_string(), code: code.to_vec() },
            Part::Ptx(arch, text) => {
                Entry { triple: TRIPLE.into(), arch: arch.to_string(), code: text.as_bytes().to_vec() }
            }
        };
        Ok(parts(images)?.iter().map(entry).collect())
    }
}

/// What a program for several chips holds: a cubin for each, and the PTX of the newest.
fn parts(images: &[Image]) -> Result<Vec<Part<'_>>, Error> {
    let archs = images.iter().map(|image| SmArch::parse(&image.arch)).collect::<Result<Vec<_>, _>>()?;
    let mut parts: Vec<Part<'_>> =
        archs.iter().zip(images).map(|(arch, image)| Part::Cubin(*arch, &image.code)).collect();
    // PTX for the features of one chip alone runs on no other, so it is worth nothing beside that chip's cubin.
    let newest = archs.iter().zip(images).filter(|(arch, _)| !arch.specific).max_by_key(|(arch, _)| **arch);
    parts.extend(newest.map(|(arch, image)| Part::Ptx(*arch, &image.text)));
    Ok(parts)
}
