//! Forms of kernels that seldom run, if ever, are compiled as fast as can be, so that the time goes to what runs.
//!
//! These are the coroutine form of a kernel that has a block function for all shapes, or one for the shape of each launch that is seen or expected
//! (it is the oracle then); the block function for all shapes, where each launch is expected to have one of its own; and what only such functions call.
//! Where that is expected by a guess, the block function for all shapes is optimised for size, without the passes that take longest. The marks
//! are read by the pass `regrain-compile-cheaply` (`mlir-bridge/cpp/cheap.cpp`). Results are the same bits, as they are at all levels.

use std::collections::HashSet;

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::{Linkage, Module};
use inkwell::values::FunctionValue;
use mlir_bridge::llvm;

use super::image::Kernel;
use super::symbols::DEVICE_PREFIX;
use super::sync::calls;
use crate::target::{BlockFunction, Demand};

/// The attribute of functions that are compiled cheaply.
const CHEAP: &str = "regrain-cheap";
/// Its value on those that may run all the same: they are optimised, for size.
const SMALL: &str = "small";

/// The forms of a unit's kernels.
pub(super) struct Forms<'f, 'ctx> {
    pub(super) kernels: &'f [Kernel<'ctx>],
    pub(super) blocks: &'f [BlockFunction],
    /// Kernels that have a block function for the shape of each launch that is seen: their threads seldom run.
    pub(super) seldom: &'f HashSet<String>,
}

/// Marks what seldom runs in a finished module.
pub(super) fn mark<'ctx>(module: &Module<'ctx>, forms: &Forms<'_, 'ctx>) {
    let mut seldom = HashSet::new();
    let general = || forms.blocks.iter().filter(|block| block.shape.is_none());
    let has_block = |name| forms.blocks.iter().any(|block| block.kernel == name && is_for_all(block));
    for kernel in forms.kernels {
        let (name, functions) = kernel.thread_functions(module);
        if forms.seldom.contains(name) || has_block(name) {
            seldom.extend(functions.into_iter().flatten());
        }
    }
    let of_demand = |demand| {
        let blocks = general().filter(move |block| block.demand == demand);
        blocks.filter_map(|block| module.get_function(&block.symbol))
    };
    seldom.extend(of_demand(Demand::Seldom));
    let helpers: HashSet<_> = module.get_functions().filter(|function| is_helper(*function)).collect();
    let needed = needed(module, &seldom, &helpers);
    let mark = module.get_context().create_string_attribute(CHEAP, "");
    let small = module.get_context().create_string_attribute(CHEAP, SMALL);
    of_demand(Demand::Doubtful).for_each(|function| function.add_attribute(AttributeLoc::Function, small));
    for function in seldom.into_iter().chain(helpers.into_iter().filter(|helper| !needed.contains(helper))) {
        function.add_attribute(AttributeLoc::Function, mark);
    }
}

/// Whether a block function is for all launches, as far as is known.
fn is_for_all(block: &BlockFunction) -> bool {
    block.shape.is_none() || block.demand == Demand::Sole
}

/// A function of the program that is only ever called from what is seen here.
fn is_helper(function: FunctionValue<'_>) -> bool {
    let is_programs = function.get_name().to_string_lossy().starts_with(DEVICE_PREFIX);
    let is_internal = function.get_linkage() == Linkage::Internal && function.get_first_basic_block().is_some();
    is_programs && is_internal && !llvm::is_address_taken(function)
}

/// The helpers that are reached from what is not in `seldom`.
fn needed<'ctx>(
    module: &Module<'ctx>,
    seldom: &HashSet<FunctionValue<'ctx>>,
    helpers: &HashSet<FunctionValue<'ctx>>,
) -> HashSet<FunctionValue<'ctx>> {
    let is_root = |function: &FunctionValue<'ctx>| !seldom.contains(function) && !helpers.contains(function);
    let mut work: Vec<_> = module.get_functions().filter(is_root).collect();
    let mut found = HashSet::new();
    while let Some(function) = work.pop() {
        let called = calls(function).filter_map(llvm::callee).filter(|callee| helpers.contains(callee));
        work.extend(called.filter(|callee| found.insert(*callee)));
    }
    found
}

/// Lets all functions be optimised after all; whether there were marks.
pub(super) fn unmark(module: &Module<'_>) -> bool {
    let kinds = ["optnone", "noinline", "optsize"].map(Attribute::get_named_enum_kind_id);
    let mut found = false;
    for function in module.get_functions() {
        if function.get_string_attribute(AttributeLoc::Function, CHEAP).is_some() {
            function.remove_string_attribute(AttributeLoc::Function, CHEAP);
            kinds.into_iter().for_each(|kind| function.remove_enum_attribute(AttributeLoc::Function, kind));
            found = true;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    use super::*;
    use crate::target::BlockOptions;

    /// Kernels k, with a block function for all shapes and one for its own, and j without any; helpers of their functions.
    const DEVICE: &str = r#"
define ptx_kernel void @k(ptr %p) {
  call void @__regrain_dev_of_threads()
  call void @__regrain_dev_of_both()
  ret void
}
define ptx_kernel void @j(ptr %p) { ret void }
define void @block_k(ptr %args) {
  call void @__regrain_dev_of_block()
  ret void
}
define void @block_k_64(ptr %args) {
  call void @__regrain_dev_of_both()
  ret void
}
define internal void @__regrain_dev_of_threads() { ret void }
define internal void @__regrain_dev_of_block() {
  call void @__regrain_dev_deep()
  ret void
}
define internal void @__regrain_dev_of_both() { ret void }
define internal void @__regrain_dev_deep() { ret void }
"#;

    fn options(level: u8) -> BlockOptions {
        BlockOptions {
            unit: "0".into(),
            relocatable: false,
            cuda_arch: 70,
            level,
            cpu: None,
            lines: false,
            loaded: false,
            checks: 0,
            may_part: false,
        }
    }

    /// How the block function of k for its own shape is needed, and the one for all shapes, if there is one.
    fn marked(seldom: &[&str], own: Demand, general: Option<Demand>) -> Vec<String> {
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(DEVICE.as_bytes(), "test");
        let module = context.create_module_from_ir(buffer).expect("IR that parses");
        let kernels = Kernel::collect(&module, &options(2)).expect("kernels");
        let block = |symbol: &str, shape, demand| BlockFunction {
            kernel: "k".into(),
            symbol: symbol.into(),
            shape,
            demand,
            version: None,
        };
        let mut blocks = vec![block("block_k_64", Some([64, 1, 1]), own)];
        blocks.extend(general.map(|demand| block("block_k", None, demand)));
        let seldom = seldom.iter().map(|name| (*name).to_owned()).collect();
        mark(&module, &Forms { kernels: &kernels, blocks: &blocks, seldom: &seldom });
        let is_marked =
            |function: &FunctionValue<'_>| function.get_string_attribute(AttributeLoc::Function, CHEAP).is_some();
        let name = |function: FunctionValue<'_>| function.get_name().to_string_lossy().replace(DEVICE_PREFIX, "");
        let found = module.get_functions().filter(is_marked).map(name).collect::<Vec<_>>();
        assert_eq!(unmark(&module), !found.is_empty());
        assert!(!unmark(&module) && !module.get_functions().any(|function| is_marked(&function)));
        found
    }

    #[test]
    fn threads_are_seldom_run_where_there_is_a_function_for_all_shapes() {
        assert_eq!(marked(&[], Demand::Usual, Some(Demand::Usual)), ["k", "of_threads"]);
        assert_eq!(marked(&["k"], Demand::Usual, None), ["k", "of_threads"]);
        assert_eq!(marked(&[], Demand::Sole, None), ["k", "of_threads"]);
        assert!(marked(&[], Demand::Usual, None).is_empty());
    }

    #[test]
    fn the_function_for_all_shapes_is_seldom_run_where_each_launch_has_its_own() {
        assert_eq!(
            marked(&[], Demand::Usual, Some(Demand::Seldom)),
            ["k", "block_k", "of_threads", "of_block", "deep"]
        );
        assert_eq!(marked(&[], Demand::Usual, Some(Demand::Doubtful)), ["k", "block_k", "of_threads"]);
    }

    /// Sums of four elements, in a loop that a function for size keeps.
    const SUMS: &str = r#"
define float @usual(ptr %p) {
  br label %round
round:
  %i = phi i64 [ 0, %0 ], [ %n, %round ]
  %s = phi float [ 0.0, %0 ], [ %t, %round ]
  %a = getelementptr float, ptr %p, i64 %i
  %v = load float, ptr %a
  %t = fadd float %s, %v
  %n = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %n, 4
  br i1 %more, label %round, label %end
end:
  ret float %t
}
"#;

    #[test]
    fn passes_that_take_long_leave_out_what_is_doubtful() {
        let context = Context::create();
        let doubtful = SUMS.replace("@usual(ptr %p)", "@doubtful(ptr %p) #0");
        let text = format!("{SUMS}{doubtful}attributes #0 = {{ \"{CHEAP}\"=\"{SMALL}\" }}\n");
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "test");
        let module = context.create_module_from_ir(buffer).expect("IR that parses");
        super::super::codegen::optimise(&module, &options(3)).expect("passes that run");
        let blocks = |name| module.get_function(name).expect("a function").count_basic_blocks();
        assert_eq!((blocks("usual"), blocks("doubtful") > 1), (1, true));
    }
}
