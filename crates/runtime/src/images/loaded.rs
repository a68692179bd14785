//! Modules that a program loads while it runs: libraries of the host that `--cuda-device-only` makes for the CPU.
//!
//! Such a library defines `__regrain_module`: its image, and a table of the runtime's functions that it wants, which
//! are filled in here. So a
//! program need not export the runtime's symbols. Each load is a library of its own, with variables of its own.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use super::image::Images;
use super::registry::{self, Function, Module, Slot};
use crate::abi::{CpuImage, CpuKernel, CpuVar, FATBIN_WRAPPER_MAGIC, FatbinWrapper, IMAGE_MAGIC, NVIDIA_FATBIN_MAGIC};
use crate::error::CudaError;

/// `RRGMOD01`, little endian.
const MODULE_MAGIC: u64 = 0x3130_444f_4d47_5252;

/// What `__regrain_module` is; `regrainTakeFromProgram` of the compiler writes it.
#[repr(C)]
struct Root {
    magic: u64,
    image: *const CpuImage,
    wanted: *const Wanted,
    number: u64,
}

/// A function that a library wants, and where its address goes.
#[repr(C)]
struct Wanted {
    name: *const c_char,
    place: *mut *const c_void,
}

/// A function of the runtime that such libraries may want, in a list that a row without a name ends.
#[repr(C)]
struct Export {
    name: *const c_char,
    address: *const c_void,
}

unsafe extern "C" {
    /// Of `device/cpu/exports.c`.
    fn __regrain_exports() -> *const Export;
}

/// How many bytes are to be there behind those of a file, as it may be shorter than any header.
pub const BEHIND: usize = 64;

/// Why something cannot be loaded.
pub struct Refusal {
    pub error: CudaError,
    pub text: String,
}

fn refused<T>(error: CudaError, text: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal { error, text: text.into() })
}

/// A module that is loaded.
pub struct Loaded {
    pub module: &'static Module,
    pub kernels: Vec<&'static Function>,
    pub variables: &'static [CpuVar],
    /// None where the image is the program's own.
    library: Option<Library>,
}

/// A library, and the file that it came from, whose name no other one gets before this one goes.
struct Library {
    handle: *mut c_void,
    _file: OwnedFd,
}

// SAFETY: a handle of the loader's, which any thread may use, and constants of the image.
unsafe impl Send for Loaded {}
// SAFETY: see `Send`.
unsafe impl Sync for Loaded {}

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: a handle of `dlopen` that is closed once.
        unsafe { libc::dlclose(self.handle) };
    }
}

/// # Safety
/// `data` is null or leads to `number` values that live as long as the module.
unsafe fn table<T>(data: *const T, number: u32) -> &'static [T] {
    // SAFETY: by contract.
    if data.is_null() || number == 0 { &[] } else { unsafe { std::slice::from_raw_parts(data, number as usize) } }
}

/// A module of an image, whose kernels and variables are known from now on.
///
/// # Safety
/// The image is valid until the module is unloaded.
unsafe fn module(image: &'static CpuImage, library: Option<Library>) -> Loaded {
    // SAFETY: by contract.
    let (kernels, variables): (&[CpuKernel], &[CpuVar]) =
        unsafe { (table(image.kernels, image.num_kernels), table(image.vars, image.num_vars)) };
    let slot: &'static Slot = Box::leak(Box::default());
    let images = Images { cpu: Some(image), ..Images::default() };
    let module: &'static Module = Box::leak(Box::new(Module { images, slot }));
    for variable in variables {
        // SAFETY: names of an image are C strings. What lies in it has no other name in the program than its address.
        unsafe { registry::add_variable(module, variable.address, variable.name, variable.size as usize, false) };
    }
    let function = |kernel: &CpuKernel| {
        // SAFETY: names of an image are C strings.
        let name = unsafe { CStr::from_ptr(kernel.name) };
        &*Box::leak(Box::new(Function { module, name, slot: Slot::default() }))
    };
    Loaded { module, kernels: kernels.iter().map(function).collect(), variables, library }
}

impl Loaded {
    /// Forgets the module; its code and variables are gone where they came from a library.
    pub fn unload(self) {
        registry::forget_variables(self.module);
        drop(self.library);
    }
}

/// Loads what a program holds at an address: a library, a fat binary with one behind it, or what clang registers. Of a
/// file it is known how
/// long it is.
///
/// # Safety
/// As `cuModuleLoadData`: `data` leads to an image, or to a text that ends with NUL; to as many bytes as `known` says
/// and
/// [`BEHIND`] more.
pub unsafe fn load(data: *const c_void, known: Option<usize>) -> Result<Loaded, Refusal> {
    // SAFETY: by contract; the shortest of what is told apart is four bytes long, with NUL.
    unsafe {
        let first = std::array::from_fn::<u8, 4, _>(|at| data.cast::<u8>().add(at).read());
        match u32::from_ne_bytes(first) {
            FATBIN_WRAPPER_MAGIC => of_program(data.cast()),
            NVIDIA_FATBIN_MAGIC => {
                let length = 16 + data.cast::<u8>().add(8).cast::<u64>().read_unaligned() as usize;
                let behind = data.cast::<u8>().wrapping_add(length);
                match is_library(behind) {
                    true if known.is_none_or(|known| length < known) => {
                        library(elf(behind, known.map(|known| known - length))?)
                    }
                    _ => refused(CudaError::NO_KERNEL_IMAGE, "a fat binary for NVIDIA's GPUs"),
                }
            }
            _ if &first == b"\x7fELF" => library(elf(data.cast(), known)?),
            _ if (0..TEXT_MARK.len()).all(|at| data.cast::<u8>().add(at).read() == TEXT_MARK[at]) => {
                of_text(CStr::from_ptr(data.cast()))
            }
            _ if first.iter().all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace()) => {
                refused(CudaError::NO_KERNEL_IMAGE, "PTX, or other text, is for NVIDIA's GPUs")
            }
            _ => refused(CudaError::INVALID_KERNEL_IMAGE, format!("unknown first bytes {first:02x?}")),
        }
    }
}

/// How a module begins that is written as text, two digits for each byte: what programs read as PTX must be without
/// NUL.
const TEXT_MARK: &[u8] = b"// Regrain: a module for the CPU\n";

/// Loads a library that is written as text.
fn of_text(text: &CStr) -> Result<Loaded, Refusal> {
    let digits = text.to_bytes()[TEXT_MARK.len()..].iter().filter(|byte| !byte.is_ascii_whitespace());
    let digits: Option<Vec<u8>> = digits.map(|byte| char::from(*byte).to_digit(16).map(|digit| digit as u8)).collect();
    let Some(bytes) = digits.map(|digits| digits.chunks(2).map(|pair| pair[0] << 4 | pair[pair.len() - 1]).collect())
    else {
        return refused(CudaError::INVALID_KERNEL_IMAGE, "a module as text with other than digits in it");
    };
    let mut bytes: Vec<u8> = bytes;
    let length = bytes.len();
    bytes.extend([0; BEHIND]);
    if !bytes.starts_with(b"\x7fELF") {
        return refused(CudaError::INVALID_KERNEL_IMAGE, "a module as text that is none");
    }
    // SAFETY: so many bytes, and some more.
    unsafe { library(elf(bytes.as_ptr(), Some(length))?) }
}

/// Whether a library stands behind NVIDIA's fat binary, where nothing at all need be.
fn is_library(behind: *const u8) -> bool {
    const HEADER: usize = 64;
    // SAFETY: the system reads, and says so where there is nothing.
    let read = file_of(&[]).is_some_and(|file| unsafe { libc::write(file.as_raw_fd(), behind.cast(), HEADER) } == 64);
    // SAFETY: so many bytes are there.
    read && unsafe { std::slice::from_raw_parts(behind, 4) } == b"\x7fELF"
}

/// # Safety
/// A fat-binary wrapper.
unsafe fn of_program(wrapper: *const FatbinWrapper) -> Result<Loaded, Refusal> {
    // SAFETY: by contract.
    let images = unsafe { super::image::open(wrapper) };
    match images {
        // SAFETY: an image of the program lives as long as the program.
        Ok(Images { cpu: Some(image), .. }) => Ok(unsafe { module(image, None) }),
        Ok(images) => refused(CudaError::NO_KERNEL_IMAGE, format!("no image for the CPU among: {images}")),
        Err(text) => refused(CudaError::INVALID_KERNEL_IMAGE, text),
    }
}

/// `e_machine` of this processor, of NVIDIA's and of AMD's GPUs.
const MACHINE: u16 = if cfg!(target_arch = "x86_64") { 62 } else { 183 };
const CUDA: u16 = 190;
const AMDGPU: u16 = 224;
/// `ET_DYN`
const SHARED: u16 = 3;
/// `SHT_NOBITS`
const NO_BITS: u32 = 8;

/// Numbers of an ELF file in memory.
#[derive(Clone, Copy)]
struct Elf(*const u8);

impl Elf {
    /// # Safety
    /// The file has a number there.
    unsafe fn get<T: Copy>(self, at: usize) -> T {
        // SAFETY: by contract.
        unsafe { self.0.add(at).cast::<T>().read_unaligned() }
    }

    /// The bytes up to the end of what its headers speak of; `None` where that is more than is `known` to be there.
    ///
    /// # Safety
    /// An ELF file of 64 bits, whole or as long as `known`.
    unsafe fn length(self, known: Option<usize>) -> Option<usize> {
        let fits = |end: &usize| known.is_none_or(|known| *end <= known);
        // SAFETY: by contract; the headers lie where the file's header says.
        unsafe {
            let [programs, sections] = [32, 40].map(|at| self.get::<u64>(at) as usize);
            let [program, programs_number, section, sections_number] =
                [54, 56, 58, 60].map(|at| usize::from(self.get::<u16>(at)));
            let end = (programs + program * programs_number).max(sections + section * sections_number);
            fits(&end).then_some(())?;
            let of_programs = (0..programs_number).map(|number| programs + program * number);
            let of_sections = (0..sections_number).map(|number| sections + section * number);
            let ends = of_programs.map(|at| self.get::<u64>(at + 8) + self.get::<u64>(at + 32)).chain(
                of_sections
                    .filter(|at| self.get::<u32>(at + 4) != NO_BITS)
                    .map(|at| self.get::<u64>(at + 24) + self.get::<u64>(at + 32)),
            );
            Some(ends.max().map_or(end, |last| end.max(last as usize))).filter(fits)
        }
    }
}

/// The bytes of a library in memory.
///
/// # Safety
/// `data` leads to an ELF file, whole or as long as `known`, with [`BEHIND`] bytes behind it.
unsafe fn elf<'a>(data: *const u8, known: Option<usize>) -> Result<&'a [u8], Refusal> {
    let file = Elf(data);
    // SAFETY: by contract: the header is there, and what it speaks of.
    unsafe {
        let (class, kind, machine) = (file.get::<u8>(4), file.get::<u16>(16), file.get::<u16>(18));
        match machine {
            CUDA => return refused(CudaError::NO_KERNEL_IMAGE, "a cubin for NVIDIA's GPUs"),
            AMDGPU => return refused(CudaError::NO_KERNEL_IMAGE, "a code object for AMD's GPUs"),
            MACHINE => {}
            other => return refused(CudaError::NO_KERNEL_IMAGE, format!("a file for another machine ({other})")),
        }
        if class != 2 || kind != SHARED {
            return refused(
                CudaError::INVALID_KERNEL_IMAGE,
                "an object that is to be linked (-fgpu-rdc), not a module",
            );
        }
        match file.length(known) {
            Some(length) => Ok(std::slice::from_raw_parts(data, length)),
            None => refused(CudaError::INVALID_KERNEL_IMAGE, "a file that is cut short"),
        }
    }
}

/// What the loader says of its last failure.
fn loaders_words() -> String {
    // SAFETY: null, or a C string that is valid until the next call of the loader.
    let text = unsafe { libc::dlerror().cast_const().as_ref().map(|text| CStr::from_ptr(text)) };
    text.map_or_else(|| "no reason given".into(), |text| text.to_string_lossy().into_owned())
}

/// A file in memory with these bytes.
fn file_of(bytes: &[u8]) -> Option<OwnedFd> {
    // SAFETY: a C string; the descriptor is the file's only owner.
    let file = unsafe {
        let made: c_int = libc::memfd_create(c"regrain-module".as_ptr(), libc::MFD_CLOEXEC);
        (made >= 0).then(|| OwnedFd::from_raw_fd(made))
    }?;
    let mut rest = bytes;
    while !rest.is_empty() {
        // SAFETY: an open file, and a slice.
        let written = unsafe { libc::write(file.as_raw_fd(), rest.as_ptr().cast(), rest.len()) };
        rest = rest.get(usize::try_from(written).ok().filter(|count| *count > 0)?..)?;
    }
    Some(file)
}

/// Loads a library of its own.
fn library(bytes: &[u8]) -> Result<Loaded, Refusal> {
    let Some(file) = file_of(bytes) else {
        return refused(CudaError::OPERATING_SYSTEM, "no file in memory can be made");
    };
    let path = format!("/proc/self/fd/{}\0", file.as_raw_fd());
    // SAFETY: a C string; a module of ours has no constructors.
    let handle = unsafe { libc::dlopen(path.as_ptr().cast(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if handle.is_null() {
        return refused(CudaError::INVALID_KERNEL_IMAGE, loaders_words());
    }
    let library = Library { handle, _file: file };
    // SAFETY: a handle of the loader's; a symbol of this name is a root, whose magic says of which version.
    unsafe {
        let root = libc::dlsym(handle, c"__regrain_module".as_ptr()).cast::<Root>().cast_const();
        let Some(root) = root.as_ref().filter(|root| root.magic == MODULE_MAGIC) else {
            return refused(CudaError::INVALID_KERNEL_IMAGE, "a library without device code");
        };
        fill_in(table(root.wanted, root.number as u32))?;
        match root.image.as_ref().filter(|image| image.magic == IMAGE_MAGIC) {
            Some(image) => Ok(module(image, Some(library))),
            None => refused(CudaError::INVALID_KERNEL_IMAGE, "a module of another version of the compiler"),
        }
    }
}

/// Gives a library the functions that it wants.
///
/// # Safety
/// Rows of a library that is loaded.
unsafe fn fill_in(wanted: &[Wanted]) -> Result<(), Refusal> {
    for row in wanted {
        // SAFETY: by contract; the list of exports ends with a row without a name.
        unsafe {
            let name = CStr::from_ptr(row.name);
            let mut export = __regrain_exports();
            while !(*export).name.is_null() && CStr::from_ptr((*export).name) != name {
                export = export.add(1);
            }
            if (*export).name.is_null() {
                let name = name.to_string_lossy();
                let text = format!("a module of another version of the compiler: the runtime has no '{name}'");
                return refused(CudaError::INVALID_KERNEL_IMAGE, text);
            }
            row.place.write((*export).address);
        }
    }
    Ok(())
}
