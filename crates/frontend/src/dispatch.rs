//! Launches of kernels that exist at several grains.
//!
//! The compiler makes a host function for each such kernel, which launches its versions
//! (`i32 @__regrain_dispatch.k(ptr args, i32 gx, ..., i32 bz, i64 shared, ptr stream)`, with a constant block shape
//! `@__regrain_dispatch.k.b16x16x1`). Here these become part of clang's host module:
//!
//! ```text
//! %e = call i32 @cudaLaunchKernel(ptr @__device_stub__k, i64 %gridxy, i32 %gridz, ...)     ; in the stub of k
//! ```
//! becomes
//! ```text
//! %e = call i32 @__regrain_launcher.k(ptr @__device_stub__k, i64 %gridxy, i32 %gridz, ...)
//!
//! define internal i32 @__regrain_launcher.k(...) {     ; for a launch that is plainly valid the host function for its block
//!   ...                                                ; shape, else the general one, else what stood there
//! }
//! define internal i32 @__regrain_launch_kernel(ptr %handle, i32 %gx, ...) { ... @cudaLaunchKernel(ptr %handle, i64 ...) }
//!                    ; asks for dynamic shared memory first (`cudaFuncSetAttribute`) where it is more than a kernel has unasked
//! @"__regrain_handle.k$b2x1x1" = internal global i8 0                               ; registered as the stub is
//! @__regrain_launched = internal thread_local global i8 0                           ; whether the launcher has launched anything
//! ```
//! A launch that CUDA refuses goes to the original kernel, so that the error is CUDA's own: at once where its sizes are not valid, and
//! where no version could be launched (an image that the device cannot load, too few registers or too little shared memory),
//! after the error has been cleared. Launches that are not by the stub (`cudaLaunchKernel` with a pointer that is known at run
//! time only, cooperative launches) run the original kernel.

use std::collections::{BTreeMap, HashSet};

use inkwell::IntPredicate;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::{Builder, BuilderError};
use inkwell::module::{Linkage, Module};
use inkwell::types::{BasicMetadataTypeEnum, FunctionType};
use inkwell::values::{
    BasicMetadataValueEnum, BasicValueEnum, FunctionValue, InstructionValue, IntValue, PointerValue,
};
use mlir_bridge::llvm;

use crate::Error;
use crate::launches::{self, BlockShape, LAUNCH_FUNCTIONS, SET_ATTRIBUTE};
use crate::specialise::{COMMON_SHARED_LIMIT, define_handle, register};

const HANDLE_PREFIX: &str = "__regrain_handle.";
const LAUNCH_KERNEL: &str = "__regrain_launch_kernel";
/// A function of the runtime.
const DEVICE_KIND: &str = "__regrain_device_kind";
const LAUNCHED: &str = "__regrain_launched";
/// Forgets an error that was not sticky.
const CLEAR_ERROR: &str = "cudaGetLastError";
/// `cudaFuncAttributeMaxDynamicSharedMemorySize`.
const MAX_DYNAMIC_SHARED: u64 = 8;

/// A host function that launches versions of a kernel.
#[derive(Clone, Debug)]
pub struct Dispatcher {
    /// Mangled device name of the original kernel.
    pub kernel: String,
    /// The function.
    pub symbol: String,
    /// The only block shape that it is for, or `None` for all.
    pub shape: Option<BlockShape>,
    /// The kernels that it launches, without the original.
    pub versions: Vec<String>,
    /// The most threads that a block of the original launch may have: larger ones might not get the registers they need.
    pub most_threads: u32,
    /// The most static shared memory that a block of one of the versions has, bytes.
    pub static_shared: u64,
    /// The only kind of device that it is for (`__regrain_device_kind` of the runtime), or `None` for all.
    pub device: Option<u32>,
}

/// Makes host functions those of one kind of device, with names that those of other devices do not have.
pub fn for_device(functions: &Module<'_>, dispatchers: &mut [Dispatcher], device: u32) {
    for dispatcher in dispatchers {
        let symbol = format!("{}.device{device}", dispatcher.symbol);
        if let Some(function) = functions.get_function(&dispatcher.symbol) {
            function.as_global_value().set_name(&symbol);
        }
        dispatcher.symbol = symbol;
        dispatcher.device = Some(device);
    }
}

/// Puts `functions`, which defines the `dispatchers`, into `host` and lets launches go there. With `asks` the runtime is asked
/// first (`__regrain_keeps_grain`) whether versions may run. Gives the kernels that are launched so.
pub fn redirect<'ctx>(
    host: &Module<'ctx>,
    functions: Vec<Module<'ctx>>,
    dispatchers: &[Dispatcher],
    asks: bool,
) -> Result<HashSet<String>, Error> {
    let failed = |message: String| Error::Internal { doing: "choosing among versions of kernels".into(), message };
    let Some(launch) = LAUNCH_FUNCTIONS.iter().find_map(|name| host.get_function(name)) else {
        return Ok(HashSet::new());
    };
    let Some(abi) = Abi::of(launch.get_type()) else { return Ok(HashSet::new()) };
    for functions in functions {
        functions.strip_debug_info();
        functions.set_triple(&host.get_triple());
        functions.set_data_layout(&host.get_data_layout());
        host.link_in_module(functions).map_err(|error| failed(error.to_string()))?;
    }
    let unit = HostModule { host, launch, abi, asks };
    unit.redirect(dispatchers).map_err(|error| failed(error.to_string()))
}

/// How a `dim3` is passed by value.
#[derive(Clone, Copy)]
enum Abi {
    /// x86-64: x and y in an i64, z in an i32.
    Words,
    /// AArch64: `[2 x i64]`.
    Array,
}

impl Abi {
    /// What the type of `cudaLaunchKernel(handle, grid, block, args, shared, stream)` says.
    fn of(launch: FunctionType<'_>) -> Option<Self> {
        use BasicMetadataTypeEnum::{ArrayType, IntType, PointerType};
        let wide = |ty: inkwell::types::IntType<'_>, bits| ty.get_bit_width() == bits;
        match launch.get_param_types()[..] {
            [
                PointerType(_),
                IntType(a),
                IntType(b),
                IntType(c),
                IntType(d),
                PointerType(_),
                IntType(_),
                PointerType(_),
            ] if wide(a, 64) && wide(b, 32) && wide(c, 64) && wide(d, 32) => Some(Self::Words),
            [PointerType(_), ArrayType(a), ArrayType(b), PointerType(_), IntType(_), PointerType(_)]
                if a.len() == 2 && b.len() == 2 =>
            {
                Some(Self::Array)
            }
            _ => None,
        }
    }

    /// How many parameters a `dim3` takes.
    fn width(self) -> u32 {
        match self {
            Self::Words => 2,
            Self::Array => 1,
        }
    }
}

/// The parameters of a launch.
struct LaunchCall<'ctx> {
    handle: BasicValueEnum<'ctx>,
    /// Grid and block, i32.
    sizes: Vec<IntValue<'ctx>>,
    args: BasicValueEnum<'ctx>,
    shared: IntValue<'ctx>,
    stream: BasicValueEnum<'ctx>,
}

struct HostModule<'m, 'ctx> {
    host: &'m Module<'ctx>,
    launch: FunctionValue<'ctx>,
    abi: Abi,
    asks: bool,
}

impl<'ctx> HostModule<'_, 'ctx> {
    fn redirect(&self, dispatchers: &[Dispatcher]) -> Result<HashSet<String>, BuilderError> {
        let mut by_kernel: BTreeMap<&str, Vec<&Dispatcher>> = BTreeMap::new();
        for dispatcher in dispatchers {
            by_kernel.entry(&dispatcher.kernel).or_default().push(dispatcher);
            if let Some(function) = self.host.get_function(&dispatcher.symbol) {
                function.set_linkage(Linkage::Internal);
            }
        }
        self.define_launch_kernel()?;
        let mut done = HashSet::new();
        let mut registered = HashSet::new();
        for (name, kernel) in launches::kernels_of_stubs(self.host) {
            let (Some(stub), Some(list)) = (self.host.get_function(&name), by_kernel.get(kernel.as_str())) else {
                continue;
            };
            let calls = self.launches_of(stub);
            if calls.is_empty() {
                continue;
            }
            let launcher = self.define_launcher(&kernel, list)?;
            calls.into_iter().for_each(|call| llvm::set_callee(call, launcher));
            if let Some(handle) = self.host.get_global(&format!("{HANDLE_PREFIX}{kernel}")) {
                llvm::replace_global(handle, stub.as_global_value().as_pointer_value());
            }
            registered.extend(list.iter().flat_map(|dispatcher| dispatcher.versions.clone()));
            done.insert(kernel);
        }
        for handle in self.host.get_globals().filter(|global| global.is_declaration()).collect::<Vec<_>>() {
            let name = handle.get_name().to_string_lossy().into_owned();
            let Some(kernel) = name.strip_prefix(HANDLE_PREFIX) else { continue };
            let handle = define_handle(self.host, handle);
            if registered.contains(kernel) {
                register(self.host, handle, kernel)?;
            }
        }
        Ok(done)
    }

    /// The launches of a kernel: the one in its stub, and direct ones.
    fn launches_of(&self, stub: FunctionValue<'ctx>) -> Vec<InstructionValue<'ctx>> {
        let launches = |call: &InstructionValue<'ctx>| llvm::callee(*call) == Some(self.launch);
        let handle = stub.as_global_value().as_pointer_value();
        let direct = |call: &InstructionValue<'ctx>| call.get_operand(0).and_then(|o| o.value()) == Some(handle.into());
        let mut found: Vec<_> = launches::calls(stub).filter(launches).collect();
        for function in self.host.get_functions().filter(|function| *function != stub) {
            found.extend(launches::calls(function).filter(launches).filter(direct));
        }
        found
    }

    fn builder_in(&self, function: FunctionValue<'ctx>) -> Builder<'ctx> {
        let context = self.host.get_context();
        let builder = context.create_builder();
        builder.position_at_end(context.append_basic_block(function, "entry"));
        builder
    }

    /// `__regrain_launch_kernel`, which launches with sizes as numbers. Its last parameter is the dynamic shared memory that the
    /// kernel has unasked, bytes.
    fn define_launch_kernel(&self) -> Result<(), BuilderError> {
        let Some(function) = self.host.get_function(LAUNCH_KERNEL) else { return Ok(()) };
        function.set_linkage(Linkage::Internal);
        let builder = self.builder_in(function);
        let parameters = function.get_params();
        let sizes: Vec<_> = parameters[1..7].iter().map(|size| size.into_int_value()).collect();
        let launch = LaunchCall {
            handle: parameters[0],
            sizes,
            args: parameters[7],
            shared: parameters[8].into_int_value(),
            stream: parameters[9],
        };
        let unasked = parameters[10].into_int_value();
        let context = self.host.get_context();
        let [ask, refused, start] = ["ask", "refused", "launch"].map(|name| context.append_basic_block(function, name));
        let more = builder.build_int_compare(IntPredicate::UGT, launch.shared, unasked, "")?;
        builder.build_conditional_branch(more, ask, start)?;
        builder.position_at_end(ask);
        let error = self.ask_for_shared(&builder, &launch)?;
        let fine = builder.build_int_compare(IntPredicate::EQ, error, error.get_type().const_zero(), "")?;
        builder.build_conditional_branch(fine, start, refused)?;
        builder.position_at_end(refused);
        builder.build_return(Some(&error))?;
        builder.position_at_end(start);
        let mut arguments: Vec<BasicMetadataValueEnum> = vec![launch.handle.into()];
        for dim in launch.sizes.chunks(3) {
            arguments.extend(self.pack(&builder, dim)?);
        }
        arguments.extend::<[BasicMetadataValueEnum<'ctx>; 3]>([
            launch.args.into(),
            launch.shared.into(),
            launch.stream.into(),
        ]);
        let error = self.error_of(&builder, self.launch, &arguments)?;
        let fine = builder.build_int_compare(IntPredicate::EQ, error, error.get_type().const_zero(), "")?;
        let [launched, end] = ["launched", "end"].map(|name| context.append_basic_block(function, name));
        builder.build_conditional_branch(fine, launched, end)?;
        builder.position_at_end(launched);
        self.set_launched(&builder, true)?;
        builder.build_unconditional_branch(end)?;
        builder.position_at_end(end);
        builder.build_return(Some(&error)).map(drop)
    }

    /// Whether the calling thread's launcher has launched anything: after an error, the original may run only if not.
    fn launched(&self) -> PointerValue<'ctx> {
        let flag = self.host.get_global(LAUNCHED).unwrap_or_else(|| {
            let byte = self.host.get_context().i8_type();
            let made = self.host.add_global(byte, None, LAUNCHED);
            made.set_linkage(Linkage::Internal);
            made.set_thread_local(true);
            made.set_initializer(&byte.const_zero());
            made
        });
        flag.as_pointer_value()
    }

    fn set_launched(&self, builder: &Builder<'ctx>, launched: bool) -> Result<(), BuilderError> {
        let value = self.host.get_context().i8_type().const_int(launched.into(), false);
        builder.build_store(self.launched(), value).map(drop)
    }

    /// `cudaFuncSetAttribute`, so that a kernel may have as much dynamic shared memory as a launch gives it.
    fn ask_for_shared(
        &self,
        builder: &Builder<'ctx>,
        launch: &LaunchCall<'ctx>,
    ) -> Result<IntValue<'ctx>, BuilderError> {
        let context = self.host.get_context();
        let word = context.i32_type();
        let setter = self.host.get_function(SET_ATTRIBUTE).unwrap_or_else(|| {
            let pointer = context.ptr_type(inkwell::AddressSpace::default());
            self.host.add_function(
                SET_ATTRIBUTE,
                word.fn_type(&[pointer.into(), word.into(), word.into()], false),
                None,
            )
        });
        let bytes = builder.build_int_truncate(launch.shared, word, "")?;
        self.error_of(
            builder,
            setter,
            &[launch.handle.into(), word.const_int(MAX_DYNAMIC_SHARED, false).into(), bytes.into()],
        )
    }

    /// Calls a function that gives an error code.
    fn error_of(
        &self,
        builder: &Builder<'ctx>,
        callee: FunctionValue<'ctx>,
        arguments: &[BasicMetadataValueEnum<'ctx>],
    ) -> Result<IntValue<'ctx>, BuilderError> {
        let error = builder.build_call(callee, arguments, "error")?.try_as_basic_value().basic();
        Ok(error.map_or(self.host.get_context().i32_type().const_zero(), BasicValueEnum::into_int_value))
    }

    /// A `dim3` as it is passed.
    fn pack(
        &self,
        builder: &Builder<'ctx>,
        dim: &[IntValue<'ctx>],
    ) -> Result<Vec<BasicMetadataValueEnum<'ctx>>, BuilderError> {
        let long = self.host.get_context().i64_type();
        let x = builder.build_int_z_extend(dim[0], long, "")?;
        let y = builder.build_int_z_extend(dim[1], long, "")?;
        let xy = builder.build_or(x, builder.build_left_shift(y, long.const_int(32, false), "")?, "")?;
        Ok(match self.abi {
            Abi::Words => vec![xy.into(), dim[2].into()],
            Abi::Array => {
                let z = builder.build_int_z_extend(dim[2], long, "")?;
                let array = long.array_type(2).get_undef();
                let array = builder.build_insert_value(array, xy, 0, "")?;
                vec![builder.build_insert_value(array, z, 1, "")?.into_array_value().into()]
            }
        })
    }

    /// The parameters of a function of `cudaLaunchKernel`'s type.
    fn unpack(&self, builder: &Builder<'ctx>, function: FunctionValue<'ctx>) -> Result<LaunchCall<'ctx>, BuilderError> {
        let context = self.host.get_context();
        let (word, long) = (context.i32_type(), context.i64_type());
        let parameters = function.get_params();
        let mut sizes = Vec::new();
        for dim in 0..2 {
            let first = (1 + dim * self.abi.width()) as usize;
            let (xy, z) = match self.abi {
                Abi::Words => (parameters[first].into_int_value(), parameters[first + 1].into_int_value()),
                Abi::Array => {
                    let array = parameters[first].into_array_value();
                    let xy = builder.build_extract_value(array, 0, "")?.into_int_value();
                    let z = builder.build_extract_value(array, 1, "")?.into_int_value();
                    (xy, builder.build_int_truncate(z, word, "")?)
                }
            };
            let y = builder.build_right_shift(xy, long.const_int(32, false), false, "")?;
            sizes.extend([builder.build_int_truncate(xy, word, "")?, builder.build_int_truncate(y, word, "")?, z]);
        }
        let rest = (1 + 2 * self.abi.width()) as usize;
        let shared = parameters[rest + 1].into_int_value();
        Ok(LaunchCall { handle: parameters[0], sizes, args: parameters[rest], shared, stream: parameters[rest + 2] })
    }

    /// The function that the launches of a kernel call in place of `cudaLaunchKernel`.
    fn define_launcher(&self, kernel: &str, dispatchers: &[&Dispatcher]) -> Result<FunctionValue<'ctx>, BuilderError> {
        let context = self.host.get_context();
        let name = format!("__regrain_launcher.{kernel}");
        let launcher = self.host.add_function(&name, self.launch.get_type(), Some(Linkage::Internal));
        let builder = self.builder_in(launcher);
        let launch = self.unpack(&builder, launcher)?;
        let original = context.append_basic_block(launcher, "original");
        let threads = self.threads(&builder, &launch)?;
        let device = match dispatchers.iter().any(|dispatcher| dispatcher.device.is_some()) {
            true => Some(self.device_kind(&builder)?),
            false => None,
        };
        let mut next = context.append_basic_block(launcher, "choose");
        builder.build_conditional_branch(self.is_valid(&builder, &launch, threads)?, next, original)?;
        // The general one comes last.
        let mut ordered = dispatchers.to_vec();
        ordered.sort_by_key(|dispatcher| dispatcher.shape.is_none());
        for dispatcher in ordered {
            let Some(function) = self.host.get_function(&dispatcher.symbol) else { continue };
            builder.position_at_end(next);
            let chosen = context.append_basic_block(launcher, "dispatch");
            next = context.append_basic_block(launcher, "choose");
            builder.build_conditional_branch(
                self.serves(&builder, &launch, (threads, device), dispatcher)?,
                chosen,
                next,
            )?;
            builder.position_at_end(chosen);
            let mut arguments: Vec<BasicMetadataValueEnum> = vec![launch.args.into()];
            arguments.extend(launch.sizes.iter().map(|size| BasicMetadataValueEnum::from(*size)));
            arguments.extend::<[BasicMetadataValueEnum<'ctx>; 2]>([launch.shared.into(), launch.stream.into()]);
            self.set_launched(&builder, false)?;
            let error = self.error_of(&builder, function, &arguments)?;
            self.return_unless_refused(&builder, launcher, error, original)?;
        }
        builder.position_at_end(next);
        builder.build_unconditional_branch(original)?;
        builder.position_at_end(original);
        let given: Vec<_> = launcher.get_params().into_iter().map(BasicMetadataValueEnum::from).collect();
        let error = self.error_of(&builder, self.launch, &given)?;
        builder.build_return(Some(&error))?;
        Ok(launcher)
    }

    /// Returns what a dispatch function gave; if that is an error and nothing was launched, clears it and goes to `original`.
    fn return_unless_refused(
        &self,
        builder: &Builder<'ctx>,
        launcher: FunctionValue<'ctx>,
        error: IntValue<'ctx>,
        original: BasicBlock<'ctx>,
    ) -> Result<(), BuilderError> {
        let context = self.host.get_context();
        let [refused, end] = ["refused", "end"].map(|name| context.append_basic_block(launcher, name));
        let byte = context.i8_type();
        let launched = builder.build_load(byte, self.launched(), "launched")?.into_int_value();
        let nothing = builder.build_int_compare(IntPredicate::EQ, launched, byte.const_zero(), "")?;
        let wrong = builder.build_int_compare(IntPredicate::NE, error, error.get_type().const_zero(), "")?;
        builder.build_conditional_branch(builder.build_and(wrong, nothing, "")?, refused, end)?;
        builder.position_at_end(end);
        builder.build_return(Some(&error))?;
        builder.position_at_end(refused);
        let clear = self
            .host
            .get_function(CLEAR_ERROR)
            .unwrap_or_else(|| self.host.add_function(CLEAR_ERROR, context.i32_type().fn_type(&[], false), None));
        builder.build_call(clear, &[], "")?;
        builder.build_unconditional_branch(original).map(drop)
    }

    /// The product of the block's sizes; of no meaning where one of them is too large.
    fn threads(&self, builder: &Builder<'ctx>, launch: &LaunchCall<'ctx>) -> Result<IntValue<'ctx>, BuilderError> {
        let plane = builder.build_int_mul(launch.sizes[3], launch.sizes[4], "")?;
        builder.build_int_mul(plane, launch.sizes[5], "threads")
    }

    /// Whether CUDA surely has nothing against the sizes of a launch, and the runtime nothing against versions.
    fn is_valid(
        &self,
        builder: &Builder<'ctx>,
        launch: &LaunchCall<'ctx>,
        threads: IntValue<'ctx>,
    ) -> Result<IntValue<'ctx>, BuilderError> {
        let context = self.host.get_context();
        let word = context.i32_type();
        let mut valid = context.bool_type().const_all_ones();
        let sizes = launch.sizes.iter().zip([0x7fff_ffff, 65535, 65535, 1024, 1024, 64]);
        for (size, most) in sizes.chain([(&threads, 1024)]) {
            // From 1 to `most`: one less is below it as an unsigned number.
            let less = builder.build_int_sub(*size, word.const_int(1, false), "")?;
            let fits = builder.build_int_compare(IntPredicate::ULT, less, word.const_int(most, false), "")?;
            valid = builder.build_and(valid, fits, "")?;
        }
        if self.asks {
            let name = "__regrain_keeps_grain";
            let asked = self
                .host
                .get_function(name)
                .unwrap_or_else(|| self.host.add_function(name, word.fn_type(&[], false), None));
            let answer = builder.build_call(asked, &[], "keeps")?.try_as_basic_value().basic();
            if let Some(BasicValueEnum::IntValue(keeps)) = answer {
                let free = builder.build_int_compare(IntPredicate::EQ, keeps, word.const_zero(), "")?;
                valid = builder.build_and(valid, free, "")?;
            }
        }
        Ok(valid)
    }

    /// Whether a dispatcher is for a launch.
    fn serves(
        &self,
        builder: &Builder<'ctx>,
        launch: &LaunchCall<'ctx>,
        (threads, device): (IntValue<'ctx>, Option<IntValue<'ctx>>),
        dispatcher: &Dispatcher,
    ) -> Result<IntValue<'ctx>, BuilderError> {
        let context = self.host.get_context();
        let word = context.i32_type();
        let limit = context.i64_type().const_int(COMMON_SHARED_LIMIT.saturating_sub(dispatcher.static_shared), false);
        let mut serves = builder.build_int_compare(IntPredicate::ULE, launch.shared, limit, "")?;
        let few = word.const_int(dispatcher.most_threads.into(), false);
        serves = builder.build_and(serves, builder.build_int_compare(IntPredicate::ULE, threads, few, "")?, "")?;
        for (size, wanted) in launch.sizes[3..].iter().zip(dispatcher.shape.into_iter().flatten()) {
            let same = builder.build_int_compare(IntPredicate::EQ, *size, word.const_int(wanted.into(), false), "")?;
            serves = builder.build_and(serves, same, "")?;
        }
        if let (Some(device), Some(wanted)) = (device, dispatcher.device) {
            let wanted = word.const_int(wanted.into(), false);
            let same = builder.build_int_compare(IntPredicate::EQ, device, wanted, "")?;
            serves = builder.build_and(serves, same, "")?;
        }
        Ok(serves)
    }

    /// The kind of device that the program runs on.
    fn device_kind(&self, builder: &Builder<'ctx>) -> Result<IntValue<'ctx>, BuilderError> {
        let ty = self.host.get_context().i32_type().fn_type(&[], false);
        let asked =
            self.host.get_function(DEVICE_KIND).unwrap_or_else(|| self.host.add_function(DEVICE_KIND, ty, None));
        self.error_of(builder, asked, &[])
    }
}

#[cfg(test)]
#[path = "dispatch_tests.rs"]
mod tests;
