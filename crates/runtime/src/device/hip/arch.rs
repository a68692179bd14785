//! Which code object of a program fits a GPU.
//!
//! HIP tells a GPU's name (`gfx90a:sramecc+:xnack-`) only in its structure of properties, whose layout differs between
//! ROCm 5 and 6 (`gcnArchName` at byte 396 or 1160), and which of the two a function fills differs too. Its text is the
//! same everywhere: the properties are written into a buffer that is larger than all of them, and the name is the last
//! word in it that looks like one. Where none is found, every code object of the program is tried, and HIP says which
//! one it takes: what is loaded is never decided by the name alone.

use super::library::Hip;
use crate::images::offload::{ImageKind, Offload};

/// Bytes for HIP's properties: 792 in ROCm 5, 1,472 in 6 and 7.
const ROOM: usize = 16 << 10;

/// Whether an image is one for AMD GPUs.
pub fn is_amd(image: &Offload) -> bool {
    image.kind == ImageKind::Object && image.triple.starts_with("amdgcn")
}

/// A GPU's name with its features, if HIP tells it.
pub fn name(hip: &Hip, gpu: i32) -> Option<String> {
    let mut bytes = vec![0_u64; ROOM / 8];
    let told = [hip.properties_6, hip.properties].into_iter().flatten().any(|ask| {
        // SAFETY: valid for a write of more than HIP's structure has in any version.
        unsafe { ask(bytes.as_mut_ptr().cast(), gpu) == 0 }
    });
    if !told {
        return None;
    }
    let bytes: Vec<u8> = bytes.iter().flat_map(|word| word.to_ne_bytes()).collect();
    last_name(&bytes)
}

/// The last word in `bytes` that looks like a GPU's name.
fn last_name(bytes: &[u8]) -> Option<String> {
    let words = bytes.split(|byte| !(byte.is_ascii_alphanumeric() || b":+-".contains(byte)));
    let mut names = words.filter(|word| {
        let number = word.strip_prefix(b"gfx").map(|rest| rest.split(|byte| *byte == b':').next().unwrap_or_default());
        number.is_some_and(|number| number.len() >= 3 && number.iter().all(u8::is_ascii_hexdigit))
    });
    names.next_back().map(|word| String::from_utf8_lossy(word).into_owned())
}

/// The processor in a name, and its features.
fn split(name: &str) -> (&str, Vec<&str>) {
    let mut parts = name.split(':');
    (parts.next().unwrap_or_default(), parts.collect())
}

/// How well code for an architecture fits a GPU: not at all, as code for its family (`gfx10-3-generic`, where HIP has
/// the last word), or as code for that chip with so many of its features fixed.
fn fit(arch: &str, gpu: &str) -> Option<usize> {
    let ((chip, wanted), (gpu, features)) = (split(arch), split(gpu));
    if !wanted.iter().all(|feature| features.contains(feature)) {
        return None;
    }
    if chip == gpu {
        return Some(1 + wanted.len());
    }
    let family = chip.strip_suffix("-generic")?.split('-').next()?;
    gpu.starts_with(family).then_some(0)
}

/// The code objects to try on a GPU, the best first; all where its name is not known.
pub fn candidates<'a>(images: &'a [Offload], gpu: Option<&str>) -> Vec<&'a Offload> {
    let mut found: Vec<(usize, &Offload)> = images
        .iter()
        .filter(|image| is_amd(image))
        .filter_map(|image| Some((gpu.map_or(Some(0), |gpu| fit(&image.arch, gpu))?, image)))
        .collect();
    found.sort_by_key(|(fit, _)| std::cmp::Reverse(*fit));
    found.into_iter().map(|(_, image)| image).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(images: &[&str], gpu: Option<&str>) -> Vec<String> {
        let images: Vec<Offload> = images
            .iter()
            .map(|arch| Offload {
                kind: ImageKind::Object,
                language: 4,
                triple: "amdgcn-amd-amdhsa".into(),
                arch: (*arch).into(),
                bytes: b"",
            })
            .collect();
        candidates(&images, gpu).into_iter().map(|image| image.arch.clone()).collect()
    }

    #[test]
    fn code_for_the_chip_comes_first_and_the_most_fixed_before_others() {
        let images = ["gfx1030", "gfx9-generic", "gfx90a", "gfx90a:xnack-", "gfx90a:xnack+", "gfx908"];
        assert_eq!(tried(&images, Some("gfx90a:sramecc+:xnack-")), ["gfx90a:xnack-", "gfx90a", "gfx9-generic"]);
        assert_eq!(tried(&images, Some("gfx1030")), ["gfx1030"]);
        assert!(tried(&images, Some("gfx1100")).is_empty());
        assert_eq!(tried(&["gfx10-3-generic", "gfx11-generic"], Some("gfx1036")), ["gfx10-3-generic"]);
    }

    #[test]
    fn all_are_tried_on_a_gpu_without_a_name() {
        assert_eq!(tried(&["gfx1030", "gfx90a"], None), ["gfx1030", "gfx90a"]);
    }

    #[test]
    fn the_name_is_found_wherever_it_stands() {
        for at in [300, 396, 1160] {
            let mut bytes = vec![0_u8; 2048];
            bytes[..20].copy_from_slice(b"AMD gfx Instinct gfx");
            bytes[at..at + 23].copy_from_slice(b"gfx90a:sramecc+:xnack-\0");
            assert_eq!(last_name(&bytes).as_deref(), Some("gfx90a:sramecc+:xnack-"));
        }
        assert_eq!(last_name(b"AMD Radeon RX 6900 XT\0\0gfx1030\0\x01gfx"), Some("gfx1030".into()));
        assert_eq!(last_name(b"a GPU of NVIDIA's"), None);
    }
}
