//! Which kernels may synchronise, and where.
//!
//! A kernel from which no barrier, warp operation or unknown code can be reached needs no coroutines: its threads
//! run one after the other. Before each synchronising call the source site is stored in the thread state, so that
//! the runtime can say which line a stuck thread waits at:
//!
//! ```text
//! store ptr @site.0, ptr getelementptr (i8, ptr @__regrain_tls, i64 72)
//! call void @__regrain_llvm_nvvm_barrier_cta_sync_aligned_all(i32 0)
//! ```

use std::collections::{HashMap, HashSet};

use inkwell::AddressSpace;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::builder::{Builder, BuilderError};
use inkwell::module::{Linkage, Module};
use inkwell::values::{FunctionValue, InstructionOpcode, InstructionValue, PointerValue};
use mlir_bridge::llvm;

use super::symbols::DEVICE_PREFIX;
use super::{codegen, spin};
use crate::target::BlockOptions;
use crate::{Error, machines};

/// The runtime's function that waits for all blocks of the grid.
const GRID_BARRIER: &str = "__regrain_grid_barrier";
/// How the names of the runtime's functions begin that loops which may wait call.
const WAIT: &str = "__regrain_wait";
/// Offset of `site` in the runtime's `struct regrain_tls`.
const SITE_OFFSET: u64 = 72;

/// Names of the functions of a module that may synchronise.
pub(super) struct Synchronising(HashSet<String>);

impl Synchronising {
    pub(super) fn contains(&self, function: FunctionValue<'_>) -> bool {
        self.0.contains(name_of(function).as_str())
    }
}

/// Finds the functions from which a synchronising operation may be reached.
pub(super) fn analyse(module: &Module<'_>) -> Synchronising {
    reaching(module, synchronises_itself)
}

/// Finds the functions from which a barrier of the grid may be reached.
pub(super) fn meeting_grid(module: &Module<'_>) -> Synchronising {
    reaching(module, |name| name == GRID_BARRIER)
}

/// Finds the functions with loops in which a thread may wait.
pub(super) fn waiting(module: &Module<'_>) -> Synchronising {
    reaching(module, |name| name.starts_with(WAIT))
}

/// Finds the functions whose threads may wait for one another, or for the host, without a barrier: nobody knows which
/// of their loops do.
pub(super) fn polling(module: &Module<'_>) -> Synchronising {
    reaching(module, spin::is_hint)
}

/// The functions from which one outside the module may be reached for which `wanted` holds.
fn reaching(module: &Module<'_>, wanted: impl Fn(&str) -> bool) -> Synchronising {
    let mut callers: HashMap<String, Vec<String>> = HashMap::new();
    let mut indirect = Vec::new();
    let mut work = Vec::new();
    for function in module.get_functions() {
        let name = name_of(function);
        if function.get_first_basic_block().is_none() {
            if wanted(&name) {
                work.push(name);
            }
            continue;
        }
        for call in calls(function) {
            match llvm::callee(call) {
                Some(callee) => callers.entry(name_of(callee)).or_default().push(name.clone()),
                None => indirect.push(name.clone()),
            }
        }
    }
    let mut found = HashSet::new();
    let mut through_pointers = false;
    while let Some(name) = work.pop() {
        if !found.insert(name.clone()) {
            continue;
        }
        work.extend(callers.get(&name).into_iter().flatten().cloned());
        if !through_pointers && module.get_function(&name).is_some_and(llvm::is_address_taken) {
            through_pointers = true;
            work.append(&mut indirect);
        }
    }
    Synchronising(found)
}

/// Whether a function outside the module may switch threads.
fn synchronises_itself(name: &str) -> bool {
    if name.starts_with(DEVICE_PREFIX) {
        // Code of another translation unit may.
        return true;
    }
    matches!(
        name,
        "__regrain_barrier"
            | "__regrain_barrier_arrive"
            | "__regrain_barrier_red"
            | "__regrain_warp_exchange"
            | "__regrain_active_mask"
            | "__regrain_wave_stop"
            | "__regrain_nanosleep"
            | "__regrain_exit_thread"
    ) || name.starts_with("__regrain_grid_barrier")
}

/// Whether a function is the device library's or the runtime's, rather than the program's.
pub(super) fn is_ours(name: &str) -> bool {
    name.starts_with("__regrain_") && !name.starts_with(DEVICE_PREFIX) || name.starts_with("__nv_")
}

/// Stores the site before each synchronising call that has a source location.
pub(super) fn mark_sites(module: &Module<'_>, synchronising: &Synchronising) -> Result<(), Error> {
    let context = module.get_context();
    let builder = context.create_builder();
    let pointer = context.ptr_type(AddressSpace::default());
    keep_apart(module, synchronising);
    let mut sites = Sites { module, strings: HashMap::new() };
    for function in module.get_functions().filter(|f| !is_ours(&name_of(*f))).collect::<Vec<_>>() {
        let calls = calls(function)
            .filter(|call| llvm::callee(*call).is_some_and(|f| is_ours(&name_of(f)) && synchronising.contains(f)));
        for call in calls.collect::<Vec<_>>() {
            let frames = llvm::source_frames(call);
            let Some((file, line)) = frames.iter().find(|(file, _)| !is_header(file)).or(frames.first()) else {
                continue;
            };
            let site = sites.site(file, *line, &name_of(function));
            builder.position_before(&call);
            let address = field_address(module, &builder, SITE_OFFSET).map_err(failed)?;
            builder.build_store(address, site.const_cast(pointer)).map_err(failed)?;
        }
    }
    Ok(())
}

/// Inlines the functions of CUDA's and clang's own headers that synchronise, so that a call of `__shfl_sync` has the
/// line of the program that made it.
pub(super) fn inline_header_wrappers(
    module: &Module<'_>,
    synchronising: &Synchronising,
    options: &BlockOptions,
) -> Result<(), Error> {
    let always = module.get_context().create_enum_attribute(Attribute::get_named_enum_kind_id("alwaysinline"), 0);
    let never = Attribute::get_named_enum_kind_id("noinline");
    let alone = Attribute::get_named_enum_kind_id("optnone");
    for function in module.get_functions().filter(|f| synchronising.contains(*f) && !is_ours(&name_of(*f))) {
        let Some(file) = llvm::source_file(function) else { continue };
        if is_header(&file) && !llvm::is_address_taken(function) {
            function.remove_enum_attribute(AttributeLoc::Function, never);
            function.remove_enum_attribute(AttributeLoc::Function, alone);
            function.add_attribute(AttributeLoc::Function, always);
        }
    }
    machines::run_passes(module, codegen::mandatory_inlining(options), &*codegen::machine(options)?)
}

/// Whether a source file is not the program's own.
fn is_header(file: &str) -> bool {
    HEADERS.iter().any(|part| file.contains(part))
}

/// Parts of the paths of headers that are not the program's.
pub(super) const HEADERS: [&str; 3] = ["/lib/clang/", "cooperative_groups", "/include/crt/"];

/// Two synchronising calls at different places must not become one: the runtime tells a stuck thread's place by them.
fn keep_apart(module: &Module<'_>, synchronising: &Synchronising) {
    let no_merge = module.get_context().create_enum_attribute(Attribute::get_named_enum_kind_id("nomerge"), 0);
    for function in module.get_functions().filter(|f| synchronising.contains(*f) && is_ours(&name_of(*f))) {
        function.add_attribute(AttributeLoc::Function, no_merge);
    }
}

fn failed(error: BuilderError) -> Error {
    Error::internal("marking synchronisation sites", error.to_string())
}

fn field_address<'ctx>(
    module: &Module<'ctx>,
    builder: &Builder<'ctx>,
    offset: u64,
) -> Result<PointerValue<'ctx>, BuilderError> {
    let context = module.get_context();
    let words = context.i64_type().array_type(12);
    let state = module.get_global("__regrain_tls").unwrap_or_else(|| {
        let state = module.add_global(words, None, "__regrain_tls");
        state.set_thread_local(true);
        state.set_alignment(8);
        state
    });
    builder.build_struct_gep(
        context.struct_type(
            &[context.i64_type().array_type((offset / 8) as u32).into(), context.i64_type().into()],
            false,
        ),
        state.as_pointer_value(),
        1,
        "site",
    )
}

/// Makes the `struct regrain_site` constants of a module. Each call has its own: the runtime tells calls apart by
/// the address of their site.
struct Sites<'m, 'ctx> {
    module: &'m Module<'ctx>,
    strings: HashMap<String, PointerValue<'ctx>>,
}

impl<'ctx> Sites<'_, 'ctx> {
    fn site(&mut self, file: &str, line: u32, function: &str) -> PointerValue<'ctx> {
        let plain = function.strip_prefix(DEVICE_PREFIX).unwrap_or(function);
        let (file, function) = (self.string(file), self.string(plain));
        let context = self.module.get_context();
        let line = context.i32_type().const_int(line.into(), false);
        let value = context.const_struct(&[file.into(), line.into(), function.into()], false);
        let global = self.module.add_global(value.get_type(), None, "__regrain_site");
        global.set_initializer(&value);
        global.set_constant(true);
        global.set_linkage(Linkage::Private);
        global.as_pointer_value()
    }

    fn string(&mut self, text: &str) -> PointerValue<'ctx> {
        let module = self.module;
        *self.strings.entry(text.to_owned()).or_insert_with(|| super::constants::string(module, text))
    }
}

pub(super) fn calls<'ctx>(function: FunctionValue<'ctx>) -> impl Iterator<Item = InstructionValue<'ctx>> {
    function.get_basic_block_iter().flat_map(|block| {
        block.get_instructions().filter(|i| {
            matches!(i.get_opcode(), InstructionOpcode::Call | InstructionOpcode::Invoke) && !llvm::calls_inline_asm(*i)
        })
    })
}

pub(super) fn name_of(function: FunctionValue<'_>) -> String {
    function.get_name().to_string_lossy().into_owned()
}
