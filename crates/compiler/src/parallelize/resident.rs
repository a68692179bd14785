//! Arrays that stay on a GPU while a loop of the host goes on:
//!
//! ```text
//!   do { f.region0(n, a, b); f.region1(n, a, b, &cell); } while (cell > 0.1);      the arrays are copied once, not in each round
//! ```
//!
//! Which loops these are is found in the host's IR ([`mlir_bridge::regions::mark_resident`]); what is on the device then, when the program runs
//! (`resident.h`, text of the program that is made).

use inkwell::module::Module;
use mlir_bridge::regions::mark_resident;

use super::guard;
use super::nest::Nest;
use super::terms::Lines;

/// What keeps account of it, as text of the program that is made.
const TEXT: &str = include_str!("resident.h");
/// What the text of a nest calls of it.
pub const NAME: &str = "resident_at";

/// The functions around a loop, of a unit with a name that no other has.
pub struct Bounds {
    begin: String,
    end: String,
}

impl Bounds {
    /// Those of a unit.
    pub fn of(unit: &str) -> Self {
        Self { begin: format!("regrain_begin_{unit}"), end: format!("regrain_end_{unit}") }
    }

    /// What nests use.
    pub fn text(&self) -> String {
        let Self { begin, end } = self;
        format!(
            "{TEXT}\nextern \"C\" void {begin}() {{ resident.loops++; }}\nextern \"C\" void {end}() {{\n  if (--resident.loops == 0) {{\n    \
             resident_leave();\n    resident.count = 0;\n  }}\n}}\n"
        )
    }

    /// What they are called.
    pub fn names(&self) -> [&str; 2] {
        [&self.begin, &self.end]
    }

    /// Marks the loops of a host's module.
    pub fn mark(&self, host: &Module<'_>, functions: &[guard::Function]) {
        let signature = host.get_context().void_type().fn_type(&[], false);
        let [begin, end] = self.names().map(|name| guard::declare(host, name, signature));
        let names: Vec<&str> = functions.iter().map(|function| function.name.as_str()).collect();
        mark_resident(host, &names, begin, end);
    }
}

impl Nest<'_, '_> {
    /// Tells of all that is about to be accessed.
    pub(super) fn expect(&self, lines: &mut Lines) {
        if !self.may_stay {
            return;
        }
        lines.line("if (!shares) {");
        for number in 0..self.plan.footprints.len() {
            lines.line(&format!("  if (first_A{number} < end_A{number})"));
            lines.line(&format!(
                "    resident_expect((char *)(host_A{number} + first_A{number}), (end_A{number} - first_A{number}) * sizeof *host_A{number});"
            ));
        }
        lines.line("}");
    }
}
