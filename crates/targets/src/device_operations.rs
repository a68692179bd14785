//! What the operations of the regrain dialect become inside a kernel.

use mlir_bridge::ir::{Builder, Op, Value};
use regrain_dialects::LaunchBounds;

use crate::nvvm;

/// A dimension of the grid or of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// The first, in which neighbouring threads lie.
    X,
    /// The second.
    Y,
    /// The third.
    Z,
}

impl Axis {
    /// All of them, in order.
    pub const ALL: [Self; 3] = [Self::X, Self::Y, Self::Z];

    /// 0, 1 or 2.
    pub fn index(self) -> usize {
        self as usize
    }

    /// `x`, `y` or `z`.
    pub fn name(self) -> &'static str {
        ["x", "y", "z"][self.index()]
    }
}

/// What a thread can ask about where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The number of the thread in its block.
    Thread,
    /// The number of the block in the grid.
    Block,
    /// Threads of a block.
    BlockSize,
    /// Blocks of the grid.
    GridSize,
}

/// How a device language says what the parallel form says with operations of the regrain dialect.
pub trait DeviceOperations: Sync {
    /// The dialects whose operations this makes.
    fn dialects(&self) -> &'static [&'static str];

    /// Where the thread is, as an `i32`.
    fn place<'c>(&self, b: Builder<'c>, place: Place, axis: Axis) -> Value<'c>;

    /// Bytes of dynamic shared memory of the block, as an `i32`.
    fn dynamic_shared_size<'c>(&self, b: Builder<'c>) -> Value<'c>;

    /// Whether an operation came of [`DeviceOperations::dynamic_shared_size`].
    fn is_dynamic_shared_size(&self, op: Op<'_>) -> bool;

    /// Lowers every operation of the regrain dialect in `kernel`; `Err` says which one has no counterpart.
    fn lower(&self, module: Op<'_>, kernel: Op<'_>) -> Result<(), String>;

    /// Says what the source of a kernel says of its launches.
    fn set_bounds(&self, kernel: Op<'_>, bounds: &LaunchBounds);

    /// Says that a kernel is only launched with blocks of this shape.
    fn require_block(&self, kernel: Op<'_>, shape: [u32; 3]);
}

/// The operations that kernels are lowered to: those of clang's device code, which every target reads.
pub fn common() -> &'static dyn DeviceOperations {
    &nvvm::Operations
}
