//! The NVIDIA target: device LLVM IR to PTX, PTX to cubin with a resource report, both into a fat binary, and that
//! into the host module.
//!
//! ```text
//! device module --codegen--> PTX --ptxas--> cubin + reports --fatbin--> fat binary --embed--> host module
//! ```

pub mod cache;
pub mod codegen;
mod elf;
pub mod embed;
pub mod extract;
pub mod fatbin;
pub mod limits;
mod merge;
pub mod ptxas;
pub mod report;
mod target;

pub use cache::{Cache, Key};
pub use codegen::{CodegenOptions, compile_to_ptx};
pub use embed::embed;
pub use extract::extract;
pub use fatbin::{Image, fat_binary};
pub use merge::merge;
pub use ptxas::{AssembleOptions, Assembled, assemble};
pub use report::Report;
pub use target::Nvptx;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;

use crate::Error;
use crate::toolkit::{SmArch, Toolkit};

/// A device module compiled for one chip.
#[derive(Clone, Debug)]
pub struct DeviceImage {
    /// The chip.
    pub arch: SmArch,
    /// PTX text.
    pub ptx: String,
    /// Machine code.
    pub cubin: Vec<u8>,
    /// What ptxas says of each kernel.
    pub reports: Vec<Report>,
    /// Warnings of ptxas.
    pub warnings: Vec<String>,
}

/// Compiles a device module for one chip, whichever way the module came. It is changed on the way.
pub fn compile_device(
    module: &Module<'_>,
    toolkit: &Toolkit,
    codegen: &CodegenOptions,
    assembling: &AssembleOptions,
) -> Result<DeviceImage, Error> {
    toolkit.require(codegen.arch)?;
    let ptx = compile_to_ptx(module, toolkit, codegen)?;
    let Assembled { cubin, reports, warnings } = assemble(toolkit, &ptx, assembling)?;
    Ok(DeviceImage { arch: codegen.arch, ptx, cubin, reports, warnings })
}

/// A device module that waits to be compiled, or one kernel of it by itself.
#[derive(Clone, Debug)]
pub struct Job {
    /// The module as bitcode.
    pub bitcode: Arc<[u8]>,
    /// The kernel that is taken out of it; `None` for all that is there.
    pub kernel: Option<String>,
    /// How PTX is made.
    pub codegen: CodegenOptions,
    /// How it is assembled.
    pub assembling: AssembleOptions,
}

/// An image, and where the cache has it.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The key in the cache that it was looked up in.
    pub key: Key,
    /// The image.
    pub image: DeviceImage,
}

impl Job {
    fn compile(&self, toolkit: &Toolkit, cache: &Cache) -> Result<Compiled, Error> {
        let alone = self.kernel.as_ref().map(|kernel| extract(&self.bitcode, kernel)).transpose()?;
        let bitcode = alone.as_deref().unwrap_or(&self.bitcode);
        let key = Key::new(bitcode, toolkit, &self.codegen, &self.assembling);
        if let Some(image) = cache.get(key, self.codegen.arch) {
            return Ok(Compiled { key, image });
        }
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(bitcode, "device");
        let module = Module::parse_bitcode_from_buffer(&buffer, &context)
            .map_err(|error| Error::internal("reading a device module", error.to_string()))?;
        let image = compile_device(&module, toolkit, &self.codegen, &self.assembling)?;
        cache.put(key, &image);
        Ok(Compiled { key, image })
    }
}

/// Compiles device modules side by side, each of them only if the cache does not have it. Results are in the order of the jobs.
///
/// Under a `make` that shares out its jobs only one is compiled at a time: the parallelism is make's then.
pub fn compile_all(jobs: &[Job], toolkit: &Toolkit, cache: &Cache) -> Vec<Result<Compiled, Error>> {
    let shared_out = std::env::var("MAKEFLAGS").is_ok_and(|flags| flags.contains("jobserver"));
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = if shared_out { 1 } else { processors.min(jobs.len()) };
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some((number, job)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, jobs.get(at)?)))
        {
            done.push((number, job.compile(toolkit, cache)));
        }
        done
    };
    let mut results = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let done =
            workers.into_iter().map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        done.flatten().collect::<Vec<_>>()
    });
    results.sort_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}

/// The fat binary of a program compiled for several chips: a cubin for each, and the PTX of the newest.
pub fn fat_binary_of(images: &[DeviceImage]) -> Result<Vec<u8>, Error> {
    let mut parts: Vec<Image<'_>> = images.iter().map(|image| Image::Cubin(image.arch, &image.cubin)).collect();
    // PTX for the features of one chip alone runs on no other, so it is worth nothing beside that chip's cubin.
    let newest = images.iter().filter(|image| !image.arch.specific).max_by_key(|image| image.arch);
    parts.extend(newest.map(|image| Image::Ptx(image.arch, &image.ptx)));
    fat_binary(&parts)
}
