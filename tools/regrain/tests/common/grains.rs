//! Random grains, and what the compiler says of the kernels that it keeps at their own.

use std::collections::BTreeMap;

use proptest::prelude::*;
use regrain_passes::coarsen::unroll_and_interleave::Refusal;
use regrain_passes::launch::isolate_launches;

/// Coarsening factors as the driver takes them; empty where a side is left alone.
#[derive(Clone, Debug, Default)]
pub struct Grain {
    pub blocks: String,
    pub threads: String,
}

impl Grain {
    pub fn options(&self) -> Vec<String> {
        let each = [("blocks", &self.blocks), ("threads", &self.threads)];
        let asked = each.into_iter().filter(|(_, factors)| !factors.is_empty());
        asked.map(|(what, factors)| format!("-fregrain-coarsen-{what}={factors}")).collect()
    }

    pub fn name(&self) -> String {
        self.options()
            .iter()
            .map(|option| option.trim_start_matches("-fregrain-coarsen-"))
            .collect::<Vec<_>>()
            .join(" ")
    }
}

/// A total, or a factor for each dimension.
fn factors(totals: &'static [u32], most: [u32; 3]) -> impl Strategy<Value = String> {
    let [x, y, z] = most;
    prop_oneof![
        3 => prop::sample::select(totals).prop_map(|total| total.to_string()),
        2 => (1..=x, 1..=y, 1..=z).prop_map(|(x, y, z)| format!("{x},{y},{z}")),
    ]
}

/// The grains that a program is tried at: blocks, threads, and both. Code grows by the product of all factors: large ones
/// are rare.
pub fn grains() -> impl Strategy<Value = [Grain; 3]> {
    let blocks = prop_oneof![19 => factors(&[2, 3, 4, 5, 6, 7], [3, 2, 1]), 1 => factors(&[8, 11, 13], [1, 4, 3])];
    let threads = prop_oneof![19 => factors(&[2, 3, 4, 5, 8], [2, 2, 1]), 1 => factors(&[7, 16], [1, 4, 2])];
    let both = (factors(&[2, 3], [2, 1, 2]), factors(&[2, 4], [2, 2, 1]));
    (blocks, threads, both).prop_map(|(b, t, (both, and))| {
        let grain = |blocks: String, threads: String| Grain { blocks, threads };
        [grain(b, String::new()), grain(String::new(), t), grain(both, and)]
    })
}

/// How many wrappers kept their grain, by what was refused and why.
#[derive(Default)]
pub struct Refused(pub BTreeMap<(String, String), usize>);

impl Refused {
    /// Counts the refusals in what the compiler said; `Err` for a reason that is not on a list.
    pub fn count(&mut self, said: &str) -> Result<(), String> {
        for line in said.lines() {
            let (what, reason, known) = if let Some((before, reason)) = line.split_once(" not coarsened: ") {
                let known = Refusal::TEXTS.contains(&reason);
                (before.rsplit(' ').next().unwrap_or_default(), reason, known)
            } else if let Some((_, reason)) = line.split_once("launch keeps its grain: ") {
                ("launch", reason, isolate_launches::Refusal::TEXTS.contains(&reason))
            } else {
                continue;
            };
            if !known {
                return Err(format!("refused for a reason that is not on the list: {line}"));
            }
            *self.0.entry((what.to_owned(), reason.to_owned())).or_default() += 1;
        }
        Ok(())
    }

    /// Refusals of `what` that tell of the kernel, not of a factor that does not divide the block.
    pub fn for_the_kernel(&self, what: &str) -> usize {
        let shape = [Refusal::NotDivisible.text(), Refusal::SplitWarps.text()];
        let own = |kind: &str, why: &str| kind == "launch" || (kind == what && !shape.contains(&why));
        self.0.iter().filter(|((kind, why), _)| own(kind, why)).map(|(_, count)| count).sum()
    }

    pub fn lines(&self) -> String {
        self.0.iter().map(|((what, why), count)| format!("  {count} {what}: {why}\n")).collect()
    }
}
