//! The C entry points of `cpp/*.cpp`, one declaration for each definition there.
//!
//! Nothing here is public: the other modules of this crate wrap every function safely.

use mlir_sys::{
    MlirBlock, MlirContext, MlirDialectHandle, MlirDialectRegistry, MlirLocation, MlirOperation, MlirRegion,
    MlirStringRef, MlirType, MlirValue,
};
use std::ffi::{c_char, c_int, c_void};

pub(crate) type Sink = extern "C" fn(*const c_char, usize, *mut c_void);
pub(crate) type EffectSink = extern "C" fn(u32, MlirValue, MlirStringRef, *mut c_void);

#[repr(C)]
pub(crate) struct PassOptionDesc {
    pub name: MlirStringRef,
    pub value: MlirStringRef,
    pub description: MlirStringRef,
}

#[repr(C)]
pub(crate) struct PassDesc {
    pub name: MlirStringRef,
    pub summary: MlirStringRef,
    pub anchor: MlirStringRef,
    pub options: *const PassOptionDesc,
    pub num_options: usize,
    pub dialects: *const MlirStringRef,
    pub num_dialects: usize,
    pub rust: *const c_void,
}

unsafe extern "C" {
    // register.cpp
    pub(crate) fn regrainBridgeAddDialect(handle: MlirDialectHandle);
    pub(crate) fn regrainBridgeFillRegistry(registry: MlirDialectRegistry);
    pub(crate) fn regrainBridgeInsertExtraDialects(registry: *mut c_void);
    pub(crate) fn regrainBridgeRegisterUpstreamPasses();
    // pass.cpp
    pub(crate) fn regrainRegisterPass(desc: *const PassDesc);
    pub(crate) fn regrainRegisterPipeline(name: MlirStringRef, summary: MlirStringRef, text: MlirStringRef);
    pub(crate) fn regrainPassRunPipeline(
        pass: *mut c_void,
        op: MlirOperation,
        text: MlirStringRef,
        sink: Sink,
        user: *mut c_void,
    ) -> c_int;
    pub(crate) fn regrainRunPipeline(
        op: MlirOperation,
        text: MlirStringRef,
        verify: bool,
        sink: Sink,
        user: *mut c_void,
    ) -> c_int;
    // llvm.cpp
    pub(crate) fn regrainImportLLVM(
        context: MlirContext,
        bytes: MlirStringRef,
        name: MlirStringRef,
        sink: Sink,
        user: *mut c_void,
    ) -> MlirOperation;
    pub(crate) fn regrainExportLLVM(op: MlirOperation, name: MlirStringRef, sink: Sink, user: *mut c_void) -> bool;
    // debug_info.cpp
    pub(crate) fn regrainScopeDebugInfo(function: MlirOperation);
    // extract_kernel.cpp
    pub(crate) fn regrainExtractKernel(
        bitcode: MlirStringRef,
        name: MlirStringRef,
        sink: Sink,
        user: *mut c_void,
    ) -> bool;
    // ir.cpp
    pub(crate) fn regrainMappingCreate() -> *mut c_void;
    pub(crate) fn regrainMappingDestroy(mapping: *mut c_void);
    pub(crate) fn regrainMappingClone(mapping: *mut c_void) -> *mut c_void;
    pub(crate) fn regrainMappingMapValue(mapping: *mut c_void, from: MlirValue, to: MlirValue);
    pub(crate) fn regrainMappingMapBlock(mapping: *mut c_void, from: MlirBlock, to: MlirBlock);
    pub(crate) fn regrainMappingLookupValue(mapping: *mut c_void, from: MlirValue) -> MlirValue;
    pub(crate) fn regrainMappingLookupBlock(mapping: *mut c_void, from: MlirBlock) -> MlirBlock;
    pub(crate) fn regrainMappingLookupOp(mapping: *mut c_void, from: MlirOperation) -> MlirOperation;
    pub(crate) fn regrainCloneOp(op: MlirOperation, mapping: *mut c_void, regions: bool) -> MlirOperation;
    pub(crate) fn regrainCloneRegionInto(from: MlirRegion, to: MlirRegion, mapping: *mut c_void);
    pub(crate) fn regrainSpliceOps(first: MlirOperation, last: MlirOperation, to: MlirBlock, before: MlirOperation);
    pub(crate) fn regrainPrevOp(op: MlirOperation) -> MlirOperation;
    pub(crate) fn regrainMoveBlocks(from: MlirRegion, to: MlirRegion);
    pub(crate) fn regrainSplitBlock(at: MlirOperation) -> MlirBlock;
    pub(crate) fn regrainMoveBlockBefore(block: MlirBlock, before: MlirBlock);
    pub(crate) fn regrainDropAllReferences(op: MlirOperation);
    pub(crate) fn regrainInsertOperands(op: MlirOperation, index: u32, n: usize, values: *const MlirValue);
    pub(crate) fn regrainEraseOperands(op: MlirOperation, index: u32, length: u32);
    pub(crate) fn regrainQuery(op: MlirOperation, query: u32) -> bool;
    pub(crate) fn regrainEffects(op: MlirOperation, sink: EffectSink, user: *mut c_void) -> bool;
    pub(crate) fn regrainDominanceCreate(root: MlirOperation) -> *mut c_void;
    pub(crate) fn regrainDominanceDestroy(info: *mut c_void);
    pub(crate) fn regrainValueDominates(info: *mut c_void, value: MlirValue, op: MlirOperation) -> bool;
    pub(crate) fn regrainOpDominates(info: *mut c_void, a: MlirOperation, b: MlirOperation) -> bool;
    pub(crate) fn regrainEmit(
        loc: MlirLocation,
        severity: u32,
        message: MlirStringRef,
        num_notes: usize,
        note_locs: *const MlirLocation,
        notes: *const MlirStringRef,
    );
    pub(crate) fn regrainCaptureBegin(context: MlirContext) -> *mut c_void;
    pub(crate) fn regrainCaptureEnd(handle: *mut c_void, sink: Sink, user: *mut c_void);
    pub(crate) fn regrainParseModule(
        context: MlirContext,
        source: MlirStringRef,
        name: MlirStringRef,
        sink: Sink,
        user: *mut c_void,
    ) -> MlirOperation;
    pub(crate) fn regrainParseInto(context: MlirContext, source: MlirStringRef, block: MlirBlock) -> bool;
    pub(crate) fn regrainIsLLVMFunctionType(ty: MlirType) -> bool;
    pub(crate) fn regrainIsVarArg(ty: MlirType) -> bool;
    pub(crate) fn regrainLLVMArrayLength(ty: MlirType) -> i64;
    pub(crate) fn regrainTypeLayout(op: MlirOperation, ty: MlirType, size: *mut u64, alignment: *mut u64);
    pub(crate) fn regrainRegionParent(region: MlirRegion) -> MlirOperation;
    // structure.cpp
    pub(crate) fn regrainStructure(
        roots: *const MlirOperation,
        num_roots: usize,
        module: MlirOperation,
        left_out: *const MlirStringRef,
        num_left_out: usize,
        sink: Sink,
        user: *mut c_void,
    );
    // opt.cpp
    pub(crate) fn regrainOptMain(argc: c_int, argv: *mut *mut c_char, tool: *const c_char) -> c_int;
}

/// A borrowed string as MLIR's C API takes it.
pub(crate) fn string(text: &str) -> MlirStringRef {
    bytes(text.as_bytes())
}

/// Borrowed bytes as MLIR's C API takes them.
pub(crate) fn bytes(data: &[u8]) -> MlirStringRef {
    MlirStringRef { data: data.as_ptr().cast(), length: data.len() }
}

/// Copies a string that C++ lent us.
pub(crate) fn to_str<'a>(raw: MlirStringRef) -> &'a str {
    if raw.data.is_null() || raw.length == 0 {
        return "";
    }
    // SAFETY: callers pass strings that MLIR interned in a context outliving `'a`, or copy at once.
    let data = unsafe { std::slice::from_raw_parts(raw.data.cast::<u8>(), raw.length) };
    std::str::from_utf8(data).unwrap_or("<not utf-8>")
}

/// Appends what it is given to the `Vec<u8>` behind `user`.
pub(crate) extern "C" fn append(data: *const c_char, size: usize, user: *mut c_void) {
    if size == 0 {
        return;
    }
    // SAFETY: every call passes `append` together with a pointer to a live Vec<u8> that nothing
    // else touches during the call, and C++ hands over `size` readable bytes.
    unsafe {
        let out = &mut *user.cast::<Vec<u8>>();
        out.extend_from_slice(std::slice::from_raw_parts(data.cast::<u8>(), size));
    }
}

/// Appends what MLIR prints to the `Vec<u8>` behind `user`.
pub(crate) unsafe extern "C" fn append_ref(text: MlirStringRef, user: *mut c_void) {
    append(text.data, text.length, user);
}

/// Runs `print` with a sink and gives the text.
pub(crate) fn collect(print: impl FnOnce(*mut c_void)) -> String {
    let mut out: Vec<u8> = Vec::new();
    print((&raw mut out).cast());
    String::from_utf8_lossy(&out).into_owned()
}
