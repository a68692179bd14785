//! What the device library offers: the signature of each of its functions.

use std::collections::HashMap;

use inkwell::module::Module;

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

/// The functions of a device library by name.
pub(in crate::from_nvvm) struct Library(HashMap<String, Signature>);

impl Library {
    /// What `module` defines, and the functions `runtime`, which have neither parameters nor a result.
    pub(in crate::from_nvvm) fn of(module: &Module<'_>, runtime: &[&str]) -> Self {
        let signatures = module.get_functions().filter(|f| !f.as_global_value().is_declaration()).map(|function| {
            let ty = function.get_type();
            let result = ty.get_return_type().map_or("void".to_string(), |ty| text(&ty.print_to_string().to_string()));
            let parameters = ty.get_param_types().iter().map(|p| text(&p.print_to_string().to_string())).collect();
            (function.get_name().to_string_lossy().into_owned(), Signature { result, parameters })
        });
        let plain = || Signature { result: "void".into(), parameters: Vec::new() };
        Self(signatures.chain(runtime.iter().map(|name| (name.to_string(), plain()))).collect())
    }

    /// Whether the library, or the runtime, has a function.
    pub(in crate::from_nvvm) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The signature of a function that the library defines.
    pub(super) fn get(&self, name: &str) -> Option<&Signature> {
        self.0.get(name)
    }
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
