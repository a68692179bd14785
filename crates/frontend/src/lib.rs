//! The front end: clang, driven for both sides of a `.cu` file.
//!
//! We do not walk the AST. clang's own code generation gives the LLVM IR of host and device, so every C++ feature
//! that clang knows works here; see [`clang`]. What happens to the host side afterwards is in [`host`].

mod arguments;
pub mod arrays;
pub mod asm_escapes;
pub mod asm_operands;
pub mod clang;
pub mod clean;
pub mod crash;
pub mod dependent_templates;
pub mod dialect;
pub mod dispatch;
mod edits;
pub mod empty_braces;
mod error;
pub mod generated;
pub mod host;
pub mod launch_tokens;
pub mod launches;
pub mod linked_registration;
pub mod managed;
pub mod own_tools;
pub mod private_names;
pub mod second_look;
pub mod shared_objects;
pub mod specialise;
mod unit;

pub use clang::{Clang, Side};
pub use error::Error;
pub use unit::TranslationUnit;
