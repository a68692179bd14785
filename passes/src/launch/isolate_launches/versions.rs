//! The kernels of a module that were made of changed launches, as data.

use std::collections::HashSet;

use mlir_bridge::ir::Op;
use regrain_dialects::attributes::{HANDLE, LAUNCH, STATIC_SHARED, THREAD_GRAIN, VERSION_OF, count, factors, symbol};
use serde::{Deserialize, Serialize};

/// A kernel that was made of a changed launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    pub name: String,
    /// The kernel that it is a version of.
    pub original: String,
    /// How many original threads one of its threads is.
    pub thread_total: i64,
    /// Static shared memory of a block, bytes.
    pub static_shared: u64,
}

/// The kernels of a module that were made of changed launches.
pub fn versions(module: Op<'_>) -> Vec<Version> {
    let of = |kernel: Op<'_>| {
        Some(Version {
            name: kernel.symbol_name()?.to_owned(),
            original: symbol(kernel, VERSION_OF)?.to_owned(),
            thread_total: factors(kernel, THREAD_GRAIN).iter().product(),
            static_shared: count(kernel, STATIC_SHARED)?,
        })
    };
    module.body().ops().into_iter().filter_map(of).collect()
}

/// Keeps of the kernels that were made of changed launches those in `wanted`, with their launch functions.
pub fn retain_versions(module: Op<'_>, wanted: &HashSet<String>) {
    let all = versions(module);
    let dropped: HashSet<&str> =
        all.iter().map(|version| version.name.as_str()).filter(|name| !wanted.contains(*name)).collect();
    for op in module.body().ops() {
        let own = op.symbol_name().filter(|_| op.has_attr(VERSION_OF));
        if [own, symbol(op, LAUNCH), symbol(op, HANDLE)].into_iter().flatten().any(|name| dropped.contains(name)) {
            op.erase();
        }
    }
}
