//! Blocks that are pieces of rows: for processors, which find neighbouring lines by themselves, but not in many rows at once.
//!
//! ```text
//!   if (last_t1 - first_t1 >= 255L && last_t0 - first_t0 < 65535L)
//!     kernel0<<<dim3(..., ...), dim3(256, 1)>>>(...);
//!   else
//!     kernel0<<<dim3(..., ...), dim3(32, 8)>>>(...);
//! ```
//!
//! Where a thread has loops of its own, or keeps something on the chip, blocks stay as they are: neighbours in both dimensions read the same there.

use mlir_bridge::isl::Code;
use regrain_passes::affine::Description;
use regrain_passes::affine::plan::{Launch, statement_of};

use super::cuda::MOST_BLOCKS;

/// Blocks of another shape.
pub struct Rows {
    /// When.
    pub holds: String,
    /// Their threads, neighbours last.
    pub block: Vec<u32>,
}

/// Blocks of rows for a launch whose threads do but a few statements.
pub fn of(launch: &Launch, description: &Description<'_>) -> Option<Rows> {
    let is_plain = launch.on_chip.phases.is_empty() && launch.on_chip.registers.is_empty() && launch.team.is_none();
    let [outer @ .., width] = &launch.threads[..] else { return None };
    if outer.is_empty() || !is_plain || has_loops(&launch.code, description) {
        return None;
    }
    let threads: u32 = launch.block.iter().product();
    let name = &width.name;
    let mut holds = vec![format!("last_{name} - first_{name} >= {}L", threads - 1)];
    holds.extend(outer.iter().map(|range| format!("last_{0} - first_{0} < {MOST_BLOCKS}L", range.name)));
    let block = [vec![1; outer.len()], vec![threads]].concat();
    Some(Rows { holds: holds.join(" && "), block })
}

fn has_loops(code: &Code, description: &Description<'_>) -> bool {
    match code {
        Code::For { once, body, .. } => !once || has_loops(body, description),
        Code::If { then, otherwise, .. } => {
            has_loops(then, description) || otherwise.as_ref().is_some_and(|code| has_loops(code, description))
        }
        Code::Block(parts) => parts.iter().any(|part| has_loops(part, description)),
        Code::Statement(name, _) => {
            let statement = statement_of(name).and_then(|number| description.statements.get(number));
            statement.is_none_or(|statement| {
                statement.ops.iter().any(|op| op.is("scf.for") || !op.find_named("scf.for").is_empty())
            })
        }
    }
}
