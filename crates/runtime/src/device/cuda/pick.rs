//! Which image of a program fits a GPU.

use crate::images::offload::{ImageKind, KIND_CUDA, Offload};

/// A GPU's compute capability.
pub type Capability = (u32, u32);

/// An architecture's name, as in `sm_90a`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Arch {
    capability: Capability,
    /// For exactly that chip.
    exact: bool,
}

impl Arch {
    fn parse(name: &str) -> Option<Self> {
        let text = name.strip_prefix("sm_").or_else(|| name.strip_prefix("compute_"))?;
        let digits = text.trim_end_matches(|end: char| end.is_ascii_lowercase());
        let number: u32 = digits.parse().ok().filter(|number| *number >= 10)?;
        let exact = match &text[digits.len()..] {
            "" => false,
            // For one chip ("a"), or a family ("f"), whose rules of its own are not tried: taken on that very chip
            // alone.
            _ => true,
        };
        Some(Self { capability: (number / 10, number % 10), exact })
    }

    /// Whether PTX for this architecture can be compiled for a GPU.
    fn can_become(self, gpu: Capability) -> bool {
        if self.exact { self.capability == gpu } else { self.capability <= gpu }
    }

    /// Whether machine code for this architecture runs on a GPU.
    fn runs_on(self, gpu: Capability) -> bool {
        self.can_become(gpu) && self.capability.0 == gpu.0
    }
}

/// Whether an image is one for NVIDIA GPUs.
pub fn is_nvidia(image: &Offload) -> bool {
    image.language == KIND_CUDA && matches!(image.kind, ImageKind::Cubin | ImageKind::Ptx)
}

/// The image to load on a GPU: machine code of the same major version and the largest minor one that is not above the
/// GPU's, else the PTX of the largest architecture that is not above it.
pub fn pick(images: &[Offload], gpu: Capability) -> Option<&Offload> {
    let best = |kind: ImageKind, fits: fn(Arch, Capability) -> bool| {
        let known = images.iter().filter(|image| is_nvidia(image) && image.kind == kind);
        let fitting = known
            .filter_map(|image| Arch::parse(&image.arch).filter(|arch| fits(*arch, gpu)).map(|arch| (image, arch)));
        fitting.max_by_key(|(_, arch)| (arch.capability, arch.exact)).map(|(image, _)| image)
    };
    best(ImageKind::Cubin, Arch::runs_on).or_else(|| best(ImageKind::Ptx, Arch::can_become))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(kind: ImageKind, arch: &str) -> Offload {
        Offload { kind, language: KIND_CUDA, triple: "nvptx64-nvidia-cuda".into(), arch: arch.into(), bytes: b"" }
    }

    fn picked(images: &[(ImageKind, &str)], gpu: Capability) -> Option<String> {
        let images: Vec<Offload> = images.iter().map(|(kind, arch)| image(*kind, arch)).collect();
        pick(&images, gpu).map(ToString::to_string)
    }

    #[test]
    fn machine_code_of_the_same_major_version_comes_first() {
        use ImageKind::{Cubin, Ptx};
        let images = [(Ptx, "sm_70"), (Cubin, "sm_80"), (Cubin, "sm_86"), (Cubin, "sm_90a"), (Ptx, "sm_80")];
        for (gpu, expected) in [
            ((8, 0), Some("cubin sm_80")),
            ((8, 6), Some("cubin sm_86")),
            ((8, 9), Some("cubin sm_86")),
            ((9, 0), Some("cubin sm_90a")),
            ((10, 0), Some("PTX sm_80")),
            ((7, 5), Some("PTX sm_70")),
            ((6, 1), None),
        ] {
            assert_eq!(picked(&images, gpu).as_deref(), expected, "{gpu:?}");
        }
    }

    #[test]
    fn code_for_one_chip_alone_is_not_taken_on_another() {
        use ImageKind::{Cubin, Ptx};
        assert_eq!(picked(&[(Cubin, "sm_90a"), (Ptx, "sm_90a")], (9, 1)), None);
        assert_eq!(picked(&[(Ptx, "sm_90a")], (10, 0)), None);
        assert_eq!(picked(&[(Cubin, "sm_90"), (Cubin, "sm_90a")], (9, 0)).as_deref(), Some("cubin sm_90a"));
        assert_eq!(picked(&[(Cubin, "sm_120")], (12, 1)).as_deref(), Some("cubin sm_120"));
    }

    #[test]
    fn images_of_other_kinds_and_unknown_names_are_passed_over() {
        use ImageKind::{Cubin, Object};
        assert_eq!(picked(&[(Object, "gfx90a"), (Object, "sm_80"), (Cubin, "gfx90a"), (Cubin, "sm_")], (8, 0)), None);
    }
}
