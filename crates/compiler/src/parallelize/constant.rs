//! Constant memory, as C: where the threads of a warp read one element of a small array at a time.
//!
//! ```text
//!   alignas(16) static __constant__ char constant_memory[32768];
//!   static __global__ void f_kernel0_constant(...) { const double *const C1 = (const double *)constant_memory; ... C1[at_A1 + a] ... }
//!   host: if (constant) f_kernel0_constant<<<...>>>(...); else f_kernel0<<<...>>>(...);
//! ```
//!
//! How large arrays are is known when the program runs, so that is when it is decided. All nests of a module share the memory, one at a time: who comes
//! while another thread of the host is there goes without. What no launch of a nest writes is copied once, what others write before a launch, once they
//! have done so.

use mlir_bridge::isl::Term;
use regrain_passes::affine::host::{Host, Launch};
use regrain_passes::affine::plan::Plan;
use regrain_passes::affine::teams::Taken;
use regrain_passes::affine::together::together;
use regrain_passes::affine::{Description, Reason};

use super::terms::Lines;
use super::types::type_name;

/// The bytes of constant memory that arrays share: the rest of what devices have is for what compilers put there.
const ROOM: u32 = 32 << 10;
/// An array begins at a multiple of so many bytes.
const ALIGNMENT: u32 = 16;

/// The name of the memory.
pub const NAME: &str = "constant_memory";

/// The memory, as text of the program that is made.
pub fn memory() -> String {
    format!("alignas({ALIGNMENT}) static __constant__ char {NAME}[{ROOM}];\nstatic int {NAME}_taken;\n")
}

/// What goes to constant memory of a nest.
#[derive(Default)]
pub struct Constants {
    /// The arrays.
    pub arrays: Vec<usize>,
    /// Those that are always too large, with their bytes.
    too_large: Vec<(usize, i64)>,
}

impl Constants {
    /// The arrays of a plan that may.
    pub fn of(description: &Description<'_>, plan: &Plan) -> Self {
        let mut found = Self::default();
        for launch in launches(&plan.host) {
            for array in candidates(description, plan, launch) {
                match bytes(description, plan, array) {
                    Some(bytes) if bytes > i64::from(ROOM) => found.too_large.push((array, bytes)),
                    _ => found.arrays.push(array),
                }
            }
        }
        found.arrays.sort_unstable();
        found.arrays.dedup();
        found.too_large.sort_unstable();
        found.too_large.dedup();
        found
    }

    /// What is to be said.
    pub fn notes(&self) -> Vec<String> {
        let names: Vec<String> = self.arrays.iter().map(|array| format!("A{array}")).collect();
        let names = names.join(", ");
        let of_room = format!("constant memory holds {names} of the kernels where they take {ROOM} bytes at most");
        let of_large = |(array, bytes): &(usize, i64)| {
            format!("constant memory does not hold A{array} of the kernels: {bytes} bytes, where there are {ROOM}")
        };
        let some = (!names.is_empty()).then_some(of_room);
        some.into_iter().chain(self.too_large.iter().map(of_large)).collect()
    }

    /// Those that a launch reads there.
    pub fn of_launch(&self, description: &Description<'_>, plan: &Plan, launch: &Launch) -> Vec<usize> {
        let found = candidates(description, plan, launch);
        found.into_iter().filter(|array| self.arrays.contains(array)).collect()
    }
}

fn launches(host: &Host) -> Vec<&Launch> {
    match host {
        Host::Sequence(parts) => parts.iter().flat_map(launches).collect(),
        Host::Loop(_, body) => launches(body),
        Host::Launch(launch) => vec![launch],
        Host::Waves(_) => Vec::new(),
    }
}

/// The arrays that a launch may read in constant memory: what the program would not read for sure may not be there to be copied, and what is written
/// in between would have to be copied in each round of a loop of the host.
fn candidates(description: &Description<'_>, plan: &Plan, launch: &Launch) -> Vec<usize> {
    if launch.team.as_ref().is_some_and(|team| team.taken == Taken::Always) {
        return Vec::new();
    }
    let may = |array: &usize| {
        let footprint = &plan.footprints[*array];
        footprint.is_certain && !footprint.first.is_empty() && (!footprint.writes || launch.around.is_empty())
    };
    together(description, launch).into_iter().filter(may).collect()
}

/// What an array takes, if that is the same always.
fn bytes(description: &Description<'_>, plan: &Plan, array: usize) -> Option<i64> {
    let (array, footprint) = (&description.arrays[array], &plan.footprints[array]);
    let strides = array.strides.iter().map(|stride| stride.params.is_empty().then_some(stride.bytes));
    let mut bytes = array.size;
    for ((first, last), stride) in footprint.first.iter().zip(&footprint.last).zip(strides) {
        let (Term::Number(first), Term::Number(last)) = (first, last) else { return None };
        bytes = bytes.checked_add(last.checked_sub(*first)?.checked_mul(stride?)?)?;
    }
    Some(bytes)
}

fn fill(array: usize, from: &str, kind: &str, lines: &mut Lines) {
    lines.line(&format!("if (fine && bytes_A{array} != 0)"));
    lines.line(&format!(
        "  fine = cudaMemcpyToSymbol({NAME}, {from} + first_A{array}, bytes_A{array}, place_A{array}, {kind}) == cudaSuccess;"
    ));
}

/// Has a kernel's parameters, types and names, say where in constant memory arrays are in place of their addresses.
pub fn with_constants(parameters: &mut [(String, String)], arrays: &[usize]) {
    for (ty, name) in parameters {
        if arrays.iter().any(|array| *name == format!("A{array}")) {
            (*ty, *name) = ("const long".into(), format!("at_{name}"));
        }
    }
}

impl Constants {
    /// Decides whether there is room, and copies what no launch writes.
    pub fn fill(&self, plan: &Plan, lines: &mut Lines) {
        let arrays = &self.arrays;
        if arrays.is_empty() {
            return;
        }
        // Counted in elements first, which are no more than bytes and leave 64 bits nowhere.
        let fits: Vec<String> =
            arrays.iter().map(|array| format!("end_A{array} - first_A{array} <= {ROOM}L")).collect();
        let mut end = "0UL".to_owned();
        for array in arrays {
            lines.line(&format!("const unsigned long place_A{array} = {end};"));
            end = format!("(place_A{array} + bytes_A{array} + {}UL) / {ALIGNMENT}UL * {ALIGNMENT}UL", ALIGNMENT - 1);
            lines.line(&format!(
                "const unsigned long bytes_A{array} = (end_A{array} - first_A{array}) * sizeof *A{array};"
            ));
            lines
                .line(&format!("const long at_A{array} = (long)(place_A{array} / sizeof *A{array}) - first_A{array};"));
        }
        lines.line(&format!("const bool constant = fine && {} && {end} <= {ROOM}UL &&", fits.join(" && ")));
        lines.line(&format!("    !__atomic_exchange_n(&{NAME}_taken, 1, __ATOMIC_ACQUIRE);"));
        lines.open("if (constant)");
        for array in arrays.iter().filter(|array| !plan.footprints[**array].writes) {
            fill(*array, &format!("host_A{array}"), "cudaMemcpyHostToDevice", lines);
        }
        lines.close();
    }

    /// Copies what launches before have written.
    pub fn refill(plan: &Plan, arrays: &[usize], lines: &mut Lines) {
        for array in arrays.iter().filter(|array| plan.footprints[**array].writes) {
            let kind = "shares ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToDevice";
            fill(*array, &format!("A{array}"), kind, lines);
        }
    }

    /// Leaves the memory to others, once all launches are done.
    pub fn leave(&self, lines: &mut Lines) {
        if !self.arrays.is_empty() {
            lines.line("if (constant)");
            lines.line(&format!("  __atomic_store_n(&{NAME}_taken, 0, __ATOMIC_RELEASE);"));
        }
    }

    /// What a kernel calls the elements of an array that is there.
    pub fn names(description: &Description<'_>, arrays: &[usize], lines: &mut Lines) -> Result<(), Reason> {
        for array in arrays {
            let ty = type_name(description.arrays[*array].element).ok_or(Reason::Element)?;
            lines.line(&format!("const {ty} *const C{array} = (const {ty} *){NAME};"));
        }
        Ok(())
    }
}
