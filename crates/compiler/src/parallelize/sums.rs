//! Tiles of threads that have arrays of their own to add to, as C.
//!
//! ```text
//!   kernel, a tile:   T *A0 = my part of S0;  for (e) A0[e] = neutral;  for (t0 of the tile) { ...A0[j] = A0[j] + ... }
//!   kernel, the sum:  for (tile) A0[e] = A0[e] + S0[tile][e];
//! ```

use mlir_bridge::ir::Op;
use mlir_bridge::lift::may_reorder;
use regrain_passes::affine::accesses::Access;
use regrain_passes::affine::host::{Launch, Sum};
use regrain_passes::affine::sets::Range;
use regrain_passes::affine::statements::Statement;
use regrain_passes::affine::sums::combined;
use regrain_passes::affine::teams::places;
use regrain_passes::affine::{Description, Reason};

use super::combine::{THREADS, combine, neutral};
use super::kernels::Kernels;
use super::nest::workers;
use super::terms::{Lines, term};
use super::types::type_name;

/// The rounds of a tile at least, so that arrays of sums are small beside what is read.
const ROUNDS: u32 = 16;
/// The tiles for each worker at most: whoever is slower does fewer.
const TILES: u32 = 4;

/// How many elements an array of sums has.
fn extent(sum: &Sum) -> String {
    let name = &sum.elements.name;
    format!("(last_{name} - first_{name} + 1L)")
}

/// The further parameters of kernels that know of arrays of sums.
pub fn numbers(launch: &Launch) -> impl Iterator<Item = String> {
    launch
        .sums
        .iter()
        .flat_map(|Sum { elements: Range { name, .. }, .. }| [format!("first_{name}"), format!("last_{name}")])
}

/// Of the parameters of a kernel of tiles, those that are arrays of sums: what is behind one is where all tiles' are.
pub fn parameters(launch: &Launch, parameters: &mut [(String, String)]) {
    for Sum { array, .. } in &launch.sums {
        for (ty, name) in parameters.iter_mut().filter(|(_, name)| *name == format!("A{array}")) {
            *ty += "__restrict__";
            *name = format!("S{array}");
        }
    }
}

/// What a tile has before its threads.
///
/// # Errors
/// A type has no counterpart.
pub fn start(description: &Description<'_>, launch: &Launch, lines: &mut Lines) -> Result<(), Reason> {
    for sum in &launch.sums {
        let (array, e, ty) = (sum.array, &sum.elements.name, description.arrays[sum.array].element);
        let (name, neutral) = (type_name(ty).ok_or(Reason::Element)?, neutral(sum.how, ty).ok_or(Reason::Element)?);
        lines.line(&format!("{name} *A{array} = S{array} + (long)blockIdx.x * {} - first_{e};", extent(sum)));
        lines.line(&format!("for (long {e} = first_{e}; {e} <= last_{e}; {e}++)"));
        lines.line(&format!("  A{array}[{e}] = {neutral};"));
    }
    Ok(())
}

/// How many threads a tile has, and the memory of its arrays.
///
/// # Errors
/// A type has no counterpart.
pub fn memory(description: &Description<'_>, launch: &Launch, lines: &mut Lines) -> Result<(), Reason> {
    let [Range { name, .. }] = &launch.threads[..] else { return Err(Reason::Shape) };
    workers(lines);
    lines.line(&format!("const long apart = last_{name} - first_{name};"));
    lines.line(&format!("const long width = apart / least({TILES}L * workers, apart / {ROUNDS} + 1L) + 1L;"));
    lines.line("const long tiles = apart / width + 1L;");
    for sum in &launch.sums {
        let Sum { array, elements: Range { name: e, first, last, .. }, .. } = sum;
        let ty = type_name(description.arrays[*array].element).ok_or(Reason::Element)?;
        lines.line(&format!("const long first_{e} = {}, last_{e} = {};", term(first), term(last)));
        lines.line(&format!("void *memory_S{array} = 0;"));
        lines.line(&format!(
            "fine = fine && cudaMalloc(&memory_S{array}, tiles * {} * sizeof({ty})) == cudaSuccess;",
            extent(sum)
        ));
        lines.line(&format!("{ty} *S{array} = ({ty} *)memory_S{array};"));
    }
    Ok(())
}

/// Combines what tiles have, and frees it.
///
/// # Errors
/// A type has no counterpart.
pub fn launch(
    description: &Description<'_>,
    launch: &Launch,
    kernel: &str,
    kernels: &mut Kernels,
    lines: &mut Lines,
) -> Result<(), Reason> {
    for sum in &launch.sums {
        let Sum { array, how, elements: Range { name: e, .. } } = sum;
        let element = description.arrays[*array].element;
        let ty = type_name(element).ok_or(Reason::Element)?;
        let mine = format!("S{array}[tile * {} + ({e} - first_{e})]", extent(sum));
        let mut body = Lines { depth: 1, ..Lines::default() };
        body.line(&format!("const long {e} = first_{e} + (long)blockIdx.x * blockDim.x + threadIdx.x;"));
        body.open(&format!("if ({e} <= last_{e})"));
        body.line(&format!("{ty} all = A{array}[{e}];"));
        body.line("for (long tile = 0; tile < tiles; tile++)");
        body.line(&format!("  all = {};", combine(*how, element, "all", &mine).ok_or(Reason::Element)?));
        body.line(&format!("A{array}[{e}] = all;"));
        body.close();
        let parameters = [
            (format!("{ty} *"), format!("A{array}")),
            (format!("const {ty} *__restrict__"), format!("S{array}")),
            ("long".into(), format!("first_{e}")),
            ("long".into(), format!("last_{e}")),
            ("long".into(), "tiles".into()),
        ];
        let (name, arguments) = kernels.add(&format!("{kernel}_sum{array}"), &parameters, &body.text);
        lines.line("if (fine)");
        lines.line(&format!(
            "  {name}<<<(unsigned)((last_{e} - first_{e}) / {THREADS} + 1), {THREADS}>>>({});",
            arguments.join(", ")
        ));
        lines.line(&format!("cudaFree(memory_S{array});"));
    }
    Ok(())
}

/// The statements of a launch.
fn statements<'d, 'c>(description: &'d Description<'c>, launch: &Launch) -> impl Iterator<Item = &'d Statement<'c>> {
    places(&launch.code).into_iter().filter_map(|(number, _)| description.statements.get(number))
}

/// The operations that combine in another order than the program's.
pub fn steps<'c>(description: &Description<'c>, launch: &Launch) -> Vec<Op<'c>> {
    let mut steps = Vec::new();
    for Sum { array, .. } in &launch.sums {
        for statement in statements(description, launch) {
            let mine = description.accesses[statement.accesses.clone()].iter().filter(|access| access.array == *array);
            steps.extend(combined(&mine.collect::<Vec<&Access<'c>>>()).into_iter().flat_map(|(_, steps)| steps));
        }
    }
    steps
}

/// What stands first in a kernel of tiles where the sums along rows may be in any order, too: where the program says so of all of its floating-point
/// operations.
pub fn order(description: &Description<'_>, launch: &Launch, lines: &mut Lines) {
    let is_number = |op: &&Op<'_>| {
        let is_float = op.num_results() == 1 && op.result(0).ty().is_float();
        is_float && !matches!(op.name(), "llvm.load" | "llvm.mlir.constant" | "arith.constant" | "llvm.call")
    };
    let all = || statements(description, launch).flat_map(|statement| &statement.ops).filter(is_number);
    if !launch.sums.is_empty() && all().next().is_some() && all().all(|op| may_reorder(*op)) {
        lines.line("#pragma clang fp reassociate(on)");
    }
}
