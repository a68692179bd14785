//! Device modules on their way to images: compiled side by side, each of them only if the cache does not have it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use serde::{Deserialize, Serialize};

use crate::nvptx::{Cache, Key, extract};
use crate::target::Kernels;
use crate::toolkit::Toolkit;
use crate::{Error, Report};

/// A device module compiled for one architecture.
#[derive(Clone, Debug)]
pub struct Image {
    /// The architecture, as in `sm_80`.
    pub arch: String,
    /// Assembly, as PTX.
    pub text: String,
    /// Machine code, as a cubin.
    pub code: Vec<u8>,
    /// What the assembler says of each kernel.
    pub reports: Vec<Report>,
    /// Warnings of the assembler.
    pub warnings: Vec<String>,
}

/// How device code becomes an image.
#[derive(Clone, Debug)]
pub struct KernelOptions {
    /// The architecture.
    pub arch: String,
    /// `-O` level, 0 to 3.
    pub level: u32,
    /// Keep the source lines.
    pub lines: bool,
    /// Full debug information, without optimisation.
    pub debug: bool,
    /// What the user passes on to the assembler.
    pub assembler: Vec<String>,
}

/// A device module that waits to be compiled, or one kernel of it by itself.
#[derive(Clone)]
pub struct Job {
    /// Who compiles it.
    pub kernels: &'static dyn Kernels,
    /// The module as bitcode.
    pub bitcode: Arc<[u8]>,
    /// The kernel that is taken out of it; `None` for all that is there.
    pub kernel: Option<String>,
    /// How it is compiled.
    pub options: KernelOptions,
}

/// An image, and where the cache has it.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The key in the cache that it was looked up in.
    pub key: Key,
    /// The image.
    pub image: Image,
}

/// What stands before text and code in an entry of the cache, on a line.
#[derive(Serialize, Deserialize)]
struct Header {
    arch: String,
    text: usize,
    reports: Vec<Report>,
    warnings: Vec<String>,
}

impl Job {
    fn compile(&self, toolkit: &Toolkit, cache: &Cache) -> Result<Compiled, Error> {
        let alone = self.kernel.as_ref().map(|kernel| extract(&self.bitcode, kernel)).transpose()?;
        let bitcode = alone.as_deref().unwrap_or(&self.bitcode);
        let depends = format!("{} {:?}", self.kernels.stamp(toolkit), self.options);
        let key = Key::of("image", &depends, &[bitcode], toolkit);
        if let Some(image) = cached(cache, key) {
            return Ok(Compiled { key, image });
        }
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(bitcode, "device");
        let module = Module::parse_bitcode_from_buffer(&buffer, &context)
            .map_err(|error| Error::internal("reading a device module", error.to_string()))?;
        let image = self.kernels.compile(&module, toolkit, &self.options, false)?;
        remember(cache, key, &image);
        Ok(Compiled { key, image })
    }
}

/// The image that was kept under `key`.
pub fn cached(cache: &Cache, key: Key) -> Option<Image> {
    let content = cache.read(key)?;
    let line = content.iter().position(|byte| *byte == b'\n')?;
    let Header { arch, text, reports, warnings } = serde_json::from_slice(&content[..line]).ok()?;
    let (text, code) = content[line + 1..].split_at_checked(text)?;
    Some(Image { arch, text: String::from_utf8(text.to_vec()).ok()?, code: code.to_vec(), reports, warnings })
}

fn remember(cache: &Cache, key: Key, image: &Image) {
    let Image { arch, text, code, reports, warnings } = image.clone();
    let header = Header { arch, text: text.len(), reports, warnings };
    let Ok(mut content) = serde_json::to_vec(&header) else { return };
    content.push(b'\n');
    content.extend_from_slice(text.as_bytes());
    content.extend_from_slice(&code);
    cache.write(key, &content);
}

/// Compiles device modules side by side. Results are in the order of the jobs.
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
