//! The bodies of `regrain-opt` and of the plugin, and LLVM's tools as parts of the drivers.

use crate::ffi;
use std::ffi::{CString, OsString, c_char, c_int};
use std::os::unix::ffi::OsStringExt;

/// Runs MLIR's `mlir-opt` main over everything registered; gives the exit code.
pub fn opt_main(tool: &str, arguments: &[String]) -> i32 {
    let owned: Vec<CString> =
        arguments.iter().map(|argument| CString::new(argument.replace('\0', "")).unwrap_or_default()).collect();
    let mut argv: Vec<*mut c_char> = owned.iter().map(|text| text.as_ptr().cast_mut()).collect();
    argv.push(std::ptr::null_mut());
    let tool = CString::new(tool).unwrap_or_default();
    // SAFETY: argv is a null-terminated array of strings that outlive the call, which only reads.
    unsafe { ffi::regrainOptMain(owned.len() as c_int, argv.as_mut_ptr(), tool.as_ptr()) }
}

/// Runs clang's main, whose path is the first of `arguments`; gives the exit code. The process is to end then.
pub fn clang_main(arguments: Vec<OsString>) -> i32 {
    with_arguments(arguments, |count, arguments| {
        // SAFETY: as many strings, which outlive the call.
        unsafe { ffi::regrainClang(count, arguments) }
    })
}

/// The same of `ld.lld`.
pub fn lld_main(arguments: Vec<OsString>) -> i32 {
    with_arguments(arguments, |count, arguments| {
        // SAFETY: as many strings, which outlive the call.
        unsafe { ffi::regrainLld(count, arguments) }
    })
}

fn with_arguments(arguments: Vec<OsString>, call: impl FnOnce(c_int, *mut *const c_char) -> c_int) -> i32 {
    let owned: Vec<CString> =
        arguments.into_iter().map(|argument| CString::new(argument.into_vec()).unwrap_or_default()).collect();
    let mut lent: Vec<*const c_char> = owned.iter().map(|text| text.as_ptr()).collect();
    lent.push(std::ptr::null());
    call(owned.len() as c_int, lent.as_mut_ptr())
}

/// What `mlirGetPassPluginInfo` returns.
#[repr(C)]
pub struct PassPluginInfo {
    pub api_version: u32,
    pub name: *const c_char,
    pub version: *const c_char,
    pub register: extern "C" fn(),
}

/// What `mlirGetDialectPluginInfo` returns.
#[repr(C)]
pub struct DialectPluginInfo {
    pub api_version: u32,
    pub name: *const c_char,
    pub version: *const c_char,
    pub register: extern "C" fn(registry: &mut HostRegistry),
}

/// The `DialectRegistry` of a host tool; only ever behind the reference that it lends us.
#[repr(C)]
pub struct HostRegistry {
    opaque: [u8; 0],
}

/// Inserts the dialects of `add_dialect` into a registry that a host tool lent us.
pub fn insert_dialects(registry: &mut HostRegistry) {
    let raw = mlir_sys::MlirDialectRegistry { ptr: std::ptr::from_mut(registry).cast() };
    // SAFETY: mlir-opt calls the plugin with its live registry, lent for the call.
    unsafe { ffi::regrainInsertExtraDialects(raw) }
}

/// Defines the two entry points of an MLIR plugin. `$register` is a function that registers
/// passes, `$dialects` one that calls `add_dialect`.
#[macro_export]
macro_rules! mlir_plugin {
    ($name:literal, $register:path, $dialects:path) => {
        extern "C" fn plugin_register_passes() {
            $register();
        }

        extern "C" fn plugin_register_dialects(registry: &mut $crate::tool::HostRegistry) {
            $dialects();
            $crate::tool::insert_dialects(registry);
        }

        #[doc(hidden)]
        #[unsafe(no_mangle)]
        pub extern "C" fn mlirGetPassPluginInfo() -> $crate::tool::PassPluginInfo {
            $crate::tool::PassPluginInfo {
                api_version: 1,
                name: concat!($name, "\0").as_ptr().cast(),
                version: concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast(),
                register: plugin_register_passes,
            }
        }

        #[doc(hidden)]
        #[unsafe(no_mangle)]
        pub extern "C" fn mlirGetDialectPluginInfo() -> $crate::tool::DialectPluginInfo {
            $crate::tool::DialectPluginInfo {
                api_version: 1,
                name: concat!($name, "\0").as_ptr().cast(),
                version: concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast(),
                register: plugin_register_dialects,
            }
        }
    };
}
