//! The largest launch of a GPU.

use crate::abi::Dim3;
use crate::error::{CudaError, Result};

/// What the launch of a kernel may ask for.
#[derive(Clone, Copy)]
pub struct Shape {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub threads: u32,
}

impl Shape {
    /// From attributes by CUDA's numbers. A library may tell a limit of 32 bits without a sign.
    pub fn of(figure: impl Fn(u32) -> Result<i32>) -> Result<Self> {
        let figure = |which| figure(which).map(i32::cast_unsigned);
        Ok(Self {
            threads: figure(1)?,
            block: [figure(2)?, figure(3)?, figure(4)?],
            grid: [figure(5)?, figure(6)?, figure(7)?],
        })
    }

    /// The checks that CUDA's runtime makes before it asks the driver.
    pub fn check(&self, grid: Dim3, block: Dim3) -> Result {
        let within = |dim: [u32; 3], most: [u32; 3]| dim.iter().zip(most).all(|(size, most)| (1..=most).contains(size));
        let threads = block.array().iter().try_fold(1_u32, |product, size| product.checked_mul(*size));
        let fits = within(grid.array(), self.grid)
            && within(block.array(), self.block)
            && threads.is_some_and(|threads| threads <= self.threads);
        if fits { Ok(()) } else { Err(CudaError::INVALID_CONFIGURATION) }
    }
}
