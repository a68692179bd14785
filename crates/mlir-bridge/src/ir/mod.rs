//! Handles to IR: `Ctx`, `Type`, `Attr`, `Loc`, `Value`, `Op`, `Block`, `Region`, `Builder`.
//!
//! All of them are `Copy` pointers tagged with the context's lifetime, so that passes read like
//! MLIR's C++. The price is MLIR's own rule: a handle to an erased operation (or block, region,
//! value) must not be used again. `Op::erase` refuses an operation whose results still have uses.

mod attr;
mod block;
mod builder;
mod context;
mod edit;
mod mapping;
mod op;
mod query;
mod structure;
mod ty;
mod value;
mod walk;

pub use attr::Attr;
pub use block::{Block, Region};
pub use builder::{Builder, OpSpec};
pub use context::{Ctx, Loc};
pub use mapping::Mapping;
pub use op::Op;
pub use query::{Dominance, Effect, EffectKind};
pub use ty::Type;
pub use value::{Use, Value};
pub use walk::Walk;

/// A `Copy` handle around one raw pointer struct of MLIR's C API.
macro_rules! handle {
    ($(#[$meta:meta])* $name:ident, $raw:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy)]
        pub struct $name<'c> {
            pub(crate) raw: mlir_sys::$raw,
            pub(crate) life: std::marker::PhantomData<&'c ()>,
        }

        impl<'c> $name<'c> {
            #[allow(dead_code)]
            pub(crate) fn wrap(raw: mlir_sys::$raw) -> Self {
                Self { raw, life: std::marker::PhantomData }
            }

            #[allow(dead_code)]
            pub(crate) fn wrap_option(raw: mlir_sys::$raw) -> Option<Self> {
                (!raw.ptr.is_null()).then(|| Self::wrap(raw))
            }

            /// The raw handle, for calls into mlir-sys.
            pub fn raw(self) -> mlir_sys::$raw {
                self.raw
            }
        }

        impl PartialEq for $name<'_> {
            fn eq(&self, other: &Self) -> bool {
                self.raw.ptr == other.raw.ptr
            }
        }

        impl Eq for $name<'_> {}

        impl std::hash::Hash for $name<'_> {
            fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
                (self.raw.ptr as usize).hash(state);
            }
        }
    };
}
pub(crate) use handle;
