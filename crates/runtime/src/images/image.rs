//! What a fat-binary wrapper may lead to, told apart by its first word.

use std::fmt;

use super::offload::{self, Offload};
use crate::abi::{
    CpuImage, FATBIN_WRAPPER_MAGIC, FatbinWrapper, IMAGE_MAGIC, IMAGE_SET_MAGIC, ImageSet, NVIDIA_FATBIN_MAGIC,
    UNIT_MAGIC, Unit,
};

/// The images of one translation unit.
#[derive(Clone, Default)]
pub struct Images {
    pub cpu: Option<&'static CpuImage>,
    /// NVIDIA's fat binary with its header.
    pub fatbin: Option<&'static [u8]>,
    /// Images of an image set for devices other than the CPU.
    pub offload: Vec<Offload>,
    /// The address of the set that several units share, 0 where there is none: what is loaded of it is theirs in common.
    pub program: usize,
}

// SAFETY: the image table is a constant of the program, and so is all that it refers to.
unsafe impl Send for Images {}
// SAFETY: see `Send`.
unsafe impl Sync for Images {}

impl Images {
    /// Whether there is an image at all.
    pub fn is_empty(&self) -> bool {
        self.cpu.is_none() && self.fatbin.is_none() && self.offload.is_empty()
    }
}

impl fmt::Display for Images {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names: Vec<String> = Vec::new();
        names.extend(self.cpu.map(|_| "cpu".into()));
        names.extend(self.fatbin.map(|_| "NVIDIA fat binary".into()));
        // Kind 0 lists what `cpu` stands for.
        let code = self.offload.iter().filter(|image| image.kind != offload::ImageKind::Other(0));
        names.extend(code.map(ToString::to_string));
        if names.is_empty() { out.write_str("none") } else { out.write_str(&names.join(", ")) }
    }
}

/// Bytes before the images of NVIDIA's fat binary, and where among them the number of bytes behind stands.
const FATBIN_HEADER: usize = 16;
const FATBIN_LENGTH: usize = 8;
/// No fat binary is larger; a length beyond is a broken header.
const MAX_FATBIN: u64 = 1 << 36;

/// Reads what a wrapper leads to.
///
/// # Safety
/// `wrapper` is null or leads to a fat-binary wrapper whose data lives as long as the program.
pub unsafe fn open(wrapper: *const FatbinWrapper) -> Result<Images, String> {
    // SAFETY: null or valid by contract.
    let wrapper = unsafe { wrapper.as_ref() }.ok_or("the fat binary wrapper is null")?;
    if wrapper.magic != FATBIN_WRAPPER_MAGIC {
        return Err(format!("expected fat binary wrapper magic {FATBIN_WRAPPER_MAGIC:#x}, got {:#x}", wrapper.magic));
    }
    if wrapper.data.is_null() || wrapper.data.align_offset(align_of::<u64>()) != 0 {
        return Err("the fat binary holds no image".into());
    }
    // SAFETY: not null and aligned; every kind of image is at least eight bytes long. The magic says what follows.
    unsafe {
        let magic = wrapper.data.cast::<u64>().read();
        match magic {
            IMAGE_MAGIC => Ok(Images { cpu: wrapper.data.cast::<CpuImage>().as_ref(), ..Images::default() }),
            IMAGE_SET_MAGIC => open_set(&*wrapper.data.cast::<ImageSet>()),
            UNIT_MAGIC => open_unit(&*wrapper.data.cast::<Unit>()),
            _ if magic as u32 == NVIDIA_FATBIN_MAGIC => open_fatbin(wrapper.data.cast()),
            _ => Err(format!(
                "expected an image of a known kind (magic {IMAGE_MAGIC:#x}, {IMAGE_SET_MAGIC:#x}, {UNIT_MAGIC:#x} or \
                 {NVIDIA_FATBIN_MAGIC:#x}), got {magic:#x}"
            )),
        }
    }
}

/// # Safety
/// `data` leads to NVIDIA's fat binary.
unsafe fn open_fatbin(data: *const u8) -> Result<Images, String> {
    // SAFETY: the header is there by contract, and says how much follows.
    unsafe {
        let behind = data.add(FATBIN_LENGTH).cast::<u64>().read_unaligned();
        if behind == 0 || behind > MAX_FATBIN {
            return Err(format!("NVIDIA's fat binary claims to hold {behind} bytes"));
        }
        let bytes = std::slice::from_raw_parts(data, FATBIN_HEADER + behind as usize);
        Ok(Images { fatbin: Some(bytes), ..Images::default() })
    }
}

/// # Safety
/// The set's pointers are null or lead to what their names say, for as long as the program lives.
unsafe fn open_set(set: &ImageSet) -> Result<Images, String> {
    // SAFETY: by contract.
    let (cpu, bytes) = unsafe {
        let bytes = (!set.offload.is_null())
            .then(|| std::slice::from_raw_parts(set.offload, usize::try_from(set.offload_size).unwrap_or(0)));
        (set.cpu.as_ref(), bytes.unwrap_or_default())
    };
    if cpu.is_some_and(|image| image.magic != IMAGE_MAGIC) {
        return Err(format!("the CPU image of an image set lacks its magic {IMAGE_MAGIC:#x}"));
    }
    Ok(Images { cpu, fatbin: None, offload: offload::parse(bytes)?, program: 0 })
}

/// # Safety
/// The unit's pointers are null or lead to what their names say, for as long as the program lives.
unsafe fn open_unit(unit: &Unit) -> Result<Images, String> {
    // SAFETY: by contract.
    let (cpu, program) = unsafe { (unit.cpu, unit.program.as_ref()) };
    let program = program.filter(|set| set.magic == IMAGE_SET_MAGIC);
    let set = program.ok_or_else(|| format!("the images of a program lack their magic {IMAGE_SET_MAGIC:#x}"))?;
    // SAFETY: by contract.
    let images = unsafe { open_set(&ImageSet { cpu, ..*set })? };
    Ok(Images { program: unit.program as usize, ..images })
}
