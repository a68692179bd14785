//! Several grains of a launch side by side.

pub mod candidates;
mod choices;

crate::table::passes! { choose_by_grid, content_hash, expand_alternatives, select_alternative, profile_alternatives }
