//! Whether a device library defines what it should, with the right types.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use inkwell::context::Context;
use inkwell::intrinsics::Intrinsic;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use inkwell::types::{BasicTypeEnum, FunctionType};

use super::DeviceLibrary;
use super::library::intrinsic_symbol;

/// Intrinsics that all libraries leave out, by prefix (after `llvm.nvvm.`), and why.
const LEFT_OUT: &[(&str, &str)] = &[
    ("wmma.", "made of what warps compute together"),
    ("mma.", "made of what warps compute together"),
    ("ldmatrix.", "made of what warps compute together"),
    ("stmatrix.", "made of what warps compute together"),
    ("wgmma.", "sm_90 matrix instructions"),
    ("tcgen05.", "sm_100 tensor memory"),
    ("tensormap.", "sm_90 tensor maps"),
    ("fence.proxy.tensormap", "sm_90 tensor maps"),
    ("prefetch.tensormap", "sm_90 tensor maps"),
    ("cp.async.bulk", "sm_90 bulk copies"),
    ("cp.async.mbarrier", "memory barrier objects"),
    ("mbarrier.", "memory barrier objects"),
    ("st.bulk", "sm_100"),
    ("clusterlaunchcontrol.", "sm_100"),
    ("tex.", "textures"),
    ("tld4.", "textures"),
    ("texsurf.", "textures"),
    ("txq.", "textures"),
    ("suld.", "surfaces"),
    ("sust.", "surfaces"),
    ("suq.", "surfaces"),
    ("istypep.", "textures and surfaces"),
    ("compiler.", "messages of the compiler"),
    ("internal.", "LLVM's own"),
    ("reflect", "resolved by the lowering"),
    ("redux.sync.fm", "sm_100"),
    ("mapa.shared.cluster", "clusters of several blocks"),
    ("e2m1x2.", "sm_100 small floats"),
    ("e2m3x2.", "sm_100 small floats"),
    ("e3m2x2.", "sm_100 small floats"),
    ("e4m3x2.", "sm_89 small floats"),
    ("e5m2x2.", "sm_89 small floats"),
    ("ue8m0x2.", "sm_100 small floats"),
    ("f16x2.to.", "sm_89 small floats"),
    ("bf16x2.to.", "sm_100 small floats"),
    ("f32x4.to.", "sm_100 small floats"),
    ("ff.to.", "sm_89 small floats"),
    ("ff2bf16x2.rs", "stochastic rounding, sm_100"),
    ("ff2f16x2.rs", "stochastic rounding, sm_100"),
    ("move.ptr", "never made by clang"),
    ("fence.proxy.tensormap_generic", "sm_90 tensor maps"),
];

/// Where LLVM is.
pub(crate) fn llvm_prefix() -> PathBuf {
    option_env!("LLVM_SYS_221_PREFIX").unwrap_or("/usr/lib/llvm-22").into()
}

/// All names in LLVM's list of NVVM intrinsics.
fn nvvm_intrinsics() -> Vec<String> {
    let header = llvm_prefix().join("include/llvm/IR/IntrinsicsNVPTX.h");
    let text = std::fs::read_to_string(&header).expect("LLVM's headers are installed");
    let names = text.lines().filter_map(|line| line.split_once("// llvm.nvvm.")).map(|(_, rest)| rest);
    // `llvm.nvvm.add.rm.d (IntrinsicsNVVM.td:1589)`
    names.filter_map(|rest| rest.split_whitespace().next().map(str::to_string)).collect()
}

fn same_parameters(ours: FunctionType<'_>, theirs: FunctionType<'_>, skip: usize) -> bool {
    let printed = |ty: FunctionType<'_>, skip: usize| -> Vec<String> {
        // Pointers of other address spaces are made flat where the library is called.
        let flat = |text: String| if text.contains("ptr") { "ptr".into() } else { text };
        ty.get_param_types().iter().skip(skip).map(|p| flat(p.print_to_string().to_string())).collect()
    };
    printed(ours, skip) == printed(theirs, 0)
}

fn same_result(ours: FunctionType<'_>, theirs: FunctionType<'_>) -> bool {
    let printed = |ty: FunctionType<'_>| ty.get_return_type().map(|r| r.print_to_string().to_string());
    printed(ours) == printed(theirs)
}

/// The type that LLVM gives a name, if the name says it all.
fn declared_type<'ctx>(module: &Module<'ctx>, name: &str) -> Option<FunctionType<'ctx>> {
    let intrinsic = Intrinsic::find(name)?;
    if intrinsic.is_overloaded() {
        return None;
    }
    Some(intrinsic.get_declaration(module, &[])?.get_type())
}

/// A library with all bodies.
pub(crate) fn whole<'ctx>(library: &DeviceLibrary, context: &'ctx Context) -> Module<'ctx> {
    let buffer = MemoryBuffer::create_from_memory_range_copy(library.bitcode(), "device_library");
    Module::parse_bitcode_from_buffer(&buffer, context).expect("the bitcode parses")
}

/// Every intrinsic of NVVM is defined with its type, or left out with a reason: for all targets, or for one (`left_out`).
pub(crate) fn check_intrinsics(library: &DeviceLibrary, left_out: &[(&str, &str)]) {
    let context = Context::create();
    let library = whole(library, &context);
    let scratch = context.create_module("scratch");
    let defined: HashMap<String, FunctionType> = library
        .get_functions()
        .filter(|f| f.get_first_basic_block().is_some())
        .map(|f| (f.get_name().to_string_lossy().into_owned(), f.get_type()))
        .collect();
    let mut wrong = Vec::new();
    let mut checked = 0;
    for name in nvvm_intrinsics() {
        if LEFT_OUT.iter().chain(left_out).any(|(prefix, _)| name.starts_with(prefix)) {
            continue;
        }
        checked += 1;
        let full = format!("llvm.nvvm.{name}");
        let symbol = intrinsic_symbol(&full);
        let theirs = declared_type(&scratch, &full);
        let returns_struct =
            theirs.is_some_and(|ty| matches!(ty.get_return_type(), Some(BasicTypeEnum::StructType(_))));
        if returns_struct {
            match (defined.get(&format!("{symbol}_out")), theirs) {
                (Some(ours), Some(theirs)) if same_parameters(*ours, theirs, 1) => {}
                (ours, theirs) => wrong.push(format!("{full}: {ours:?} for {theirs:?}")),
            }
            continue;
        }
        match (defined.get(&symbol), theirs) {
            (Some(ours), Some(theirs)) if same_parameters(*ours, theirs, 0) && same_result(*ours, theirs) => {}
            (None, None) if defined.keys().any(|k| k.starts_with(&format!("{symbol}_"))) => {}
            (Some(_), None) => {}
            (ours, theirs) => wrong.push(format!("{full}: {ours:?} for {theirs:?}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(checked > 600, "expected LLVM's list to be read, got {checked} names");
}

/// The toolkit of this checkout, when it has been fetched.
fn libdevice() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.toolchain/cuda/nvvm/libdevice/libdevice.10.bc");
    root.exists().then_some(root)
}

/// Every function of libdevice is defined with its type, where the toolkit has been fetched.
pub(crate) fn check_libdevice(library: &DeviceLibrary) {
    let Some(path) = libdevice() else { return };
    let context = Context::create();
    let library = library.load(&context).expect("the bitcode parses");
    let buffer = MemoryBuffer::create_from_file(&path).expect("libdevice is readable");
    let theirs = Module::parse_bitcode_from_buffer(&buffer, &context).expect("libdevice is bitcode");
    let mut wrong = Vec::new();
    for function in theirs.get_functions().filter(|f| f.get_name().to_bytes().starts_with(b"__nv_")) {
        let name = function.get_name().to_string_lossy().into_owned();
        match library.get_function(&name) {
            Some(ours)
                if same_parameters(ours.get_type(), function.get_type(), 0)
                    && same_result(ours.get_type(), function.get_type()) => {}
            ours => wrong.push(format!("{name}: {:?} for {:?}", ours.map(|f| f.get_type()), function.get_type())),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
