//! The chips, and what code generation must know of them beside their limits.

use regrain_tuning::limits::GpuLimits;

use super::limits::{self, ALL};
use crate::Error;

/// A chip of AMD's.
#[derive(Clone, Copy, Debug)]
pub struct Chip {
    /// As in `gfx90a`.
    pub name: &'static str,
    /// What it offers.
    pub limits: &'static GpuLimits,
    /// 9 of `gfx90a`, 10 of `gfx1030`.
    pub major: u32,
    /// 0 of `gfx90a`, 3 of `gfx1030`.
    pub minor: u32,
    /// 10 of `gfx90a`, 0 of `gfx1030`.
    pub stepping: u32,
}

impl Chip {
    /// The chip that `name` names.
    ///
    /// # Errors
    /// Nobody knows it; the error lists those that are known.
    pub fn find(name: &str) -> Result<Self, Error> {
        let unknown = || {
            let known: Vec<&str> = ALL.iter().map(|limits| limits.name).collect();
            Error::User(format!("unsupported AMD gpu architecture: {name} (known are {})", known.join(", ")))
        };
        let limits = limits::limits(name).ok_or_else(unknown)?;
        let (major, minor, stepping) = version(limits.name).ok_or_else(unknown)?;
        Ok(Self { name: limits.name, limits, major, minor, stepping })
    }

    /// All chips.
    pub fn all() -> impl Iterator<Item = Self> {
        ALL.iter().filter_map(|limits| Self::find(limits.name).ok())
    }

    /// The number by which AMD's device libraries know it (`__oclc_ISA_version`).
    pub fn isa_version(self) -> u32 {
        self.major * 1000 + self.minor * 100 + self.stepping
    }

    /// Whether waves may be of 32 threads, which they are where nothing is said.
    pub fn has_wave32(self) -> bool {
        self.major >= 10
    }

    /// Waves that a SIMD holds.
    pub fn simd_waves(self) -> u32 {
        self.limits.threads_per_unit / self.limits.warp / self.limits.partitions
    }

    /// Nanoseconds of a tick of the steady counter (`s_memrealtime`): its clock is the reference clock of 25 MHz (27 MHz on
    /// gfx900 and gfx902) up to gfx90a and of 100 MHz on later chips (Linux, `soc15_get_xclk` and what HIP gives as
    /// `hipDeviceAttributeWallClockRate`).
    pub fn tick(self) -> u32 {
        match (self.major, self.minor, self.stepping) {
            (9, 0, 0 | 2) => 37,
            (9, 0, _) => 40,
            _ => 10,
        }
    }
}

/// Major and minor version and stepping in a name: the last two digits are hexadecimal.
fn version(name: &str) -> Option<(u32, u32, u32)> {
    let digits = name.strip_prefix("gfx")?;
    let (major, rest) = digits.split_at_checked(digits.len().checked_sub(2)?)?;
    let digit = |at: usize| rest.get(at..=at).and_then(|digit| u32::from_str_radix(digit, 16).ok());
    Some((major.parse().ok()?, digit(0)?, digit(1)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_versions() {
        let of = |name: &str| Chip::find(name).map(Chip::isa_version).ok();
        assert_eq!([of("gfx90a"), of("gfx942"), of("gfx1030"), of("gfx1100")], [9010, 9402, 10300, 11000].map(Some));
        assert_eq!([of("gfx900"), of("gfx1201")], [9000, 12001].map(Some));
        assert_eq!(Chip::all().count(), ALL.len());
    }

    #[test]
    fn unknown_names_list_the_known_ones() {
        for unknown in ["gfx1", "gfx", "gfx90", "gfx90A", "gfx9999"] {
            let message = Chip::find(unknown).expect_err("unknown").to_string();
            assert!(message.starts_with(&format!("unsupported AMD gpu architecture: {unknown} (known are gfx900, ")));
            assert!(message.contains("gfx90a, ") && message.contains("gfx1100, "), "{message}");
        }
    }
}
