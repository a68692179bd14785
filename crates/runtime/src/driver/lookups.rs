//! Functions by their names: `cuGetProcAddress`, and the runtime's functions that lead to the driver's.

use std::ffi::{CStr, c_char, c_void};

use super::frame::driver_api;
use super::{
    contexts, copies, devices, errors, functions, graphs, jit, memory, modules, same, same_graphs, textures,
    unsupported, values, virtual_memory,
};
use crate::error::{CudaError, Result, check};
use crate::images::registry::{function, handle_of};
use crate::macros::{cuda_api, put};

/// All that is exported, in lists.
fn lists() -> [&'static [super::entry::Entry]; 18] {
    [
        contexts::ENTRIES,
        copies::ENTRIES,
        copies::FILLS,
        devices::ENTRIES,
        errors::ENTRIES,
        functions::ENTRIES,
        graphs::ENTRIES,
        jit::ENTRIES,
        memory::ENTRIES,
        modules::ENTRIES,
        same::ENTRIES,
        same::OF_GRAPHS,
        same_graphs::ENTRIES,
        textures::ENTRIES,
        unsupported::ENTRIES,
        values::ENTRIES,
        virtual_memory::ENTRIES,
        ENTRIES,
    ]
}

fn exported(name: &str) -> Option<*const c_void> {
    lists().into_iter().flatten().find(|entry| entry.name == name).map(|entry| entry.address)
}

/// Since which version a name has the later form of this number; what is not listed has its second form since CUDA 3.2.
const SINCE: &[(&str, i32)] = &[
    ("cuCtxCreate_v3", 11040),
    ("cuCtxCreate_v4", 12050),
    ("cuCtxDestroy_v2", 4000),
    ("cuCtxGetDevice_v2", 13000),
    ("cuCtxPopCurrent_v2", 4000),
    ("cuCtxPushCurrent_v2", 4000),
    ("cuCtxSynchronize_v2", 13000),
    ("cuDeviceGetUuid_v2", 11040),
    ("cuDevicePrimaryCtxRelease_v2", 11000),
    ("cuDevicePrimaryCtxReset_v2", 11000),
    ("cuDevicePrimaryCtxSetFlags_v2", 11000),
    ("cuEventDestroy_v2", 4000),
    ("cuEventElapsedTime_v2", 12080),
    ("cuGetProcAddress_v2", 12000),
    ("cuGraphAddDependencies_v2", 12030),
    ("cuGraphAddKernelNode_v2", 12000),
    ("cuGraphExecKernelNodeSetParams_v2", 12000),
    ("cuGraphExecUpdate_v2", 12000),
    ("cuGraphGetEdges_v2", 12030),
    ("cuGraphInstantiate_v2", 11000),
    ("cuGraphKernelNodeGetParams_v2", 12000),
    ("cuGraphKernelNodeSetParams_v2", 12000),
    ("cuGraphNodeGetDependencies_v2", 12030),
    ("cuGraphNodeGetDependentNodes_v2", 12030),
    ("cuGraphRemoveDependencies_v2", 12030),
    ("cuIpcOpenMemHandle_v2", 11000),
    ("cuLinkAddData_v2", 6050),
    ("cuLinkAddFile_v2", 6050),
    ("cuLinkCreate_v2", 6050),
    ("cuMemAdvise_v2", 12020),
    ("cuMemHostRegister_v2", 6050),
    ("cuMemPrefetchAsync_v2", 12020),
    ("cuStreamBatchMemOp_v2", 11070),
    ("cuStreamBeginCapture_v2", 10010),
    ("cuStreamDestroy_v2", 4000),
    ("cuStreamGetCaptureInfo_v2", 11030),
    ("cuStreamGetCaptureInfo_v3", 12030),
    ("cuStreamWaitValue32_v2", 11070),
    ("cuStreamWaitValue64_v2", 11070),
    ("cuStreamWriteValue32_v2", 11070),
    ("cuStreamWriteValue64_v2", 11070),
];
const SINCE_ELSE: i32 = 3020;

/// `CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM`
const PER_THREAD: u64 = 2;

/// The last form of a name that a version has.
fn found(name: &str, version: i32, flags: u64) -> Option<*const c_void> {
    let since = |form: &str| SINCE.iter().find(|row| row.0 == form).map_or(SINCE_ELSE, |row| row.1);
    let forms = ["_v4", "_v3", "_v2", ""].map(|suffix| format!("{name}{suffix}"));
    let mut forms = forms.iter().filter(|form| *form == name || since(form) <= version);
    forms.find_map(|form| {
        let of_thread = ["_ptsz", "_ptds"].map(|suffix| format!("{form}{suffix}"));
        let of_thread = of_thread.iter().filter(|_| flags & PER_THREAD != 0).find_map(|name| exported(name));
        of_thread.or_else(|| exported(form))
    })
}

/// Writes where a function lies, and whether it was found: 0, or 1 for none of this name.
///
/// # Safety
/// As `cuGetProcAddress`.
unsafe fn look_up(
    name: *const c_char,
    target: *mut *const c_void,
    version: i32,
    flags: u64,
    status: *mut u32,
) -> Result {
    check(!name.is_null() && !target.is_null())?;
    // SAFETY: by contract.
    unsafe {
        let name = CStr::from_ptr(name).to_string_lossy();
        let address = found(&name, version, flags);
        put(target, address.unwrap_or(std::ptr::null()))?;
        if !status.is_null() {
            put(status, address.is_none().into())?;
        }
        address.map(drop).ok_or(CudaError::SYMBOL_NOT_FOUND)
    }
}

driver_api! {
    fn cuGetProcAddress(name: *const c_char, target: *mut *const c_void, version: i32, flags: u64) {
        look_up(name, target, version, flags, std::ptr::null_mut())
    }
    fn cuGetProcAddress_v2 / cuGetProcAddress_v2_ptsz [on] (
        name: *const c_char, target: *mut *const c_void, version: i32, flags: u64, status: *mut u32
    ) {
        look_up(name, target, version, on.flags(flags), status)
    }
}

/// The runtime's way to the same. A name that is not there is no error: the status says so.
///
/// # Safety
/// As `cudaGetDriverEntryPointByVersion`.
unsafe fn entry_point(
    name: *const c_char,
    target: *mut *const c_void,
    version: i32,
    flags: u64,
    status: *mut u32,
) -> Result {
    check(!name.is_null() && !target.is_null())?;
    let mut unasked = 0;
    let status = if status.is_null() { &raw mut unasked } else { status };
    // SAFETY: by contract.
    match CudaError(unsafe { cuGetProcAddress_v2(name, target, version, flags, status) }) {
        CudaError(0) | CudaError::SYMBOL_NOT_FOUND => Ok(()),
        error => Err(error),
    }
}

cuda_api! {
    fn cudaGetDriverEntryPoint / cudaGetDriverEntryPoint_ptsz [on] (
        name: *const c_char, target: *mut *const c_void, flags: u64, status: *mut u32
    ) {
        entry_point(name, target, crate::compiled::cuda_version(), on.flags(flags), status)
    }
    fn cudaGetDriverEntryPointByVersion / cudaGetDriverEntryPointByVersion_ptsz [on] (
        name: *const c_char, target: *mut *const c_void, version: u32, flags: u64, status: *mut u32
    ) {
        entry_point(name, target, version as i32, on.flags(flags), status)
    }
    fn cudaGetFuncBySymbol(target: *mut *mut c_void, stub: *const c_void) {
        check(!target.is_null())?;
        put(target, kernel_handle(stub)?)
    }
    fn cudaGetKernel(target: *mut *mut c_void, stub: *const c_void) {
        check(!target.is_null())?;
        put(target, kernel_handle(stub)?)
    }
}

/// The handle of a kernel of the program's.
fn kernel_handle(stub: *const c_void) -> Result<*mut c_void> {
    if crate::device::choice::kind() == crate::device::cuda::machine::ROW.kind {
        return Err(CudaError::NOT_SUPPORTED);
    }
    function(stub).map(|kernel| handle_of(kernel).cast_mut())
}
