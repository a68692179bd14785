//! The optimisations that the parallel form makes possible (`pipelines.rs` has their order).

pub mod targets;

crate::table::passes! {
    copy_at_once, merge_common_values, fuse_loops, forward_stores, eliminate_redundant_barriers, join_branches, hoist_invariants, promote_to_registers,
    hoist_to_host, mark_optimised
}
