//! What targets lack, in words.

/// What those functions are for that not every target has, by the beginning of what follows `__regrain_`, `llvm_nvvm_` and `ptx_`.
const LACKS: &[(&str, &str)] = &[
    ("exit_thread", "way to end a single thread"),
    ("barrier_cta", "barrier of some of a block's threads"),
    ("wmma", "matrix instructions"),
    ("mma", "matrix instructions"),
    ("ldmatrix", "matrix instructions"),
    ("stmatrix", "matrix instructions"),
    ("wgmma", "matrix instructions"),
    ("mbarrier", "memory barrier objects"),
    ("cp_async_mbarrier", "memory barrier objects"),
    ("cp_async_bulk", "bulk copies"),
    ("tex", "textures"),
    ("tld4", "textures"),
    ("txq", "textures"),
    ("surface", "surfaces"),
    ("suld", "surfaces"),
    ("sust", "surfaces"),
    ("suq", "surfaces"),
];

/// What a target has not whose library has no `symbol`, where that can be said.
pub(super) fn lack(symbol: &str) -> Option<&'static str> {
    let name = symbol.strip_prefix("__regrain_")?;
    let name = name.strip_prefix("llvm_nvvm_").or_else(|| name.strip_prefix("ptx_")).unwrap_or(name);
    LACKS.iter().find(|(start, _)| name.starts_with(start)).map(|(_, what)| *what)
}
