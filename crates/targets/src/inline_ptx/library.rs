//! What the device library offers: the signature of each of its functions.

use std::collections::HashMap;
use std::sync::OnceLock;

use inkwell::context::Context;

use crate::cpu::device_library;

/// A function's type in textual IR.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Signature {
    pub result: String,
    pub parameters: Vec<String>,
}

impl Signature {
    /// Bits of an integer result.
    pub fn result_width(&self) -> u32 {
        width_of_type(&self.result).unwrap_or(32)
    }
}

/// The functions of the device library by name.
pub(super) struct Library(HashMap<String, Signature>);

impl Library {
    /// The library that is built in; read once.
    pub fn get_built_in() -> Result<&'static Library, String> {
        static LIBRARY: OnceLock<Result<Library, String>> = OnceLock::new();
        LIBRARY.get_or_init(Library::read).as_ref().map_err(Clone::clone)
    }

    fn read() -> Result<Self, String> {
        let context = Context::create();
        let module = device_library::load(&context).map_err(|e| e.to_string())?;
        let signatures = module.get_functions().filter(|f| f.get_first_basic_block().is_some()).map(|function| {
            let ty = function.get_type();
            let result = ty.get_return_type().map_or("void".to_string(), |ty| text(&ty.print_to_string().to_string()));
            let parameters = ty.get_param_types().iter().map(|p| text(&p.print_to_string().to_string())).collect();
            (function.get_name().to_string_lossy().into_owned(), Signature { result, parameters })
        });
        Ok(Self(signatures.chain(runtime()).collect()))
    }

    /// The signature of a function that the library defines.
    pub fn get(&self, name: &str) -> Option<&Signature> {
        self.0.get(name)
    }
}

/// Entry points of the runtime that inline PTX reaches without help of the library.
fn runtime() -> impl Iterator<Item = (String, Signature)> {
    let void = |name: &str, parameters: &[&str]| {
        let parameters = parameters.iter().map(|p| p.to_string()).collect();
        (name.to_string(), Signature { result: "void".into(), parameters })
    };
    [void("__regrain_trap", &[]), void("__regrain_exit_thread", &[]), void("__regrain_spin_hint", &[])].into_iter()
}

/// inkwell prints a type with quotes around it.
fn text(printed: &str) -> String {
    printed.trim_matches('"').to_string()
}

/// Bits of a scalar type in textual IR.
pub(super) fn width_of_type(ty: &str) -> Option<u32> {
    Some(match ty {
        "half" | "bfloat" => 16,
        "float" => 32,
        "double" => 64,
        "<2 x half>" | "<2 x bfloat>" | "<2 x i16>" | "<4 x i8>" => 32,
        _ if ty.starts_with("ptr") => 64,
        _ => ty.strip_prefix('i')?.parse().ok()?,
    })
}
