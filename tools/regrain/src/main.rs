//! (in construction)

fn main() {}
