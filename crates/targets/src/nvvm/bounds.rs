//! Launch bounds as NVVM has them: items of a function's `passthrough`, such as `["nvvm.maxntid", "256"]`.
//!
//! While a kernel is in parallel form they are neutral attributes of the dialect (`LaunchBounds`).

use mlir_bridge::ir::{Attr, Op};
use regrain_dialects::LaunchBounds;

const MAX_THREADS: &str = "nvvm.maxntid";
const REQUIRED_THREADS: &str = "nvvm.reqntid";
const MIN_BLOCKS: &str = "nvvm.minctasm";
const CLUSTER_SHAPE: &str = "nvvm.cluster_dim";
const MAX_CLUSTER: &str = "nvvm.maxclusterrank";

/// Takes the bounds off a kernel. What cannot be read stays and is left out.
pub fn take(kernel: Op<'_>) -> LaunchBounds {
    let mut bounds = LaunchBounds::default();
    let mut others = Vec::new();
    for item in passthrough(kernel) {
        match bound(item) {
            Some((MAX_THREADS, sizes)) => bounds.max_threads = sizes,
            Some((REQUIRED_THREADS, sizes)) => bounds.required_threads = sizes,
            Some((MIN_BLOCKS, sizes)) => bounds.min_blocks = Some(sizes[0]),
            Some((CLUSTER_SHAPE, sizes)) => bounds.cluster_shape = sizes,
            Some((_, sizes)) => bounds.max_cluster = Some(sizes[0]),
            None => others.push(item),
        }
    }
    set_passthrough(kernel, &others);
    bounds
}

/// Gives a kernel these bounds in place of those that it has.
pub(super) fn set(kernel: Op<'_>, bounds: &LaunchBounds) {
    let ctx = kernel.ctx();
    let text = |sizes: &[i64]| sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let single = |value: Option<i64>| value.map(|value| vec![value]).unwrap_or_default();
    let all = [
        (MIN_BLOCKS, single(bounds.min_blocks)),
        (MAX_THREADS, bounds.max_threads.clone()),
        (REQUIRED_THREADS, bounds.required_threads.clone()),
        (CLUSTER_SHAPE, bounds.cluster_shape.clone()),
        (MAX_CLUSTER, single(bounds.max_cluster)),
    ];
    let mut items = passthrough(kernel);
    items.retain(|item| bound(*item).is_none());
    for (key, sizes) in all.into_iter().filter(|(_, sizes)| !sizes.is_empty()) {
        items.push(ctx.array_attr(&[ctx.str_attr(key), ctx.str_attr(&text(&sizes))]));
    }
    set_passthrough(kernel, &items);
}

fn passthrough(kernel: Op<'_>) -> Vec<Attr<'_>> {
    kernel.attr("passthrough").and_then(Attr::as_array).unwrap_or_default()
}

fn set_passthrough(kernel: Op<'_>, items: &[Attr<'_>]) {
    kernel.remove_attr("passthrough");
    if !items.is_empty() {
        kernel.set_attr("passthrough", kernel.ctx().array_attr(items));
    }
}

/// The key and the numbers of an item that is a launch bound.
fn bound(item: Attr<'_>) -> Option<(&str, Vec<i64>)> {
    let [key, value] = item.as_array()?[..] else { return None };
    let key = key.as_str()?;
    let most = match key {
        MAX_THREADS | REQUIRED_THREADS | CLUSTER_SHAPE => 3,
        MIN_BLOCKS | MAX_CLUSTER => 1,
        _ => return None,
    };
    let sizes = value.as_str()?.split(',').map(|number| number.trim().parse::<i64>().ok().filter(|size| *size > 0));
    let sizes = sizes.collect::<Option<Vec<_>>>()?;
    (sizes.len() <= most).then_some((key, sizes))
}
