//! `regrain`: a drop-in for clang when compiling CUDA.

use std::process::ExitCode;

fn main() -> ExitCode {
    regrain_driver::main(regrain_driver::Driver::named(std::env::args_os().next().as_deref()))
}
