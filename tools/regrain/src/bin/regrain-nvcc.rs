//! `regrain-nvcc`: Regrain with nvcc's command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    regrain_driver::main(regrain_driver::Driver::Nvcc)
}
