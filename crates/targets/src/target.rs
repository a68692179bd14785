//! What a target is: everything in which processors differ, behind one trait.
//!
//! The compiler gives a target device code as clang made it for CUDA, and asks it for facts (limits, costs, what its assembler
//! reported) and for code. Code comes in two kinds ([`Code`]): *kernels* that are assembled one by one and loaded when the program
//! runs, as on GPUs, and *blocks*, functions that are linked into the program, as on the CPU.
//!
//! To add a target: a folder beside `nvptx` with an implementation of [`Target`], and its row in `lib.rs`.

use std::collections::HashSet;
use std::ffi::CStr;
use std::fmt;
use std::path::{Path, PathBuf};

use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::targets::TargetMachine;
use mlir_bridge::VectorRegisters;
use regrain_tuning::Space;
use regrain_tuning::model::Processor;

use crate::image::{Image, KernelOptions, Piece};
use crate::offload::OffloadImage;
use crate::toolkit::{SmArch, Toolkit};
use crate::{Error, Settings, Unsupported};

/// A family of processors that device code is made for.
pub trait Target: Sync {
    /// As in `nvptx`. No two targets have one name.
    fn name(&self) -> &'static str;

    /// The architecture that `--offload-arch=` calls `name`, in its usual spelling. `None` if the name is not one of this
    /// family's.
    ///
    /// # Errors
    /// A name of this family that nobody knows.
    fn arch(&self, name: &str) -> Option<Result<String, Error>>;

    /// The architectures of this family, in their usual spelling.
    fn known(&self) -> Vec<String>;

    /// The architecture of the processor of this family in this machine, asked of the tools beside `clang`; `None` where there is
    /// none.
    fn installed(&self, clang: &Path) -> Option<String>;

    /// The chip whose code clang makes for `arch`; `None` leaves the choice to the other targets of the program.
    fn cuda_arch(&self, arch: &str) -> Option<SmArch>;

    /// Whether code for `arch` can be made with `toolkit`.
    ///
    /// # Errors
    /// What is missing.
    fn check(&self, arch: &str, toolkit: &Toolkit) -> Result<(), Error>;

    /// What the cost model must know.
    ///
    /// # Errors
    /// `arch` is not one of this family's.
    fn processor(&self, arch: &str) -> Result<Processor<'static>, Error>;

    /// What `archs` are called in a tuning database; `cpu` is the processor that the user names (`-fregrain-cpu=`).
    fn record_name(&self, archs: &[&str], cpu: Option<&str>) -> String;

    /// The grains that are tried where the user does not say, for launches with this block shape (`None`: not known).
    fn usual_space(&self, block: Option<[u32; 3]>) -> Space;

    /// What launches may ask for on each processor that runs code for `archs`, when the source saw the architecture `chip`.
    ///
    /// # Errors
    /// One of `archs` is not one of this family's.
    fn launch_limits(&self, archs: &[&str], chip: SmArch) -> Result<LaunchLimits, Error>;

    /// How code is made.
    fn code(&self) -> Code;

    /// What runs the code: the number that the runtime's `__regrain_device_kind` gives.
    fn device(&self) -> u32;

    /// Whether programs for this target alone link the CUDA runtime of the chip's maker; else they link ours.
    fn has_own_runtime(&self) -> bool {
        false
    }
}

/// What a launch may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchLimits {
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of static shared memory of a block, and of all its shared memory without asking for more.
    pub static_shared: u64,
    /// Bytes of shared memory that a block may ask for.
    pub dynamic_shared: u64,
    /// Bytes of a kernel's parameters.
    pub parameters: u64,
}

/// How code is made.
#[derive(Clone, Copy)]
pub enum Code {
    /// Kernels that are assembled one by one, and loaded when the program runs.
    Kernels(&'static dyn Kernels),
    /// Functions for threads and blocks that are linked into the program.
    Blocks(&'static dyn Blocks),
}

/// Making kernels.
pub trait Kernels: Sync {
    /// What assembly files end in, as in `ptx`.
    fn text_extension(&self) -> &'static str;

    /// What files of machine code end in, as in `cubin`.
    fn code_extension(&self) -> &'static str;

    /// Notes in device code that clang has just made what can no longer be told once functions are inlined.
    fn receive(&self, _module: &Module<'_>) {}

    /// The section that says of a variable of device code that it is managed; `None` where there are none.
    fn managed_section(&self) -> Option<&'static CStr> {
        None
    }

    /// A machine for passes over device code of clang's for `arch`.
    ///
    /// # Errors
    /// LLVM does not have it.
    fn machine(&self, arch: &str) -> Result<TargetMachine, Error>;

    /// What [`compile`](Self::compile) does up to instruction selection: links the device libraries into device code of clang's and
    /// optimises. What is left in `module` is what is shipped, and what emulation runs.
    ///
    /// # Errors
    /// No such chip, missing libraries, and what cannot be expressed for the chip, located.
    fn optimized(&self, module: &Module<'_>, toolkit: &Toolkit, options: &KernelOptions) -> Result<(), Error>;

    /// Whether modules are to keep their lines although the code will have none: for messages of [`compile`](Self::compile).
    fn wants_lines(&self) -> bool {
        false
    }

    /// What code depends on beside the module and the options: the versions of the tools and libraries that they name.
    fn stamp(&self, toolkit: &Toolkit, options: &KernelOptions) -> String;

    /// The settings of `options` with what holds where nothing is said: code of two units goes together where these are the same.
    ///
    /// # Errors
    /// What the chip does not have.
    fn settled(&self, options: &KernelOptions) -> Result<Settings, Error> {
        Ok(options.settings.clone())
    }

    /// Compiles device code of clang's, which is changed on the way, to an image; only to assembly with `text_only`.
    ///
    /// # Errors
    /// What the back end or the assembler refuses, located where that is known.
    fn compile(
        &self,
        module: &Module<'_>,
        toolkit: &Toolkit,
        options: &KernelOptions,
        text_only: bool,
    ) -> Result<Image, Error>;

    /// Puts the images of a program for this target alone into the host module, for the runtime of the chip's maker; `pieces` of
    /// them where that is said.
    ///
    /// # Errors
    /// The images are not of the expected form.
    fn embed(&self, host: &Module<'_>, images: &[Image], pieces: Option<&[Piece]>) -> Result<(), Error>;

    /// The images as parts of an image set, for programs that hold code for several targets; `pieces` of them where that is said.
    ///
    /// # Errors
    /// The images are not of the expected form.
    fn offload_images<'i>(&self, images: &'i [Image], pieces: Option<&[Piece]>)
    -> Result<Vec<OffloadImage<'i>>, Error>;

    /// The images in one file, in the form of the chip's maker; none where there is no such form.
    ///
    /// # Errors
    /// The images are not of the expected form.
    fn pack(&self, _images: &[Image], _pieces: Option<&[Piece]>) -> Option<Result<Vec<u8>, Error>> {
        None
    }
}

/// Making blocks.
pub trait Blocks: Sync {
    /// Reads what all lowering wants, which may be done while there is nothing else to do.
    fn expect(&self);

    /// Puts calls with which a launch fails in the place of what the target cannot do, and gives where that was.
    ///
    /// # Errors
    /// Ours alone.
    fn stand_in<'ctx>(&self, context: &'ctx Context, device: &Module<'ctx>) -> Result<Vec<Unsupported>, Error>;

    /// Brings device code of clang's, of which block functions are going to be made, to operations that their passes see through.
    ///
    /// # Errors
    /// Ours alone.
    fn prepare<'ctx>(&self, context: &'ctx Context, device: &Module<'ctx>, options: &BlockOptions)
    -> Result<(), Error>;

    /// Lowers device code of clang's: for each kernel a function that runs one thread, beside the functions of `split` that run
    /// whole blocks, and a table of all.
    ///
    /// # Errors
    /// What the target cannot express, located.
    fn lower<'ctx>(
        &self,
        context: &'ctx Context,
        device: Module<'ctx>,
        split: Option<SplitForm<'ctx>>,
        options: &BlockOptions,
    ) -> Result<Module<'ctx>, Error>;

    /// Optimises what [`lower`](Self::lower) made and writes an object to `output`, or several beside it. Gives the objects.
    ///
    /// # Errors
    /// As [`lower`](Self::lower), and a file that cannot be written.
    fn emit(&self, module: &Module<'_>, options: &BlockOptions, output: &Path) -> Result<Vec<PathBuf>, Error>;

    /// The symbol of the table in the object of translation unit `unit`.
    fn image_symbol(&self, unit: &str) -> String;

    /// LLVM's name of what the code is for.
    fn triple(&self) -> String;

    /// The vector registers of the processor.
    ///
    /// # Errors
    /// A processor that is not known.
    fn vector_registers(&self, options: &BlockOptions) -> Result<VectorRegisters, Error>;
}

/// Block functions made from the parallel form.
pub struct SplitForm<'ctx> {
    /// Defines the block functions; everything else in it also stands in the original module.
    pub module: Module<'ctx>,
    /// What it defines.
    pub blocks: Vec<BlockFunction>,
    /// The kernels whose block function for all shapes no launch needs that was seen.
    pub seldom: HashSet<String>,
}

/// How likely a function is to be what launches run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Demand {
    #[default]
    Usual,
    /// Another one is for the launches that are expected, by a guess.
    Doubtful,
    /// No launch is expected to need it.
    Seldom,
    /// No launch is expected to need another one.
    Sole,
}

/// A function `void (void **args)` that runs the whole block that the thread state names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockFunction {
    /// Mangled device name of the kernel.
    pub kernel: String,
    /// Symbol of the function (it starts with `__regrain_`).
    pub symbol: String,
    /// The only block shape it is for, or `None` for all.
    pub shape: Option<[u32; 3]>,
    pub demand: Demand,
    /// What must be known of a kernel that the original module does not have.
    pub version: Option<KernelFacts>,
}

/// What a launch must know of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelFacts {
    /// Sizes of the parameters, bytes.
    pub parameter_sizes: Vec<u64>,
    /// The most threads of a block, 0 without a limit.
    pub max_threads: u32,
    /// Static shared memory of a block, bytes.
    pub static_shared: u64,
}

/// How blocks are made.
#[derive(Clone, Debug)]
pub struct BlockOptions {
    /// Makes symbols that must be unique across the program unique: a hash of the translation unit, `[0-9a-f]+`.
    pub unit: String,
    /// Relocatable device code (`-fgpu-rdc`): device symbols stay visible to other translation units.
    pub relocatable: bool,
    /// What `__CUDA_ARCH__` is, divided by 10: 70 for sm_70.
    pub cuda_arch: u32,
    /// Optimisation level, 0 to 3.
    pub level: u8,
    /// Processor to make code for; `None` is the one that the compiler runs on.
    pub cpu: Option<String>,
    /// Whether the object says which source lines its code comes from.
    pub lines: bool,
    /// Whether programs load the code by itself while they run (`cuModuleLoad`).
    pub loaded: bool,
    /// What is checked while kernels run: a sum of [`CHECKS`].
    pub checks: u32,
    /// Whether the code may become several objects.
    pub may_part: bool,
}

/// What can be checked while kernels run, and the number of each. The runtime has the same numbers.
pub const CHECKS: [(&str, u32); 5] = [("memory", 1), ("race", 2), ("init", 4), ("sync", 8), ("leak", 16)];

/// A target with one of its architectures.
#[derive(Clone)]
pub struct Arch {
    /// The target.
    pub target: &'static dyn Target,
    /// The architecture, as in `sm_80`.
    pub name: String,
}

impl PartialEq for Arch {
    fn eq(&self, other: &Self) -> bool {
        (self.target.name(), &self.name) == (other.target.name(), &other.name)
    }
}

impl Eq for Arch {}

impl fmt::Debug for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.target.name(), self.name)
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}
