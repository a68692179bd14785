//! Sequential affine loop nests: what they are to isl, and which of their loops may run in parallel.
//!
//! A function whose loops are raised is cut into statements ([`statements`]), with integers as functions of parameters and variables
//! ([`numbers`], [`poly`]) and subscripts found again in addresses ([`accesses`]). What has to stay in order, and a schedule that keeps it, are
//! isl's ([`sets`], [`sizes`], [`dependences`], [`problem`], `rounds`, [`plan`], [`neighbours`], [`fits`]), or are seen without it ([`lines`]) or left as they are ([`written`]); loops within statements whose order is of no matter are found by their operations
//! ([`reductions`]).

pub mod accesses;
mod bands;
mod beside;
pub mod carry_sums;
pub mod columns;
pub mod dependences;
pub mod describe;
pub mod fits;
mod fusion;
pub mod host;
pub mod lines;
pub mod neighbours;
pub mod numbers;
pub mod patience;
pub mod plan;
pub mod poly;
pub mod problem;
pub mod reductions;
mod rounds;
pub mod sets;
pub mod shape;
pub mod sizes;
pub mod staged;
pub mod statements;
pub mod sums;
pub mod teams;
pub mod threads;
pub mod together;
pub mod transactions;
pub mod unguarded;
pub mod waves;
mod windows;
pub mod written;

use mlir_bridge::ir::Op;

use accesses::{Access, Array, Base};
use numbers::Numbers;
use statements::{Cut, Statement};

/// The passes of this room.
pub static PASSES: &[mlir_bridge::pass::PassInfo] = &[describe::PASS, carry_sums::PASS];

/// The steps that isl may take for one nest.
pub const BUDGET: u64 = 3_000_000;

mlir_bridge::reasons! {
    /// Why a nest stays sequential.
    #[derive(serde::Serialize, serde::Deserialize)]
    pub enum Reason {
        Control => "control flow in it is not structured",
        Loop => "how often a loop in it goes round is not known before",
        Bound => "a bound of a loop in it is not affine",
        Step => "the step of a loop in it is no small number",
        NotAffine => "a subscript in it is not affine",
        Wraps => "an index in it may wrap around",
        Array => "which array it accesses is not known before",
        Element => "an array in it has elements of several sizes, or of no simple type",
        Shape => "subscripts of an array in it do not agree in its shape",
        Call => "it calls a function whose result may differ on the device",
        Operation => "it has an operation that is not supported",
        Large => "it has too many statements",
        Nothing => "it stores nothing",
        Never => "what would have to hold of its sizes never does",
        Sequential => "its iterations depend on one another",
        Numbers => "a number that it is scheduled by may leave 64 bits",
        Budget => "its dependences and schedule take too long to compute",
    }
}

/// More than this many statements take isl too long to schedule.
const MOST_SCHEDULED: usize = 40;

/// What a nest is to isl.
pub struct Description<'c> {
    /// The function.
    pub function: Op<'c>,
    /// Its integers, and what must hold of them.
    pub numbers: Numbers<'c>,
    /// The arrays.
    pub arrays: Vec<Array<'c>>,
    /// The statements, in the order of the text.
    pub statements: Vec<Statement<'c>>,
    /// Their accesses.
    pub accesses: Vec<Access<'c>>,
}

/// Describes a function whose loops are raised.
///
/// # Errors
/// Something in it is not affine.
pub fn describe(function: Op<'_>) -> Result<Description<'_>, Reason> {
    let mut numbers = Numbers::of(function);
    let Cut { statements, found, .. } = Cut::of(function, &mut numbers)?;
    if statements.is_empty() {
        return Err(Reason::Nothing);
    }
    let (arrays, accesses) = accesses::shapes(&mut numbers, &found)?;
    Ok(Description { function, numbers, arrays, statements, accesses })
}

impl Description<'_> {
    /// Whether it has too many statements for isl to schedule.
    pub fn is_large(&self) -> bool {
        self.statements.len() > MOST_SCHEDULED
    }

    /// The parameters as isl has them in front of a set: `[n0, n1] -> `.
    pub fn params(&self) -> String {
        let names: Vec<String> = (0..self.numbers.params.len()).map(poly::param_name).collect();
        format!("[{}] -> ", names.join(", "))
    }

    /// A statement's instances as isl names them: `S0[i0, i1]`.
    pub fn instance(&self, number: usize) -> String {
        let names: Vec<String> =
            self.statements[number].scope.variables.iter().copied().map(poly::variable_name).collect();
        format!("S{number}[{}]", names.join(", "))
    }

    /// Which elements an access of a statement is to: `A0[i0] : exists (i1 : 0 <= i1 < n0)`.
    pub fn element(&self, statement: usize, access: &Access<'_>) -> String {
        self.element_where(statement, access, 0)
    }

    /// The same of what is known to be an instance of the statement: `A0[o0] : o0 = i0`.
    pub fn element_of_instance(&self, statement: usize, access: &Access<'_>) -> String {
        self.element_where(statement, access, self.statements[statement].scope.constraints.len())
    }

    /// The same without the first constraints of the access.
    fn element_where(&self, statement: usize, access: &Access<'_>, known: usize) -> String {
        let around = self.statements[statement].scope.variables.len();
        let inner: Vec<String> = access.scope.variables[around..].iter().copied().map(poly::variable_name).collect();
        let (element, equal) = access.place();
        let all = [&[equal], &access.scope.constraints[known..]].concat().join(" and ");
        let all = if inner.is_empty() { all } else { format!("exists {} : {all}", inner.join(", ")) };
        format!("{element} : {all}")
    }

    /// All of it, for people.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (number, value) in self.numbers.params.iter().enumerate() {
            let what = match value.block_arg() {
                Some((_, argument)) => format!("argument {argument}"),
                None => "computed".into(),
            };
            lines.push(format!("{} is {what}", poly::param_name(number)));
        }
        for (number, array) in self.arrays.iter().enumerate() {
            let base = match array.base {
                Base::Parameter(argument) => format!("argument {argument}"),
                Base::Variable(name) => format!("@{name}"),
            };
            let stride = |stride: &accesses::Stride| {
                let params: Vec<String> =
                    stride.params.iter().map(|param| format!("*{}", poly::param_name(*param))).collect();
                format!("{}{}", stride.bytes, params.concat())
            };
            let strides: Vec<String> = array.strides.iter().map(stride).collect();
            lines.push(format!("A{number} is {base}, strides {}", strides.join(", ")));
        }
        for (number, statement) in self.statements.iter().enumerate() {
            lines.push(format!("{{ {} : {} }}", self.instance(number), statement.scope.text()));
            lines.push(format!("{{ {} -> [{}] }}", self.instance(number), statement.times.join(", ")));
            let reductions = statement.reductions.iter().flat_map(|reduction| &reduction.results);
            for combination in reductions {
                lines.push(format!("S{number} combines by {combination:?}"));
            }
            for access in &self.accesses[statement.accesses.clone()] {
                let what = match (access.writes, access.is_certain) {
                    (false, _) => "reads",
                    (true, true) => "writes",
                    (true, false) => "may write",
                };
                lines.push(format!("S{number} {what} {}", self.element(number, access)));
            }
        }
        for assumption in &self.numbers.assumptions {
            lines.push(format!("needs {} where {}", assumption.holds, assumption.scope.text()));
        }
        lines
    }
}
