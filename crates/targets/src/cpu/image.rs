//! The image table: how the runtime finds the kernels and variables of a translation unit.
//!
//! For each kernel a thread entry unpacks the `void **` of `cudaLaunchKernel` and runs one CUDA thread:
//!
//! ```text
//! define internal void @k.thread(ptr %args) {
//!   %0 = load ptr, ptr %args                       ; argument 0, by value
//!   %a = load i32, ptr %0
//!   %1 = load ptr, ptr (getelementptr ptr, %args, 1) ; argument 1, a struct: the callee's copy is made by the call
//!   call void @k(i32 %a, ptr byval(%S) %1)
//!   ret void
//! }
//! ```
//! The layout of the table is that of `regrain_cpu_image` in the runtime crate.

use std::collections::{HashMap, HashSet};

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::context::Context;
use inkwell::module::{Linkage, Module};
use inkwell::targets::TargetData;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicMetadataValueEnum, BasicValueEnum, CallSiteValue, FunctionValue, PointerValue};
use inkwell::{AddressSpace, GlobalVisibility};
use mlir_bridge::llvm;

use super::codegen;
use super::constants::string;
use super::symbols::DEVICE_PREFIX;
use super::sync::{self, Synchronising};
use super::{CpuKernel, image_symbol};
use crate::Error;
use crate::kernel_names::is_kernel;
use crate::nvvm::SHARED;
use crate::target::{BlockFunction, BlockOptions, KernelFacts};

/// First word of an image table: "RRGCPU01".
const MAGIC: u64 = 0x3130_5550_4347_5252;
/// The variable that leads to the buffer of what emulated kernels print, which the runtime sets.
const OUTPUT: &str = "__regrain_output";
/// Threads of the largest block.
const MOST_THREADS: u32 = 1024;
const FLAG_MAY_SYNCHRONISE: u64 = 1;
const FLAG_BLOCKS_MEET: u64 = 2;
const FLAG_CHECKED: u64 = 4;
const FLAG_BLOCKS_WAIT: u64 = 8;
const FLAG_THREADS_WAIT: u64 = 16;

/// A kernel of the original module.
pub(super) struct Kernel<'ctx> {
    name: String,
    function: FunctionValue<'ctx>,
    parameters: Vec<Parameter<'ctx>>,
    max_threads: u32,
    static_shared: u32,
}

struct Parameter<'ctx> {
    /// Passed by value, or by a pointer to a copy (`byval`).
    value_type: BasicTypeEnum<'ctx>,
    by_copy: Option<Attribute>,
    /// Passed by a pointer to the argument itself (`byref`), as AMD's kernels take structures.
    in_place: bool,
    /// The copy's `align`, on which caller and callee must agree.
    alignment: Option<Attribute>,
    size: u64,
    /// How its place among the parameters is aligned.
    aligned: u64,
}

/// From which bit on the image says how a parameter is aligned, as a logarithm and one more, beside its size.
const ALIGNED_AT: u32 = 24;

impl Parameter<'_> {
    /// What the image says of it.
    fn row(&self) -> u64 {
        self.size | u64::from(self.aligned.max(1).ilog2() + 1) << ALIGNED_AT
    }
}

impl<'ctx> Kernel<'ctx> {
    /// The kernel's name as the program knows it, and the functions that run one thread of it.
    pub(super) fn thread_functions(&self, module: &Module<'ctx>) -> (&str, [Option<FunctionValue<'ctx>>; 2]) {
        (&self.name, [Some(self.function), module.get_function(&thread_entry_name(&self.name))])
    }

    /// The kernels that `module`, still device IR, defines.
    pub(super) fn collect(module: &Module<'ctx>, options: &BlockOptions) -> Result<Vec<Self>, Error> {
        let layout = codegen::machine(options)?.get_target_data();
        let shared = shared_bytes(module, &layout);
        Ok(module
            .get_functions()
            .filter(|function| is_kernel(*function))
            .map(|function| Self {
                static_shared: shared.get(&*function.get_name().to_string_lossy()).copied().unwrap_or(0),
                name: function.get_name().to_string_lossy().into_owned(),
                function,
                parameters: (0..function.count_params()).map(|i| parameter(function, i, &layout)).collect(),
                max_threads: max_threads(function),
            })
            .collect())
    }
}

fn parameter<'ctx>(function: FunctionValue<'ctx>, index: u32, layout: &TargetData) -> Parameter<'ctx> {
    let byval = Attribute::get_named_enum_kind_id("byval");
    let by_copy = function.get_enum_attribute(AttributeLoc::Param(index), byval);
    let align = Attribute::get_named_enum_kind_id("align");
    let alignment = function.get_enum_attribute(AttributeLoc::Param(index), align);
    let value_type = function.get_nth_param(index).expect("an index below the count").get_type();
    let byref = Attribute::get_named_enum_kind_id("byref");
    let in_place = function.get_enum_attribute(AttributeLoc::Param(index), byref);
    let size = match by_copy.as_ref().or(in_place.as_ref()) {
        Some(attribute) => layout.get_abi_size(&attribute.get_type_value()),
        None => layout.get_abi_size(&value_type),
    };
    let of_type = match by_copy.as_ref().or(in_place.as_ref()) {
        Some(attribute) => layout.get_abi_alignment(&attribute.get_type_value()),
        None => layout.get_abi_alignment(&value_type),
    };
    let of_copy = alignment.filter(|_| by_copy.is_some() || in_place.is_some()).map(|align| align.get_enum_value());
    let aligned = of_copy.unwrap_or_else(|| of_type.into());
    Parameter { value_type, by_copy, in_place: in_place.is_some(), alignment, size, aligned }
}

/// `__launch_bounds__`: the product of `nvvm.maxntid`'s numbers, 0 without; AMD's kernels have a least and a most number, which without
/// bounds is that of every block.
fn max_threads(function: FunctionValue<'_>) -> u32 {
    if let Some(range) = function.get_string_attribute(AttributeLoc::Function, "amdgpu-flat-work-group-size") {
        let most = range.get_string_value().to_string_lossy().split(',').nth(1).and_then(|n| n.trim().parse().ok());
        return most.filter(|most| *most != MOST_THREADS).unwrap_or(0);
    }
    function
        .get_string_attribute(AttributeLoc::Function, "nvvm.maxntid")
        .and_then(|a| a.get_string_value().to_str().ok()?.split(',').map(|n| n.trim().parse::<u32>().ok()).product())
        .unwrap_or(0)
}

/// Bytes of static shared memory that each function can reach.
fn shared_bytes(module: &Module<'_>, layout: &TargetData) -> HashMap<String, u32> {
    let mut bytes = HashMap::new();
    let shared = module.get_globals().filter(|g| {
        g.as_pointer_value().get_type().get_address_space() == AddressSpace::from(SHARED) && !g.is_declaration()
    });
    for global in shared {
        let size = layout.get_abi_size(&global.get_value_type()) as u32;
        for function in llvm::functions_reaching(global) {
            *bytes.entry(function).or_insert(0) += size;
        }
    }
    bytes
}

/// What [`emit`] made.
pub(super) struct Table {
    pub(super) kernels: Vec<CpuKernel>,
    /// Symbols that the host object refers to.
    pub(super) keep: HashSet<String>,
}

/// Adds the thread entries and the table to `module`.
pub(super) fn emit<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    kernels: &[Kernel<'ctx>],
    blocks: &[BlockFunction],
    synchronising: &Synchronising,
    options: &BlockOptions,
) -> Result<Table, Error> {
    let build = Build {
        context,
        module,
        meeting: sync::meeting_grid(module),
        waiting: sync::waiting(module),
        polling: sync::polling(module),
        is_checked: options.checks != 0,
    };
    let mut rows = Vec::new();
    let mut report = Vec::new();
    for kernel in kernels {
        let mine: Vec<_> = blocks.iter().filter(|block| block.kernel == kernel.name).collect();
        let may_synchronise = synchronising.contains(kernel.function);
        let facts = KernelFacts {
            parameter_sizes: kernel.parameters.iter().map(Parameter::row).collect(),
            max_threads: kernel.max_threads,
            static_shared: kernel.static_shared.into(),
        };
        // Before the entry is there, whose call is no address that device code takes.
        let address = is_known(kernel.function, options).then_some(kernel.function);
        let entries = (Some(build.thread_entry(kernel)?), address);
        let flags = build.flags(&mine, Some(kernel), may_synchronise);
        rows.push(build.kernel_row(&kernel.name, entries, &mine, &facts, flags)?);
        report.push(CpuKernel {
            name: kernel.name.clone(),
            may_synchronise,
            split: mine.iter().any(|b| b.shape.is_none()),
        });
    }
    // Versions of kernels exist as block functions alone.
    for block in blocks.iter().filter(|block| !kernels.iter().any(|kernel| kernel.name == block.kernel)) {
        if let Some(facts) = &block.version {
            let flags = build.flags(&[block], None, false);
            rows.push(build.kernel_row(&block.kernel, (None, None), &[block], facts, flags)?);
        }
    }
    let variables = build.variable_rows(options)?;
    let num_variables = variables.len();
    let table = build.constants(&rows);
    let variables = build.constants(&variables);
    let fields: [BasicValueEnum; 5] = [
        context.i64_type().const_int(MAGIC, false).into(),
        table.into(),
        build.int(rows.len() as u64).into(),
        build.int(num_variables as u64).into(),
        variables.into(),
    ];
    let image = context.const_struct(&fields, false);
    let symbol = image_symbol(&options.unit);
    let global = module.add_global(image.get_type(), None, &symbol);
    global.set_initializer(&image);
    global.set_constant(true);
    global.set_visibility(GlobalVisibility::Hidden);
    global.set_alignment(8);
    Ok(Table { kernels: report, keep: HashSet::from([symbol]) })
}

/// Whether device code may launch a kernel: this unit's takes its address, or that of others may.
fn is_known(kernel: FunctionValue<'_>, options: &BlockOptions) -> bool {
    let global = kernel.as_global_value();
    let shared = global.get_visibility() != GlobalVisibility::Hidden && global.get_linkage() != Linkage::Internal;
    llvm::is_address_taken(kernel) || options.relocatable && shared
}

struct Build<'m, 'ctx> {
    context: &'ctx Context,
    module: &'m Module<'ctx>,
    /// The functions from which the barrier of the grid may be reached.
    meeting: Synchronising,
    /// The functions with loops that may wait.
    waiting: Synchronising,
    /// The functions whose threads may wait without a barrier.
    polling: Synchronising,
    /// Whether its code tells the checker what it does.
    is_checked: bool,
}

impl<'ctx> Build<'_, 'ctx> {
    /// What a row says of a kernel's block functions, and of its coroutine form where there is one.
    fn flags(&self, blocks: &[&BlockFunction], original: Option<&Kernel<'ctx>>, may_synchronise: bool) -> u64 {
        let any = |what: &Synchronising| {
            let mut functions = blocks.iter().filter_map(|block| self.module.get_function(&block.symbol));
            functions.any(|function| what.contains(function))
        };
        let synchronises = if may_synchronise { FLAG_MAY_SYNCHRONISE } else { 0 };
        let checked = if self.is_checked { FLAG_CHECKED } else { 0 };
        let meets = if any(&self.meeting) { FLAG_BLOCKS_MEET } else { 0 };
        let waits = if any(&self.waiting) { FLAG_BLOCKS_WAIT } else { 0 };
        let polls = original.is_some_and(|kernel| self.polling.contains(kernel.function));
        let threads_wait = if polls { FLAG_THREADS_WAIT } else { 0 };
        synchronises | checked | meets | waits | threads_wait
    }

    fn int(&self, value: u64) -> inkwell::values::IntValue<'ctx> {
        self.context.i32_type().const_int(value, false)
    }

    fn null(&self) -> PointerValue<'ctx> {
        self.context.ptr_type(AddressSpace::default()).const_null()
    }

    fn thread_entry(&self, kernel: &Kernel<'ctx>) -> Result<FunctionValue<'ctx>, Error> {
        let context = self.context;
        let failed = |e: inkwell::builder::BuilderError| Error::internal("building a thread entry", e.to_string());
        let pointer = context.ptr_type(AddressSpace::default());
        let signature = context.void_type().fn_type(&[pointer.into()], false);
        let name = thread_entry_name(&kernel.name);
        let entry = self.module.add_function(&name, signature, Some(Linkage::Internal));
        let builder = context.create_builder();
        builder.position_at_end(context.append_basic_block(entry, "entry"));
        let args = entry.get_first_param().expect("one parameter").into_pointer_value();
        let mut values: Vec<BasicMetadataValueEnum> = Vec::new();
        for (i, parameter) in kernel.parameters.iter().enumerate() {
            let fields = context.struct_type(&vec![pointer.into(); kernel.parameters.len()], false);
            let slot = builder.build_struct_gep(fields, args, i as u32, "").map_err(failed)?;
            let place = builder.build_load(pointer, slot, "").map_err(failed)?.into_pointer_value();
            values.push(match parameter.by_copy {
                Some(_) => place.into(),
                None if parameter.in_place => {
                    let space = parameter.value_type.into_pointer_type();
                    builder.build_address_space_cast(place, space, "").map_err(failed)?.into()
                }
                None => builder.build_load(parameter.value_type, place, "").map_err(failed)?.into(),
            });
        }
        let call = builder.build_call(kernel.function, &values, "").map_err(failed)?;
        copy_byval(call, kernel);
        builder.build_return(None).map_err(failed)?;
        Ok(entry)
    }

    fn kernel_row(
        &self,
        name: &str,
        (entry, address): (Option<FunctionValue<'ctx>>, Option<FunctionValue<'ctx>>),
        blocks: &[&BlockFunction],
        facts: &KernelFacts,
        flags: u64,
    ) -> Result<BasicValueEnum<'ctx>, Error> {
        let block_entry = match blocks.iter().find(|block| block.shape.is_none()) {
            Some(block) => self.block_function(block)?,
            None => self.null(),
        };
        let sizes: Vec<BasicValueEnum> = facts.parameter_sizes.iter().map(|size| self.int(*size).into()).collect();
        let mut variants: Vec<BasicValueEnum> = Vec::new();
        for (block, shape) in blocks.iter().filter_map(|block| Some((block, block.shape?))) {
            let shape = shape.map(|n| self.int(n.into()));
            let shape = self.context.i32_type().const_array(&shape);
            variants.push(self.context.const_struct(&[shape.into(), self.block_function(block)?.into()], false).into());
        }
        let pointer = |function: Option<FunctionValue<'ctx>>| {
            function.map_or(self.null(), |function| function.as_global_value().as_pointer_value()).into()
        };
        let fields: [BasicValueEnum; 12] = [
            string(self.module, name).into(),
            pointer(entry),
            block_entry.into(),
            self.constants(&sizes).into(),
            self.int(sizes.len() as u64).into(),
            self.int(flags).into(),
            self.int(facts.max_threads.into()).into(),
            self.int(facts.static_shared).into(),
            self.int(0).into(),
            self.constants(&variants).into(),
            self.int(variants.len() as u64).into(),
            pointer(address),
        ];
        Ok(self.context.const_struct(&fields, false).into())
    }

    fn block_function(&self, block: &BlockFunction) -> Result<PointerValue<'ctx>, Error> {
        match self.module.get_function(&block.symbol) {
            Some(function) => Ok(function.as_global_value().as_pointer_value()),
            None => Err(Error::internal("building the image table", format!("no function '{}'", block.symbol))),
        }
    }

    /// One row for each `__device__`, `__constant__` or `__managed__` variable.
    fn variable_rows(&self, options: &BlockOptions) -> Result<Vec<BasicValueEnum<'ctx>>, Error> {
        let layout = codegen::machine(options)?.get_target_data();
        let flat = self.context.ptr_type(AddressSpace::default());
        let is_variable = |name: &str| name.starts_with(DEVICE_PREFIX) || name == OUTPUT;
        let mut rows = Vec::new();
        for global in self.module.get_globals().filter(|g| !g.is_declaration() && !g.is_thread_local()) {
            let name = global.get_name().to_string_lossy().into_owned();
            if !is_variable(&name) {
                continue;
            }
            let pointer = global.as_pointer_value();
            let address = if pointer.get_type() == flat { pointer } else { pointer.const_address_space_cast(flat) };
            let size = self.context.i64_type().const_int(layout.get_abi_size(&global.get_value_type()), false);
            let name = string(self.module, name.strip_prefix(DEVICE_PREFIX).unwrap_or(&name));
            rows.push(self.context.const_struct(&[name.into(), address.into(), size.into()], false).into());
        }
        Ok(rows)
    }

    /// The address of a private array holding `rows`, null when there are none. Rows of one array share a type.
    fn constants(&self, rows: &[BasicValueEnum<'ctx>]) -> PointerValue<'ctx> {
        if rows.is_empty() {
            return self.null();
        }
        let value = self.context.const_struct(rows, false);
        let global = self.module.add_global(value.get_type(), None, "__regrain_table");
        global.set_initializer(&value);
        global.set_constant(true);
        global.set_linkage(Linkage::Private);
        global.as_pointer_value()
    }
}

fn thread_entry_name(kernel: &str) -> String {
    format!("__regrain_thread.{kernel}")
}

fn copy_byval(call: CallSiteValue<'_>, kernel: &Kernel<'_>) {
    for (i, parameter) in kernel.parameters.iter().enumerate() {
        if let Some(attribute) = parameter.by_copy {
            for attribute in [Some(attribute), parameter.alignment].into_iter().flatten() {
                call.add_attribute(AttributeLoc::Param(i as u32), attribute);
            }
        }
    }
}
