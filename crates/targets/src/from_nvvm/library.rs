//! A device library: what NVVM intrinsics, libdevice and inline PTX call on one target, as LLVM bitcode.
//!
//! Naming, the same for every target: `llvm.nvvm.a.b.c` is `__regrain_llvm_nvvm_a_b_c`, libdevice functions keep their
//! names, a PTX instruction is `__regrain_ptx_*`. Definitions are `linkonce_odr` and free of `target-cpu` and
//! `target-features`.

use inkwell::context::Context;
use inkwell::module::Module;
use mlir_bridge::llvm;

use super::inline_ptx::Library;
use crate::Error;
use crate::nvvm::library::VECTOR_FORM;

const INTRINSIC: &str = "__regrain_llvm_";
const LIBDEVICE: &str = "__nv_";

/// The library of one target.
pub struct DeviceLibrary {
    bitcode: &'static [u8],
    runtime: &'static [&'static str],
    vectors: &'static [(u32, &'static [u8])],
    signatures: Library,
}

impl DeviceLibrary {
    /// A library. `runtime` names the functions without parameters or result that inline PTX reaches in the target's
    /// runtime without help of the library; `vectors` holds the bitcode of vector forms by their number of elements.
    pub const fn new(
        bitcode: &'static [u8],
        runtime: &'static [&'static str],
        vectors: &'static [(u32, &'static [u8])],
    ) -> Self {
        Self { bitcode, runtime, vectors, signatures: Library::new(parse, bitcode, runtime) }
    }

    /// The library as a module of `context`, with bodies that are read when they are linked.
    pub fn load<'ctx>(&self, context: &'ctx Context) -> Result<Module<'ctx>, Error> {
        parse(self.bitcode, context)
    }

    /// The vector forms of the numbers of elements of which `module` names some, as modules of `context`. Most modules name none.
    pub(super) fn load_vectors<'ctx>(
        &self,
        module: &Module<'ctx>,
        context: &'ctx Context,
    ) -> Result<Vec<Module<'ctx>>, Error> {
        let wanted: Vec<u32> =
            module.get_functions().filter_map(|f| lanes_of(&f.get_name().to_string_lossy())).collect();
        let files = self.vectors.iter().filter(|(lanes, _)| wanted.contains(lanes));
        files.map(|(_, bitcode)| parse(bitcode, context)).collect()
    }

    /// The library's bitcode.
    pub fn bitcode(&self) -> &'static [u8] {
        self.bitcode
    }

    /// The bitcode of vector forms, by the number of elements.
    #[cfg(test)]
    pub(crate) fn vectors(&self) -> &'static [(u32, &'static [u8])] {
        self.vectors
    }

    /// Whether the target's runtime has a function.
    pub(super) fn is_of_runtime(&self, symbol: &str) -> bool {
        self.runtime.contains(&symbol)
    }

    /// Reads what the library has, once.
    pub fn read_signatures(&self) {
        self.signatures.read();
    }

    /// What inline PTX may call.
    pub(super) fn signatures(&self) -> &Library {
        &self.signatures
    }
}

fn parse<'ctx>(bitcode: &'static [u8], context: &'ctx Context) -> Result<Module<'ctx>, Error> {
    llvm::read_lazily(context, bitcode, "device_library").map_err(|e| Error::internal("reading the device library", e))
}

/// The number of elements of the vector form of this name.
fn lanes_of(symbol: &str) -> Option<u32> {
    let rest = symbol.strip_prefix(VECTOR_FORM)?;
    rest.split_once('v')?.0.parse().ok()
}

/// The library's function for an LLVM intrinsic that returns a scalar or nothing.
pub fn intrinsic_symbol(intrinsic: &str) -> String {
    format!("__regrain_{}", intrinsic.trim_start_matches("__regrain_").replace('.', "_"))
}

/// The library's function for an LLVM intrinsic that returns a struct: the address of the result comes first.
pub fn struct_intrinsic_symbol(intrinsic: &str) -> String {
    format!("{}_out", intrinsic_symbol(intrinsic))
}

/// What a user would call the function of a library with this symbol; `None` for any other symbol.
pub(super) fn wanted_name(symbol: &str) -> Option<&str> {
    let of_library = [INTRINSIC, LIBDEVICE, VECTOR_FORM].iter().any(|start| symbol.starts_with(start));
    of_library.then(|| symbol.trim_start_matches("__regrain_").trim_end_matches("_out"))
}
