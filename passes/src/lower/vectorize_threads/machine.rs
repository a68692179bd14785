//! What is known of the processor, and what is asked for.

use mlir_bridge::pass::{PassOption, PassRun};

/// Threads of a warp.
pub const WARP: u32 = 32;

/// A lane of a gather and of a scatter, in slots: two cycles, as measured on Zen 4 from the second-level cache.
pub const GATHERED: u64 = 8;
pub const SCATTERED: u64 = 8;

/// Widths of vector registers.
const WIDTHS: [u32; 3] = [128, 256, 512];

/// The width that stands for a processor without vector registers: one element.
const SCALAR: u32 = 32;

/// The option that says how wide vector registers are.
pub const REGISTER_BITS: PassOption =
    PassOption { name: "register-bits", default: "256", description: "width of a vector register; 0: none" };

/// The option that says how many vector registers there are.
pub const REGISTERS: PassOption =
    PassOption { name: "registers", default: "16", description: "number of vector registers" };

/// The option for rows wherever they can be made.
pub const COST_MODEL: PassOption = PassOption {
    name: "cost-model",
    default: "true",
    description: "whether only rows are made that cost less than their threads",
};

/// The option that asks for remarks about all thread loops.
pub const REPORT: PassOption =
    PassOption { name: "report", default: "false", description: "say of each thread loop what became of it" };

/// The option for rows of little code.
pub const SHORT: PassOption = PassOption {
    name: "short",
    default: "false",
    description: "make no code for all lanes beside that for some of them",
};

/// What is known of the processor, and what is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    /// Width of a vector register.
    pub register_bits: u32,
    /// Number of vector registers.
    pub registers: u32,
    /// Whether rows are to cost less than their threads one by one.
    pub cost_model: bool,
    /// Whether remarks say of each thread loop what became of it.
    pub report: bool,
    /// Whether code is to be short: rows, rounds and branches that all lanes take part in have none of their own.
    pub short: bool,
}

impl Machine {
    /// As a pass is told.
    ///
    /// # Errors
    /// An option that is no number, no truth value, or no width that registers have.
    pub fn of(pass: &PassRun<'_>) -> Result<Self, String> {
        let model = pass.option(COST_MODEL.name);
        let register_bits = match number(pass, &REGISTER_BITS)? {
            0 => SCALAR,
            bits if WIDTHS.contains(&bits) => bits,
            other => return Err(format!("register-bits: expected 0, 128, 256 or 512, got '{other}'")),
        };
        let registers = number(pass, &REGISTERS)?;
        let cost_model = model.parse().map_err(|_| format!("cost-model: expected true or false, got '{model}'"))?;
        Ok(Self { register_bits, registers, cost_model, report: pass.option(REPORT.name) == "true", short: false })
    }
}

/// What an option says.
///
/// # Errors
/// It is no number.
pub fn number(pass: &PassRun<'_>, option: &PassOption) -> Result<u32, String> {
    let text = pass.option(option.name);
    text.parse().map_err(|_| format!("{}: expected a number, got '{text}'", option.name))
}
