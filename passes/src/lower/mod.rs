//! From the parallel form to what targets take: functions that run one block, or kernels.

crate::table::passes! { split_barriers, lower_cpu, outline_kernels, scope_debug_info }
