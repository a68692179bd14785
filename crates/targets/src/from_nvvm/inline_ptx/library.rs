//! What the device library offers: the signature of each of its functions.

use std::collections::HashMap;
use std::sync::OnceLock;

use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::values::FunctionValue;

use crate::Error;

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

/// The functions of a device library by name, which are read when the first one is asked for: few modules ask for any.
pub(in crate::from_nvvm) struct Library {
    /// Reads the library as a module.
    read: for<'ctx> fn(&'static [u8], &'ctx Context) -> Result<Module<'ctx>, Error>,
    bitcode: &'static [u8],
    runtime: &'static [&'static str],
    functions: OnceLock<HashMap<String, Signature>>,
}

impl Library {
    /// What the module that `read` makes of `bitcode` defines, and the functions `runtime`, which have neither parameters nor a result.
    pub(in crate::from_nvvm) const fn new(
        read: for<'ctx> fn(&'static [u8], &'ctx Context) -> Result<Module<'ctx>, Error>,
        bitcode: &'static [u8],
        runtime: &'static [&'static str],
    ) -> Self {
        Self { read, bitcode, runtime, functions: OnceLock::new() }
    }

    /// Reads the library, once.
    pub(in crate::from_nvvm) fn read(&self) {
        self.functions();
    }

    fn functions(&self) -> &HashMap<String, Signature> {
        self.functions.get_or_init(|| {
            let context = Context::create();
            let plain = || Signature { result: "void".into(), parameters: Vec::new() };
            let mut found: HashMap<_, _> = self.runtime.iter().map(|name| (name.to_string(), plain())).collect();
            // What cannot be read has nothing, and is told of where it is linked.
            if let Ok(module) = (self.read)(self.bitcode, &context) {
                found.extend(defined(&module));
            }
            found
        })
    }

    /// Whether the library, or the runtime, has a function.
    pub(in crate::from_nvvm) fn has(&self, name: &str) -> bool {
        self.functions().contains_key(name)
    }

    /// The signature of a function that the library defines.
    pub(super) fn get(&self, name: &str) -> Option<&Signature> {
        self.functions().get(name)
    }
}

/// The signatures of what a module defines.
fn defined(module: &Module<'_>) -> HashMap<String, Signature> {
    let signature = |function: FunctionValue<'_>| {
        let ty = function.get_type();
        let result = ty.get_return_type().map_or("void".to_string(), |ty| text(&ty.print_to_string().to_string()));
        let parameters = ty.get_param_types().iter().map(|p| text(&p.print_to_string().to_string())).collect();
        (function.get_name().to_string_lossy().into_owned(), Signature { result, parameters })
    };
    module.get_functions().filter(|function| !function.as_global_value().is_declaration()).map(signature).collect()
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
