//! How a room lists its passes.

/// The passes of a room, one row each: declares the modules and puts their `PASS` into the room's table, from which flags, help and
/// documentation derive.
macro_rules! passes {
    ($($module:ident),+ $(,)?) => {
        $(pub mod $module;)+

        /// The passes of this room, in the order in which a kernel meets them.
        pub static PASSES: &[mlir_bridge::pass::PassInfo] = &[$($module::PASS),+];
    };
}
pub(crate) use passes;
