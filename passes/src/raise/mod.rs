//! From an imported module to the parallel form: structured control flow, counted loops, parallel loops.

crate::table::passes! { share_constant_tables, lift_control_flow, raise_while_to_for, form_parallel }
