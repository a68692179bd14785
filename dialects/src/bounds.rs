//! What a kernel's source says of its launches: the dialect's launch bounds.

use mlir_bridge::ir::{Attr, Op};

use crate::attributes::{CLUSTER_SHAPE, MAX_CLUSTER, MAX_THREADS, MIN_BLOCKS, REQUIRED_THREADS};

/// Launch bounds of a kernel; empty lists and `None` where the source says nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaunchBounds {
    /// The most threads of a block: their product counts.
    pub max_threads: Vec<i64>,
    /// The shape that blocks must have.
    pub required_threads: Vec<i64>,
    /// Blocks that are to be resident at once.
    pub min_blocks: Option<i64>,
    /// Blocks of a cluster.
    pub cluster_shape: Vec<i64>,
    /// The most blocks of a cluster.
    pub max_cluster: Option<i64>,
}

impl LaunchBounds {
    /// The bounds that a kernel carries.
    pub fn of(kernel: Op<'_>) -> Self {
        let list = |name| kernel.attr(name).and_then(Attr::as_i64_array).unwrap_or_default();
        let number = |name| kernel.attr(name).and_then(Attr::as_int);
        Self {
            max_threads: list(MAX_THREADS),
            required_threads: list(REQUIRED_THREADS),
            min_blocks: number(MIN_BLOCKS),
            cluster_shape: list(CLUSTER_SHAPE),
            max_cluster: number(MAX_CLUSTER),
        }
    }

    /// Makes these the bounds that a kernel carries.
    pub fn put(&self, kernel: Op<'_>) {
        let ctx = kernel.ctx();
        let list = |sizes: &[i64]| (!sizes.is_empty()).then(|| ctx.i64_array_attr(sizes));
        let number = |value: Option<i64>| value.map(|value| ctx.i64_attr(value));
        let all = [
            (MAX_THREADS, list(&self.max_threads)),
            (REQUIRED_THREADS, list(&self.required_threads)),
            (MIN_BLOCKS, number(self.min_blocks)),
            (CLUSTER_SHAPE, list(&self.cluster_shape)),
            (MAX_CLUSTER, number(self.max_cluster)),
        ];
        for (name, value) in all {
            match value {
                Some(value) => kernel.set_attr(name, value),
                None => drop(kernel.remove_attr(name)),
            }
        }
    }

    /// The most threads of a block, if that is bounded.
    pub fn most_threads(&self) -> Option<i64> {
        (!self.max_threads.is_empty()).then(|| self.max_threads.iter().product())
    }
}
