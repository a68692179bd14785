//! Why rows are not made.

use super::cost::Costs;

/// The name of the pass.
pub const NAME: &str = "regrain-vectorize-threads";

/// Why the threads of a loop stay apart.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Apart {
    /// Loops over selected threads, say.
    #[error("its loop has not three dimensions from 0 with step 1")]
    Shape,
    #[error("its rows are too short")]
    Narrow,
    #[error("a row would cost {} slots, its threads one by one {}", .0.row, .0.alone)]
    Expensive(Costs),
    #[error("it holds {0}, which has no form for rows")]
    Operation(String),
    /// Our mistake: what was found possible could not be made.
    #[error("internal error while vectorising threads: {0}")]
    Internal(String),
}
