//! Launch bounds as NVVM has them: items of a function's `passthrough`, such as `["nvvm.maxntid", "256"]`.
//!
//! While a kernel is in parallel form they are neutral attributes of the dialect (`LaunchBounds`):
//! `regrain-form-parallel` moves them there, and `regrain-outline-kernels` back.

use mlir_bridge::ir::{Attr, Op};
use regrain_dialects::LaunchBounds;

const MAX_THREADS: &str = "nvvm.maxntid";
const REQUIRED_THREADS: &str = "nvvm.reqntid";
const MIN_BLOCKS: &str = "nvvm.minctasm";
const CLUSTER_SHAPE: &str = "nvvm.cluster_dim";
const MAX_CLUSTER: &str = "nvvm.maxclusterrank";

/// What a kernel's NVVM attributes say; what cannot be read is left out.
pub fn read(kernel: Op<'_>) -> LaunchBounds {
    let mut bounds = LaunchBounds::default();
    for item in passthrough(kernel) {
        if let Some((key, sizes)) = bound(item) {
            match key {
                MAX_THREADS => bounds.max_threads = sizes,
                REQUIRED_THREADS => bounds.required_threads = sizes,
                MIN_BLOCKS => bounds.min_blocks = Some(sizes[0]),
                CLUSTER_SHAPE => bounds.cluster_shape = sizes,
                _ => bounds.max_cluster = Some(sizes[0]),
            }
        }
    }
    bounds
}

/// Makes a kernel's NVVM attributes say this. Items that [`read`] leaves out stay.
pub fn write(kernel: Op<'_>, bounds: &LaunchBounds) {
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
    kernel.remove_attr("passthrough");
    if !items.is_empty() {
        kernel.set_attr("passthrough", ctx.array_attr(&items));
    }
}

/// NVVM's attributes become the dialect's.
pub fn raise(kernel: Op<'_>) {
    read(kernel).put(kernel);
    write(kernel, &LaunchBounds::default());
}

/// The dialect's attributes become NVVM's.
pub fn lower(kernel: Op<'_>) {
    let bounds = LaunchBounds::of(kernel);
    if bounds != LaunchBounds::default() {
        LaunchBounds::default().put(kernel);
        write(kernel, &bounds);
    }
}

fn passthrough(kernel: Op<'_>) -> Vec<Attr<'_>> {
    kernel.attr("passthrough").and_then(Attr::as_array).unwrap_or_default()
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
