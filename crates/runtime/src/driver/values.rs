//! Streams that wait for values in memory, and that write some.

use super::frame::{current, driver_api};
use crate::device::seam::{Comparison, Stream, ValueOperation, ValueTask};
use crate::error::{CudaError, Result, check};

type Pointer = usize;

/// `CU_STREAM_WAIT_VALUE_FLUSH`: writes of other devices are seen without being asked for.
const FLUSH: u32 = 1 << 30;
/// `CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER`: what was written before may be seen later; here it never is.
const NO_BARRIER: u32 = 1;

/// `CUstreamBatchMemOpParams`: all but the first word as each operation has it.
#[repr(C)]
struct Parameters {
    operation: u32,
    address: Pointer,
    value: u64,
    flags: u32,
    _rest: [u64; 2],
}

const _: () = assert!(size_of::<Parameters>() == 48);

fn waiting(address: Pointer, value: u64, is_wide: bool, flags: u32) -> Result<ValueOperation> {
    let comparison = match flags & !FLUSH {
        0 => Comparison::AtLeast,
        1 => Comparison::Equal,
        2 => Comparison::And,
        3 => Comparison::Nor,
        _ => return Err(CudaError::INVALID_VALUE),
    };
    Ok(ValueOperation { address, value, is_wide, task: ValueTask::Wait(comparison) })
}

fn writing(address: Pointer, value: u64, is_wide: bool, flags: u32) -> Result<ValueOperation> {
    check(flags & !NO_BARRIER == 0)?;
    Ok(ValueOperation { address, value, is_wide, task: ValueTask::Write })
}

impl Parameters {
    /// What is to be done; nothing for what is there without being asked for.
    fn operation(&self) -> Option<Result<ValueOperation>> {
        let Self { address, value, flags, .. } = *self;
        match self.operation {
            1 => Some(waiting(address, u64::from(value as u32), false, flags)),
            2 => Some(writing(address, u64::from(value as u32), false, flags)),
            4 => Some(waiting(address, value, true, flags)),
            5 => Some(writing(address, value, true, flags)),
            // Writes of other devices, and a barrier of memory.
            3 | 6 => None,
            _ => Some(Err(CudaError::INVALID_VALUE)),
        }
    }
}

/// # Safety
/// As `cuStreamWaitValue32`.
unsafe fn one(stream: Stream, operation: Result<ValueOperation>) -> Result {
    // SAFETY: by contract.
    unsafe { current()?.values(stream, &[operation?]) }
}

/// The most operations of a batch.
const MOST: u32 = 256;

/// # Safety
/// As `cuStreamBatchMemOp`.
unsafe fn batch(stream: Stream, count: u32, list: *const Parameters, flags: u32) -> Result {
    check(flags == 0 && count <= MOST && !list.is_null())?;
    // SAFETY: by contract.
    let all = unsafe { std::slice::from_raw_parts(list, count as usize) };
    let operations = all.iter().filter_map(Parameters::operation).collect::<Result<Vec<_>>>()?;
    let device = current()?;
    // SAFETY: by contract.
    if operations.is_empty() { Ok(()) } else { unsafe { device.values(stream, &operations) } }
}

/// Rows of `name, name with a default stream for each thread, ...: what one value is asked for;`
macro_rules! value_api {
    ($($wait:ident / $wait_of_thread:ident, $write:ident / $write_of_thread:ident: $ty:ty, $is_wide:literal;)*) => {
        driver_api! {
            $(
                fn $wait / $wait_of_thread [on] (stream: Stream, address: Pointer, value: $ty, flags: u32) {
                    one(on.stream(stream), waiting(address, value.into(), $is_wide, flags))
                }
                fn $write / $write_of_thread [on] (stream: Stream, address: Pointer, value: $ty, flags: u32) {
                    one(on.stream(stream), writing(address, value.into(), $is_wide, flags))
                }
            )*
            fn cuStreamBatchMemOp / cuStreamBatchMemOp_ptsz [on] (
                stream: Stream, count: u32, list: *const Parameters, flags: u32
            ) {
                batch(on.stream(stream), count, list, flags)
            }
            fn cuStreamBatchMemOp_v2 / cuStreamBatchMemOp_v2_ptsz [on] (
                stream: Stream, count: u32, list: *const Parameters, flags: u32
            ) {
                batch(on.stream(stream), count, list, flags)
            }
        }
    };
}

value_api! {
    cuStreamWaitValue32 / cuStreamWaitValue32_ptsz, cuStreamWriteValue32 / cuStreamWriteValue32_ptsz: u32, false;
    cuStreamWaitValue32_v2 / cuStreamWaitValue32_v2_ptsz, cuStreamWriteValue32_v2 / cuStreamWriteValue32_v2_ptsz: u32, false;
    cuStreamWaitValue64 / cuStreamWaitValue64_ptsz, cuStreamWriteValue64 / cuStreamWriteValue64_ptsz: u64, true;
    cuStreamWaitValue64_v2 / cuStreamWaitValue64_v2_ptsz, cuStreamWriteValue64_v2 / cuStreamWriteValue64_v2_ptsz: u64, true;
}
