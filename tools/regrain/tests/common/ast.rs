//! Random CUDA kernels as trees, and how they are drawn.
//!
//! A tree says what a kernel would like to do; `print.rs` makes a defined program of it: it adds the barriers without
//! which there would be a race, and leaves out what cannot stand where it is. So every tree is a program, and whatever
//! proptest cuts away on its way to the smallest failure, the rest is one too.

use proptest::collection::vec;
use proptest::prelude::*;

use super::tiles::{Tile, tile};

/// An unsigned 32-bit value.
#[derive(Clone, Debug)]
pub enum Expr {
    Const(u32),
    /// One of the values in sight.
    Leaf(u8),
    Unary(u8, Box<Expr>),
    Binary(u8, Box<Expr>, Box<Expr>),
    Select(Box<Cond>, Box<Expr>, Box<Expr>),
    /// A word of the input.
    Input(Box<Expr>),
    /// A cell of the thread's own array.
    Local(Box<Expr>),
    /// The thread's own slot of an array that its block shares.
    Own(u8),
    /// Another thread's slot.
    Other(u8, Box<Expr>),
    FromReal(Box<Real>),
    /// A device function.
    Call(u8, Box<Expr>, Box<Expr>),
}

/// A `float` or a `double`, as its place wants.
#[derive(Clone, Debug)]
pub enum Real {
    Const(i8),
    Leaf(u8),
    Binary(u8, Box<Real>, Box<Real>),
    Unary(u8, Box<Real>),
    FromInt(bool, Box<Expr>),
    /// Computed in the other precision.
    Cast(Box<Real>),
    Other(Box<Expr>),
}

/// A condition.
#[derive(Clone, Debug)]
pub enum Cond {
    Thread(u8),
    Compare(u8, Box<Expr>, Box<Expr>),
    CompareReal(u8, Box<Real>, Box<Real>),
    Not(Box<Cond>),
    Both(Box<Cond>, Box<Cond>),
    Either(Box<Cond>, Box<Cond>),
}

/// How a loop counts.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    Up(u8),
    UpSigned(u8),
    Between(u8),
    Down(u8),
    Halve,
    NotEqual,
    Forever,
    While,
    Do,
    DoWhile,
}

/// A loop.
#[derive(Clone, Debug)]
pub struct Loop {
    pub shape: Shape,
    /// Whether all threads of the block are to agree on its trips.
    pub uniform: bool,
    pub bound: Expr,
    pub cond: Cond,
    pub unroll: u8,
    pub body: Vec<Stmt>,
}

/// Ways out.
#[derive(Clone, Copy, Debug)]
pub enum Leave {
    Break,
    Continue,
    Return,
}

/// A statement.
#[derive(Clone, Debug)]
pub enum Stmt {
    Set(u8, Expr),
    SetReal(u8, Real),
    SetUniform(u8, Expr),
    SetLocal(Expr, Expr),
    Out(u8, Expr),
    Share(u8, Expr),
    ShareReal(Real),
    /// A loop over an array in steps of the block size.
    Fill(u8, Expr),
    Barrier,
    If(bool, Cond, Vec<Stmt>, Vec<Stmt>),
    /// A condition on the warp.
    WarpIf(u8, Vec<Stmt>),
    /// Cases with a mark whether they fall through.
    Switch(bool, Expr, Vec<(Vec<Stmt>, bool)>),
    Loop(Box<Loop>),
    Leave(Leave, bool, Cond),
    Shuffle(u8, u8, Expr, Expr),
    Vote(u8, u8, Cond),
    /// The first lanes of the warp exchange values among themselves.
    FirstLanes(u8, u8, Expr, Expr),
    SyncWarp,
    /// `__syncthreads_count` and its kin.
    Count(u8, u8, Cond),
    /// One thread tells all others.
    Broadcast(u8, Expr, Expr),
    /// A reduction as a tree.
    Reduce(u8, u8),
    /// A device function with barriers inside.
    Rotate(u8, u8, Expr, Expr),
    AtomicShared(Expr, Expr),
    ReadAtomic(u8, Expr),
    AtomicGlobal(u8, Expr, Expr),
    /// A device function that writes through a pointer.
    CallPointer(u8, u8, Expr),
    /// A write through a pointer to one of two variables.
    Pointer(Cond, u8, Expr),
}

/// A device function.
#[derive(Clone, Debug)]
pub struct Helper {
    pub inlining: u8,
    pub body: Vec<Stmt>,
    pub result: Expr,
}

/// A kernel, and the two launches of it.
#[derive(Clone, Debug)]
pub struct Kernel {
    pub blocks: [[u8; 3]; 2],
    pub grid: [u8; 3],
    /// What threads of a block agree on is the same in all blocks, too.
    pub alike: bool,
    /// Dynamic shared memory beyond what the kernel uses.
    pub more_bytes: u8,
    pub bounds: bool,
    pub restrict: bool,
    pub helpers: Vec<Helper>,
    pub body: Vec<Stmt>,
    /// A kernel of another kind instead, with the block shape that it is for.
    pub tile: Option<Tile>,
}

fn boxed<T: std::fmt::Debug + 'static>(strategy: &BoxedStrategy<T>) -> BoxedStrategy<Box<T>> {
    strategy.clone().prop_map(Box::new).boxed()
}

fn expr(depth: u32) -> BoxedStrategy<Expr> {
    let constant = prop_oneof![0..40u32, Just(0xffff_ffffu32), Just(0x8000_0000u32), any::<u32>()];
    let leaf = prop_oneof![5 => any::<u8>().prop_map(Expr::Leaf), 2 => constant.prop_map(Expr::Const)].boxed();
    if depth == 0 {
        return leaf;
    }
    let e = boxed(&expr(depth - 1));
    let c = boxed(&cond(depth - 1));
    let r = boxed(&real(depth - 1));
    prop_oneof![
        4 => leaf,
        2 => any::<u8>().prop_map(Expr::Own),
        2 => (any::<u8>(), e.clone()).prop_map(|(op, a)| Expr::Unary(op, a)),
        6 => (any::<u8>(), e.clone(), e.clone()).prop_map(|(op, a, b)| Expr::Binary(op, a, b)),
        2 => (c, e.clone(), e.clone()).prop_map(|(c, a, b)| Expr::Select(c, a, b)),
        1 => e.clone().prop_map(Expr::Input),
        2 => e.clone().prop_map(Expr::Local),
        3 => (any::<u8>(), e.clone()).prop_map(|(array, a)| Expr::Other(array, a)),
        1 => r.prop_map(Expr::FromReal),
        1 => (any::<u8>(), e.clone(), e).prop_map(|(f, a, b)| Expr::Call(f, a, b)),
    ]
    .boxed()
}

fn real(depth: u32) -> BoxedStrategy<Real> {
    let leaf = prop_oneof![3 => any::<u8>().prop_map(Real::Leaf), 1 => any::<i8>().prop_map(Real::Const)].boxed();
    if depth == 0 {
        return leaf;
    }
    let r = boxed(&real(depth - 1));
    let e = boxed(&expr(depth - 1));
    prop_oneof![
        2 => leaf,
        4 => (any::<u8>(), r.clone(), r.clone()).prop_map(|(op, a, b)| Real::Binary(op, a, b)),
        1 => (any::<u8>(), r.clone()).prop_map(|(op, a)| Real::Unary(op, a)),
        2 => (any::<bool>(), e.clone()).prop_map(|(signed, a)| Real::FromInt(signed, a)),
        1 => r.prop_map(Real::Cast),
        1 => e.prop_map(Real::Other),
    ]
    .boxed()
}

fn cond(depth: u32) -> BoxedStrategy<Cond> {
    let leaf = any::<u8>().prop_map(Cond::Thread).boxed();
    if depth == 0 {
        return leaf;
    }
    let c = boxed(&cond(depth - 1));
    let e = boxed(&expr(depth - 1));
    let r = boxed(&real(depth - 1));
    prop_oneof![
        2 => leaf,
        6 => (any::<u8>(), e.clone(), e).prop_map(|(op, a, b)| Cond::Compare(op, a, b)),
        1 => (any::<u8>(), r.clone(), r).prop_map(|(op, a, b)| Cond::CompareReal(op, a, b)),
        1 => c.clone().prop_map(Cond::Not),
        1 => (c.clone(), c.clone()).prop_map(|(a, b)| Cond::Both(a, b)),
        1 => (c.clone(), c).prop_map(|(a, b)| Cond::Either(a, b)),
    ]
    .boxed()
}

fn shape() -> impl Strategy<Value = Shape> {
    prop_oneof![
        (1..4u8).prop_map(Shape::Up),
        (1..4u8).prop_map(Shape::UpSigned),
        (1..4u8).prop_map(Shape::Between),
        (1..4u8).prop_map(Shape::Down),
        Just(Shape::Halve),
        Just(Shape::NotEqual),
        Just(Shape::Forever),
        Just(Shape::While),
        Just(Shape::Do),
        Just(Shape::DoWhile),
    ]
}

/// Statements that stand alone.
fn plain() -> BoxedStrategy<Stmt> {
    let (e, c, r, n) = (expr(2), cond(2), real(2), any::<u8>());
    let leave = prop_oneof![Just(Leave::Break), Just(Leave::Continue), Just(Leave::Return)];
    prop_oneof![
        5 => (n, e.clone()).prop_map(|(v, e)| Stmt::Set(v, e)),
        2 => (n, r.clone()).prop_map(|(v, e)| Stmt::SetReal(v, e)),
        2 => (n, e.clone()).prop_map(|(v, e)| Stmt::SetUniform(v, e)),
        2 => (e.clone(), e.clone()).prop_map(|(at, e)| Stmt::SetLocal(at, e)),
        2 => (n, e.clone()).prop_map(|(k, e)| Stmt::Out(k, e)),
        4 => (n, e.clone()).prop_map(|(array, e)| Stmt::Share(array, e)),
        1 => r.prop_map(Stmt::ShareReal),
        1 => (n, e.clone()).prop_map(|(array, e)| Stmt::Fill(array, e)),
        2 => Just(Stmt::Barrier),
        3 => (leave, any::<bool>(), c.clone()).prop_map(|(kind, uniform, c)| Stmt::Leave(kind, uniform, c)),
        2 => (n, n, e.clone(), e.clone()).prop_map(|(kind, v, e, lane)| Stmt::Shuffle(kind, v, e, lane)),
        1 => (n, n, c.clone()).prop_map(|(kind, v, c)| Stmt::Vote(kind, v, c)),
        1 => (n, n, e.clone(), e.clone()).prop_map(|(few, v, e, lane)| Stmt::FirstLanes(few, v, e, lane)),
        1 => Just(Stmt::SyncWarp),
        1 => (n, n, c.clone()).prop_map(|(kind, v, c)| Stmt::Count(kind, v, c)),
        1 => (n, e.clone(), e.clone()).prop_map(|(v, who, e)| Stmt::Broadcast(v, who, e)),
        1 => (n, n).prop_map(|(array, op)| Stmt::Reduce(array, op)),
        1 => (n, n, e.clone(), e.clone()).prop_map(|(array, v, e, by)| Stmt::Rotate(array, v, e, by)),
        1 => (e.clone(), e.clone()).prop_map(|(at, e)| Stmt::AtomicShared(at, e)),
        1 => (n, e.clone()).prop_map(|(v, at)| Stmt::ReadAtomic(v, at)),
        1 => (n, e.clone(), e.clone()).prop_map(|(op, at, e)| Stmt::AtomicGlobal(op, at, e)),
        1 => (n, n, e.clone()).prop_map(|(f, v, e)| Stmt::CallPointer(f, v, e)),
        1 => (c, n, e).prop_map(|(c, v, e)| Stmt::Pointer(c, v, e)),
    ]
    .boxed()
}

fn statements(depth: u32) -> BoxedStrategy<Vec<Stmt>> {
    if depth == 0 {
        return vec(plain(), 1..4).boxed();
    }
    let body = statements(depth - 1);
    let looped = (shape(), prop::bool::weighted(0.6), expr(1), cond(1), any::<u8>(), body.clone())
        .prop_map(|(shape, uniform, bound, cond, unroll, body)| Loop { shape, uniform, bound, cond, unroll, body });
    let other = prop_oneof![2 => Just(Vec::new()), 1 => body.clone()];
    let cases = vec((body.clone(), prop::bool::weighted(0.3)), 1..4);
    let one = prop_oneof![
        6 => plain(),
        2 => (prop::bool::weighted(0.5), cond(2), body.clone(), other).prop_map(|(u, c, a, b)| Stmt::If(u, c, a, b)),
        1 => (any::<u8>(), body).prop_map(|(k, body)| Stmt::WarpIf(k, body)),
        1 => (prop::bool::weighted(0.5), expr(1), cases).prop_map(|(u, e, cases)| Stmt::Switch(u, e, cases)),
        3 => looped.prop_map(|l| Stmt::Loop(Box::new(l))),
    ];
    vec(one, 1..6).boxed()
}

fn block() -> impl Strategy<Value = [u8; 3]> {
    let line = prop_oneof![Just(32u8), Just(64), Just(96), Just(128), Just(1), 2..100u8].prop_map(|x| [x, 1, 1]);
    let plane = prop_oneof![Just([8, 8, 1]), Just([16, 4, 1]), Just([7, 5, 1]), Just([32, 3, 1]), Just([1, 40, 1])];
    let cube = prop_oneof![Just([4, 4, 4]), Just([3, 5, 2]), Just([8, 2, 4]), Just([2, 1, 33])];
    prop_oneof![3 => line, 2 => plane, 1 => cube]
}

/// Any kernel.
pub fn kernel() -> impl Strategy<Value = Kernel> {
    let helper =
        (any::<u8>(), statements(1), expr(2)).prop_map(|(inlining, body, result)| Helper { inlining, body, result });
    let line = (2..=12u8).prop_map(|x| [x, 1, 1]);
    let other =
        prop::sample::select(&[[2, 2, 1], [1, 1, 2], [3, 4, 1], [1, 5, 2], [2, 3, 2], [1, 7, 1], [3, 2, 1]][..]);
    let grid = prop_oneof![1 => Just([1, 1, 1]), 3 => line, 3 => other];
    let more_bytes = prop_oneof![2 => Just(0u8), 1 => 1..40u8];
    let body = prop_oneof![2 => statements(1), 3 => statements(2), 1 => statements(3)];
    let blocks = (block(), block()).prop_map(|(a, b)| [a, b]);
    let launch = (blocks, grid, prop::bool::weighted(0.6), more_bytes);
    let mostly_tiles = std::env::var_os("REGRAIN_PROPTEST_TILES").is_some();
    let tile = prop::option::weighted(if mostly_tiles { 0.9 } else { 0.2 }, tile());
    (launch, any::<bool>(), any::<bool>(), vec(helper, 2), body, tile).prop_map(
        |((blocks, [x, y, z], alike, more_bytes), bounds, restrict, helpers, body, tile)| {
            let shape = |tile: &Tile| [[tile.block[0], tile.block[1], 1]; 2];
            Kernel {
                blocks: tile.as_ref().map_or(blocks, shape),
                // Two blocks of a tile's kernel must not have the same place.
                grid: [x, y, if tile.is_some() { 1 } else { z }],
                alike,
                more_bytes,
                bounds,
                restrict,
                helpers,
                body,
                tile,
            }
        },
    )
}
