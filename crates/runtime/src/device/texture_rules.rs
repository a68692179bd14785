//! What CUDA says of texture objects, whatever device has them.

use crate::error::{CudaError, Result, check};
use crate::types::{ChannelFormat, FLOAT, TextureSettings};

/// Values of `cudaTextureAddressMode`.
pub const WRAP: u32 = 0;
/// See [`WRAP`].
pub const CLAMP: u32 = 1;
const MIRROR: u32 = 2;
const LAST_MODE: u32 = 3;

/// `cudaChannelFormatKindUnsignedNormalized8X1`, and how many kinds of this sort there are.
const FIRST_NORMALIZED: u32 = 5;
const NORMALIZED_KINDS: u32 = 12;

/// Channels and the bits of each; textures have channels of one size.
///
/// # Errors
/// `cudaErrorInvalidChannelDescriptor` for any other.
pub fn channels(format: ChannelFormat) -> Result<(u32, u32)> {
    let count = format.bits.iter().take_while(|bits| **bits != 0).count();
    let (used, rest) = format.bits.split_at(count);
    let fits = matches!(count, 1 | 2 | 4)
        && matches!(used[0], 8 | 16 | 32)
        && used.iter().all(|bits| *bits == used[0])
        && rest.iter().all(|bits| *bits == 0)
        && (format.kind <= FLOAT || integers_of(format).is_some())
        && (format.kind != FLOAT || used[0] != 8);
    if fits { Ok((count as u32, used[0].cast_unsigned())) } else { Err(CudaError::INVALID_CHANNEL_DESCRIPTOR) }
}

fn format_of(bits: i32, channels: usize, kind: u32) -> ChannelFormat {
    ChannelFormat { bits: std::array::from_fn(|channel| if channel < channels { bits } else { 0 }), kind }
}

/// The number of a normalized kind, whose name says how many channels there are of how many bits
/// (`cudaChannelFormatKindUnsignedNormalized8X1` is 0, `cudaChannelFormatKindSignedNormalized16X4` is 11). The driver's
/// formats are in the same order.
pub fn normalized_number(kind: u32) -> Option<u32> {
    kind.checked_sub(FIRST_NORMALIZED).filter(|number| *number < NORMALIZED_KINDS)
}

/// The format of a normalized kind, by its number.
pub fn normalized_format(number: u32) -> Option<ChannelFormat> {
    let (bits, channels) = (8 << (number / 3 % 2), [1, 2, 4][number as usize % 3]);
    (number < NORMALIZED_KINDS).then(|| format_of(bits, channels, FIRST_NORMALIZED + number))
}

/// The integers that elements of a normalized kind are, which fetches give as numbers from -1 or 0 to 1.
pub fn integers_of(format: ChannelFormat) -> Option<ChannelFormat> {
    let number = normalized_number(format.kind)?;
    let kind = u32::from(number < NORMALIZED_KINDS / 2);
    normalized_format(number).filter(|known| known.bits == format.bits).map(|known| ChannelFormat { kind, ..known })
}

/// The channels of a `cudaResourceViewFormat`; `None` where it leaves the resource's, and for compressed blocks.
pub fn view_format(format: u32) -> Option<ChannelFormat> {
    const KINDS: [(i32, u32); 8] = [(8, 1), (8, 0), (16, 1), (16, 0), (32, 1), (32, 0), (16, FLOAT), (32, FLOAT)];
    let number = format.checked_sub(1)? as usize;
    let (bits, kind) = *KINDS.get(number / 3)?;
    Some(format_of(bits, [1, 2, 4][number % 3], kind))
}

/// Whether fetches give integers as they are, and not numbers from -1 or 0 to 1.
pub fn reads_integers(settings: &TextureSettings, format: ChannelFormat) -> bool {
    format.kind < FLOAT && settings.read != 1
}

/// Checks settings for elements of a format. Linear memory is not filtered.
///
/// # Errors
/// What CUDA's runtime says of them.
pub fn check_settings(settings: &TextureSettings, format: ChannelFormat, of_linear_memory: bool) -> Result {
    if format.kind != FLOAT && settings.read == 1 && format.bits[0] == 32 {
        return Err(CudaError::INVALID_NORM_SETTING);
    }
    if reads_integers(settings, format) && settings.filter == 1 && !of_linear_memory {
        return Err(CudaError::INVALID_FILTER_SETTING);
    }
    check(settings.address_mode.iter().all(|mode| *mode <= LAST_MODE) && settings.filter <= 1 && settings.read <= 1)
}

/// The address modes that hold: what repeats does so in coordinates from 0 to 1 alone.
pub fn address_modes(settings: &TextureSettings) -> [u32; 3] {
    settings.address_mode.map(|mode| match mode {
        WRAP | MIRROR if settings.normalized == 0 => CLAMP,
        mode => mode,
    })
}
